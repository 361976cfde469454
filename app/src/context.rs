//! The context of every page: the signed-in user, the project, and the server's time.
use crate::{
    api::{self, session::get_session},
    error::UiErrorKind,
    routes,
};
use leptos::prelude::*;
use leptos_router::hooks::use_location;
use portico_domain::{identity::Named, panel::SessionView};
use std::time::Duration;

/// The session of the pages. `Copy`, found in the context.
#[derive(Clone, Copy)]
pub struct Session {
    pub view: RwSignal<SessionView>,
    /// The project of the address, also while its page is still loading.
    pub project: Memo<String>,
    /// The server's clock, Unix seconds; moves only after hydration.
    pub now: RwSignal<i64>,
    /// Set when a response reported the end of the session.
    pub signed_out: RwSignal<bool>,
    /// The reason for its end, in a sentence, if the server sent one; otherwise empty.
    pub end: RwSignal<&'static str>,
}

impl Session {
    /// Returns the name of a cluster of this project; its ID if it has none.
    pub fn cluster_name(self, id: uuid::Uuid) -> String {
        let id = id.to_string();
        self.view.with(|view| {
            view.clusters
                .iter()
                .find(|cluster| cluster.id == id)
                .map_or_else(|| id.clone(), |cluster| cluster.name.clone())
        })
    }

    /// Loads the session from the server again, after the project or the session changed.
    pub fn refresh(self) {
        leptos::task::spawn_local(async move {
            match get_session().await {
                Ok(view) => {
                    api::set_csrf_token(&view.csrf_token);
                    self.now.set(view.now);
                    self.view.set(view);
                    self.signed_out.set(false);
                    self.end.set("");
                }
                Err(error) if error.kind == UiErrorKind::SignedOut => self.signed_out.set(true),
                // the page that needs the response reports it itself
                Err(_) => {}
            }
        });
    }
}

/// Returns the session of the context; every page has one.
pub fn use_session() -> Session {
    expect_context()
}

/// Creates the session's context; inside the router, before any page.
pub fn provide_session(initial: SessionView) -> Session {
    let path = use_location().pathname;
    let project = Memo::new(move |_| {
        let project = routes::project_of(&path.get()).unwrap_or_default();
        api::set_project(&project);
        project
    });
    api::set_csrf_token(&initial.csrf_token);
    let session = Session {
        now: RwSignal::new(initial.now),
        view: RwSignal::new(initial),
        project,
        signed_out: RwSignal::new(false),
        end: RwSignal::new(""),
    };
    provide_context(session);

    Effect::new(move |known: Option<String>| {
        let project = session.project.get();
        if known.is_some_and(|known| known != project) {
            session.refresh();
        }
        project
    });
    Effect::new(move |_| start_clock(session.now));
    session
}

/// Advances from the server's time; the browser's own clock only measures the elapsed time.
fn start_clock(now: RwSignal<i64>) {
    let mut last = js_sys::Date::now();
    let tick = move || {
        let current = js_sys::Date::now();
        #[expect(clippy::cast_possible_truncation, reason = "whole seconds fit")]
        let passed = ((current - last) / 1_000.0) as i64;
        if passed > 0 {
            #[expect(clippy::cast_precision_loss, reason = "small numbers")]
            {
                last += passed as f64 * 1_000.0;
            }
            now.update(|now| *now += passed);
        }
    };
    let tick = std::cell::RefCell::new(tick);
    if let Ok(handle) = set_interval_with_handle(
        move || {
            if let Ok(mut tick) = tick.try_borrow_mut() {
                tick();
            }
        },
        Duration::from_secs(1),
    ) {
        on_cleanup(move || handle.clear());
    }
}

/// Returns the session of the request being rendered. In the browser it is loaded with the page.
pub fn initial_session() -> SessionView {
    #[cfg(feature = "ssr")]
    if let Some(panel) = use_context::<crate::ports::PanelRef>() {
        return panel.session();
    }
    SessionView {
        user_name: String::new(),
        domain: Named {
            id: String::new(),
            name: String::new(),
        },
        user_id: String::new(),
        project: None,
        roles: Vec::new(),
        projects: Vec::new(),
        clusters: Vec::new(),
        csrf_token: String::new(),
        session_expires_at: i64::MAX,
        now: 0,
        keystone_reachable: true,
        auth_methods: Vec::new(),
    }
}

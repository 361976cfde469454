//! What goes along from page to page: the namespaces that were chosen in a cluster, and the last view
//! of each list. The address is the truth; this is what links are made of.
mod address;
mod memory;

pub use address::{ObjectPath, list_kind, object_of};

use crate::{context::Session, kind_names};
use address::{NAMESPACE, cluster_base, parameter, with_namespaces, with_query};
use leptos::prelude::*;
use leptos_router::hooks::use_location;
use memory::Memory;
use uuid::Uuid;

/// The memory of this tab, and the address that is shown. `Copy`, found in the context.
#[derive(Clone, Copy)]
pub struct Carried {
    memory: RwSignal<Memory>,
    path: Memo<String>,
    query: Memo<String>,
    /// False until the component that reads it is hydrated: until then its links are as the server
    /// rendered them, which knows only the address.
    is_ready: RwSignal<bool>,
}

impl Carried {
    fn remembered<T>(self, read: impl FnOnce(&Memory) -> T) -> Option<T> {
        self.is_ready.get().then(|| self.memory.with(read))
    }

    /// Returns the chosen namespaces of the cluster to which an address belongs, escaped.
    fn namespaces(self, href: &str) -> Option<String> {
        let cluster = cluster_base(href)?;
        let here = self.path.with(|path| {
            cluster_base(path) == Some(cluster)
                && list_kind(path)
                    .is_some_and(|kind| kind_names::is_namespaced(&kind) == Some(true))
        });
        if here {
            return self
                .query
                .with(|query| parameter(query, NAMESPACE).map(str::to_owned));
        }
        self.remembered(|memory| memory.namespaces(cluster).map(str::to_owned))
            .flatten()
    }

    /// Returns the address of a list with the chosen namespaces.
    pub fn list(self, href: &str, namespaced: bool) -> String {
        let namespaces = namespaced.then(|| self.namespaces(href)).flatten();
        with_query(href, &with_namespaces("", namespaces.as_deref()))
    }

    /// Returns the address of a list as it was left, with the namespaces that are chosen now; of
    /// any other page, the address itself.
    pub fn back(self, href: &str) -> String {
        let Some(kind) = list_kind(href) else {
            return href.to_owned();
        };
        let shown = self.path.with(|path| path == href);
        let query = if shown {
            self.query.get()
        } else {
            self.remembered(|memory| memory.query(href).to_owned())
                .unwrap_or_default()
        };
        match kind_names::is_namespaced(&kind) {
            Some(false) => with_query(href, &query),
            None if !shown && query.is_empty() => href.to_owned(),
            _ => {
                let namespaces = self.namespaces(href);
                with_query(href, &with_namespaces(&query, namespaces.as_deref()))
            }
        }
    }

    /// Returns the same kind of page in another cluster, with the namespaces chosen there.
    pub fn in_cluster(self, project: &str, cluster: Uuid) -> String {
        let href = self.path.with(|path| {
            self.query
                .with(|query| address::in_cluster(path, query, project, cluster))
        });
        let (path, query) = href.split_once('?').unwrap_or((&href, ""));
        if list_kind(path).and_then(|kind| kind_names::is_namespaced(&kind)) != Some(true) {
            return href;
        }
        let namespaces = self.namespaces(path);
        with_query(path, &with_namespaces(query, namespaces.as_deref()))
    }

    /// Returns the address that shows one namespace, or all: of the list that is shown if its objects
    /// are in namespaces, else of `otherwise`. `None` if nothing would change.
    pub fn narrowed(self, otherwise: &str, namespace: Option<&str>) -> Option<String> {
        let shown = self.path.with(|path| {
            list_kind(path)
                .filter(|kind| kind_names::is_namespaced(kind) != Some(false))
                .map(|_| path.clone())
        });
        let chosen = self.namespaces(otherwise);
        if chosen.as_deref() == namespace && (shown.is_some() || namespace.is_none()) {
            return None;
        }
        Some(match shown {
            Some(path) => {
                let query = self.query.with(|query| with_namespaces(query, namespace));
                with_query(&path, &query)
            }
            None => with_query(otherwise, &with_namespaces("", namespace)),
        })
    }

    /// Returns the objects whose pages were visited last.
    pub fn recent(self) -> Vec<ObjectPath> {
        self.memory.with(|memory| {
            memory
                .recent
                .iter()
                .filter_map(|path| object_of(path))
                .collect()
        })
    }
}

/// Creates the memory of the tab; inside the router, after the session.
pub fn provide_carried(session: Session) {
    let location = use_location();
    let carried = Carried {
        memory: RwSignal::new(Memory::default()),
        path: location.pathname,
        query: location.search,
        is_ready: RwSignal::new(false),
    };
    provide_context(carried);
    // another user of this tab gets another memory
    let key = move || {
        session
            .view
            .with_untracked(|view| format!("portico-carried:{}", view.user_id))
    };
    Effect::new(move |known: Option<()>| {
        let (path, query) = (carried.path.get(), carried.query.get());
        if known.is_none()
            && let Some(text) = storage().and_then(|all| all.get_item(&key()).ok().flatten())
        {
            carried.memory.set(Memory::read(&text));
        }
        let mut memory = carried.memory.get_untracked();
        memory.visit(&path, &query);
        if carried.memory.with_untracked(|known| *known == memory) {
            return;
        }
        if let Some(storage) = storage() {
            let _ = storage.set_item(&key(), &memory.write());
        }
        carried.memory.set(memory);
    });
}

/// Returns the memory for the links of a component.
pub fn use_carried() -> Carried {
    let is_ready = RwSignal::new(false);
    Effect::new(move |_| is_ready.set(true));
    Carried {
        is_ready,
        ..expect_context()
    }
}

/// A browser that refuses storage carries everything until the page is loaded again.
fn storage() -> Option<web_sys::Storage> {
    window().session_storage().ok().flatten()
}

//! The changes that an object's page offers. Those that the viewer's rights do not permit are shown
//! disabled, with the reason. Each is a form in a dialog, or without scripts a form in the page.
mod delete;
mod form;
mod restart;
mod scale;

use super::refusal;
use crate::{
    context::use_session,
    routes,
    ui::{Dialog, Icon, Why, icons},
};
use delete::Delete;
use form::Ends;
use leptos::prelude::*;
use leptos_router::{
    NavigateOptions,
    hooks::{use_navigate, use_query_map},
};
use portico_domain::panel::{Action, ObjectView};
use restart::Restart;
use scale::Scale;
use uuid::Uuid;

/// The object of the open dialog. Lives longer than the object on the page, which is replaced with
/// each change: a dialog keeps the one for which it was opened.
#[derive(Clone, Copy)]
pub struct Dialogs {
    asked: RwSignal<Option<(Action, ObjectView)>>,
    open: RwSignal<bool>,
}

impl Dialogs {
    pub fn new() -> Self {
        Self {
            asked: RwSignal::new(None),
            open: RwSignal::new(false),
        }
    }
}

/// The offered changes, in the order of the page.
const OFFERED: [(Action, &str, &str, icondata_core::Icon); 3] = [
    (Action::Scale, "scale", "Scale", icons::SCALE),
    (Action::Restart, "restart", "Restart", icons::ROTATE),
    (Action::Delete, "delete", "Delete", icons::TRASH),
];

/// The controls of one object.
#[component]
pub fn Controls(object: ObjectView, dialogs: Dialogs) -> impl IntoView {
    OFFERED
        .into_iter()
        .filter(|(action, ..)| object.actions.iter().any(|state| state.action == *action))
        .map(
            |(action, name, label, icon)| match refusal(&object, action) {
                Some(reason) => {
                    let id = why_id(action);
                    view! { <Why id label reason action=name /> }.into_any()
                }
                None => control(&object, action, name, label, icon, dialogs),
            },
        )
        .collect_view()
        .into_any()
}

fn why_id(action: Action) -> &'static str {
    match action {
        Action::Scale => "why-scale",
        Action::Restart => "why-restart",
        _ => "why-delete",
    }
}

/// Returns a button that opens a dialog; without scripts it requests the same form from the server.
fn control(
    object: &ObjectView,
    action: Action,
    name: &'static str,
    label: &'static str,
    icon: icondata_core::Icon,
    dialogs: Dialogs,
) -> AnyView {
    let object = object.clone();
    let open = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        dialogs.asked.set(Some((action, object.clone())));
        dialogs.open.set(true);
    };
    view! {
        <form method="get" on:submit=open>
            <button type="submit" class="btn" name="confirm" value=name data-action=name>
                <Icon icon />
                {label}
            </button>
        </form>
    }
    .into_any()
}

/// The dialog that the controls open; a part of the page, not of the object on it.
#[component]
pub fn ChangeDialog(cluster: Uuid, dialogs: Dialogs, again: Callback<()>) -> impl IntoView {
    let Dialogs { asked, open } = dialogs;
    let title = Signal::derive(move || {
        asked.with(|asked| {
            asked
                .as_ref()
                .map_or_else(String::new, |(action, object)| question(*action, object))
        })
    });
    let ends = Ends {
        cancel: Callback::new(move |()| open.set(false)),
        done: again,
    };
    view! {
        <Dialog open id="change-title" title>
            {move || asked.get().map(|(action, object)| change(cluster, action, object, ends))}
        </Dialog>
    }
    .into_any()
}

/// The same as a part of the page, for `?confirm=delete`.
#[component]
pub fn WithoutScripts(cluster: Uuid, object: ObjectView) -> impl IntoView {
    let query = use_query_map();
    let asked = Memo::new(move |_| query.with(|query| query.get("confirm")));
    let here = routes::object(
        &use_session().project.get_untracked(),
        cluster,
        &object.reference,
    );
    let navigate = use_navigate();
    let leave = Callback::new(move |()| navigate(&here, NavigateOptions::default()));
    let ends = Ends {
        cancel: leave,
        done: leave,
    };
    move || {
        let asked = asked.get()?;
        let (action, ..) = OFFERED.into_iter().find(|(_, name, ..)| *name == asked)?;
        let offered = object.actions.iter().any(|state| state.action == action);
        (offered && refusal(&object, action).is_none()).then(|| {
            view! {
                <section class="card mb-4" aria-labelledby="change-in-page">
                    <div class="card-head">
                        <h2 id="change-in-page">{question(action, &object)}</h2>
                    </div>
                    {change(cluster, action, object.clone(), ends)}
                </section>
            }
        })
    }
}

fn question(action: Action, object: &ObjectView) -> String {
    let name = &object.reference.name;
    match action {
        Action::Scale => format!("Scale {name}"),
        Action::Restart => format!("Restart {name}?"),
        _ => format!("Delete {} {name}?", object.kind.kind),
    }
}

fn change(cluster: Uuid, action: Action, object: ObjectView, ends: Ends) -> AnyView {
    match action {
        Action::Scale => view! { <Scale cluster object ends /> }.into_any(),
        Action::Restart => view! { <Restart cluster object ends /> }.into_any(),
        _ => view! { <Delete cluster object ends /> }.into_any(),
    }
}

//! The changes that an object's page offers. Those that the viewer's rights do not permit are shown
//! disabled, with the reason. Each is a form in a dialog, or without scripts a form in the page.
mod delete;
mod drain;
mod form;
mod restart;
mod roll_back;
mod scale;
mod state;

use super::{refusal, who_can};
use crate::{
    context::use_session,
    routes,
    ui::{Dialog, Icon, Why, icons},
};
use delete::Delete;
use drain::Drain;
use form::Ends;
use leptos::prelude::*;
use leptos_router::{
    NavigateOptions,
    hooks::{use_navigate, use_query_map},
    params::ParamsMap,
};
use portico_domain::panel::{Action, ObjectView, StateChange};
use restart::Restart;
use roll_back::RollBack;
use scale::Scale;
use state::ChangeState;
use uuid::Uuid;

/// What a dialog is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    Action(Action),
    /// A rollback to a revision.
    RollBack(i64),
}

/// The object of the open dialog. Lives longer than the object on the page, which is replaced with
/// each change: a dialog keeps the one for which it was opened.
#[derive(Clone, Copy)]
pub struct Dialogs {
    asked: RwSignal<Option<(Asked, ObjectView)>>,
    open: RwSignal<bool>,
}

impl Dialogs {
    pub fn new() -> Self {
        Self {
            asked: RwSignal::new(None),
            open: RwSignal::new(false),
        }
    }

    /// Opens the dialog.
    pub fn ask(self, asked: Asked, object: ObjectView) {
        self.asked.set(Some((asked, object)));
        self.open.set(true);
    }
}

/// The offered changes, in the order of the page.
const OFFERED: [(Action, &str, &str, icondata_core::Icon); 11] = [
    (Action::RunNow, "run_now", "Run now", icons::PLAY),
    (Action::Suspend, "suspend", "Suspend", icons::PAUSE),
    (Action::Unsuspend, "unsuspend", "Resume", icons::PLAY),
    (Action::Scale, "scale", "Scale", icons::SCALE),
    (Action::Restart, "restart", "Restart", icons::ROTATE),
    (Action::Pause, "pause", "Pause rollout", icons::PAUSE),
    (Action::Resume, "resume", "Resume rollout", icons::PLAY),
    (Action::Cordon, "cordon", "Cordon", icons::LOCK),
    (Action::Uncordon, "uncordon", "Uncordon", icons::CHECK),
    (Action::Drain, "drain", "Drain", icons::SIGN_OUT),
    (Action::Delete, "delete", "Delete", icons::TRASH),
];

/// The controls of one object.
#[component]
pub fn Controls(cluster: Uuid, object: ObjectView, dialogs: Dialogs) -> impl IntoView {
    OFFERED
        .into_iter()
        .filter(|(action, ..)| object.actions.iter().any(|state| state.action == *action))
        .map(
            |(action, name, label, icon)| match refusal(&object, action) {
                Some(reason) => {
                    let id = why_id(action);
                    let who_can = who_can(&object, action, cluster);
                    view! { <Why id label reason action=name who_can /> }.into_any()
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
        Action::Pause | Action::Resume => "why-pause",
        Action::Suspend | Action::Unsuspend => "why-suspend",
        Action::RunNow => "why-run-now",
        Action::Cordon | Action::Uncordon => "why-cordon",
        Action::Drain => "why-drain",
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
        dialogs.ask(Asked::Action(action), object.clone());
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
                .map_or_else(String::new, |(asked, object)| question(*asked, object))
        })
    });
    let ends = Ends {
        cancel: Callback::new(move |()| open.set(false)),
        done: again,
    };
    view! {
        <Dialog open id="change-title" title>
            {move || asked.get().map(|(asked, object)| change(cluster, asked, object, ends))}
        </Dialog>
    }
    .into_any()
}

/// The same as a part of the page, for `?confirm=delete`.
#[component]
pub fn WithoutScripts(cluster: Uuid, object: ObjectView) -> impl IntoView {
    let query = use_query_map();
    let asked = Memo::new(move |_| query.with(requested));
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
        let action = match asked {
            Asked::Action(action) => action,
            Asked::RollBack(_) => Action::RollBack,
        };
        let offered = object.actions.iter().any(|state| state.action == action);
        (offered && refusal(&object, action).is_none()).then(|| {
            view! {
                <section class="card mb-4" aria-labelledby="change-in-page">
                    <div class="card-head">
                        <h2 id="change-in-page">{question(asked, &object)}</h2>
                    </div>
                    {change(cluster, asked, object.clone(), ends)}
                </section>
            }
        })
    }
}

/// Returns what an address asks for: `?confirm=delete`, `?confirm=roll_back&revision=3`.
fn requested(query: &ParamsMap) -> Option<Asked> {
    let name = query.get_str("confirm")?;
    if name == "roll_back" {
        return Some(Asked::RollBack(query.get_str("revision")?.parse().ok()?));
    }
    let (action, ..) = OFFERED.into_iter().find(|(_, known, ..)| *known == name)?;
    Some(Asked::Action(action))
}

fn question(asked: Asked, object: &ObjectView) -> String {
    let name = &object.reference.name;
    let action = match asked {
        Asked::RollBack(revision) => return format!("Roll {name} back to revision {revision}?"),
        Asked::Action(action) => action,
    };
    match action {
        Action::Scale => format!("Scale {name}"),
        Action::Delete => format!("Delete {} {name}?", object.kind.kind),
        other => {
            let label = OFFERED.iter().find(|(action, ..)| *action == other);
            format!(
                "{} {name}?",
                label.map_or("Change", |(_, _, label, _)| label)
            )
        }
    }
}

fn change(cluster: Uuid, asked: Asked, object: ObjectView, ends: Ends) -> AnyView {
    let action = match asked {
        Asked::RollBack(revision) => {
            return view! { <RollBack cluster object ends revision /> }.into_any();
        }
        Asked::Action(action) => action,
    };
    if let Some(change) = StateChange::of_action(action) {
        return view! { <ChangeState cluster object ends change /> }.into_any();
    }
    match action {
        Action::Scale => view! { <Scale cluster object ends /> }.into_any(),
        Action::Drain => view! { <Drain cluster object ends /> }.into_any(),
        Action::Restart => view! { <Restart cluster object ends /> }.into_any(),
        _ => view! { <Delete cluster object ends /> }.into_any(),
    }
}

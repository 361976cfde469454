//! The changes that an object's page offers. Those that the viewer's rights forbid stay in
//! their place, off, with the reason.
use super::{confirm_delete::ConfirmDelete, refusal};
use crate::{
    api::objects::{restart_object, scale_object},
    components::{InlineError, use_toasts},
    error::UiError,
    ui::{Button, ButtonKind, Dialog, Field, Icon, Why, icons},
};
use leptos::prelude::*;
use portico_domain::panel::{Action, ChangeDone, ObjectView};
use uuid::Uuid;

/// Which dialogs are open. Lives longer than the object, which comes anew with each change.
#[derive(Clone, Copy)]
pub struct Dialogs {
    delete: RwSignal<bool>,
    scale: RwSignal<bool>,
    restart: RwSignal<bool>,
    typed: RwSignal<String>,
    replicas: RwSignal<String>,
}

impl Dialogs {
    pub fn new() -> Self {
        Self {
            delete: RwSignal::new(false),
            scale: RwSignal::new(false),
            restart: RwSignal::new(false),
            typed: RwSignal::new(String::new()),
            replicas: RwSignal::new(String::new()),
        }
    }
}

#[component]
pub fn Actions(
    cluster: Uuid,
    object: ObjectView,
    dialogs: Dialogs,
    again: Callback<()>,
) -> impl IntoView {
    let offered = |action| object.actions.iter().any(|state| state.action == action);
    let scale = offered(Action::Scale).then(|| {
        let replicas = object.replicas.unwrap_or(0);
        let open = Callback::new(move |()| {
            dialogs.replicas.set(replicas.to_string());
            dialogs.scale.set(true);
        });
        control(&object, Action::Scale, "Scale", icons::SCALE, open)
    });
    let restart = offered(Action::Restart).then(|| {
        let open = Callback::new(move |()| dialogs.restart.set(true));
        control(&object, Action::Restart, "Restart", icons::ROTATE, open)
    });
    let delete = offered(Action::Delete).then(|| {
        let open = Callback::new(move |()| {
            dialogs.typed.set(String::new());
            dialogs.delete.set(true);
        });
        control(&object, Action::Delete, "Delete", icons::TRASH, open)
    });
    view! {
        {scale}
        {restart}
        {delete}
        <ScaleDialog cluster object=object.clone() dialogs again />
        <RestartDialog cluster object=object.clone() dialogs again />
        <ConfirmDelete cluster object open=dialogs.delete typed=dialogs.typed />
    }
    .into_any()
}

/// A button that opens a dialog; without scripts it asks the server for the same.
fn control(
    object: &ObjectView,
    action: Action,
    label: &'static str,
    icon: icondata_core::Icon,
    open: Callback<()>,
) -> AnyView {
    let (name, why) = match action {
        Action::Scale => ("scale", "why-scale"),
        Action::Restart => ("restart", "why-restart"),
        _ => ("delete", "why-delete"),
    };
    if let Some(reason) = refusal(object, action) {
        return view! { <Why id=why label reason action=name /> }.into_any();
    }
    view! {
        <form
            method="get"
            on:submit=move |event| {
                event.prevent_default();
                open.run(());
            }
        >
            <button type="submit" class="btn" name="confirm" value=name data-action=name>
                <Icon icon />
                {label}
            </button>
        </form>
    }
    .into_any()
}

/// What a dialog does with the server's answer.
fn settle(
    cluster: Uuid,
    outcome: Result<ChangeDone, UiError>,
    open: RwSignal<bool>,
    failure: RwSignal<Option<UiError>>,
    again: Callback<()>,
    toasts: crate::components::Toasts,
) {
    match outcome {
        Ok(done) => {
            open.set(false);
            toasts.done(cluster, done);
            again.run(());
        }
        Err(error) => failure.set(Some(error)),
    }
}

#[component]
fn ScaleDialog(
    cluster: Uuid,
    object: ObjectView,
    dialogs: Dialogs,
    again: Callback<()>,
) -> impl IntoView {
    let toasts = use_toasts();
    let failure = RwSignal::new(None::<UiError>);
    let busy = RwSignal::new(false);
    let (open, replicas) = (dialogs.scale, dialogs.replicas);
    let wanted = move || {
        replicas
            .get()
            .trim()
            .parse::<i64>()
            .ok()
            .filter(|n| (0..=10_000).contains(n))
    };
    let error = Signal::derive(move || {
        wanted()
            .is_none()
            .then(|| "A whole number from 0 to 10,000.".to_owned())
    });
    let reference = object.reference.clone();
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let Some(wanted) = wanted() else { return };
        if busy.get_untracked() {
            return;
        }
        busy.set(true);
        failure.set(None);
        let reference = reference.clone();
        leptos::task::spawn_local(async move {
            let outcome = scale_object(cluster, reference.into(), wanted).await;
            busy.set(false);
            settle(cluster, outcome, open, failure, again, toasts);
        });
    };
    let title = format!("Scale {}", object.reference.name);
    let now = object.replicas.unwrap_or(0);
    view! {
        <Dialog open id="scale-title" title>
            <form on:submit=submit.clone()>
                <div class="dialog-body">
                    <Field
                        id="replicas"
                        label="Replicas"
                        kind="number"
                        required=true
                        value=replicas
                        hint=format!("Now {now}. 0 stops all of them and keeps the workload.")
                        error
                    />
                    {move || failure.get().map(|error| view! { <InlineError error /> })}
                </div>
                <div class="dialog-foot">
                    <Button label="Cancel" on_click=move |_| open.set(false) />
                    <Button label="Scale" kind=ButtonKind::Primary submit=true busy />
                </div>
            </form>
        </Dialog>
    }
    .into_any()
}

#[component]
fn RestartDialog(
    cluster: Uuid,
    object: ObjectView,
    dialogs: Dialogs,
    again: Callback<()>,
) -> impl IntoView {
    let toasts = use_toasts();
    let failure = RwSignal::new(None::<UiError>);
    let busy = RwSignal::new(false);
    let open = dialogs.restart;
    let reference = object.reference.clone();
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        if busy.get_untracked() {
            return;
        }
        busy.set(true);
        failure.set(None);
        let reference = reference.clone();
        leptos::task::spawn_local(async move {
            let outcome = restart_object(cluster, reference.into()).await;
            busy.set(false);
            settle(cluster, outcome, open, failure, again, toasts);
        });
    };
    let title = format!("Restart {}?", object.reference.name);
    view! {
        <Dialog open id="restart-title" title>
            <form on:submit=submit.clone()>
                <div class="dialog-body">
                    <p>
                        "Its pods are replaced one after another, as its update strategy says. \
                         With one replica it may be away for a moment."
                    </p>
                    {move || failure.get().map(|error| view! { <InlineError error /> })}
                </div>
                <div class="dialog-foot">
                    <Button label="Cancel" on_click=move |_| open.set(false) />
                    <Button label="Restart" kind=ButtonKind::Primary submit=true busy />
                </div>
            </form>
        </Dialog>
    }
    .into_any()
}

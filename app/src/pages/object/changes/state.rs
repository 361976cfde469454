use super::form::{ChangeForm, Ends, Sent};
use crate::api::objects::change_state;
use leptos::prelude::*;
use portico_domain::panel::{Kubectl, ObjectView, StateChange};
use uuid::Uuid;

/// A change without arguments, such as a pause.
#[component]
pub fn ChangeState(
    cluster: Uuid,
    object: ObjectView,
    ends: Ends,
    change: StateChange,
) -> impl IntoView {
    let (reference, uid) = (object.reference.clone(), object.uid.clone());
    let send = Callback::new(move |()| {
        let sent: Sent = Box::pin(change_state(
            cluster,
            reference.clone().into(),
            uid.clone(),
            change,
        ));
        Some(sent)
    });
    let command = Kubectl::Change(change).line(&object.reference, &object.kind);
    let (label, words) = words(change);
    view! {
        <ChangeForm cluster object ends endpoint="objects/state" label send command>
            <input type="hidden" name="change" value=change.as_str() />
            <p>{words}</p>
        </ChangeForm>
    }
    .into_any()
}

/// Returns the label of the button, and the consequence.
fn words(change: StateChange) -> (&'static str, &'static str) {
    match change {
        StateChange::Pause => (
            "Pause rollout",
            "Later changes of the pod template are collected and take effect together when the \
             rollout is resumed. Running pods stay as they are.",
        ),
        StateChange::Resume => (
            "Resume rollout",
            "Changes that were made while it was paused are rolled out now.",
        ),
        StateChange::Suspend => (
            "Suspend",
            "No new jobs are started until it is resumed. Jobs that run already are not stopped.",
        ),
        StateChange::Unsuspend => (
            "Resume",
            "Jobs are started by its schedule again. If runs were missed and it has no starting \
             deadline, one of them may start at once.",
        ),
        StateChange::RunNow => (
            "Run now",
            "A Job is created from its template now, beside those of the schedule.",
        ),
        StateChange::Cordon => (
            "Cordon",
            "The scheduler places no new pods on this node. Pods that run there stay.",
        ),
        StateChange::Uncordon => (
            "Uncordon",
            "The scheduler may place pods on this node again.",
        ),
    }
}

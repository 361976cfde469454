use super::form::{ChangeForm, Ends, Sent};
use crate::api::objects::restart_object;
use leptos::prelude::*;
use portico_domain::panel::{Kubectl, ObjectView};
use uuid::Uuid;

/// Replaces a workload's pods.
#[component]
pub fn Restart(cluster: Uuid, object: ObjectView, ends: Ends) -> impl IntoView {
    let reference = object.reference.clone();
    let send = Callback::new(move |()| {
        let sent: Sent = Box::pin(restart_object(cluster, reference.clone().into()));
        Some(sent)
    });
    let command = Kubectl::Restart.line(&object.reference, &object.kind);
    view! {
        <ChangeForm cluster object ends endpoint="objects/restart" label="Restart" send command>
            <p>
                "Its pods are replaced one after another, according to its update strategy. With \
                 one replica it may be unavailable for a moment."
            </p>
        </ChangeForm>
    }
    .into_any()
}

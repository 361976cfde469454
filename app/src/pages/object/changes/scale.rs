use super::form::{ChangeForm, Ends, Sent};
use crate::{api::objects::scale_object, ui::Field};
use leptos::prelude::*;
use portico_domain::panel::{Kubectl, ObjectView};
use uuid::Uuid;

/// Changes the number of replicas.
#[component]
pub fn Scale(cluster: Uuid, object: ObjectView, ends: Ends) -> impl IntoView {
    let now = object.replicas.unwrap_or(0);
    let replicas = RwSignal::new(now.to_string());
    let wanted = move || {
        let wanted = replicas.with(|text| text.trim().parse::<i64>());
        wanted.ok().filter(|n| (0..=10_000).contains(n))
    };
    let error = Signal::derive(move || {
        wanted()
            .is_none()
            .then(|| "A whole number from 0 to 10,000.".to_owned())
    });
    let reference = object.reference.clone();
    let send = Callback::new(move |()| {
        let sent: Sent = Box::pin(scale_object(
            cluster,
            reference.clone().into(),
            untrack(wanted)?,
        ));
        Some(sent)
    });
    let (target, kind) = (object.reference.clone(), object.kind.clone());
    let command =
        Signal::derive(move || Kubectl::Scale(wanted().unwrap_or(now)).line(&target, &kind));
    view! {
        <ChangeForm cluster object ends endpoint="objects/scale" label="Scale" send command>
            <Field
                id="replicas"
                name="replicas"
                label="Replicas"
                kind="number"
                required=true
                value=replicas
                hint=format!("Now {now}. 0 stops all of them and keeps the workload.")
                error
            />
        </ChangeForm>
    }
    .into_any()
}

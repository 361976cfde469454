use super::form::{ChangeForm, Ends, Sent};
use crate::{
    api::objects::{get_revision_diff, roll_back},
    components::{Difference, InlineError},
    ui::{SkeletonLines, suspended},
};
use leptos::prelude::*;
use portico_domain::panel::{Kubectl, ObjectView};
use uuid::Uuid;

/// Replaces the pod template by that of an earlier revision; shows first what changes.
#[component]
pub fn RollBack(cluster: Uuid, object: ObjectView, ends: Ends, revision: i64) -> impl IntoView {
    let (reference, uid) = (object.reference.clone(), object.uid.clone());
    let asked = reference.clone();
    let diff = Resource::new(
        || (),
        move |()| get_revision_diff(cluster, asked.clone(), revision),
    );
    let send = Callback::new(move |()| {
        let sent: Sent = Box::pin(roll_back(
            cluster,
            reference.clone().into(),
            uid.clone(),
            revision,
        ));
        Some(sent)
    });
    let command = Kubectl::RollBack(revision).line(&object.reference, &object.kind);
    view! {
        <ChangeForm cluster object ends endpoint="objects/roll_back" label="Roll back" send command>
            <input type="hidden" name="revision" value=revision.to_string() />
            <p>
                "The pod template is replaced by that of revision "{revision}
                ", and the pods are replaced according to the update strategy. The present template \
                 stays in the revisions."
            </p>
            <Suspense fallback=|| view! { <SkeletonLines lines=4 /> }>
                {move || suspended(async move {
                    match diff.await {
                        Ok(diff) if diff.is_empty() => view! {
                            <p class="text-muted">"Both templates are equal: nothing would change."</p>
                        }
                        .into_any(),
                        Ok(diff) => view! { <Difference diff label="Changes of the pod template" /> }
                            .into_any(),
                        Err(error) => view! { <InlineError error /> }.into_any(),
                    }
                })}
            </Suspense>
        </ChangeForm>
    }
    .into_any()
}

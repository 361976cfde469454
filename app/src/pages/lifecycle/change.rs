//! The parts that forms of changes share: the typed name, and what came of the request.
use crate::{
    components::InlineError,
    error::{UiError, UiErrorKind},
    routes::managed_clusters::ManagedClustersPage,
    ui::{Banner, Tone},
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::ChangeOutcome;
use uuid::Uuid;

/// Returns the field in which the name of the cluster is typed.
pub fn typed_name(name: String, typed: RwSignal<String>) -> AnyView {
    view! {
        <div class="field">
            <label for="typed-name">
                "Type " <strong class="mono">{name}</strong> " to confirm"
            </label>
            <input
                class="input"
                id="typed-name"
                name="typed"
                required
                autocomplete="off"
                spellcheck="false"
                prop:value=move || typed.get()
                on:input=move |event| typed.set(event_target_value(&event))
            />
        </div>
    }
    .into_any()
}

/// Returns the field for why the user requests a change. `id` is unique in the page.
pub fn reason_field(id: &'static str, reason: RwSignal<String>) -> AnyView {
    let write = Callback::new(move |text: String| reason.set(text));
    reason_input(id, reason.into(), write)
}

/// Does the same for a reason that is a part of something else; `write` gets what is typed.
pub fn reason_input(id: &'static str, reason: Signal<String>, write: Callback<String>) -> AnyView {
    let hint_id = format!("{id}-hint");
    view! {
        <div class="field">
            <label for=id>"Reason"</label>
            <input
                class="input"
                id=id
                name="reason"
                // more would be cut off in the journal
                maxlength="300"
                autocomplete="off"
                aria-describedby=hint_id.clone()
                prop:value=move || reason.get()
                on:input=move |event| write.run(event_target_value(&event))
            />
            <span class="field-hint" id=hint_id>
                "Optional; it is written to the cluster's journal."
            </span>
        </div>
    }
    .into_any()
}

/// Returns what came of a request for a change of a cluster.
pub fn outcome(answer: Result<ChangeOutcome, UiError>, cluster: Uuid, project: &str) -> AnyView {
    match answer {
        Err(error) => view! { <InlineError error /> }.into_any(),
        Ok(ChangeOutcome::Refused {
            reason,
            next_step,
            request_id,
        }) => {
            // the same banner as of an error, with its request ID
            let mut error = UiError::new(UiErrorKind::Invalid, reason);
            error.next_step = next_step;
            error.request_id = request_id;
            view! { <InlineError error /> }.into_any()
        }
        Ok(ChangeOutcome::Unknown { reason, next_step }) => {
            let href = ManagedClustersPage::Cluster(cluster).address(project);
            view! {
                <Banner tone=Tone::Warn alert=true>
                    <p class="font-semibold">{reason}</p>
                    <p>{next_step}</p>
                    <p><a href=href>"Open the page of the cluster"</a></p>
                </Banner>
            }
            .into_any()
        }
        Ok(ChangeOutcome::Accepted) => {
            view! { <Banner tone=Tone::Ok>"Magnum accepted the change."</Banner> }.into_any()
        }
    }
}

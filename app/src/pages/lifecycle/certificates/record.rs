//! The authority in Portico's record of the cluster, after a rotation.
use crate::{
    api::lifecycle::enrol_cluster,
    components::InlineError,
    error::{UiError, UiErrorKind},
    ui::{Banner, Button, Tone},
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{EnrolmentOutcome, RecordedAuthority};
use uuid::Uuid;

/// Returns the warning that the record has another authority than the cluster, with the button that
/// updates it; nothing else. `updated` runs when the record was updated.
pub fn banner(cluster: Uuid, record: RecordedAuthority, updated: Callback<()>) -> Option<AnyView> {
    if record != RecordedAuthority::Differs {
        return None;
    }
    let busy = RwSignal::new(false);
    let failure = RwSignal::new(None::<UiError>);
    let send = move |_| {
        busy.set(true);
        failure.set(None);
        let asked = enrol_cluster(cluster, None);
        leptos::task::spawn_local(async move {
            let answer = asked.await;
            // the user may have left the page meanwhile
            let _ = busy.try_set(false);
            match refusal(answer) {
                Some(error) => {
                    let _ = failure.try_set(Some(error));
                }
                None => {
                    updated.try_run(());
                }
            }
        });
    };
    let banner = view! {
        <div class="mt-4" data-part="record">
            <Banner tone=Tone::Warn>
                <p class="font-semibold">"The authority of this cluster has changed."</p>
                <p>
                    "Portico's record still has the one before, so the cluster cannot be opened. Update the \
                     record, then get the kubeconfig again."
                </p>
                <p class="mt-2">
                    <Button label="Update the record" busy=busy on_click=send />
                </p>
            </Banner>
            {move || failure.get().map(|error| view! {
                <div class="mt-2"><InlineError error /></div>
            })}
        </div>
    };
    Some(banner.into_any())
}

/// Returns why the record was not updated.
fn refusal(answer: Result<EnrolmentOutcome, UiError>) -> Option<UiError> {
    match answer {
        Ok(EnrolmentOutcome::Enrolled { .. } | EnrolmentOutcome::WaitingForConfiguration(_)) => {
            None
        }
        Ok(EnrolmentOutcome::Later { reason, .. }) => {
            let error = UiError::new(UiErrorKind::Unavailable, reason);
            Some(error.next_step("Try again in a minute."))
        }
        Ok(EnrolmentOutcome::Refused { reason, next_step }) => {
            let mut error = UiError::new(UiErrorKind::Invalid, reason);
            error.next_step = next_step;
            Some(error)
        }
        Err(error) => Some(error),
    }
}

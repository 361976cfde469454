//! How far a created object is: a claim until it is bound, a Service or an Ingress until it is reachable.
use crate::{
    api::creation::follow_creation,
    components::who_can_link,
    error::UiError,
    hooks::use_poll,
    ui::{Status, Tone},
};
use leptos::prelude::*;
use portico_domain::panel::{CreationProgress, CreationState, ObjectRef};
use std::time::Duration;
use uuid::Uuid;

/// How often the cluster is asked while the object has not reached its result.
const REFRESH_INTERVAL: Duration = Duration::from_secs(3);

/// Follows an object until it has reached its result, and says what it waits for.
#[component]
pub fn Progress(cluster: Uuid, object: ObjectRef) -> impl IntoView {
    let shown = RwSignal::new(None::<Result<CreationProgress, UiError>>);
    let busy = StoredValue::new(false);
    let ask = move || {
        let is_done = shown.with_untracked(
            |shown| matches!(shown, Some(Ok(progress)) if progress.state == CreationState::Done),
        );
        if is_done || busy.get_value() {
            return;
        }
        busy.set_value(true);
        let asked = follow_creation(cluster, object.clone());
        leptos::task::spawn_local(async move {
            let answer = asked.await;
            let _ = busy.try_update_value(|busy| *busy = false);
            let differs = shown.try_with_untracked(|shown| shown.as_ref() != Some(&answer));
            if differs == Some(true) {
                let _ = shown.try_set(Some(answer));
            }
        });
    };
    ask();
    use_poll(REFRESH_INTERVAL, ask);
    view! {
        <div role="status" data-part="progress">
            {move || shown.get().map(|answer| match answer {
                Ok(progress) => words(progress),
                Err(error) => {
                    let text = format!("Its state is not known: {}", error.message);
                    let link = who_can_link(error.missing.as_deref());
                    view! { <Status tone=Tone::Warn text /> " " {link} }.into_any()
                }
            })}
        </div>
    }
    .into_any()
}

fn words(progress: CreationProgress) -> AnyView {
    let tone = match progress.state {
        CreationState::Waiting => Tone::Info,
        CreationState::Blocked => Tone::Warn,
        CreationState::Done => Tone::Ok,
    };
    let details = progress
        .details
        .into_iter()
        .map(|detail| view! { <p class="text-muted wrap-anywhere">{detail}</p> })
        .collect_view();
    let gaps = progress
        .gaps
        .into_iter()
        .map(|gap| {
            let link = who_can_link(gap.missing.as_deref());
            view! { <p class="text-muted wrap-anywhere">{gap.reason}" "{link}</p> }
        })
        .collect_view();
    view! {
        <p class="wrap-anywhere"><Status tone text=progress.summary /></p>
        {details}
        {gaps}
    }
    .into_any()
}

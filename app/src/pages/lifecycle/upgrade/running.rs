//! The change that runs on the cluster: its steps and nodes, and what can be chosen once it has ended.
use super::state::UpgradeForm;
use crate::{
    api::lifecycle::get_cluster_progress,
    error::UiErrorKind,
    hooks::Timer,
    pages::lifecycle::cluster::{Watch, operation},
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{ClusterProgress, ProgressUpdate};
use std::time::Duration;
use uuid::Uuid;

/// Pause before the next request while Portico does not answer the first one.
const RETRY_INTERVAL: Duration = Duration::from_secs(10);

/// The running change, which is followed to its end. Nothing while none has run since the page was opened.
#[component]
pub fn RunningChange(form: UpgradeForm, cluster: Uuid) -> impl IntoView {
    let first = RwSignal::new(None::<ProgressUpdate>);
    ask(cluster, first, Timer::new());
    view! {
        {move || first.get().and_then(|mut update| {
            let progress = *update.changed.take()?;
            Some(view! { <Followed form cluster update progress /> })
        })}
    }
    .into_any()
}

/// Reads the progress that is shown first.
fn ask(cluster: Uuid, first: RwSignal<Option<ProgressUpdate>>, timer: Timer) {
    let asked = get_cluster_progress(cluster, None);
    leptos::task::spawn_local(async move {
        match asked.await {
            Ok(update) => {
                let _ = first.try_set(Some(update));
            }
            Err(error) if error.kind == UiErrorKind::Unavailable => {
                timer.start(RETRY_INTERVAL, move || ask(cluster, first, timer));
            }
            // the page has the same error from its own request
            Err(_) => {}
        }
    });
}

#[component]
fn Followed(
    form: UpgradeForm,
    cluster: Uuid,
    update: ProgressUpdate,
    progress: ClusterProgress,
) -> impl IntoView {
    let watch = Watch::new(cluster, &update, progress);
    watch.start();
    let is_running = Memo::new(move |_| watch.progress.with(|progress| !progress.is_settled()));
    // what can be chosen differs before and after a change
    Effect::new(move |before: Option<bool>| {
        let is_running = is_running.get();
        if before.is_some_and(|before| before != is_running) {
            form.read();
        }
        is_running
    });
    // its end stays on the page
    let has_run = Memo::new(move |before: Option<&bool>| {
        before.copied().unwrap_or_default() || is_running.get()
    });
    view! { {move || has_run.get().then(|| operation(watch))} }.into_any()
}

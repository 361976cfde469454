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
/// Age from which Portico reads the state of a cluster from Magnum again for a page that is opened. A page
/// that is opened earlier begins with the state from before.
const MAX_AGE_OPENED: Duration = Duration::from_secs(3);

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
    look_again(form, watch, is_running);
    // its end stays on the page
    let has_run = Memo::new(move |before: Option<&bool>| {
        before.copied().unwrap_or_default() || is_running.get()
    });
    view! { {move || has_run.get().then(|| operation(watch))} }.into_any()
}

/// Asks for the progress again once the state that the page began with is too old for a page that is opened,
/// and as long as the options, which are read from Magnum itself, name a change that the progress lacks.
fn look_again(form: UpgradeForm, watch: Watch, is_running: Memo<bool>) {
    let busy = Memo::new(move |_| {
        form.options.with(|options| {
            let options = options.as_ref().filter(|options| options.is_busy);
            // another read of the same state is due for another look
            options.map(|options| options.read_at)
        })
    });
    let timer = Timer::new();
    Effect::new(move |before: Option<()>| {
        let (is_running, is_busy) = (is_running.get(), busy.get().is_some());
        if is_running {
            timer.cancel();
        } else if is_busy {
            expect_change(form, watch, timer);
        } else if before.is_none() {
            timer.start(MAX_AGE_OPENED, move || watch.ask_anew());
        }
    });
}

/// Looks whether the progress has a change that the options name, once the page is visible.
fn expect_change(form: UpgradeForm, watch: Watch, timer: Timer) {
    timer.start(MAX_AGE_OPENED, move || {
        if document().hidden() {
            expect_change(form, watch, timer);
            return;
        }
        watch.ask_anew();
        // the change may have ended meanwhile
        form.read();
    });
}

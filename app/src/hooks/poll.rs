use crate::error::UiError;
use leptos::prelude::*;
use std::{future::Future, time::Duration};

/// Calls `again` at an interval while the page is visible.
pub fn use_poll(every: Duration, again: impl Fn() + Clone + Send + Sync + 'static) {
    Effect::new(move |_| {
        let again = again.clone();
        let tick = move || {
            if !document().hidden() {
                again();
            }
        };
        if let Ok(handle) = set_interval_with_handle(tick, every) {
            on_cleanup(move || handle.clear());
        }
    });
}

/// Loads data at an interval and shows it only if it differs, so that focus and scrolling stay.
/// After a failure the data stays and `outdated` is set.
pub fn keep_fresh<T, Fut>(
    data: Resource<Result<T, UiError>>,
    every: Duration,
    outdated: RwSignal<bool>,
    ask: impl Fn() -> Fut + Clone + Send + Sync + 'static,
) where
    T: PartialEq + Send + Sync + 'static,
    Fut: Future<Output = Result<T, UiError>> + 'static,
{
    use_poll(every, move || refresh_quietly(data, outdated, ask()));
}

/// Loads data once, as [`keep_fresh`] does.
pub fn refresh_quietly<T>(
    data: Resource<Result<T, UiError>>,
    outdated: RwSignal<bool>,
    answer: impl Future<Output = Result<T, UiError>> + 'static,
) where
    T: PartialEq + Send + Sync + 'static,
{
    leptos::task::spawn_local(async move {
        let answer = answer.await;
        let _ = outdated.try_set(answer.is_err());
        let Ok(answer) = answer else { return };
        let differs =
            data.try_with_untracked(|shown| !matches!(shown, Some(Ok(shown)) if *shown == answer));
        if differs == Some(true) {
            let _ = data.try_set(Some(Ok(answer)));
        }
    });
}

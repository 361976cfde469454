//! A test that the server runs while its form waits, and its result.
use crate::{components::InlineError, error::UiError};
use leptos::{ev::SubmitEvent, prelude::*, task::spawn_local};
use std::future::Future;

/// One form's test: running, done or failed.
pub(super) struct Attempt<T: Send + Sync + 'static> {
    result: RwSignal<Option<T>>,
    failure: RwSignal<Option<UiError>>,
    pub busy: RwSignal<bool>,
}

impl<T: Send + Sync + 'static> Clone for Attempt<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Send + Sync + 'static> Copy for Attempt<T> {}

impl<T: Clone + Send + Sync + 'static> Attempt<T> {
    /// Starts with the last result.
    pub fn new(last: Option<T>) -> Self {
        Self {
            result: RwSignal::new(last),
            failure: RwSignal::new(None),
            busy: RwSignal::new(false),
        }
    }

    /// Handles a submitted form without leaving the page; a second click waits for the first.
    pub fn submit<F>(self, event: &SubmitEvent, ask: impl FnOnce() -> F)
    where
        F: Future<Output = Result<T, UiError>> + 'static,
    {
        event.prevent_default();
        if self.busy.get_untracked() {
            return;
        }
        self.busy.set(true);
        self.failure.set(None);
        let answer = ask();
        spawn_local(async move {
            let outcome = answer.await;
            // the user may have left the page meanwhile
            let _ = self.busy.try_set(false);
            match outcome {
                Ok(test) => {
                    let _ = self.result.try_set(Some(test));
                }
                Err(error) => {
                    let _ = self.failure.try_set(Some(error));
                }
            }
        });
    }

    /// Returns the result: in a few words for screen readers, and in full.
    pub fn outcome(
        self,
        spoken: fn(&T) -> Option<String>,
        shown: impl Fn(&T) -> AnyView + Copy + Send + 'static,
    ) -> AnyView {
        let Self {
            result, failure, ..
        } = self;
        view! {
            <p class="visually-hidden" role="status">
                {move || result.with(|test| test.as_ref().and_then(spoken))}
            </p>
            <div>
                {move || failure.get().map(|error| view! {
                    <div class="mt-4"><InlineError error /></div>
                })}
                {move || result.get().map(|test| view! { <div class="mt-4">{shown(&test)}</div> })}
            </div>
        }
        .into_any()
    }
}

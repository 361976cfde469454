//! A request for a change of a template, and what came of it.
use crate::{
    components::InlineError,
    error::{UiError, UiErrorKind},
    ui::{Banner, Tone},
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::TemplateOutcome;
use std::future::Future;
use uuid::Uuid;

/// The state of a request. `Copy`.
#[derive(Clone, Copy)]
pub struct Sending {
    pub is_busy: RwSignal<bool>,
    answer: RwSignal<Option<Result<TemplateOutcome, UiError>>>,
}

impl Sending {
    /// Returns that nothing was sent yet.
    pub fn new() -> Self {
        Self {
            is_busy: RwSignal::new(false),
            answer: RwSignal::new(None),
        }
    }

    /// Sends a request; `done` runs with the UUID of the template when it had its effect.
    pub fn run(
        self,
        asked: impl Future<Output = Result<TemplateOutcome, UiError>> + 'static,
        done: Callback<Uuid>,
    ) {
        if self.is_busy.try_get_untracked() != Some(false) {
            return;
        }
        self.is_busy.set(true);
        self.answer.set(None);
        leptos::task::spawn_local(async move {
            let answer = asked.await;
            // the user may have left the page meanwhile
            let _ = self.is_busy.try_set(false);
            if let Ok(TemplateOutcome::Done { template }) = answer {
                done.try_run(template);
                return;
            }
            let _ = self.answer.try_set(Some(answer));
        });
    }

    /// Returns why the request had no effect, or that this is not known.
    pub fn outcome(self) -> impl Fn() -> Option<AnyView> + Send + Sync + Copy + 'static {
        move || self.answer.get().map(view_of)
    }
}

fn view_of(answer: Result<TemplateOutcome, UiError>) -> AnyView {
    match answer {
        Err(error) => view! { <InlineError error /> }.into_any(),
        Ok(TemplateOutcome::Refused {
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
        Ok(TemplateOutcome::Unknown { reason, next_step }) => view! {
            <Banner tone=Tone::Warn alert=true>
                <p class="font-semibold">{reason}</p>
                <p>{next_step}</p>
            </Banner>
        }
        .into_any(),
        Ok(TemplateOutcome::Done { .. }) => ().into_any(),
    }
}

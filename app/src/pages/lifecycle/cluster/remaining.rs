//! Steps of the plan that follow the creation. The page of the user who created the cluster sends each of
//! them once, when it can be sent; other users have a button for it.
use super::watch::Watch;
use crate::{
    api::lifecycle::continue_creation,
    components::InlineError,
    error::UiError,
    ui::{Banner, Button, Card, Status, Tone, icons},
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{
    ActionOffer, ClusterAction, ClusterProgress, PlannedStep, PlannedStepState,
};

/// What this page sends. `Copy`.
#[derive(Clone, Copy)]
struct Continuation {
    watch: Watch,
    /// The step that was sent last.
    sent: StoredValue<Option<String>>,
    busy: RwSignal<bool>,
    failure: RwSignal<Option<UiError>>,
}

impl Continuation {
    fn begin(self, step: String) {
        let before = self.sent.try_update_value(|sent| {
            let is_new = sent.as_ref() != Some(&step);
            *sent = Some(step);
            is_new
        });
        if before == Some(true) {
            self.send();
        }
    }

    fn send(self) {
        if self.busy.try_get_untracked() != Some(false) {
            return;
        }
        self.busy.set(true);
        self.failure.set(None);
        let asked = continue_creation(self.watch.cluster);
        leptos::task::spawn_local(async move {
            let answer = asked.await;
            // the user may have left the page meanwhile
            let _ = self.busy.try_set(false);
            match answer {
                Ok(()) => self.watch.ask(),
                Err(error) => {
                    let _ = self.failure.try_set(Some(error));
                }
            }
        });
    }
}

/// Returns the step that can be sent now, by this viewer.
fn ready(progress: &ClusterProgress) -> Option<String> {
    if refusal(progress).is_some() {
        return None;
    }
    progress
        .remaining
        .iter()
        .find(|step| step.state == PlannedStepState::Ready)
        .map(|step| step.effect.clone())
}

/// Returns why this viewer may not send the next step; nothing while it cannot be sent anyway.
fn refusal(progress: &ClusterProgress) -> Option<String> {
    let next = progress.remaining.first()?;
    if next.state != PlannedStepState::Ready {
        return None;
    }
    let offer = progress.cluster.offer(ClusterAction::Continue);
    offer.and_then(|ActionOffer { refusal, .. }| refusal.clone())
}

/// Returns the card of the steps that follow; nothing without any.
pub fn card(watch: Watch) -> AnyView {
    let run = Continuation {
        watch,
        sent: StoredValue::new(None),
        busy: RwSignal::new(false),
        failure: RwSignal::new(None),
    };
    let next = Memo::new(move |_| watch.progress.with(ready));
    let steps = Memo::new(move |_| watch.progress.with(|progress| progress.remaining.clone()));
    let refused = Memo::new(move |_| watch.progress.with(refusal));
    let is_own = Memo::new(move |_| watch.progress.with(|progress| progress.cluster.is_own));
    let is_empty = Memo::new(move |_| steps.with(Vec::is_empty));
    Effect::new(move |_| {
        if is_own.get()
            && let Some(step) = next.get()
        {
            run.begin(step);
        }
    });
    view! {
        {move || (!is_empty.get()).then(|| view! {
            <div class="mt-4" data-part="remaining">
                <Card title="Next steps of the plan">
                    <div class="grid grid-cols-1 gap-3">
                        <ol class="rows">
                            {move || steps.get().into_iter().map(row).collect_view()}
                        </ol>
                        {move || refused.get().map(|reason| view! {
                            <Banner tone=Tone::Info>{reason}</Banner>
                        })}
                        {move || (!is_own.get() && next.with(Option::is_some)).then(|| view! {
                            <div>
                                <Button
                                    label="Send the next step"
                                    icon=icons::PLAY
                                    busy=run.busy
                                    on_click=move |_| run.send()
                                />
                            </div>
                        })}
                        {move || run.failure.get().map(|error| view! {
                            <InlineError error />
                            <div>
                                <Button
                                    label="Try again"
                                    icon=icons::REFRESH
                                    busy=run.busy
                                    on_click=move |_| run.send()
                                />
                            </div>
                        })}
                    </div>
                </Card>
            </div>
        })}
    }
    .into_any()
}

fn row(step: PlannedStep) -> AnyView {
    let (tone, words, reason) = match step.state {
        PlannedStepState::Waiting => (Tone::Idle, "Waiting until the cluster is settled", None),
        PlannedStepState::Ready => (Tone::Info, "Can be sent", None),
        PlannedStepState::Refused(reason) => (Tone::Bad, "Refused", Some(reason)),
    };
    view! {
        <li class="grid gap-1">
            <span class="flex flex-wrap items-center gap-2">
                <strong class="wrap-anywhere">{step.effect}</strong>
                <Status tone text=words />
            </span>
            {reason.map(|reason| view! { <span class="text-muted wrap-anywhere">{reason}</span> })}
        </li>
    }
    .into_any()
}

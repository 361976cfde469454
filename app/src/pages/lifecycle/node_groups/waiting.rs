//! The change that waits: for the one that is running, or for the user to continue it. Any page can.
use super::state::{Groups, Stage};
use crate::{
    api::cluster_repairs::{continue_change, discard_change, get_change_queue, queue_change},
    components::InlineError,
    error::UiError,
    hooks::Timer,
    pages::lifecycle::{change, focus::focus_table},
    ui::{Banner, Button, ButtonKind, Card, DescriptionList, Status, Tone, icons},
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{
    ChangeOutcome, ChangeQueue, PlanLine, WaitingChange, WaitingState,
};
use std::time::Duration;
use uuid::Uuid;

/// How often it is looked whether the running change has finished.
const INTERVAL: Duration = Duration::from_secs(5);

/// `Copy`.
#[derive(Clone, Copy)]
pub struct Waiting {
    cluster: Uuid,
    groups: Groups,
    /// The last answer; it stays while another one is read.
    shown: RwSignal<ChangeQueue>,
    failure: RwSignal<Option<UiError>>,
    is_sending: RwSignal<bool>,
    answer: RwSignal<Option<Result<ChangeOutcome, UiError>>>,
    /// Whether this page continues the change by itself, because it has queued it.
    continues: StoredValue<bool>,
    /// The ID of that change; `None`: it was not read yet. Another one is not continued without the user.
    own: StoredValue<Option<String>>,
    /// The requests that were left when this page has sent one: they are not sent again by it.
    sent: StoredValue<Option<Vec<PlanLine>>>,
    timer: Timer,
}

impl Waiting {
    pub fn new(cluster: Uuid, groups: Groups) -> Self {
        Self {
            cluster,
            groups,
            shown: RwSignal::new(ChangeQueue::default()),
            failure: RwSignal::new(None),
            is_sending: RwSignal::new(false),
            answer: RwSignal::new(None),
            continues: StoredValue::new(false),
            own: StoredValue::new(None),
            sent: StoredValue::new(None),
            timer: Timer::new(),
        }
    }

    /// Reads what waits now, and again whenever the form finds another change running, or a request was
    /// sent.
    pub fn start(self) {
        let groups = self.groups;
        let is_blocked = Memo::new(move |_| is_blocked(groups));
        Effect::new(move |_| {
            let _ = is_blocked.get();
            groups.outcome.track();
            groups.stage.track();
            self.read();
        });
    }

    fn read(self) {
        let asked = get_change_queue(self.cluster);
        leptos::task::spawn_local(async move {
            match asked.await {
                Ok(queue) => self.show(queue),
                Err(error) => self.fail(error),
            }
        });
    }

    /// Shows why the queue was not read, and reads it again if something waits.
    fn fail(self, error: UiError) {
        // one that is shown is not announced again with each read
        let is_shown = self.failure.try_with_untracked(|shown| {
            shown
                .as_ref()
                .is_some_and(|shown| shown.message == error.message)
        });
        match is_shown {
            Some(true) => {}
            Some(false) => self.failure.set(Some(error)),
            // the page was left
            None => return,
        }
        let is_waiting = self
            .shown
            .with_untracked(|queue| queue.running.is_some() || queue.waiting.is_some());
        if is_waiting || self.continues.get_value() {
            self.timer.start(INTERVAL, move || self.read());
        }
    }

    fn show(self, queue: ChangeQueue) {
        let state = queue.waiting.as_ref().map(|waiting| waiting.state.clone());
        let steps = queue.waiting.as_ref().map(|waiting| waiting.steps.clone());
        let id = queue.waiting.as_ref().map(|waiting| waiting.id.clone());
        let is_running = queue.running.is_some() || state == Some(WaitingState::Settling);
        // the page was left
        if self.shown.try_set(queue).is_some() {
            return;
        }
        self.failure.set(None);
        if self.continues.get_value() && self.own.with_value(Option::is_none) {
            self.own.set_value(id.clone());
        }
        let is_own = self.own.with_value(|own| *own == id);
        if is_running {
            self.timer.start(INTERVAL, move || self.read());
            return;
        }
        // the form may be sent now, or the review is older than the queue
        if untrack(|| is_blocked(self.groups)) {
            self.groups.review_now();
            self.timer.start(INTERVAL, move || self.read());
        }
        let is_new = self.sent.with_value(|sent| *sent != steps);
        if !self.continues.get_value() {
            return;
        }
        if state == Some(WaitingState::Ready) && is_own && is_new {
            self.proceed();
        } else if state.is_none() || !is_own {
            self.continues.set_value(false);
            self.groups.read();
        } else if state == Some(WaitingState::Ready) {
            // Magnum has not begun with the last request
            self.timer.start(INTERVAL, move || self.read());
        }
    }

    /// Queues what is typed behind the change that is running.
    fn queue(self) {
        let Some(Ok(change)) = self.groups.change() else {
            return;
        };
        if self.is_sending.get_untracked() {
            return;
        }
        let reason = self
            .groups
            .texts
            .with_untracked(|texts| texts.reason.clone());
        self.is_sending.set(true);
        let asked = queue_change(self.cluster, change, reason);
        leptos::task::spawn_local(async move {
            let answer = asked.await;
            let is_accepted = answer == Ok(ChangeOutcome::Accepted);
            // the page was left
            if self.is_sending.try_set(false).is_some() {
                return;
            }
            if is_accepted {
                self.continues.set_value(true);
                self.own.set_value(None);
                self.sent.set_value(None);
                self.answer.set(None);
                self.groups.close();
                focus_table();
            } else {
                self.answer.set(Some(answer));
            }
            self.read();
        });
    }

    /// Sends the next request of the change that waits.
    fn proceed(self) {
        if self.is_sending.get_untracked() {
            return;
        }
        let Some(change) = self.shown.with_untracked(|shown| shown.waiting.clone()) else {
            return;
        };
        self.is_sending.set(true);
        self.answer.set(None);
        let asked = continue_change(self.cluster, change.id.clone());
        leptos::task::spawn_local(async move {
            let answer = asked.await;
            let is_accepted = answer == Ok(ChangeOutcome::Accepted);
            if self.is_sending.try_set(false).is_some() {
                return;
            }
            // the user decides again if it was refused
            self.continues.set_value(is_accepted);
            self.own.set_value(Some(change.id));
            self.sent.set_value(Some(change.steps));
            self.answer.set(Some(answer).filter(|_| !is_accepted));
            self.groups.read();
            // Magnum begins a moment later
            self.timer.start(INTERVAL, move || self.read());
        });
    }

    fn discard(self) {
        if self.is_sending.get_untracked() {
            return;
        }
        let id = self
            .shown
            .with_untracked(|shown| shown.waiting.as_ref().map(|waiting| waiting.id.clone()));
        let Some(id) = id else {
            return;
        };
        self.is_sending.set(true);
        let asked = discard_change(self.cluster, id);
        leptos::task::spawn_local(async move {
            let answer = asked.await;
            if self.is_sending.try_set(false).is_some() {
                return;
            }
            self.continues.set_value(false);
            self.answer.set(None);
            match answer {
                Ok(()) => self.read(),
                Err(error) => self.failure.set(Some(error)),
            }
        });
    }
}

/// Returns whether what is typed has to wait for a change that is running. Tracks.
fn is_blocked(groups: Groups) -> bool {
    let is_typing = groups.stage.with(|stage| *stage == Stage::Typing);
    let is_busy = groups.review.with(|review| {
        matches!(review, Some(Ok(review))
            if review.is_busy && review.problems.is_empty() && !review.steps.is_empty())
    });
    is_typing && is_busy && groups.draft.with(Option::is_some)
}

/// Returns the offer to send what is typed when the running change has finished.
pub fn offer(waiting: Waiting) -> AnyView {
    let groups = waiting.groups;
    let is_offered = Memo::new(move |_| is_blocked(groups));
    let running = Memo::new(move |_| waiting.shown.with(|shown| shown.running.clone()));
    view! {
        {move || is_offered.get().then(|| {
            let text = running.get();
            let text = text.unwrap_or_else(|| "Another change of the cluster is running.".to_owned());
            view! {
                <div class="mt-4" data-part="queue">
                    <Banner tone=Tone::Info>
                        <p class="font-semibold wrap-anywhere">{text}</p>
                        <p>
                            "One change of a cluster runs at a time. Yours can wait: this page sends it when the \
                             other one has finished. If you leave the page, it waits for you here."
                        </p>
                        <p class="mt-2">
                            <Button
                                label="Send when it has finished"
                                icon=icons::CLOCK
                                busy=waiting.is_sending
                                on_click=move |_| waiting.queue()
                            />
                        </p>
                    </Banner>
                </div>
            }
        })}
    }
    .into_any()
}

/// Returns the card of the change that waits; nothing without one, or while this page carries it out.
pub fn card(waiting: Waiting, project: &str) -> AnyView {
    let groups = waiting.groups;
    let (cluster, project) = (waiting.cluster, project.to_owned());
    let change = Memo::new(move |_| {
        let is_carried_out = groups
            .stage
            .with(|stage| matches!(stage, Stage::Waiting { .. }));
        let change = waiting.shown.with(|shown| shown.waiting.clone());
        change.filter(|_| !is_carried_out)
    });
    view! {
        <div role="status">
            {move || change.get().map(|change| content(waiting, change))}
        </div>
        {move || waiting.answer.get().map(|answer| view! {
            <div class="mt-4">{change::outcome(answer, cluster, &project)}</div>
        })}
        {move || waiting.failure.get().map(|error| view! {
            <div class="mt-4"><InlineError error /></div>
        })}
    }
    .into_any()
}

fn content(waiting: Waiting, change: WaitingChange) -> AnyView {
    let (tone, title, reason) = match change.state {
        WaitingState::Settling => (Tone::Info, "Waits until the cluster is settled", None),
        WaitingState::Ready => (Tone::Warn, "Waiting for you", None),
        WaitingState::Refused(reason) => (Tone::Bad, "Cannot be continued", Some(reason)),
    };
    let is_ready = tone == Tone::Warn;
    let steps = change.steps.into_iter();
    let steps = steps
        .map(|step| view! { <li>{step.effect}</li> })
        .collect_view();
    let mut rows = vec![
        ("Change", change.title.into_any()),
        ("Requested by", change.by.into_any()),
    ];
    if let Some(reason) = change.reason {
        rows.push(("Reason", reason.into_any()));
    }
    let rows: Vec<_> = rows
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    let status = view! { <Status tone text=title /> }.into_any();
    view! {
        <div class="mt-4 mb-4" data-part="waiting">
            <Card title=format!("Change of {}", change.group) aside=status>
                <div class="grid grid-cols-1 gap-3">
                    <DescriptionList rows />
                    <ol class="notes" aria-label="Requests that are left">{steps}</ol>
                    {reason.map(|reason| view! { <Banner tone=Tone::Bad>{reason}</Banner> })}
                    <div class="flex flex-wrap gap-2">
                        {is_ready.then(|| view! {
                            <Button
                                label="Continue"
                                kind=ButtonKind::Primary
                                icon=icons::PLAY
                                busy=waiting.is_sending
                                on_click=move |_| waiting.proceed()
                            />
                        })}
                        <Button
                            label="Discard"
                            kind=ButtonKind::Plain
                            busy=waiting.is_sending
                            on_click=move |_| waiting.discard()
                        />
                    </div>
                </div>
            </Card>
        </div>
    }
    .into_any()
}

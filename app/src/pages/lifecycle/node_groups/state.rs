//! The state of the page: the groups, the change that is typed, its review, and what was sent.
use super::draft::{Kind, Texts};
use crate::{
    api::lifecycle::{change_node_group, get_node_groups, review_node_group},
    error::UiError,
    hooks::Timer,
    pages::lifecycle::{focus::focus_part, pods::accepts, read_failure::show_once},
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{
    ChangeOutcome, NodeGroupChange, NodeGroupDetail, NodeGroupReview, NodeGroups, PlanLine,
};
use std::time::Duration;
use uuid::Uuid;

/// How long after the last key a change is reviewed.
const TYPING_PAUSE: Duration = Duration::from_millis(400);
/// How often it is looked whether the next step can be sent.
const STEP_INTERVAL: Duration = Duration::from_secs(3);

/// How often the same step is found again before the user decides what to do.
const MAX_LOOKS: u32 = 10;

/// How far a change is that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Nothing was sent.
    Typing,
    /// A step was accepted, and others may follow when the cluster is settled.
    Waiting { change: NodeGroupChange },
    /// Every step was accepted.
    Done { group: String },
}

/// `Copy`.
#[derive(Clone, Copy)]
pub struct Groups {
    cluster: Uuid,
    /// The last answer; it stays while another one is read.
    pub shown: RwSignal<Option<NodeGroups>>,
    pub failure: RwSignal<Option<UiError>>,
    /// What is being changed; `None`: no form is open.
    pub draft: RwSignal<Option<Kind>>,
    pub texts: RwSignal<Texts>,
    /// The last review; it stays while another one is read.
    pub review: RwSignal<Option<Result<NodeGroupReview, UiError>>>,
    /// What cannot be read in the form, as a sentence.
    pub unreadable: RwSignal<Option<String>>,
    /// The pods that the user accepts to stay pending.
    pub accepted_pods: RwSignal<Vec<String>>,
    pub is_reviewing: RwSignal<bool>,
    pub is_sending: RwSignal<bool>,
    pub outcome: RwSignal<Option<Result<ChangeOutcome, UiError>>>,
    pub stage: RwSignal<Stage>,
    is_reading: StoredValue<bool>,
    /// The number of the last read: answers to earlier ones are older.
    reads: StoredValue<u32>,
    /// The number of the last review: answers to earlier ones are of other texts.
    reviews: StoredValue<u32>,
    timer: Timer,
}

impl Groups {
    pub fn new(cluster: Uuid) -> Self {
        Self {
            cluster,
            shown: RwSignal::new(None),
            failure: RwSignal::new(None),
            draft: RwSignal::new(None),
            texts: RwSignal::new(Texts::default()),
            review: RwSignal::new(None),
            unreadable: RwSignal::new(None),
            accepted_pods: RwSignal::new(Vec::new()),
            is_reviewing: RwSignal::new(false),
            is_sending: RwSignal::new(false),
            outcome: RwSignal::new(None),
            stage: RwSignal::new(Stage::Typing),
            is_reading: StoredValue::new(false),
            reads: StoredValue::new(0),
            reviews: StoredValue::new(0),
            timer: Timer::new(),
        }
    }

    /// Reads the groups.
    pub fn read(self) {
        let number = self.reads.try_update_value(|reads| {
            *reads += 1;
            *reads
        });
        self.is_reading.try_set_value(true);
        let asked = get_node_groups(self.cluster);
        leptos::task::spawn_local(async move {
            let answer = asked.await;
            // a later read has a later state, or the page was left
            if self.reads.try_with_value(|reads| *reads) != number {
                return;
            }
            self.is_reading.try_set_value(false);
            match answer {
                Ok(groups) => {
                    let _ = self.failure.try_set(None);
                    let _ = self.shown.try_set(Some(groups));
                }
                Err(error) => show_once(self.failure, error),
            }
        });
    }

    /// Reads the groups, unless they are being read.
    pub fn read_again(self) {
        if self.is_reading.try_get_value() == Some(false) {
            self.read();
        }
    }

    /// Opens the form of a change.
    pub fn open(self, kind: Kind) {
        let texts = self.shown.with_untracked(|shown| {
            let groups = shown
                .as_ref()
                .map_or(&[] as &[NodeGroupDetail], |shown| &shown.groups);
            match &kind {
                Kind::Create => {
                    let names: Vec<_> = groups.iter().map(|group| group.name.as_str()).collect();
                    Texts::new_group(&names)
                }
                Kind::Resize(name) | Kind::Settings(name) | Kind::Delete(name) => groups
                    .iter()
                    .find(|group| group.name == *name)
                    .map(Texts::of)
                    .unwrap_or_default(),
            }
        });
        self.timer.cancel();
        self.texts.set(texts);
        self.review.set(None);
        self.accepted_pods.set(Vec::new());
        self.outcome.set(None);
        self.stage.set(Stage::Typing);
        self.draft.set(Some(kind));
        focus_part("change");
        self.review_now();
    }

    /// Closes the form.
    pub fn close(self) {
        self.timer.cancel();
        self.draft.set(None);
        self.review.set(None);
    }

    /// Changes a text of the form; it is reviewed after a pause.
    pub fn write(self, change: impl FnOnce(&mut Texts)) {
        self.texts.update(change);
        self.timer.start(TYPING_PAUSE, move || self.review_now());
    }

    /// Returns what is typed; `None`: no form is open.
    pub fn change(self) -> Option<Result<NodeGroupChange, String>> {
        let kind = self.draft.get_untracked()?;
        let mut change = self.texts.with_untracked(|texts| texts.change(&kind));
        if let Ok(NodeGroupChange::Resize { accepted_pods, .. }) = &mut change {
            *accepted_pods = self.accepted_pods.get_untracked();
        }
        Some(change)
    }

    /// Reviews what is typed, without a pause.
    pub fn review_now(self) {
        let change = match self.change() {
            Some(Ok(change)) => change,
            Some(Err(text)) => {
                self.unreadable.set(Some(text));
                self.review.set(None);
                return;
            }
            None => return,
        };
        self.unreadable.set(None);
        let number = self.reviews.try_update_value(|reviews| {
            *reviews += 1;
            *reviews
        });
        self.is_reviewing.set(true);
        let asked = review_node_group(self.cluster, change);
        leptos::task::spawn_local(async move {
            let answer = asked.await;
            // something else was typed meanwhile, or the page was left
            if self.reviews.try_with_value(|reviews| *reviews) != number {
                return;
            }
            let _ = self.is_reviewing.try_set(false);
            self.show(answer);
        });
    }

    /// Shows a review. What is sent from now on is bound to the size in it.
    fn show(self, answer: Result<NodeGroupReview, UiError>) {
        if let Ok(NodeGroupReview {
            size: Some(size), ..
        }) = answer
        {
            let _ = self.texts.try_update(|texts| texts.from = size);
        }
        let _ = self.review.try_set(Some(answer));
    }

    /// Returns whether the change may be sent now. Tracks.
    pub fn can_be_sent(self) -> bool {
        let is_confirmed = match self.draft.get() {
            Some(Kind::Delete(group)) => self.texts.with(|texts| texts.typed.trim() == group),
            Some(_) => true,
            None => false,
        };
        let is_permitted = self
            .review
            .with(|review| matches!(review, Some(Ok(review)) if self.permits(review)));
        is_confirmed
            && is_permitted
            && self.unreadable.with(Option::is_none)
            && !self.is_reviewing.get()
            && !self.is_sending.get()
            && self.stage.with(|stage| *stage == Stage::Typing)
    }

    /// Returns whether the checks and the user permit a change. Tracks.
    fn permits(self, review: &NodeGroupReview) -> bool {
        let pending = &review.pending_pods;
        let is_accepted = self
            .accepted_pods
            .with(|accepted| accepts(accepted, pending));
        review.can_be_sent() && is_accepted
    }

    /// Sends the first step of what was typed.
    pub fn send(self) {
        if !untrack(|| self.can_be_sent()) {
            return;
        }
        let steps = self.review.with_untracked(|review| match review {
            Some(Ok(review)) => review.steps.clone(),
            _ => Vec::new(),
        });
        if let Some(Ok(change)) = self.change() {
            self.outcome.set(None);
            self.send_step(change, steps);
        }
    }

    /// Sends the first of the steps that were reviewed.
    fn send_step(self, change: NodeGroupChange, steps: Vec<PlanLine>) {
        let _ = self.is_sending.try_set(true);
        let reason = self.texts.try_with_untracked(|texts| texts.reason.clone());
        let reason = reason.unwrap_or_default();
        let asked = change_node_group(self.cluster, change.clone(), reason);
        leptos::task::spawn_local(async move {
            let answer = asked.await;
            let is_accepted = answer == Ok(ChangeOutcome::Accepted);
            let _ = self.is_sending.try_set(false);
            let _ = self.outcome.try_set(Some(answer));
            if is_accepted {
                let _ = self.stage.try_set(Stage::Waiting {
                    change: change.clone(),
                });
                self.continue_later(change, steps, 0);
            } else if self.stage.try_set(Stage::Typing).is_none() {
                // the group may have changed since it was reviewed: the user decides again
                self.review_now();
            }
            self.read();
        });
    }

    /// Sends the next step of a change when the cluster is settled, as long as the page shows the change.
    /// The steps that were sent are not sent again: they have failed, or Magnum has not begun. `looks` is
    /// how often this was found.
    fn continue_later(self, change: NodeGroupChange, sent: Vec<PlanLine>, looks: u32) {
        self.timer.start(STEP_INTERVAL, move || {
            if !self.waits_for(&change) {
                return;
            }
            let asked = review_node_group(self.cluster, change.clone());
            leptos::task::spawn_local(async move {
                let answer = asked.await;
                // the page was left, or another form was opened meanwhile
                if !self.waits_for(&change) {
                    return;
                }
                match answer {
                    Ok(review) if review.is_busy => self.continue_later(change, sent, 0),
                    Ok(review) if review.is_done() => {
                        let group = change.group().to_owned();
                        let _ = self.stage.try_set(Stage::Done { group });
                        let _ = self.draft.try_set(None);
                        self.read();
                    }
                    Ok(review) if review.can_be_sent() && review.steps != sent => {
                        self.send_step(change, review.steps);
                    }
                    Ok(_) | Err(_) if looks < MAX_LOOKS => {
                        self.continue_later(change, sent, looks + 1);
                    }
                    answer => {
                        // it failed, or cannot go on: the user decides
                        let _ = self.stage.try_set(Stage::Typing);
                        self.show(answer);
                        self.read();
                    }
                }
            });
        });
    }

    /// Returns whether the page still shows a change that was sent.
    fn waits_for(self, change: &NodeGroupChange) -> bool {
        let waits = self.stage.try_with_untracked(
            |stage| matches!(stage, Stage::Waiting { change: one } if one == change),
        );
        waits == Some(true)
    }
}

//! What the page of a cluster shows, kept up to date by polling.
use crate::{
    api::lifecycle::get_cluster_progress,
    error::{UiError, UiErrorKind},
    hooks::Timer,
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{
    ClusterProgress, EnrolmentState, Operation, ProgressOutcome, ProgressUpdate, StepState,
};
use std::time::Duration;
use uuid::Uuid;

/// Milliseconds between two polls when nothing is expected to change by itself.
const SETTLED_POLL_MILLIS: u32 = 30_000;
/// Minimum of the milliseconds until the next poll while something changes.
const MIN_POLL_MILLIS: u32 = 250;
/// The same after Portico did not answer.
const FAILED_POLL_MILLIS: u32 = 10_000;

/// A cluster that is being watched. `Copy`.
#[derive(Clone, Copy)]
pub struct Watch {
    pub cluster: Uuid,
    pub progress: RwSignal<ClusterProgress>,
    /// When Magnum last answered.
    pub observed_at: RwSignal<i64>,
    /// Why the data is old, as a sentence, while Magnum or Portico does not answer.
    pub outdated: RwSignal<Option<String>>,
    /// The request ID of the last failed poll.
    pub request_id: RwSignal<Option<String>>,
    /// Changed states, for screen readers.
    pub spoken: RwSignal<String>,
    poll_millis: StoredValue<u32>,
    older: StoredValue<Option<Older>>,
    is_asking: StoredValue<bool>,
    timer: Timer,
}

impl Watch {
    /// Makes a watch of the current component, which shows `progress` at first.
    pub fn new(cluster: Uuid, update: &ProgressUpdate, progress: ClusterProgress) -> Self {
        Self {
            cluster,
            progress: RwSignal::new(progress),
            observed_at: RwSignal::new(update.observed_at),
            outdated: RwSignal::new(update.outdated.clone()),
            request_id: RwSignal::new(None),
            spoken: RwSignal::new(String::new()),
            poll_millis: StoredValue::new(update.poll_millis),
            older: StoredValue::new(Older::of(update)),
            is_asking: StoredValue::new(false),
            timer: Timer::new(),
        }
    }

    /// Polls as often as the server wants it, while the page is visible; at once when it becomes
    /// visible again.
    pub fn start(self) {
        Effect::new(move |_| {
            let handle = window_event_listener_untyped("visibilitychange", move |_| self.ask());
            on_cleanup(move || handle.remove());
            self.schedule();
        });
    }

    /// Asks now, unless the page is hidden or waits for an answer already.
    pub fn ask(self) {
        if self.older.try_get_value().flatten().is_some() {
            self.ask_anew();
            return;
        }
        let version = self
            .progress
            .try_with_untracked(|progress| progress.version.clone());
        self.send(version);
    }

    /// Does the same as for a page that is opened: Portico reads a state from Magnum that is a few seconds
    /// old.
    pub fn ask_anew(self) {
        self.send(None);
    }

    fn send(self, version: Option<String>) {
        if document().hidden() {
            return;
        }
        let before = self
            .is_asking
            .try_update_value(|asking| std::mem::replace(asking, true));
        if before != Some(false) {
            return;
        }
        self.timer.cancel();
        let asked = get_cluster_progress(self.cluster, version);
        leptos::task::spawn_local(async move {
            let answer = asked.await;
            // the user may have left the page meanwhile
            if self
                .is_asking
                .try_update_value(|asking| *asking = false)
                .is_none()
            {
                return;
            }
            match answer {
                Ok(update) => self.take(update),
                Err(error) => self.fail(error),
            }
            self.schedule();
        });
    }

    fn schedule(self) {
        let wanted = self.poll_millis.try_get_value();
        let older = self.older.try_get_value();
        let (Some(wanted), Some(older)) = (wanted, older) else {
            return;
        };
        let next = self
            .progress
            .try_with_untracked(|progress| next_poll(progress, wanted, older));
        if let Some(millis) = next.flatten() {
            let wait = Duration::from_millis(u64::from(millis));
            self.timer.start(wait, move || self.ask());
        }
    }

    fn take(self, update: ProgressUpdate) {
        let millis = update.poll_millis;
        self.poll_millis.try_update_value(|wait| *wait = millis);
        self.older
            .try_update_value(|older| *older = older.and_then(|older| older.after(&update)));
        let _ = self.outdated.try_set(update.outdated);
        let _ = self.request_id.try_set(None);
        let _ = self.observed_at.try_set(update.observed_at);
        let Some(changed) = update.changed else {
            return;
        };
        let spoken = self
            .progress
            .try_with_untracked(|before| changes(before, &changed))
            .filter(|spoken| !spoken.is_empty());
        if let Some(spoken) = spoken {
            let _ = self.spoken.try_set(spoken);
        }
        let _ = self.progress.try_set(*changed);
    }

    /// Keeps what is shown, except that a cluster which was being deleted is gone.
    fn fail(self, error: UiError) {
        let is_deletion = self
            .progress
            .try_with_untracked(|progress| progress.operation == Operation::Deletion);
        if error.kind == UiErrorKind::NotFound && is_deletion == Some(true) {
            self.progress
                .try_update(|progress| progress.outcome = ProgressOutcome::Disappeared);
            return;
        }
        let text = match error.next_step {
            Some(step) => format!("{} {step}", error.message),
            None => error.message,
        };
        let _ = self.outdated.try_set(Some(text));
        let _ = self.request_id.try_set(error.request_id);
        self.poll_millis
            .try_update_value(|wait| *wait = (*wait).max(FAILED_POLL_MILLIS));
        self.older.try_update_value(|older| {
            if let Some(older) = older {
                older.refresh_millis = FAILED_POLL_MILLIS;
            }
        });
    }
}

/// That what is shown may be older than the page: Magnum was asked a moment before the page was opened, and the
/// page shares that answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Older {
    /// The server's time at which the page was opened.
    opened_at: i64,
    /// Milliseconds until there is a newer answer.
    refresh_millis: u32,
}

impl Older {
    /// Returns it for a page that is opened with an answer.
    fn of(update: &ProgressUpdate) -> Option<Self> {
        update.refresh_millis.map(|refresh_millis| Self {
            opened_at: update.now,
            refresh_millis,
        })
    }

    /// Returns it after another answer; `None`: that is newer than the page, or there is no newer one.
    fn after(self, update: &ProgressUpdate) -> Option<Self> {
        // Magnum's answer to another page is as good if it is newer than this one
        if update.observed_at > self.opened_at {
            return None;
        }
        update.refresh_millis.map(|refresh_millis| Self {
            refresh_millis,
            ..self
        })
    }
}

/// Returns the milliseconds until the next poll, of which the server wants `poll_millis`; `None`: there is none.
fn next_poll(progress: &ClusterProgress, poll_millis: u32, older: Option<Older>) -> Option<u32> {
    if progress.outcome == ProgressOutcome::Disappeared {
        return None;
    }
    let least = if expects_nothing(progress) {
        SETTLED_POLL_MILLIS
    } else {
        MIN_POLL_MILLIS
    };
    let usual = poll_millis.max(least);
    let refresh = older.map(|older| older.refresh_millis.max(MIN_POLL_MILLIS));
    Some(refresh.map_or(usual, |refresh| refresh.min(usual)))
}

/// Returns whether nothing changes unless a user acts.
fn expects_nothing(progress: &ClusterProgress) -> bool {
    let is_decided = matches!(
        progress.cluster.enrolment,
        EnrolmentState::Enrolled | EnrolmentState::Offered | EnrolmentState::NotOffered(_)
    );
    progress.is_settled() && is_decided && progress.remaining.is_empty()
}

/// Returns the state of a step in a few words.
pub fn state_words(state: StepState) -> &'static str {
    match state {
        StepState::Pending => "Waiting",
        StepState::Running { .. } => "In progress",
        StepState::Blocked { .. } => "Blocked",
        StepState::Failed { .. } => "Failed",
        StepState::Done { .. } => "Done",
    }
}

/// Returns what differs in the states, in words; empty if no state does.
fn changes(before: &ClusterProgress, after: &ClusterProgress) -> String {
    let mut words: Vec<String> = after
        .steps
        .iter()
        .filter(|step| {
            let known = before.steps.iter().find(|known| known.title == step.title);
            known.map(|known| state_words(known.state)) != Some(state_words(step.state))
        })
        .map(|step| format!("{}: {}.", step.title, state_words(step.state)))
        .collect();
    if before.cluster.status != after.cluster.status {
        words.push(format!("Status: {}.", after.cluster.status));
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::{
        identity::Named,
        panel::{
            Health,
            lifecycle::{ManagedCluster, ProgressStep},
        },
    };

    fn progress(status: &str, steps: &[(&str, StepState)]) -> ClusterProgress {
        let cluster = ManagedCluster {
            id: Uuid::from_u128(7),
            name: "shop".to_owned(),
            health: Health::Progressing,
            status: status.to_owned(),
            raw_status: "CREATE_IN_PROGRESS".to_owned(),
            reason: None,
            measured_health: "not measured".to_owned(),
            is_busy: true,
            driver: "k8s_local".to_owned(),
            template: Named {
                id: "t".to_owned(),
                name: "t".to_owned(),
            },
            version: None,
            control_plane_count: None,
            node_count: None,
            api_address: None,
            created_at: None,
            updated_at: None,
            is_own: true,
            is_made_outside: false,
            enrolment: EnrolmentState::WaitingForApi,
            actions: Vec::new(),
        };
        let steps = steps.iter().map(|(title, state)| ProgressStep {
            title: (*title).to_owned(),
            state: *state,
            reason: None,
            explanation: None,
            usual_seconds: None,
        });
        ClusterProgress {
            version: "1".to_owned(),
            cluster,
            groups: Vec::new(),
            operation: Operation::Creation,
            outcome: ProgressOutcome::Running,
            steps: steps.collect(),
            position: 1,
            percent: None,
            since: None,
            stalled: None,
            failure: None,
            remaining: Vec::new(),
            nodes: None,
        }
    }

    #[test]
    fn only_changed_states_are_announced() {
        let before = progress(
            "Being created",
            &[
                ("Network", StepState::Running { since: 1 }),
                ("Nodes", StepState::Pending),
            ],
        );
        let mut after = before.clone();
        // another start of the same state is not worth an interruption
        after.steps[0].state = StepState::Running { since: 9 };
        assert_eq!(changes(&before, &after), "");
        after.steps[0].state = StepState::Done { seconds: 8 };
        after.cluster.status = "Running".to_owned();
        assert_eq!(changes(&before, &after), "Network: Done. Status: Running.");
    }

    #[test]
    fn a_cluster_that_waits_for_its_enrolment_is_polled_as_often_as_the_server_wants() {
        let mut settled = progress("Running", &[]);
        settled.outcome = ProgressOutcome::Succeeded;
        settled.cluster.is_busy = false;
        assert!(!expects_nothing(&settled));
        settled.cluster.enrolment = EnrolmentState::Enrolled;
        assert!(expects_nothing(&settled));
    }

    /// Returns an answer at a time, with Magnum's of another time.
    fn update(now: i64, observed_at: i64, refresh_millis: Option<u32>) -> ProgressUpdate {
        ProgressUpdate {
            now,
            observed_at,
            poll_millis: 15_300,
            refresh_millis,
            outdated: None,
            changed: None,
        }
    }

    #[test]
    fn a_page_that_is_opened_just_after_another_read_asks_again_once() {
        let mut settled = progress("Running", &[]);
        settled.outcome = ProgressOutcome::Succeeded;
        settled.cluster.is_busy = false;
        settled.cluster.enrolment = EnrolmentState::Enrolled;
        let poll = |older| next_poll(&settled, 15_300, older);
        // opened with an answer of its own
        assert_eq!(poll(Older::of(&update(100, 100, None))), Some(30_000));
        let older = Older::of(&update(100, 99, Some(2_300)));
        assert_eq!(poll(older), Some(2_300));
        let older = older.unwrap();
        // asked when it became visible, before there was a newer answer
        let still = older.after(&update(101, 99, Some(1_300)));
        assert_eq!(poll(still), Some(1_300));
        assert_eq!(poll(older.after(&update(102, 102, None))), Some(30_000));
        // another page was faster
        assert_eq!(older.after(&update(103, 102, Some(2_000))), None);
    }

    #[test]
    fn a_running_operation_is_not_polled_less_often_for_it() {
        let mut running = progress("Being changed", &[]);
        let older = Older::of(&update(100, 99, Some(3_300)));
        assert_eq!(next_poll(&running, 2_300, older), Some(2_300));
        running.outcome = ProgressOutcome::Disappeared;
        assert_eq!(next_poll(&running, 2_300, older), None);
    }
}

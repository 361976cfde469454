//! Operations that are followed.
mod change;
mod creation;
mod survey;

use jiff::{SignedDuration, Timestamp};

use crate::{
    model::{Cluster, NodeGroup},
    plan::Action,
    progress::{
        Followed, Goal, Mark, Nodes, Outcome, Progress, ProgressReport, Snapshot, StepState,
        Typical, poll_interval,
    },
    status::Operation,
    tests::examples::{cluster, workers},
};

/// A time, in seconds after the request was accepted.
pub(super) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).unwrap()
}

pub(super) fn seconds(seconds: i64) -> SignedDuration {
    SignedDuration::from_secs(seconds)
}

/// What one poll finds.
#[derive(Clone, Default)]
pub(super) struct Poll {
    pub(super) cluster: Option<Cluster>,
    pub(super) groups: Vec<NodeGroup>,
    pub(super) is_api_ready: Option<bool>,
    pub(super) nodes: Option<Nodes>,
}

impl Poll {
    /// A cluster in a state, with one group of workers in the same state.
    pub(super) fn of(status: &str, updated: i64) -> Self {
        let mut cluster = cluster(status);
        cluster.updated_at = Some(at(updated));
        let mut group = workers("default-worker", 3);
        group.status = cluster.status.clone();
        Self {
            cluster: Some(cluster),
            groups: vec![group],
            ..Self::default()
        }
    }

    pub(super) fn missing() -> Self {
        Self::default()
    }

    pub(super) fn cluster(&mut self) -> &mut Cluster {
        self.cluster.as_mut().unwrap()
    }

    pub(super) fn seen_by(&self, progress: &mut Progress, seconds: i64) {
        progress.observe(&Snapshot {
            at: at(seconds),
            cluster: self.cluster.as_ref(),
            groups: Some(&self.groups),
            is_api_ready: self.is_api_ready,
            nodes: self.nodes,
        });
    }
}

pub(super) fn report(progress: &Progress, seconds: i64) -> ProgressReport {
    progress.report(at(seconds), &Typical::new())
}

/// Titles with the first letter of the state: done, running, blocked, failed or pending.
pub(super) fn states(report: &ProgressReport) -> Vec<String> {
    let letter = |state: &StepState| match state {
        StepState::Done { .. } => 'd',
        StepState::Running { .. } => 'r',
        StepState::Blocked { .. } => 'b',
        StepState::Failed { .. } => 'f',
        StepState::Pending => 'p',
    };
    let steps = report.steps.iter();
    steps
        .map(|step| format!("{} {}", letter(&step.state), step.name.title()))
        .collect()
}

#[test]
fn a_step_of_a_plan_is_followed_from_the_state_before_it() {
    let before = cluster("CREATE_COMPLETE");
    let resize = Action::Resize {
        group: "gpu".to_owned(),
        from: 1,
        to: 3,
    };
    let expected = Followed::Change {
        operation: Operation::Resize,
        before: Mark::of(&before),
        goal: Goal::Size {
            group: "gpu".to_owned(),
            nodes: 3,
        },
    };
    assert_eq!(Followed::of_step(&resize, &before), Some(expected));
    assert_eq!(Followed::of_step(&Action::Create, &before), None);
}

#[test]
fn what_is_running_is_followed_from_an_unknown_state() {
    for (status, timeout, minutes) in [
        ("CREATE_IN_PROGRESS", Some(90), Some(90)),
        ("CREATE_IN_PROGRESS", Some(0), Some(60)),
        ("CREATE_IN_PROGRESS", None, Some(60)),
        ("CREATE_COMPLETE", Some(90), None),
        ("UPDATE_FAILED", None, None),
    ] {
        let expected = minutes.map(|timeout_minutes| Followed::Creation { timeout_minutes });
        let running = Followed::running(&cluster(status), timeout);
        assert_eq!(running, expected, "{status} {timeout:?}");
    }
    let deleted = Followed::running(&cluster("DELETE_IN_PROGRESS"), None);
    assert!(matches!(deleted, Some(Followed::Deletion { .. })));
    // also what another release of Magnum does
    for status in ["UPDATE_IN_PROGRESS", "MIGRATE_IN_PROGRESS"] {
        let changed = Followed::running(&cluster(status), None);
        assert!(
            matches!(changed, Some(Followed::Change { .. })),
            "{status}: {changed:?}"
        );
    }
}

fn deletion(before: &Poll) -> Progress {
    let before = Mark::of(before.cluster.as_ref().unwrap());
    let family = crate::driver::Family::ClusterApi;
    Progress::new(Followed::Deletion { before }, family, at(0))
}

#[test]
fn a_deletion_ends_when_the_record_is_gone() {
    let before = Poll::of("CREATE_COMPLETE", -60);
    let mut progress = deletion(&before);
    before.seen_by(&mut progress, 1);
    assert_eq!(report(&progress, 1).outcome, Outcome::Running);
    Poll::of("DELETE_IN_PROGRESS", 2).seen_by(&mut progress, 4);
    let running = report(&progress, 5);
    assert_eq!(
        states(&running),
        [
            "d Accepted",
            "r Deletion of resources",
            "p Deletion of the record"
        ]
    );
    Poll::missing().seen_by(&mut progress, 90);
    let done = report(&progress, 91);
    assert_eq!(done.outcome, Outcome::Succeeded);
    assert!(states(&done).iter().all(|state| state.starts_with('d')));
}

#[test]
fn a_deletion_that_fails_or_waits_is_reported_with_its_reason() {
    let before = Poll::of("CREATE_COMPLETE", -60);
    let mut progress = deletion(&before);
    let mut waiting = Poll::of("DELETE_IN_PROGRESS", 2);
    waiting.cluster().reason = Some("Failed to delete security group g: in use".to_owned());
    waiting.seen_by(&mut progress, 30);
    let blocked = report(&progress, 31);
    let Outcome::Blocked(text) = &blocked.outcome else {
        panic!("{blocked:?}");
    };
    assert!(text.contains("ports still use it"), "{text}");
    let explanation = blocked.steps[1].explanation.as_deref().unwrap();
    assert!(explanation.contains("ports still use it"));
    Poll::of("DELETE_FAILED", 40).seen_by(&mut progress, 41);
    let failed = report(&progress, 42);
    assert_eq!(failed.outcome, Outcome::Failed);
    assert!(failed.outcome.is_final());
    // the second attempt begins in the state that the first one left
    let left = Poll::of("DELETE_FAILED", 40);
    let mut second = deletion(&left);
    left.seen_by(&mut second, 1);
    assert_eq!(report(&second, 2).outcome, Outcome::Running);
}

#[test]
fn polls_become_rarer() {
    for (elapsed, expected) in [(0, 2), (59, 2), (60, 5), (599, 5), (600, 15), (9000, 15)] {
        assert_eq!(
            poll_interval(seconds(elapsed)),
            seconds(expected),
            "{elapsed}"
        );
    }
}

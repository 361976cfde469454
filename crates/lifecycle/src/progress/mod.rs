//! Follows an operation from snapshots of the cluster: named steps with state, reason and typical
//! duration, and how it ends.
//!
//! The caller polls Magnum and passes each answer with its time. [`Progress`] can be stored, so that
//! another replica continues with the same times.
mod followed;
mod nodes;
mod outcome;
mod report;
mod steps;
mod survey;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

pub use followed::{Followed, Goal, Mark};
pub use nodes::Nodes;
pub use outcome::Outcome;
pub use report::{ProgressReport, StepReport, StepState, Typical};
pub use steps::StepName;
pub use survey::{NodeReport, NodeSurvey};

use crate::{
    driver::Family,
    model::{Cluster, NodeGroup},
    status::{Operation, Status},
};

/// How long Magnum may take until an accepted request shows an effect, and a new cluster a record.
pub const EFFECT_TIMEOUT: SignedDuration = SignedDuration::from_secs(30);

/// What one poll found.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot<'a> {
    /// When Magnum answered.
    pub at: Timestamp,
    /// `None`: Magnum answered 404.
    pub cluster: Option<&'a Cluster>,
    /// Empty where the API has no node groups (before 1.9). `None`: they could not be read, or the list
    /// is incomplete: a group that it lacks may exist.
    pub groups: Option<&'a [NodeGroup]>,
    /// Portico's own probe of `/readyz`; `None`: not probed.
    pub is_api_ready: Option<bool>,
    /// `None`: Kubernetes was not asked.
    pub nodes: Option<Nodes>,
}

impl<'a> Snapshot<'a> {
    /// Returns the node groups that are known.
    fn known_groups(&self) -> &'a [NodeGroup] {
        self.groups.unwrap_or_default()
    }
}

/// One step as it was observed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    name: StepName,
    began: Option<Timestamp>,
    ended: Option<Timestamp>,
}

/// How long after a deletion of a cluster whose deletion has failed the same state counts as a second
/// failure: Magnum's periodic tasks touch the record of the first one, before the conductor begins.
const SECOND_FAILURE_DELAY: SignedDuration = SignedDuration::from_secs(5);

/// How long after a request whose end Magnum does not show a newer time of the record counts as its effect: each
/// check of the health moves the time as well, before the conductor begins.
const UNSEEN_EFFECT_DELAY: SignedDuration = SignedDuration::from_secs(10);

/// The course of one operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    followed: Followed,
    family: Family,
    /// When Magnum accepted the request.
    accepted_at: Timestamp,
    records: Vec<Record>,
    /// Whether the request showed an effect.
    has_effect: bool,
    /// Whether Magnum was seen working on it.
    was_in_progress: bool,
    /// What the last snapshot stated.
    last: Option<Seen>,
}

/// What is remembered of the last snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Seen {
    at: Timestamp,
    /// `None`: 404.
    status: Option<Status>,
    /// `None`: unknown.
    is_goal_met: Option<bool>,
    /// Whether Magnum is changing a node group; see [`Progress::is_group_changing`].
    #[serde(default)]
    is_group_changing: bool,
    /// Steps whose node group failed.
    failed: Vec<StepName>,
    reason: Option<String>,
    /// Reasons by step.
    reasons: Vec<(StepName, String)>,
    is_api_ready: Option<bool>,
    nodes: Option<Nodes>,
}

impl Progress {
    /// Begins to follow an operation that Magnum has accepted.
    pub fn new(followed: Followed, family: Family, accepted_at: Timestamp) -> Self {
        let nothing = Snapshot {
            at: accepted_at,
            cluster: None,
            groups: None,
            is_api_ready: None,
            nodes: None,
        };
        let names = steps::signs(&followed, family, &nothing, false).into_iter();
        let signs: Vec<_> = names.map(|(name, _)| (name, false)).collect();
        let mut progress = Self {
            followed,
            family,
            accepted_at,
            records: Vec::new(),
            has_effect: false,
            was_in_progress: false,
            last: None,
        };
        progress.record(&signs, accepted_at, false);
        progress
    }

    /// Takes a snapshot. Older ones than the last are ignored.
    pub fn observe(&mut self, snapshot: &Snapshot<'_>) {
        if self.last.as_ref().is_some_and(|last| last.at > snapshot.at) {
            return;
        }
        let is_goal_met = match (&self.followed, snapshot.cluster) {
            (Followed::Change { goal, .. }, Some(cluster)) => {
                let are_upgraded =
                    self.is_upgrade() && snapshot.nodes.is_some_and(Nodes::are_upgraded);
                if are_upgraded {
                    Some(true)
                } else {
                    goal.is_met(cluster, snapshot.groups)
                }
            }
            _ => Some(true),
        };
        self.has_effect |= self.shows_effect(snapshot, is_goal_met == Some(true));
        self.was_in_progress |= self.shows_work(snapshot);
        let seen = Seen {
            at: snapshot.at,
            status: snapshot.cluster.map(|cluster| cluster.status.clone()),
            is_goal_met,
            is_group_changing: self.is_group_changing(snapshot),
            failed: steps::failed(snapshot),
            reason: snapshot.cluster.and_then(|cluster| cluster.reason.clone()),
            reasons: steps::reasons(snapshot),
            is_api_ready: snapshot.is_api_ready,
            nodes: snapshot.nodes,
        };
        let mut signs = steps::signs(&self.followed, self.family, snapshot, self.has_effect);
        if self.awaits_nodes(snapshot.nodes) {
            // some drivers report UPDATE_COMPLETE while nodes are still being replaced
            for (name, is_done) in &mut signs {
                *is_done &= !matches!(name, StepName::Workers(_));
            }
        }
        let is_over = self.has_succeeded(&seen);
        self.record(&signs, snapshot.at, is_over);
        self.last = Some(seen);
    }

    /// Notes which steps have begun and ended.
    fn record(&mut self, signs: &[(StepName, bool)], at: Timestamp, is_over: bool) {
        for (name, _) in signs {
            if !self.records.iter().any(|record| record.name == *name) {
                self.records.push(Record {
                    name: name.clone(),
                    began: None,
                    ended: None,
                });
            }
        }
        // the order of the stages; groups of workers are one stage
        self.records.sort_by_key(|record| record.name.stage());
        // a step is done when its own sign or that of a later stage is there, and stays done
        let stages = signs.iter().filter(|(_, is_done)| *is_done);
        let last_stage = stages.map(|(name, _)| name.stage()).max();
        let (mut begin, mut latest, mut stage) = (self.accepted_at, self.accepted_at, 0);
        let mut has_open = false;
        for record in &mut self.records {
            if stage != record.name.stage() {
                if has_open {
                    break;
                }
                stage = record.name.stage();
                begin = latest;
            }
            let has_sign = signs.contains(&(record.name.clone(), true));
            let is_done = is_over || has_sign || last_stage > Some(stage);
            let began = *record.began.get_or_insert(begin);
            if is_done && record.ended.is_none() {
                record.ended = Some(at.max(began));
            }
            match record.ended {
                Some(ended) => latest = latest.max(ended),
                None => has_open = true,
            }
        }
    }

    fn shows_effect(&self, snapshot: &Snapshot<'_>, is_goal_met: bool) -> bool {
        let Some(cluster) = snapshot.cluster else {
            return matches!(self.followed, Followed::Deletion { .. });
        };
        match &self.followed {
            Followed::Creation { .. } => true,
            Followed::Change { before, goal, .. } => {
                let is_end = if *goal == Goal::Unseen {
                    snapshot.at.duration_since(self.accepted_at) >= UNSEEN_EFFECT_DELAY
                } else {
                    // Magnum saves the number of nodes before it begins, and the state of the cluster after it
                    is_goal_met && !goal.is_in_progress(snapshot.known_groups())
                };
                let has_moved = Mark::of(cluster) != *before;
                let has_new_nodes =
                    self.is_upgrade() && snapshot.nodes.is_some_and(Nodes::has_upgraded);
                cluster.status != before.status || (has_moved && is_end) || has_new_nodes
            }
            Followed::Deletion { before } => {
                let is_second = before.status.is_deletion() && Mark::of(cluster) != *before;
                let elapsed = snapshot.at.duration_since(self.accepted_at);
                let is_second = is_second && elapsed >= SECOND_FAILURE_DELAY;
                cluster.status != before.status || is_second
            }
        }
    }

    /// Returns whether Magnum works on the request, and not on an earlier one.
    fn shows_work(&self, snapshot: &Snapshot<'_>) -> bool {
        let Some(cluster) = snapshot.cluster else {
            return false;
        };
        let before = match &self.followed {
            Followed::Creation { .. } => None,
            Followed::Change { before, .. } | Followed::Deletion { before } => Some(&before.status),
        };
        cluster.status.is_in_progress() && before != Some(&cluster.status)
    }

    /// Returns whether the node group that a change is about is changing; of a change that is about none, whether
    /// one is.
    fn is_group_changing(&self, snapshot: &Snapshot<'_>) -> bool {
        let Followed::Change { goal, .. } = &self.followed else {
            return false;
        };
        let mut groups = snapshot.known_groups().iter();
        match goal.group() {
            Some(_) => goal.is_in_progress(snapshot.known_groups()),
            None => groups.any(|group| group.status.is_in_progress()),
        }
    }

    fn is_upgrade(&self) -> bool {
        matches!(
            self.followed,
            Followed::Change {
                operation: Operation::Upgrade,
                ..
            }
        )
    }

    /// Returns whether an upgrade has not reached all nodes.
    fn awaits_nodes(&self, nodes: Option<Nodes>) -> bool {
        self.is_upgrade() && nodes.is_some_and(Nodes::awaits_upgrade)
    }

    /// Returns whether a snapshot shows the end.
    fn has_succeeded(&self, seen: &Seen) -> bool {
        match (&self.followed, &seen.status) {
            (Followed::Deletion { .. }, status) => status.is_none(),
            (_, None) => false,
            (_, Some(status)) => {
                // some releases of magnum-cluster-api leave the old template after an upgrade
                self.has_effect
                    && (seen.is_goal_met == Some(true) || self.was_in_progress)
                    && status.is_complete()
                    && !self.awaits_nodes(seen.nodes)
            }
        }
    }
}

/// Returns how long to wait until the next poll of an operation: 2 s in the first minute, then 5 s, and
/// 15 s after ten minutes.
pub fn poll_interval(elapsed: SignedDuration) -> SignedDuration {
    let seconds = match elapsed.as_secs() {
        ..60 => 2,
        60..600 => 5,
        _ => 15,
    };
    SignedDuration::from_secs(seconds)
}

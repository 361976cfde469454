//! How an operation ends, or why it does not.
use jiff::{SignedDuration, Timestamp};

use super::{EFFECT_TIMEOUT, Followed, Nodes, Progress, Seen};
use crate::{
    failure::{Class, classify, sentence},
    status::{self, Operation, Status},
};

/// The state of an operation at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It continues.
    Running,
    /// It continues, but something must change first, such as a quota. The text is a sentence.
    Blocked(String),
    Succeeded,
    /// Magnum reports a failure; see [`crate::failure::explain`].
    Failed,
    /// Magnum accepted the request and did not act on it. The text names the state that forbids it.
    NotActedOn(String),
    /// The cluster works, but Magnum has not confirmed it within its time limit.
    Unconfirmed(String),
    /// The cluster disappeared while it was changed or created.
    Disappeared,
}

impl Outcome {
    /// Returns whether nothing more is expected, so that polling may end.
    pub fn is_final(&self) -> bool {
        match self {
            Self::Succeeded | Self::Failed | Self::NotActedOn(_) | Self::Disappeared => true,
            Self::Running | Self::Blocked(_) | Self::Unconfirmed(_) => false,
        }
    }
}

impl Progress {
    /// Returns the outcome at a time.
    pub fn outcome(&self, now: Timestamp) -> Outcome {
        let elapsed = now.duration_since(self.accepted_at);
        let status = self.last.as_ref().and_then(|last| last.status.as_ref());
        let is_change = matches!(self.followed, Followed::Change { .. });
        if is_change && self.last.is_some() && status.is_none() {
            return Outcome::Disappeared;
        }
        // the cluster moved, but by another change: this one was not carried out
        let by_another = is_change
            && !self.was_in_progress
            && status.is_some_and(Status::is_complete)
            && self.last.as_ref().is_some_and(|last| {
                last.is_goal_met == Some(false) && !last.nodes.is_some_and(Nodes::has_upgraded)
            });
        if !self.has_effect || by_another {
            return match self.not_acted_on(elapsed, status) {
                Some(text) => Outcome::NotActedOn(text),
                None => Outcome::Running,
            };
        }
        let Some(last) = &self.last else {
            return Outcome::Running;
        };
        if self.has_succeeded(last) {
            return Outcome::Succeeded;
        }
        let Some(status) = &last.status else {
            return Outcome::Disappeared;
        };
        if status.is_failed() {
            return Outcome::Failed;
        }
        self.unconfirmed(elapsed, last)
            .or_else(|| blocked(last))
            .unwrap_or(Outcome::Running)
    }

    fn not_acted_on(&self, elapsed: SignedDuration, status: Option<&Status>) -> Option<String> {
        // without a snapshot, or without its node groups, nothing is known
        let last = self.last.as_ref()?;
        last.is_goal_met?;
        let observed = last.at.duration_since(self.accepted_at);
        if elapsed < EFFECT_TIMEOUT || observed < EFFECT_TIMEOUT {
            return None;
        }
        let seconds = EFFECT_TIMEOUT.as_secs();
        let accepted = "Magnum accepted the request but did not act on it";
        let (operation, before) = match &self.followed {
            Followed::Creation { .. } => {
                return Some(format!(
                    "{accepted}: after {seconds} s it has no record of the cluster. Its conductor may be \
                     down; the cluster may still appear. Do not send the request again without looking."
                ));
            }
            // the conductor changes the group, and the state of the cluster later; in a cluster that was changing
            // before, the group may still be in that change
            Followed::Change { before, .. }
                if last.is_group_changing && !before.status.is_in_progress() =>
            {
                return None;
            }
            Followed::Change {
                operation, before, ..
            } => (*operation, before),
            Followed::Deletion { before } => (Operation::Delete, before),
        };
        // the state in which Magnum got it decides
        Some(match status::check(&before.status, operation) {
            Err(forbidden) => format!("{accepted}: {}", forbidden.reason),
            Ok(()) => format!(
                "{accepted}: after {seconds} s the cluster is {}, and the change is not there. Its conductor \
                 may be down or refused it; contact the operator.",
                status.unwrap_or(&before.status)
            ),
        })
    }

    /// A cluster that works, but stays in CREATE_IN_PROGRESS beyond its time limit.
    fn unconfirmed(&self, elapsed: SignedDuration, last: &Seen) -> Option<Outcome> {
        let Followed::Creation { timeout_minutes } = self.followed else {
            return None;
        };
        let limit = SignedDuration::from_mins(timeout_minutes.into());
        let nodes = last.nodes?;
        let works = last.is_api_ready == Some(true) && nodes.ready >= nodes.expected;
        if elapsed <= limit || !works {
            return None;
        }
        Some(Outcome::Unconfirmed(format!(
            "The API answers and {} of {} nodes are ready, but Magnum has not confirmed the creation for {} \
             minutes. The cluster can be used; contact the operator.",
            nodes.ready,
            nodes.expected,
            elapsed.as_mins()
        )))
    }
}

/// Returns the first reason that does not resolve itself.
fn blocked(last: &Seen) -> Option<Outcome> {
    let of_steps = last.reasons.iter().map(|(_, text)| text);
    let mut reasons = of_steps.chain(&last.reason);
    let text = reasons.find(|text| is_blocking(text))?;
    let continues = "It continues by itself once this is resolved.";
    Some(Outcome::Blocked(format!(
        "{} {continues}",
        sentence(classify(text), text)
    )))
}

/// Returns whether a reason does not resolve itself. Cluster API retries for ever then, and reports no
/// failure.
pub(super) fn is_blocking(text: &str) -> bool {
    !matches!(
        classify(text),
        Class::Unknown
            | Class::Waiting
            | Class::Timeout
            | Class::Machine
            | Class::ApiUnreachable
            | Class::Concurrent
            | Class::Service
    )
}

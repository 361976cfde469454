//! Draining a node: its pods are evicted, a few with each request, so that a drain continues where it
//! stopped.
use super::RightQuestion;
use serde::{Deserialize, Serialize};

/// What a drain may do beyond evicting pods that are replaced, as the options of `kubectl drain`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrainOptions {
    /// Evicts pods without a controller too, which nothing creates again (`--force`).
    pub unmanaged: bool,
    /// Evicts pods with `emptyDir` volumes too, whose data is lost (`--delete-emptydir-data`).
    pub local_data: bool,
}

/// The pods of a node that is being drained.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrainProgress {
    /// Those that need the user first, then those that are still to leave, then those that stay.
    pub pods: Vec<DrainPod>,
}

/// One pod of the node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrainPod {
    pub namespace: String,
    pub name: String,
    pub state: DrainState,
    /// The reason, in a sentence, for pods that cannot leave yet or stay.
    pub reason: Option<String>,
    /// The permission that is missing, if that is the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Box<RightQuestion>>,
}

/// What becomes of a pod. In the order in which pods are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DrainState {
    /// It leaves only with another option or right of the user.
    NeedsUser,
    /// A PodDisruptionBudget does not allow the eviction now; it is tried again.
    Blocked,
    /// It is evicted next.
    Waiting,
    /// It was evicted and is shutting down.
    Terminating,
    /// It stays on the node: a DaemonSet's pod, or one that the node itself runs.
    Stays,
}

impl DrainProgress {
    /// Returns the number of pods in a state.
    pub fn count(&self, state: DrainState) -> usize {
        self.pods.iter().filter(|pod| pod.state == state).count()
    }

    /// Returns the number of pods that have not left yet.
    pub fn remaining(&self) -> usize {
        self.pods.len() - self.count(DrainState::Stays)
    }

    /// Returns whether every pod that can leave has left.
    pub fn is_done(&self) -> bool {
        self.remaining() == 0
    }

    /// Returns whether nothing happens any more without the user.
    pub fn is_stuck(&self) -> bool {
        !self.is_done() && self.remaining() == self.count(DrainState::NeedsUser)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(states: &[DrainState]) -> DrainProgress {
        let pods = states.iter().map(|state| DrainPod {
            namespace: "shop".to_owned(),
            name: "web".to_owned(),
            state: *state,
            reason: None,
            missing: None,
        });
        DrainProgress {
            pods: pods.collect(),
        }
    }

    #[test]
    fn a_drain_is_done_when_only_pods_are_left_that_stay() {
        assert!(progress(&[]).is_done());
        assert!(progress(&[DrainState::Stays]).is_done());
        let evicted = progress(&[DrainState::Stays, DrainState::Terminating]);
        assert!(!evicted.is_done() && !evicted.is_stuck());
        assert_eq!(evicted.remaining(), 1);
    }

    #[test]
    fn a_drain_waits_for_the_user_when_no_other_pod_is_left() {
        assert!(progress(&[DrainState::NeedsUser, DrainState::Stays]).is_stuck());
        assert!(!progress(&[DrainState::NeedsUser, DrainState::Blocked]).is_stuck());
    }
}

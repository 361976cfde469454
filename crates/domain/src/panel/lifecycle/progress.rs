//! The running operation of a cluster, as all of its viewers see it.
use super::{FailureCard, ManagedCluster, NodeGroupRow, NodeProgress};
use serde::{Deserialize, Serialize};

/// The answer to a poll. One poller of the server reads the cluster for all viewers, so that a poll
/// costs Magnum nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgressUpdate {
    /// The server's clock.
    pub now: i64,
    /// When Magnum last answered.
    pub observed_at: i64,
    /// Milliseconds until the next poll, which finds the next answer of Magnum. Magnum is asked every 2 seconds in
    /// the first minute of an operation, then every 5, then every 15; less often after a refusal for too many
    /// requests.
    pub poll_millis: u32,
    /// For a page that is opened: milliseconds until Magnum is asked anew, if the answer may be older than the
    /// page, since Magnum was asked for another one a moment before. `None`: it is not older, or there is no newer one.
    pub refresh_millis: Option<u32>,
    /// Why the data is old, as a sentence, while Magnum does not answer.
    pub outdated: Option<String>,
    /// `None`: nothing changed since the version that the page has.
    pub changed: Option<Box<ClusterProgress>>,
}

/// A cluster and its running operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterProgress {
    /// Sent with the next poll. The same content has the same version in every replica.
    pub version: String,
    pub cluster: ManagedCluster,
    pub groups: Vec<NodeGroupRow>,
    pub operation: Operation,
    pub outcome: ProgressOutcome,
    /// In their order; empty if nothing is running and nothing was followed.
    pub steps: Vec<ProgressStep>,
    /// The number of the current step, from 1.
    pub position: usize,
    /// From durations that were observed; `None`: show "step 4 of 7".
    pub percent: Option<u8>,
    /// When Magnum accepted the request.
    pub since: Option<i64>,
    /// The step that takes much longer than usually, as a sentence.
    pub stalled: Option<String>,
    /// With a failure or a blockage.
    pub failure: Option<FailureCard>,
    /// Steps of the plan that follow once the cluster is settled, such as further node groups.
    pub remaining: Vec<PlannedStep>,
    /// The nodes, while the cluster is created or changed, and after a failure.
    pub nodes: Option<NodeProgress>,
}

impl ClusterProgress {
    /// Returns whether nothing more is expected, so that polling may end.
    pub fn is_settled(&self) -> bool {
        self.outcome.is_final() && !self.cluster.is_busy
    }
}

/// What is running, or ran last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    Creation,
    Deletion,
    /// Another change, in words.
    Change(String),
    /// Nothing is running.
    None,
}

/// The state of the whole operation. Texts are sentences.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgressOutcome {
    Running,
    /// It continues, but something must change first, such as a quota.
    Blocked(String),
    Succeeded,
    Failed,
    /// Magnum accepted the request and did not act on it; the text names the state that forbids it.
    NotActedOn(String),
    /// The cluster works, but Magnum has not confirmed it.
    Unconfirmed(String),
    /// Magnum no longer has the cluster: the end of a deletion.
    Disappeared,
}

impl ProgressOutcome {
    /// Returns whether the operation has ended.
    pub fn is_final(&self) -> bool {
        match self {
            Self::Succeeded | Self::Failed | Self::NotActedOn(_) | Self::Disappeared => true,
            Self::Running | Self::Blocked(_) | Self::Unconfirmed(_) => false,
        }
    }
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgressStep {
    /// Such as "Control plane".
    pub title: String,
    pub state: StepState,
    /// Magnum's text about it.
    pub reason: Option<String>,
    /// What that text means, as a sentence.
    pub explanation: Option<String>,
    /// Usual duration in seconds with this template; `None`: not known.
    pub usual_seconds: Option<u64>,
}

/// The state of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    Pending,
    Running {
        since: i64,
    },
    /// Its reason does not resolve itself.
    Blocked {
        since: i64,
    },
    Failed {
        since: i64,
    },
    /// It took so many seconds.
    Done {
        seconds: u64,
    },
}

/// A step of the plan that follows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedStep {
    /// A sentence.
    pub effect: String,
    pub state: PlannedStepState,
}

/// How far a planned step is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlannedStepState {
    /// The cluster is not settled yet.
    Waiting,
    /// It can be sent now, by a user whom the policy permits to.
    Ready,
    /// It was refused, for this reason.
    Refused(String),
}

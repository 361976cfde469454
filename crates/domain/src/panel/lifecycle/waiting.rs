//! Changes of node groups that wait: for the change that is running, or for the user to continue them.
use super::PlanLine;
use serde::{Deserialize, Serialize};

/// What a cluster does now, and what follows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeQueue {
    /// The change that Magnum carries out, as a sentence that names it; `None`: none.
    pub running: Option<String>,
    /// The change that was begun or queued, and is not complete.
    pub waiting: Option<WaitingChange>,
}

/// A change of a node group of which requests are left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingChange {
    /// A digest of what is wanted. It stays while requests of the change are sent.
    pub id: String,
    pub group: String,
    /// Such as "Resize gpu to 4".
    pub title: String,
    /// The name of the user who requested it.
    pub by: String,
    /// Why, in the words of that user.
    pub reason: Option<String>,
    /// The requests that are left, in their order.
    pub steps: Vec<PlanLine>,
    pub state: WaitingState,
}

/// Whether the next request of a change can be sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitingState {
    /// Magnum works on the cluster.
    Settling,
    /// It waits for the user.
    Ready,
    /// It cannot be sent, for this reason, as a sentence.
    Refused(String),
}

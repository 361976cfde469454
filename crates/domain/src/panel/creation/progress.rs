//! What became of a created object.
use serde::{Deserialize, Serialize};

/// How far an object is on the way to what it was created for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreationProgress {
    pub state: CreationState,
    /// A sentence: `Bound to pvc-1 (10Gi).`
    pub summary: String,
    /// What is missing, or where it is reachable, in sentences.
    pub details: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CreationState {
    /// A controller of the cluster has yet to act.
    Waiting,
    /// It continues only when something else is created or corrected.
    Blocked,
    Done,
}

//! What became of a created object.
use crate::panel::Refusal;
use serde::{Deserialize, Serialize};

/// How far an object is on the way to what it was created for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreationProgress {
    pub state: CreationState,
    /// A sentence: `Bound to pvc-1 (10Gi).`
    pub summary: String,
    /// What is missing, or where it is reachable, in sentences.
    pub details: Vec<String>,
    /// What could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<Refusal>,
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

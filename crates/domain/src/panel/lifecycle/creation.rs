//! How the request for a new cluster ended.
use super::{Check, FieldProblem};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The outcome of a creation. It belongs to an attempt, a random UUID that the page makes when the
/// form is first submitted and sends again with each retry: one attempt makes one cluster at most.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CreationOutcome {
    /// Magnum accepted it. Its record may be missing for a moment.
    Accepted { cluster: Uuid },
    /// An earlier request of the same attempt made this cluster; nothing was sent.
    AlreadyCreated { cluster: Uuid },
    /// Nothing was made. The form keeps its values, and a new attempt begins.
    Refused(Box<CreationRefusal>),
    /// The response was lost. The attempt stays the same.
    Unknown(UnknownCreation),
}

/// Why no cluster was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreationRefusal {
    /// A sentence; that of Magnum is whole in it.
    pub reason: String,
    pub next_step: Option<String>,
    /// Fields that the reason is about.
    pub problems: Vec<FieldProblem>,
    /// Checks that block it, where Portico refused before anything was sent.
    pub checks: Vec<Check>,
    /// Magnum's request ID; `None`: Magnum was not asked.
    pub request_id: Option<String>,
}

/// What is known about a request whose response was lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnknownCreation {
    /// A sentence.
    pub reason: String,
    /// What to do, as a sentence.
    pub next_step: String,
    /// Clusters that may be the one: UUIDs, the oldest first.
    pub candidates: Vec<Uuid>,
}

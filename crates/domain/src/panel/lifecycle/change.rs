//! How the request for a change of a cluster ended.
use serde::{Deserialize, Serialize};

/// The outcome of a request that changes an existing cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeOutcome {
    /// Magnum accepted it; the page of the cluster shows its progress.
    Accepted,
    /// Nothing was sent, or Magnum refused.
    Refused {
        reason: String,
        next_step: Option<String>,
        request_id: Option<String>,
    },
    /// The response was lost: the change may be running.
    Unknown { reason: String, next_step: String },
}

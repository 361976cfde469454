//! The health of a cluster: what Magnum reports, beside what Portico has measured itself.
use crate::panel::Health;
use serde::{Deserialize, Serialize};

/// The content of the health card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterHealth {
    pub magnum: ReportedHealth,
    pub probe: ApiServerProbe,
    /// How the two contradict each other, as a sentence; `None`: they do not.
    pub disagreement: Option<String>,
    pub healing: AutoHealing,
    pub history: HealthHistory,
}

/// Magnum's report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportedHealth {
    /// Tone of the report; never that of a failure if Magnum has not measured it.
    pub health: Health,
    pub is_measured: bool,
    /// In words, such as "Unhealthy" or "Not measured".
    pub status: String,
    /// The bad ones first.
    pub parts: Vec<HealthPart>,
    /// When Magnum last changed the record of the cluster; `None`: its age is not known.
    pub reported_at: Option<i64>,
}

/// What Magnum reports about a part of the cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HealthPart {
    /// Such as "API server", or the name of a node.
    pub name: String,
    /// In words, such as "not ready".
    pub text: String,
    pub is_good: bool,
}

/// Portico's own request to the API server, with the token of the viewer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiServerProbe {
    pub result: ProbeResult,
    /// `None`: nothing was sent.
    pub measured_at: Option<i64>,
}

/// What came of a probe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeResult {
    /// The API server answers.
    Reachable {
        /// Such as `v1.32.1`; `None`: it was not returned to this viewer.
        version: Option<String>,
        latency_micros: u64,
        /// Why it has refused the viewer, as a sentence.
        note: Option<String>,
    },
    /// It did not answer in time, or with an error.
    Failed { reason: String },
    /// It was not asked.
    NotMeasured { reason: String },
}

/// Whether the cluster replaces nodes that fail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AutoHealing {
    /// `None`: no label chooses it, so the driver's default applies.
    pub is_on: Option<bool>,
    /// The state with the label that has it.
    pub text: String,
    /// Why it cannot be changed, as a sentence.
    pub note: String,
}

/// Changes of health and nodes, from the journal of the cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HealthHistory {
    /// The newest first.
    pub changes: Vec<HealthChange>,
    /// Why it is missing or not complete, as a sentence.
    pub gap: Option<String>,
}

/// A change of what Magnum reports about the health, or of the nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HealthChange {
    /// When it happened, or was observed.
    pub at: i64,
    /// The beginning of the time in which it happened, if that is not known exactly.
    pub since: Option<i64>,
    /// In words, such as `Healthy → Unhealthy` or `Node n1 left`.
    pub text: String,
    /// Why, and of which nodes, each as a line.
    pub lines: Vec<String>,
    /// Tone of what is reported since then.
    pub health: Health,
}

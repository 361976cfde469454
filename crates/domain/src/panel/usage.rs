//! The CPU and memory that pods, nodes and namespaces use, against what was requested for them.
use super::{Refusal, ResourceRef};
use serde::{Deserialize, Serialize};

/// CPU and memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuMemory {
    /// Millicores.
    pub cpu: u64,
    /// Bytes.
    pub memory: u64,
}

/// Where usage was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageSource {
    /// `metrics.k8s.io`, as metrics-server serves it.
    MetricsApi,
    Prometheus,
}

impl UsageSource {
    /// Returns the name for users.
    pub fn words(self) -> &'static str {
        match self {
            Self::MetricsApi => "metrics.k8s.io",
            Self::Prometheus => "Prometheus",
        }
    }
}

/// What an object uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageView {
    pub source: UsageSource,
    /// Millicores.
    pub cpu: UsageFigure,
    /// Bytes of the working set.
    pub memory: UsageFigure,
    /// The containers of a pod, or the pods of a workload, the largest share of CPU first.
    pub parts: Vec<UsagePart>,
    /// What the figures leave out, with the permission that is missing if that is the reason.
    pub notes: Vec<Refusal>,
}

/// The use of one resource.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageFigure {
    pub used: u64,
    /// What the use is compared with.
    pub bounds: Vec<UsageBound>,
    /// The last hour, the oldest first; empty if the source has no history.
    pub history: Vec<UsagePoint>,
}

/// An amount that a use is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageBound {
    pub kind: UsageBoundKind,
    pub amount: u64,
}

/// The kind of an amount that a use is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageBoundKind {
    Requests,
    /// Only where every container has a limit.
    Limits,
    Allocatable,
    QuotaRequests,
    QuotaLimits,
}

impl UsageBoundKind {
    /// Returns the end of "250m of 500m requested".
    pub fn words(self) -> &'static str {
        match self {
            Self::Requests => "requested",
            Self::Limits => "allowed by the limits",
            Self::Allocatable => "allocatable",
            Self::QuotaRequests => "allowed by the quota for requests",
            Self::QuotaLimits => "allowed by the quota for limits",
        }
    }
}

/// One value of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsagePoint {
    /// Unix seconds.
    pub at: i64,
    pub value: u64,
}

/// The use of one container or pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsagePart {
    pub name: String,
    pub used: CpuMemory,
}

/// Returns whether objects of a kind use CPU and memory: pods, what has pods of its own, namespaces
/// and nodes.
pub fn has_usage(resource: &ResourceRef) -> bool {
    matches!(
        (resource.group.as_str(), resource.plural.as_str()),
        ("", "pods" | "nodes" | "namespaces")
            | (
                "apps",
                "deployments" | "statefulsets" | "daemonsets" | "replicasets"
            )
            | ("batch", "jobs")
    )
}

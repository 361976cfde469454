//! The health of objects, with the reason in plain words. Total functions without I/O.
mod conditions;
mod cron_job;
mod disruption;
mod network;
mod node;
mod pod;
mod quota;
mod rollout;
mod scaling;
mod scheduling;
mod storage;
mod workload;

pub use conditions::{EXISTS, conditions, generic};
pub use node::{node, node_problems};
pub use pod::{containers, not_started, pod};
pub use quota::QUOTA_WARNING_PERCENT;
pub use rollout::{failing, starting};
pub use storage::{claim, is_default_class, volume};
pub use workload::{daemon_set, deployment, job, replica_set, stateful_set};

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use portico_domain::panel::{Health, Refusal, ResourceRef, RightQuestion};
use serde::{Deserialize as _, de::DeserializeOwned};
use serde_json::Value;

/// The health of an object with its explanation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assessment {
    pub health: Health,
    /// A short status.
    pub status: String,
    /// Full sentences: the reason, and what to check.
    pub reason: Option<String>,
    /// The number of replicas that are not ready, if that is a workload's only problem.
    pub not_ready: Option<i32>,
    /// The permissions without which the objects around it could not be read.
    pub missing: Vec<RightQuestion>,
}

impl Assessment {
    pub fn new(health: Health, status: impl Into<String>) -> Self {
        Self {
            health,
            status: status.into(),
            reason: None,
            not_ready: None,
            missing: Vec::new(),
        }
    }

    #[must_use]
    pub fn because(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// Adds the permission that a refusal names.
    #[must_use]
    pub fn lacking(mut self, refusal: &Refusal) -> Self {
        self.missing.extend(refusal.missing.as_deref().cloned());
        self
    }

    pub fn ok(status: impl Into<String>) -> Self {
        Self::new(Health::Ok, status)
    }
}

/// Assesses any object; kinds without rules of their own by their conditions.
pub fn assess(resource: &ResourceRef, object: &Value, now: Timestamp) -> Assessment {
    let known = match (resource.group.as_str(), resource.plural.as_str()) {
        ("", "pods") => Pod::deserialize(object).ok().map(|one| pod(&one, now)),
        ("apps", "deployments") => typed(object, deployment),
        ("apps", "statefulsets") => typed(object, stateful_set),
        ("apps", "daemonsets") => typed(object, daemon_set),
        ("apps", "replicasets") => typed(object, replica_set),
        ("batch", "jobs") => typed(object, job),
        ("", "persistentvolumeclaims") => typed(object, claim),
        ("", "persistentvolumes") => typed(object, volume),
        ("", "nodes") => typed(object, node),
        _ if is_being_deleted(object) => None,
        ("", "services") => Some(network::service(object)),
        ("networking.k8s.io" | "extensions", "ingresses") => Some(network::ingress(object)),
        ("", "resourcequotas") => Some(quota::quota(object)),
        ("autoscaling", "horizontalpodautoscalers") => Some(scaling::autoscaler(object)),
        ("policy", "poddisruptionbudgets") => Some(disruption::budget(object)),
        ("batch", "cronjobs") => Some(cron_job::cron_job(object)),
        ("storage.k8s.io", "storageclasses") => Some(storage::class(object)),
        _ => None,
    };
    known.unwrap_or_else(|| generic(object))
}

/// Returns whether the deletion of an object has been requested.
pub fn is_being_deleted(object: &Value) -> bool {
    object.pointer("/metadata/deletionTimestamp").is_some()
}

fn typed<T: DeserializeOwned>(object: &Value, assess: fn(&T) -> Assessment) -> Option<Assessment> {
    T::deserialize(object).ok().map(|object| assess(&object))
}

/// Returns `1 container`, `2 containers`.
pub(crate) fn counted(count: i64, noun: &str) -> String {
    if count == 1 {
        format!("1 {noun}")
    } else {
        format!("{count} {noun}s")
    }
}

/// Turns a foreign text into a full sentence.
pub(crate) fn sentence(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() || text.ends_with(['.', '!', '?']) {
        text.to_owned()
    } else {
        format!("{text}.")
    }
}

//! The page of one object: its status in words, its containers and events, and its available
//! actions.
use super::{Health, ObjectRef, ResourceKind};
use serde::{Deserialize, Serialize};

/// An object's page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObjectView {
    pub reference: ObjectRef,
    pub kind: ResourceKind,
    pub uid: String,
    pub resource_version: String,
    /// Unix seconds.
    pub created_at: Option<i64>,
    /// Unix seconds, if deletion has been requested.
    pub deleting_since: Option<i64>,
    pub labels: Vec<(String, String)>,
    pub annotations: Vec<(String, String)>,
    pub owners: Vec<ObjectRef>,
    pub health: Health,
    /// `CrashLoopBackOff`, `3 of 3 ready` ...
    pub status: String,
    /// The reason for its status, in plain words, and what to check next.
    pub reason: Option<String>,
    /// The permissions without which the reason is not complete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<RightQuestion>,
    pub conditions: Vec<Condition>,
    /// Fields of the object ("Node", "Pod IP", "Replicas"), in order.
    pub fields: Vec<(String, String)>,
    /// Pods only.
    pub containers: Vec<ContainerView>,
    /// Workloads that have a replica count.
    pub replicas: Option<i64>,
    /// The label selector of its pods, for workloads and services that have one.
    pub pod_selector: Option<String>,
    /// TCP ports that can be forwarded, of pods and of Services that have pods.
    pub ports: Vec<u16>,
    /// What happens to the data of a PersistentVolumeClaim that is deleted, if it can be read.
    pub deletion_note: Option<String>,
    /// The actions, each with the reason if it is not possible.
    pub actions: Vec<ActionState>,
}

/// A Kubernetes condition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Condition {
    pub kind: String,
    /// `True`, `False`, `Unknown`.
    pub status: String,
    pub reason: String,
    pub message: String,
    pub health: Health,
    pub changed_at: Option<i64>,
}

/// One container of a pod.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContainerView {
    pub name: String,
    pub image: String,
    pub init: bool,
    pub health: Health,
    /// `Running`, `Waiting: CrashLoopBackOff`, `Terminated: Error (exit code 1)`.
    pub state: String,
    pub message: Option<String>,
    pub restarts: i32,
    /// Whether `previous` logs exist.
    pub has_previous: bool,
    pub started_at: Option<i64>,
}

/// An action on an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    Delete,
    Scale,
    Restart,
    Pause,
    Resume,
    RollBack,
    Suspend,
    Unsuspend,
    RunNow,
    Cordon,
    Uncordon,
    Drain,
    Edit,
    ViewLogs,
    OpenTerminal,
    ViewYaml,
    ViewEvents,
}

/// Whether an action is possible for this viewer now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionState {
    pub action: Action,
    pub allowed: bool,
    /// In words, if not: "your roles do not include delete on pods in shop".
    pub reason: Option<String>,
    /// The permission that is missing, if that is the reason.
    #[serde(default)]
    pub missing: Option<RightQuestion>,
}

/// One question to the API server: may the viewer do this?
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RightQuestion {
    pub verb: String,
    pub group: String,
    pub resource: String,
    pub subresource: String,
    pub namespace: Option<String>,
    pub name: Option<String>,
}

/// The API server's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RightAnswer {
    pub question: RightQuestion,
    pub allowed: bool,
    pub reason: String,
}

/// One event, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventRow {
    /// `Normal` or `Warning`.
    pub kind: String,
    pub reason: String,
    pub message: String,
    pub source: String,
    pub count: i32,
    pub last_seen: Option<i64>,
}

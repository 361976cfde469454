//! The first page of a project, and a cluster's overview.
use super::{CpuMemory, ObjectRef, Refusal, System};
use crate::identity::Named;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The health of an object. Shown as text, icon and colour together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    Ok,
    Progressing,
    Warning,
    Failed,
    /// Unknown (no response, or no right to look); the text gives the reason.
    Unknown,
}

impl Health {
    /// Returns the health in words, for an object whose kind has no status in words of its own.
    pub fn words(self) -> &'static str {
        match self {
            Self::Ok => "Ready",
            Self::Progressing => "Progressing",
            Self::Warning => "Needs attention",
            Self::Failed => "Failed",
            Self::Unknown => "Unknown",
        }
    }

    /// Returns how urgent it is; 0 is the most severe.
    pub fn severity(self) -> u8 {
        match self {
            Self::Failed => 0,
            Self::Warning => 1,
            Self::Unknown => 2,
            Self::Progressing => 3,
            Self::Ok => 4,
        }
    }
}

/// Everything on a project's first page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Launchpad {
    pub attention: Vec<Attention>,
    /// What could not be checked while collecting `attention`.
    pub attention_gaps: Vec<AttentionGap>,
    pub clusters: Vec<ClusterCard>,
    pub apps: Vec<AppCard>,
    /// Whom to ask for a role; from the operator's configuration.
    pub support_contact: String,
    /// The same in a sentence that names the roles.
    pub asks_for: String,
}

/// One problem that needs attention, worst first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attention {
    pub health: Health,
    /// `CrashLoopBackOff`, `Unschedulable`, an alert's name ...
    pub title: String,
    /// The reason in plain words.
    pub reason: String,
    pub cluster: Option<Named>,
    pub object: Option<ObjectRef>,
    /// Unix seconds.
    pub since: Option<i64>,
    /// Number of similar ones (pods of the same workload).
    pub count: u32,
    /// Firing alerts about the same object.
    #[serde(default)]
    pub alerts: Vec<AlertRef>,
}

/// Something that could not be checked while collecting what needs attention.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttentionGap {
    /// What, and why not, in words.
    pub text: String,
    /// The address of the page that shows who has the permission that is missing, if that is the
    /// reason. The server builds it, because the first page has no room for code that does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub who_can: Option<String>,
}

/// A gap for another reason than a missing permission.
impl From<String> for AttentionGap {
    fn from(text: String) -> Self {
        Self {
            text,
            who_can: None,
        }
    }
}

/// A firing alert, and the app (an Alertmanager) whose page lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlertRef {
    pub name: String,
    pub app: Named,
}

/// One cluster on the launchpad.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClusterCard {
    pub id: Uuid,
    pub name: String,
    pub health: Health,
    /// "Ready", "API server does not answer" ...
    pub status: String,
    pub version: Option<String>,
    pub nodes_ready: Option<u32>,
    pub nodes_total: Option<u32>,
    /// "you may: read and change", in a few words; "nothing yet" plus a hint in `rights_hint`.
    pub you_may: String,
    pub rights_hint: Option<String>,
}

/// The state of one cluster, for a choice of clusters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterState {
    pub id: Uuid,
    pub health: Health,
    /// "Ready", "2 of 3 nodes not ready", the reason why the API server could not be read ...
    pub status: String,
}

/// The kind of an app, which decides what its card opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AppKind {
    /// A web user interface on a host of its own.
    Web,
    /// A container registry: the panel lists repositories and tags.
    Registry,
    /// Alertmanager: the panel lists alerts.
    Alertmanager,
}

/// One managed-service user interface on the launchpad.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AppCard {
    pub id: String,
    pub name: String,
    pub description: String,
    pub kind: AppKind,
    pub url: String,
    pub allowed: bool,
    /// Names of the roles (in this project) that open it, for users who may not.
    pub opened_by: Vec<String>,
    /// Whether the user holds one of these roles, but a rule of the app refuses them.
    pub closed_by_rule: bool,
    pub health: Health,
    pub status: String,
}

/// A cluster's page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClusterOverview {
    pub card: ClusterCard,
    pub api_url: String,
    pub attention: Vec<Attention>,
    /// What could not be checked while collecting `attention`.
    pub attention_gaps: Vec<AttentionGap>,
    pub version: Option<VersionSupport>,
    /// In a large cluster some of the nodes, those with problems first; `card` has their number.
    pub nodes: Reading<Vec<NodeRow>>,
    pub capacity: Reading<Capacity>,
    /// What all nodes use together.
    pub usage: Reading<CpuMemory>,
    pub rights: Vec<RightsSummary>,
    /// Whether attention and capacity are still being read.
    pub is_pending: bool,
    pub terminal: TerminalHelp,
}

/// A value requested from the cluster: the response, or the reason why there is nothing to show.
/// What may not be read is shown as such; it is never a 0 or a blank.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading<T> {
    Known(T),
    NotPermitted(Refusal),
    Unavailable(String),
}

/// A version with its upstream support state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VersionSupport {
    pub version: String,
    pub health: Health,
    /// "Upstream support ended on 28 February 2022".
    pub support: String,
}

/// One node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeRow {
    pub name: String,
    pub health: Health,
    pub status: String,
    /// Conditions that indicate a problem, in words.
    pub problems: Vec<String>,
    pub version: String,
    pub created_at: Option<i64>,
}

/// Requested and allocatable, over the nodes and pods that the viewer may see.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Capacity {
    /// Millicores.
    pub cpu_requested: u64,
    pub cpu_allocatable: u64,
    /// Bytes.
    pub memory_requested: u64,
    pub memory_allocatable: u64,
    pub pods: u64,
    pub pods_allocatable: u64,
    /// States what the figures leave out ("pods of 2 namespaces that you may not read"), if
    /// anything.
    pub limits: Option<String>,
}

/// "In shop, data, batch: read and change workloads ..." - one line of rights in plain words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RightsSummary {
    /// The namespaces to which it applies; empty: the whole cluster.
    pub namespaces: Vec<String>,
    pub summary: String,
    /// Notable actions that are not allowed there.
    pub not: Vec<String>,
}

/// The content of "Use from your terminal".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TerminalHelp {
    pub portico_url: String,
    pub cluster_name: String,
    /// The system of the viewer's machine, as their browser names it.
    #[serde(default)]
    pub system: System,
}

/// Repositories of a container registry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RegistryView {
    pub app: AppCard,
    /// The registry's host, with its port if that is not the default: the start of an image
    /// reference. `None` if the registry has no host of its own.
    pub host: Option<String>,
    pub repositories: Vec<Repository>,
    /// True if there are more than are shown.
    pub truncated: bool,
}

/// One repository with its tags.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Repository {
    pub name: String,
    pub tags: Reading<Vec<String>>,
}

/// Alertmanager's alerts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AlertsView {
    pub app: AppCard,
    pub alerts: Vec<Alert>,
}

/// One alert.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Alert {
    pub name: String,
    /// `active`, `suppressed`, `unprocessed`.
    pub state: String,
    pub severity: String,
    pub summary: String,
    pub labels: Vec<(String, String)>,
    /// Unix seconds.
    pub starts_at: Option<i64>,
}

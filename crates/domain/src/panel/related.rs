//! What belongs to an object: its pods, its revisions, and the objects that refer to it or that it
//! refers to.
use super::{Health, ObjectRef, Refusal, ResourceRef};
use serde::{Deserialize, Serialize};

/// A part of an object in a table: the ports of a Service, the rules of a Role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DetailTable {
    pub title: String,
    pub columns: Vec<String>,
    /// Each has as many cells as there are columns.
    pub rows: Vec<Vec<DetailCell>>,
}

/// One cell of a [`DetailTable`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DetailCell {
    pub text: String,
    /// The object that the text names.
    pub object: Option<ObjectRef>,
    /// Only where it needs attention or is a status.
    pub health: Option<Health>,
}

impl From<String> for DetailCell {
    fn from(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }
}

impl From<&str> for DetailCell {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

/// What belongs to an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RelatedView {
    /// Objects that have pods only.
    pub pods: Option<PodList>,
    pub rollout: Option<Rollout>,
    /// The newest first; only of workloads that have them.
    pub revisions: Vec<Revision>,
    pub groups: Vec<RelatedGroup>,
    pub tables: Vec<DetailTable>,
    /// Definitions of custom resources only.
    #[serde(default)]
    pub instances: Option<Instances>,
    /// Consequences in sentences: what happens to the data of a claim that is deleted.
    pub notes: Vec<String>,
    /// What could not be read, each with the reason in a sentence.
    pub gaps: Vec<Refusal>,
}

/// The objects of a custom resource, in all namespaces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instances {
    pub resource: ResourceRef,
    /// As lists are titled: `Backups`.
    pub title: String,
    /// `None` if the viewer may not list them in the whole cluster.
    pub count: Option<usize>,
}

/// Maximum number of pods whose logs are followed together.
pub const MAX_FOLLOWED_PODS: usize = 20;

/// The pods of an object or of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PodList {
    /// Those of an object that need attention first; those of a list by namespace and name.
    pub pods: Vec<PodSummary>,
    /// Number of all pods; greater than that of `pods` if some are left out.
    pub total: usize,
}

/// One pod in a few words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PodSummary {
    pub object: ObjectRef,
    pub health: Health,
    pub status: String,
    /// Containers that are ready, and all of them.
    pub ready: (u32, u32),
    pub restarts: i32,
    pub node: Option<String>,
    /// Unix seconds.
    pub created_at: Option<i64>,
    /// The containers that have or will have a log.
    pub containers: Vec<String>,
    /// The containers whose run before has a log.
    #[serde(default)]
    pub previous: Vec<String>,
}

/// The state of a workload's replicas.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rollout {
    pub desired: i64,
    /// Replicas of the newest revision.
    pub updated: i64,
    pub ready: i64,
    pub available: i64,
    /// Replicas of earlier revisions.
    pub outdated: i64,
    pub is_paused: bool,
    /// `RollingUpdate, at most 25% more and 25% fewer replicas`.
    pub strategy: String,
}

impl Rollout {
    /// Returns whether every wanted replica runs the newest revision and is available.
    pub fn is_complete(&self) -> bool {
        self.outdated == 0 && self.updated >= self.desired && self.available >= self.desired
    }
}

/// One revision of a workload's pod template.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revision {
    pub number: i64,
    /// The ReplicaSet or ControllerRevision that stores it.
    pub object: ObjectRef,
    /// Unix seconds.
    pub created_at: Option<i64>,
    pub images: Vec<String>,
    /// Only of ReplicaSets.
    pub replicas: Option<i64>,
    pub is_current: bool,
    /// The annotation `kubernetes.io/change-cause`.
    pub cause: Option<String>,
}

/// Objects in one relation to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RelatedGroup {
    pub relation: Relation,
    pub objects: Vec<RelatedObject>,
    /// Number of all of them; greater than that of `objects` if some are left out.
    pub total: usize,
}

/// A related object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RelatedObject {
    pub object: ObjectRef,
    /// As the API spells it: `StatefulSet`.
    pub kind: String,
    /// `None` if it was not assessed.
    pub health: Option<Health>,
    /// Empty if there is nothing to add to its name.
    pub status: String,
}

/// How objects are related to the one on the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    OwnedBy,
    Owns,
    RunsOn,
    SelectedBy,
    RoutedBy,
    RoutesTo,
    ScaledBy,
    Scales,
    ProtectedBy,
    Protects,
    RestrictedBy,
    Restricts,
    AppliesTo,
    Uses,
    UsedBy,
    BoundTo,
    Grants,
    GrantedBy,
    DefinedBy,
}

impl Relation {
    /// Returns the heading of the group.
    pub fn title(self) -> &'static str {
        match self {
            Self::OwnedBy => "Owned by",
            Self::Owns => "Owns",
            Self::RunsOn => "Runs on",
            Self::SelectedBy => "Selected by Services",
            Self::RoutedBy => "Routed by Ingresses",
            Self::RoutesTo => "Routes to",
            Self::ScaledBy => "Scaled by",
            Self::Scales => "Scales",
            Self::ProtectedBy => "Protected by PodDisruptionBudgets",
            Self::Protects => "Protects",
            Self::RestrictedBy => "Restricted by NetworkPolicies",
            Self::Restricts => "Restricts",
            Self::AppliesTo => "Applies to",
            Self::Uses => "Uses",
            Self::UsedBy => "Used by",
            Self::BoundTo => "Bound to",
            Self::Grants => "Grants the rights of",
            Self::GrantedBy => "Granted by",
            Self::DefinedBy => "Defined by",
        }
    }
}

/// One value of a ConfigMap or a Secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataValue {
    pub key: String,
    /// `None` for bytes that are not UTF-8 text.
    pub text: Option<String>,
    pub bytes: usize,
}

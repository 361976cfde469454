//! Clusters of the project, as Magnum lists them.
use super::{ActionOffer, ClusterAction, EnrolmentState, QuotaUse};
use crate::{identity::Named, panel::Health};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The list of a project's clusters. If Magnum cannot list them, the call fails as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManagedClusters {
    /// In the order of their names. Clusters of other projects are not in it, not even for an
    /// administrator.
    pub clusters: Vec<ManagedCluster>,
    /// What could not be read, or not completely, as sentences.
    pub gaps: Vec<String>,
    /// What this cloud's Magnum lacks.
    pub missing: Vec<MissingFeature>,
    /// Whether the viewer may create a cluster.
    pub creation: ActionOffer,
    /// Magnum's quota of clusters; `None`: it could not be read.
    pub quota: Option<QuotaUse>,
    /// The viewer's own creations of which it is not known whether Magnum has made the cluster.
    pub unfinished: Vec<UnfinishedCreation>,
    /// The microversion that is used, such as `1.13`.
    pub api_version: String,
    /// Whom to ask; from the operator's configuration.
    pub support_contact: String,
    /// The server's clock.
    pub now: i64,
}

/// One cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManagedCluster {
    /// Magnum's UUID, also that of the enrolled cluster.
    pub id: Uuid,
    /// Not unique in a project.
    pub name: String,
    /// Tone of the status.
    pub health: Health,
    /// The state in words, such as "Being created" or "Blocked: quota of cores used up".
    pub status: String,
    /// The state as Magnum writes it, such as `CREATE_IN_PROGRESS`.
    pub raw_status: String,
    /// Why it is in that state, as a sentence; `None` if there is nothing to explain.
    pub reason: Option<String>,
    /// Magnum's health in words, the worst reason first; "not measured" if Magnum has none.
    pub measured_health: String,
    /// Whether Magnum works on it.
    pub is_busy: bool,
    /// The driver in words, such as `magnum-capi-helm`.
    pub driver: String,
    /// UUID and name; the name is the UUID if the template cannot be read.
    pub template: Named,
    /// The version of Kubernetes, such as `v1.32.1`.
    pub version: Option<String>,
    /// Nodes of the control plane.
    pub control_plane_count: Option<u32>,
    /// Nodes of all groups of workers.
    pub node_count: Option<u32>,
    /// Such as `https://192.0.2.10:6443`.
    pub api_address: Option<String>,
    pub created_at: Option<i64>,
    pub updated_at: Option<i64>,
    /// Whether the viewer created it: Magnum permits its certificates to no other user.
    pub is_own: bool,
    /// Whether another client of Magnum certainly made it; false if that is not known.
    pub is_made_outside: bool,
    pub enrolment: EnrolmentState,
    /// [`ClusterAction::Delete`], [`ClusterAction::Enrol`], [`ClusterAction::RemoveRecord`],
    /// [`ClusterAction::Continue`] and [`ClusterAction::Upgrade`], as far as they apply in this state.
    pub actions: Vec<ActionOffer>,
}

impl ManagedCluster {
    /// Returns the offer of an action; `None` if it does not apply to the cluster.
    pub fn offer(&self, action: ClusterAction) -> Option<&ActionOffer> {
        self.actions.iter().find(|offer| offer.action == action)
    }
}

/// A node group, as the page of one cluster shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeGroupRow {
    pub name: String,
    /// `master`, `worker`, or another text.
    pub role: String,
    pub flavor: Option<String>,
    pub node_count: u32,
    pub min: Option<u32>,
    pub max: Option<u32>,
    pub health: Health,
    /// The state in words.
    pub status: String,
    /// Magnum's text about the state.
    pub reason: Option<String>,
}

/// Something that this cloud's Magnum cannot do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingFeature {
    /// Such as "Node groups".
    pub feature: String,
    /// Such as "Node groups need version 1.9 of Magnum's API; this cloud has 1.8."
    pub explanation: String,
}

/// A creation whose response was lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnfinishedCreation {
    /// To be sent with the form again: the same attempt never makes a second cluster.
    pub attempt: Uuid,
    pub name: String,
    /// When the request was last sent.
    pub sent_at: Option<i64>,
    /// Whether it was sent so recently that its outcome may become known by itself. It can be dismissed
    /// later.
    pub is_recent: bool,
    /// What is known, and what to do, as sentences.
    pub text: String,
}

//! Magnum's objects as far as the rules need them.
//!
//! These types do not depend on the client of Magnum (`portico-openstack`): the caller maps its objects
//! to them, so that the rules can be tested and used without it.
use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::{
    driver::{Driver, Evidence, Family},
    labels::Labels,
    status::{Activity, Phase, Status},
    version::KubernetesVersion,
};

/// A cluster template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    pub uuid: String,
    pub name: String,
    /// Detected with [`Driver::detect`].
    pub driver: Driver,
    /// `flavor_id`.
    pub flavor: Option<String>,
    /// `master_flavor_id`.
    pub master_flavor: Option<String>,
    /// `keypair_id`.
    pub keypair: Option<String>,
    /// `fixed_network`.
    pub network: Option<String>,
    /// `fixed_subnet`.
    pub subnet: Option<String>,
    /// `floating_ip_enabled`.
    pub has_floating_ips: bool,
    /// `master_lb_enabled`.
    pub has_load_balancer: bool,
    /// In GiB.
    pub docker_volume_size: Option<u32>,
    pub labels: Labels,
    /// The property `kube_version` of the image, if the caller read the image.
    pub image_version: Option<String>,
    /// `cluster_distro`.
    pub distribution: Option<String>,
    /// `network_driver`, such as `calico`.
    pub network_driver: Option<String>,
    /// `hidden`.
    pub is_hidden: bool,
    /// Whether a proxy or an insecure registry is set.
    pub has_proxy: bool,
}

impl Template {
    /// Returns the version of Kubernetes: with magnum-capi-helm the image's, else that of the label.
    pub fn kubernetes_version(&self) -> Option<KubernetesVersion> {
        let label = self.labels.get("kube_tag");
        let text = match self.driver.family {
            Family::CapiHelm => self.image_version.as_ref(),
            Family::Unknown => label.or(self.image_version.as_ref()),
            Family::Heat | Family::ClusterApi | Family::Complete => label,
        };
        text.and_then(|text| text.parse().ok())
    }
}

/// A cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    pub uuid: String,
    pub name: String,
    /// `cluster_template_id`.
    pub template: String,
    /// Detected with [`Driver::detect`].
    pub driver: Driver,
    pub status: Status,
    /// `status_reason`.
    pub reason: Option<String>,
    /// `faults`.
    pub faults: BTreeMap<String, String>,
    /// `health_status_reason`.
    pub health: BTreeMap<String, String>,
    /// Its name.
    pub keypair: Option<String>,
    /// `flavor_id`.
    pub flavor: Option<String>,
    /// `master_flavor_id`.
    pub master_flavor: Option<String>,
    /// Nodes of the control plane.
    pub master_count: u32,
    /// `fixed_network`.
    pub network: Option<String>,
    /// `fixed_subnet`.
    pub subnet: Option<String>,
    /// `floating_ip_enabled`.
    pub has_floating_ips: bool,
    /// `master_lb_enabled`.
    pub has_load_balancer: bool,
    /// In GiB.
    pub docker_volume_size: Option<u32>,
    /// The merged labels, as Magnum returns them.
    pub labels: Labels,
    /// `cluster_id` or `stack_id`: set when the driver has begun.
    pub driver_id: Option<String>,
    /// Such as `https://192.0.2.10:6443`.
    pub api_address: Option<String>,
    /// `coe_version`, such as `v1.31.0`.
    pub version: Option<String>,
    /// The owner, who alone can read the CA.
    pub user_id: Option<String>,
    pub created_at: Option<Timestamp>,
    pub updated_at: Option<Timestamp>,
}

impl Cluster {
    /// Returns a cluster that Magnum has deleted, of which no more than this is known.
    pub fn deleted(uuid: String, name: String) -> Self {
        Self {
            uuid,
            name,
            template: String::new(),
            driver: Driver {
                family: Family::Unknown,
                evidence: Evidence::Nothing,
            },
            status: Status::Known(Activity::Delete, Phase::Complete),
            reason: None,
            faults: BTreeMap::new(),
            health: BTreeMap::new(),
            keypair: None,
            flavor: None,
            master_flavor: None,
            master_count: 0,
            network: None,
            subnet: None,
            has_floating_ips: false,
            has_load_balancer: false,
            docker_volume_size: None,
            labels: Labels::default(),
            driver_id: None,
            api_address: None,
            version: None,
            user_id: None,
            created_at: None,
            updated_at: None,
        }
    }
}

/// Between what the number of nodes of a group must stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// `min_node_count`.
    pub min: u32,
    /// `max_node_count`; `None`: no maximum.
    pub max: Option<u32>,
}

/// A node group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeGroup {
    pub uuid: String,
    pub name: String,
    /// `master`, `worker`, or any other text.
    pub role: String,
    pub is_default: bool,
    pub flavor: Option<String>,
    pub node_count: u32,
    /// `None`: not read. Magnum's list of node groups has default ones, and not the group's.
    pub bounds: Option<Bounds>,
    /// Its own state, which can differ from that of the cluster.
    pub status: Status,
    /// `status_reason`.
    pub reason: Option<String>,
    /// `node_labels` (API version 1.14).
    pub node_labels: BTreeMap<String, String>,
    /// `node_taints` (API version 1.14), as `key=value:Effect`.
    pub node_taints: Vec<String>,
}

impl NodeGroup {
    /// Returns whether the group is the control plane.
    pub fn is_control_plane(&self) -> bool {
        self.role == "master"
    }
}

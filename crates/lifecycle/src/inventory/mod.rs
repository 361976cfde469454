//! What a deletion removes, what depends, what stays, and what was left afterwards.
mod command;
mod fate;
mod identity;
mod leftovers;

use serde::{Deserialize, Serialize};

pub use command::deletion_command;
pub use fate::{DeleteOptions, Fate, Inventory, inventory};
pub use identity::{
    CSI_METADATA, ClusterNames, OfService, SERVICE_PREFIX, service_of_load_balancer,
};
pub use leftovers::{Leftover, leftovers};

/// A resource of the cloud, or of the cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// What it is.
    pub kind: Kind,
    /// The ID in its service.
    pub id: String,
    /// The name to show.
    pub name: String,
}

/// What an item is, and why it exists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Server,
    /// A boot volume or one of etcd, made with its server.
    NodeVolume,
    /// The load balancer of the Kubernetes API.
    ApiLoadBalancer,
    /// The floating IP of the Kubernetes API, or of a node.
    ClusterFloatingIp,
    /// A network that the driver made, with its subnets.
    OwnNetwork,
    /// A router that the driver made.
    OwnRouter,
    SecurityGroup,
    /// A load balancer of a Kubernetes Service.
    ServiceLoadBalancer,
    /// A floating IP of such a load balancer.
    ServiceFloatingIp,
    /// A volume of a PersistentVolume.
    PersistentVolume(Reclaim),
    VolumeSnapshot,
    /// A network that existed before the cluster.
    ExistingNetwork,
    DnsRecord,
    Bucket,
    RegistryImage,
    /// An application credential, trust or user of the cluster in Keystone.
    Credential,
}

/// The reclaim policy of a PersistentVolume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reclaim {
    Delete,
    Retain,
    /// The volume was found by its metadata; Kubernetes could not be asked.
    Unknown,
}

impl Kind {
    /// Returns the name to show.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::NodeVolume => "volume of a node",
            Self::ApiLoadBalancer => "load balancer of the API",
            Self::ClusterFloatingIp => "floating IP",
            Self::OwnNetwork => "network of the cluster",
            Self::OwnRouter => "router of the cluster",
            Self::SecurityGroup => "security group",
            Self::ServiceLoadBalancer => "load balancer of a Service",
            Self::ServiceFloatingIp => "floating IP of a Service",
            Self::PersistentVolume(_) => "persistent volume",
            Self::VolumeSnapshot => "volume snapshot",
            Self::ExistingNetwork => "existing network",
            Self::DnsRecord => "DNS record",
            Self::Bucket => "bucket",
            Self::RegistryImage => "image in a registry",
            Self::Credential => "credential",
        }
    }
}

//! Clusters as Magnum returns them.
use super::merged_labels::MergedLabels;
use super::status::{HealthStatus, Status};
use crate::lenient;
use crate::rest::Candidate;
use jiff::Timestamp;
use serde::Deserialize;
use std::collections::BTreeMap;
use uuid::Uuid;

/// A cluster.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Cluster {
    pub uuid: Uuid,
    /// Not unique, not even in a project.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub name: String,
    /// The UUID of the template.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub cluster_template_id: String,
    pub keypair: Option<String>,
    /// The number of nodes of all worker groups.
    pub node_count: Option<u32>,
    pub master_count: Option<u32>,
    /// In GiB.
    pub docker_volume_size: Option<u32>,
    #[serde(flatten)]
    pub labels: MergedLabels,
    pub flavor_id: Option<String>,
    pub master_flavor_id: Option<String>,
    /// In minutes; not every driver respects it.
    pub create_timeout: Option<u32>,
    /// Before microversion 1.13: see [`Self::backend_id`].
    pub stack_id: Option<String>,
    /// Since microversion 1.13: see [`Self::backend_id`].
    pub cluster_id: Option<String>,
    pub status: Status,
    pub status_reason: Option<String>,
    /// `None`: not measured.
    pub health_status: Option<HealthStatus>,
    #[serde(default, deserialize_with = "lenient::texts")]
    pub health_status_reason: BTreeMap<String, String>,
    /// The reason of a failure for each node group; empty unless a cluster that failed is read by
    /// itself.
    #[serde(default, deserialize_with = "lenient::texts")]
    pub faults: BTreeMap<String, String>,
    /// The address of the API server, with its scheme.
    pub api_address: Option<String>,
    /// The version of Kubernetes.
    pub coe_version: Option<String>,
    /// The version of the container runtime.
    pub container_version: Option<String>,
    pub discovery_url: Option<String>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub project_id: String,
    /// The user whose credential the cluster uses in the cloud; only this user may read its
    /// certificates.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub user_id: String,
    /// Some drivers leave it empty.
    #[serde(default, deserialize_with = "lenient::list_of_texts")]
    pub node_addresses: Vec<String>,
    #[serde(default, deserialize_with = "lenient::list_of_texts")]
    pub master_addresses: Vec<String>,
    pub fixed_network: Option<String>,
    pub fixed_subnet: Option<String>,
    pub floating_ip_enabled: Option<bool>,
    pub master_lb_enabled: Option<bool>,
    #[serde(default, deserialize_with = "lenient::time")]
    pub created_at: Option<Timestamp>,
    #[serde(default, deserialize_with = "lenient::time")]
    pub updated_at: Option<Timestamp>,
}

impl Cluster {
    /// Returns the driver's own name for it: the UUID of a Heat stack, or the name of a Cluster API
    /// cluster.
    pub fn backend_id(&self) -> Option<&str> {
        self.cluster_id.as_deref().or(self.stack_id.as_deref())
    }

    /// Returns what distinguishes it from others with the same name.
    pub fn candidate(&self) -> Candidate {
        Candidate {
            id: self.uuid.to_string(),
            name: self.name.clone(),
            status: Some(self.status.to_string()),
            created_at: self.created_at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Cluster {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_cluster_of_a_real_magnum_is_read() {
        let cluster = read(include_str!("fixtures/cluster_show_complete.json"));
        assert_eq!(cluster.name, "prod-a");
        assert_eq!(cluster.status, Status::CreateComplete);
        assert_eq!(cluster.health_status, Some(HealthStatus::Healthy));
        assert_eq!(cluster.health_status_reason["api"], "ok");
        assert_eq!(
            (cluster.node_count, cluster.master_count),
            (Some(2), Some(1))
        );
        assert_eq!(
            cluster.api_address.as_deref(),
            Some("https://192.0.2.10:6443")
        );
        assert_eq!(cluster.node_addresses.len(), 2);
        assert_eq!(cluster.created_at.unwrap().as_second(), 1_795_259_635);
        assert!(cluster.backend_id().is_some());
    }

    #[test]
    fn the_backends_name_has_another_key_in_older_versions() {
        let old = read(include_str!("fixtures/cluster_show_v1_1.json"));
        let new = read(include_str!("fixtures/cluster_show_complete.json"));
        assert!(old.stack_id.is_some() && new.stack_id.is_none());
        assert_eq!(old.backend_id(), new.backend_id());
    }

    #[test]
    fn a_failed_cluster_has_its_reasons() {
        let cluster = read(include_str!("fixtures/cluster_show_failed.json"));
        assert!(cluster.status.is_failed());
        assert_eq!(cluster.health_status, None);
        assert_eq!(
            cluster.status_reason.as_deref(),
            Some("simulated failure: quota exceeded for cores")
        );
        assert_eq!(cluster.faults["default-worker"], "simulated failure");
        assert_eq!(cluster.labels.skipped["kube_tag"], "v1.31.0");
        assert_eq!(cluster.labels.overridden["sim_seconds"], "2");
    }

    #[test]
    fn only_uuid_and_status_are_required_and_unknown_fields_are_ignored() {
        let cluster = read(
            r#"{"uuid": "900e3758-8071-430e-a8cf-5c48f428dc0e", "status": "PAUSED", "new": [1],
                "labels": {"n": 3, "b": true}, "name": null, "node_addresses": null,
                "updated_at": "soon"}"#,
        );
        assert_eq!(cluster.status, Status::Other("PAUSED".to_owned()));
        let labels = cluster.labels.applied;
        assert_eq!((labels["n"].as_str(), labels["b"].as_str()), ("3", "true"));
        assert_eq!(cluster.updated_at, None);
    }
}

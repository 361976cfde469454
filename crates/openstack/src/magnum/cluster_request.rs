//! Requests about clusters.
use super::patch::PatchOperation;
use super::status::HealthStatus;
use super::version::Feature;
use crate::lenient;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use uuid::Uuid;

/// A cluster to create, as the body of the request; `None` leaves a value to the template or to
/// Magnum. JSON with other keys is refused, as Magnum refuses it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewCluster {
    /// Begins with a letter, has at most 242 letters, digits, `_`, `.` and `-`. Magnum makes one up
    /// if there is none.
    pub name: Option<String>,
    /// The UUID of the template. A name would be resolved by Magnum, and can be ambiguous.
    pub cluster_template_id: String,
    pub keypair: Option<String>,
    /// Odd; more than 1 needs `master_lb_enabled`.
    pub master_count: Option<u32>,
    pub node_count: Option<u32>,
    /// In minutes.
    pub create_timeout: Option<u32>,
    pub flavor_id: Option<String>,
    pub master_flavor_id: Option<String>,
    #[serde(default, deserialize_with = "lenient::texts")]
    pub labels: BTreeMap<String, String>,
    /// Whether the template's other labels apply too. Without it, `labels` replaces all of them,
    /// the version of Kubernetes included.
    pub merge_labels: Option<bool>,
    /// In GiB.
    pub docker_volume_size: Option<u32>,
    pub discovery_url: Option<String>,
    pub fixed_network: Option<String>,
    pub fixed_subnet: Option<String>,
    pub floating_ip_enabled: Option<bool>,
    pub master_lb_enabled: Option<bool>,
}

impl NewCluster {
    /// Returns a cluster of a template, with labels merged and everything else left to the
    /// template.
    pub fn of_template(name: impl Into<String>, template: Uuid) -> Self {
        Self {
            name: Some(name.into()),
            cluster_template_id: template.to_string(),
            merge_labels: Some(true),
            ..Self::default()
        }
    }

    pub(super) fn features(&self) -> Vec<Feature> {
        match self.node_count {
            Some(0) => vec![Feature::ZeroNodes],
            _ => Vec::new(),
        }
    }
}

/// The fields of a cluster that Magnum can change; `None` leaves one as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterChange {
    /// The size of the *default* worker group, though a cluster shows the sum of all. Use
    /// [`Resize`] instead.
    pub node_count: Option<u32>,
    pub health_status: Option<HealthStatus>,
    pub health_status_reason: Option<BTreeMap<String, String>>,
    /// Whether Magnum undoes the update if it fails.
    pub rollback: bool,
}

impl ClusterChange {
    pub(super) fn operations(&self) -> Vec<PatchOperation> {
        let count = self.node_count;
        let status = self.health_status.as_ref();
        let reason = self.health_status_reason.as_ref();
        [
            count.map(|count| PatchOperation::set("node_count", count)),
            status.map(|status| PatchOperation::set("health_status", status.as_str())),
            reason.map(|reason| PatchOperation::set_json("health_status_reason", &json!(reason))),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    pub(super) fn features(&self) -> Vec<Feature> {
        let zero = (self.node_count == Some(0)).then_some(Feature::ZeroNodes);
        let rollback = self.rollback.then_some(Feature::Rollback);
        zero.into_iter().chain(rollback).collect()
    }
}

/// Another size of a node group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resize {
    pub node_count: u32,
    /// UUIDs of the servers to remove when the group shrinks; some drivers ignore it.
    pub nodes_to_remove: Vec<String>,
    /// `None`: the default worker group. Naming one needs [`Feature::NodeGroups`].
    pub node_group: Option<Uuid>,
}

impl Resize {
    pub(super) fn body(&self) -> Value {
        let mut body = json!({ "node_count": self.node_count });
        if !self.nodes_to_remove.is_empty() {
            body["nodes_to_remove"] = json!(self.nodes_to_remove);
        }
        if let Some(group) = &self.node_group {
            body["nodegroup"] = json!(group);
        }
        body
    }

    pub(super) fn features(&self) -> Vec<Feature> {
        let zero = (self.node_count == 0).then_some(Feature::ZeroNodes);
        let group = self.node_group.map(|_| Feature::NodeGroups);
        let optional = zero.into_iter().chain(group);
        std::iter::once(Feature::Resize).chain(optional).collect()
    }
}

/// The upgrade of a node group to another template. Every field is sent: Magnum fails with status
/// 500 where one is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upgrade {
    pub cluster_template: Uuid,
    /// The group; the drivers for Cluster API upgrade the whole cluster whichever it is.
    pub node_group: Uuid,
    /// How many nodes are replaced at once; at least 1.
    pub max_batch_size: u32,
}

impl Upgrade {
    pub(super) fn body(&self) -> Value {
        json!({
            "cluster_template": self.cluster_template,
            "nodegroup": self.node_group,
            "max_batch_size": self.max_batch_size.max(1),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::body::body_of_new;
    use super::*;

    #[test]
    fn what_is_left_to_the_template_is_not_sent() {
        let template = "f7617ea3-8060-4dd2-9479-e441e1a40404".parse().unwrap();
        let mut cluster = NewCluster::of_template("prod", template);
        assert_eq!(
            body_of_new(&cluster),
            json!({"name": "prod", "cluster_template_id": template, "merge_labels": true})
        );
        cluster
            .labels
            .insert("kube_tag".to_owned(), "v1.31.0".to_owned());
        cluster.node_count = Some(0);
        assert_eq!(
            body_of_new(&cluster)["labels"],
            json!({"kube_tag": "v1.31.0"})
        );
        assert_eq!(cluster.features(), [Feature::ZeroNodes]);
    }

    #[test]
    fn a_body_with_nulls_is_read_and_an_unknown_key_is_not() {
        let body = r#"{"name": "a", "cluster_template_id": "t", "keypair": null, "labels": null,
                       "merge_labels": null, "node_count": 2}"#;
        let cluster: NewCluster = serde_json::from_str(body).unwrap();
        assert_eq!((cluster.node_count, cluster.keypair), (Some(2), None));
        let error =
            serde_json::from_str::<NewCluster>(r#"{"cluster_template_id": "t", "bogus": 1}"#);
        assert!(error.unwrap_err().to_string().contains("bogus"));
    }

    #[test]
    fn values_of_a_patch_are_texts_or_integers() {
        let reason = BTreeMap::from([("node-1.Ready".to_owned(), "it's \"False\"".to_owned())]);
        let change = ClusterChange {
            node_count: Some(3),
            health_status: Some(HealthStatus::Unhealthy),
            health_status_reason: Some(reason),
            rollback: true,
        };
        assert_eq!(
            json!(change.operations()),
            json!([
                {"op": "replace", "path": "/node_count", "value": 3},
                {"op": "replace", "path": "/health_status", "value": "UNHEALTHY"},
                {"op": "replace", "path": "/health_status_reason",
                 "value": r#"{"node-1.Ready":"it's \"False\""}"#},
            ])
        );
        assert_eq!(change.features(), [Feature::Rollback]);
    }
}

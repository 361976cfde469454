//! Node groups: what Magnum returns, and requests about them.
use super::merged_labels::MergedLabels;
use super::patch::PatchOperation;
use super::status::Status;
use super::version::Feature;
use crate::lenient;
use crate::open_enum::open_enum;
use crate::rest::Candidate;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use uuid::Uuid;

/// What the list of a cluster's node groups has about each. The bounds in it are Magnum's defaults
/// and not the group's, so they are only in [`NodeGroup`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct NodeGroupSummary {
    pub uuid: Uuid,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub name: String,
    pub flavor_id: Option<String>,
    pub image_id: Option<String>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub node_count: u32,
    /// `master`, `worker`, or a word of the user's.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub role: String,
    /// Whether it was made with the cluster, and is deleted only with it.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub is_default: bool,
    pub stack_id: Option<String>,
    /// `None` for a group that was just requested.
    pub status: Option<Status>,
}

impl NodeGroupSummary {
    /// Returns what distinguishes it from others with the same name.
    pub fn candidate(&self) -> Candidate {
        Candidate {
            id: self.uuid.to_string(),
            name: self.name.clone(),
            status: self.status.as_ref().map(ToString::to_string),
            created_at: None,
        }
    }
}

/// A node group.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct NodeGroup {
    #[serde(flatten)]
    pub summary: NodeGroupSummary,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub min_node_count: u32,
    /// `None`: no maximum.
    pub max_node_count: Option<u32>,
    /// The UUID of the cluster.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub cluster_id: String,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub project_id: String,
    pub status_reason: Option<String>,
    /// The version of Kubernetes, if the driver reports it.
    pub version: Option<String>,
    /// Some drivers leave it empty.
    #[serde(default, deserialize_with = "lenient::list_of_texts")]
    pub node_addresses: Vec<String>,
    /// In GiB.
    pub docker_volume_size: Option<u32>,
    #[serde(flatten)]
    pub labels: MergedLabels,
    /// Labels of the nodes in Kubernetes, since 1.14; some drivers do not set them.
    #[serde(default, deserialize_with = "lenient::texts")]
    pub node_labels: BTreeMap<String, String>,
    /// Taints of the nodes in Kubernetes, since 1.14; some drivers do not set them.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub node_taints: Vec<NodeTaint>,
    #[serde(default, deserialize_with = "lenient::time")]
    pub created_at: Option<Timestamp>,
    #[serde(default, deserialize_with = "lenient::time")]
    pub updated_at: Option<Timestamp>,
}

/// A taint of the nodes of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeTaint {
    pub key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    pub effect: TaintEffect,
}

open_enum! {
    /// What a taint does to pods that do not tolerate it.
    pub enum TaintEffect {
        NoSchedule = "NoSchedule",
        PreferNoSchedule = "PreferNoSchedule",
        NoExecute = "NoExecute",
    }
}

/// A node group to create, as the body of the request; `None` leaves a value to the cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewNodeGroup {
    pub name: String,
    pub flavor_id: Option<String>,
    pub image_id: Option<String>,
    pub node_count: Option<u32>,
    pub min_node_count: Option<u32>,
    pub max_node_count: Option<u32>,
    /// Any word but `master`; Magnum's default is `worker`.
    pub role: Option<String>,
    /// In GiB.
    pub docker_volume_size: Option<u32>,
    #[serde(default, deserialize_with = "lenient::texts")]
    pub labels: BTreeMap<String, String>,
    /// Whether the cluster's other labels apply too.
    pub merge_labels: Option<bool>,
    /// Needs [`Feature::NodeLabelsAndTaints`].
    #[serde(default, deserialize_with = "lenient::texts")]
    pub node_labels: BTreeMap<String, String>,
    /// Needs [`Feature::NodeLabelsAndTaints`].
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub node_taints: Vec<NodeTaint>,
}

impl NewNodeGroup {
    pub(super) fn features(&self) -> Vec<Feature> {
        let counts = [self.node_count, self.min_node_count, self.max_node_count];
        let zero = counts.contains(&Some(0)).then_some(Feature::ZeroNodes);
        let labelled = !self.node_labels.is_empty() || !self.node_taints.is_empty();
        let labelled = labelled.then_some(Feature::NodeLabelsAndTaints);
        let optional = zero.into_iter().chain(labelled);
        std::iter::once(Feature::NodeGroups)
            .chain(optional)
            .collect()
    }
}

/// The fields of a node group that Magnum can change; `None` leaves one as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeGroupChange {
    pub min_node_count: Option<u32>,
    pub max_node_count: Option<MaxNodeCount>,
    /// All labels of the nodes; needs [`Feature::NodeLabelsAndTaints`].
    pub node_labels: Option<BTreeMap<String, String>>,
    /// All taints of the nodes; needs [`Feature::NodeLabelsAndTaints`].
    pub node_taints: Option<Vec<NodeTaint>>,
}

/// A new maximum of a node group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaxNodeCount {
    Unlimited,
    Limit(u32),
}

impl NodeGroupChange {
    pub(super) fn operations(&self) -> Vec<PatchOperation> {
        let max = self.max_node_count.map(|max| match max {
            MaxNodeCount::Unlimited => PatchOperation::unset("max_node_count"),
            MaxNodeCount::Limit(count) => PatchOperation::set("max_node_count", count),
        });
        let labels = self.node_labels.as_ref();
        let taints = self.node_taints.as_ref();
        [
            self.min_node_count
                .map(|count| PatchOperation::set("min_node_count", count)),
            max,
            labels.map(|labels| PatchOperation::set_json("node_labels", &json!(labels))),
            taints.map(|taints| PatchOperation::set_json("node_taints", &json!(taints))),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    pub(super) fn features(&self) -> Vec<Feature> {
        let zero = (self.min_node_count == Some(0)).then_some(Feature::ZeroNodes);
        let labelled = self.node_labels.is_some() || self.node_taints.is_some();
        let labelled = labelled.then_some(Feature::NodeLabelsAndTaints);
        let optional = zero.into_iter().chain(labelled);
        std::iter::once(Feature::NodeGroups)
            .chain(optional)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::body::body_of_new;
    use super::*;

    #[test]
    fn groups_of_a_real_magnum_are_read() {
        let group: NodeGroup =
            serde_json::from_str(include_str!("fixtures/nodegroup_show.json")).unwrap();
        assert_eq!(
            (group.summary.name.as_str(), group.summary.role.as_str()),
            ("gpu", "gpu")
        );
        assert_eq!(group.max_node_count, Some(3));
        assert_eq!(group.node_labels["tier"], "gpu");
        assert_eq!(group.node_taints[0].effect, TaintEffect::NoSchedule);
        assert_eq!(group.node_addresses, ["192.0.2.129"]);
        #[derive(Deserialize)]
        struct Groups {
            nodegroups: Vec<NodeGroupSummary>,
        }
        let groups: Groups =
            serde_json::from_str(include_str!("fixtures/nodegroup_list.json")).unwrap();
        let roles: Vec<_> = groups
            .nodegroups
            .iter()
            .map(|one| one.role.as_str())
            .collect();
        assert_eq!(roles, ["master", "worker"]);
        assert!(groups.nodegroups.iter().all(|one| one.is_default));
    }

    #[test]
    fn labels_and_taints_of_a_patch_are_texts_and_a_maximum_is_removed() {
        let taint = NodeTaint {
            key: "gpu".to_owned(),
            value: None,
            effect: TaintEffect::NoExecute,
        };
        let change = NodeGroupChange {
            min_node_count: Some(0),
            max_node_count: Some(MaxNodeCount::Unlimited),
            node_labels: Some(BTreeMap::from([("tier".to_owned(), "gpu".to_owned())])),
            node_taints: Some(vec![taint]),
        };
        assert_eq!(
            json!(change.operations()),
            json!([
                {"op": "replace", "path": "/min_node_count", "value": 0},
                {"op": "remove", "path": "/max_node_count"},
                {"op": "replace", "path": "/node_labels", "value": r#"{"tier":"gpu"}"#},
                {"op": "replace", "path": "/node_taints",
                 "value": r#"[{"effect":"NoExecute","key":"gpu"}]"#},
            ])
        );
        assert_eq!(
            change.features(),
            [
                Feature::NodeGroups,
                Feature::ZeroNodes,
                Feature::NodeLabelsAndTaints
            ]
        );
    }

    #[test]
    fn what_a_group_needs_follows_from_its_fields() {
        let mut group = NewNodeGroup {
            name: "gpu".to_owned(),
            ..NewNodeGroup::default()
        };
        assert_eq!(body_of_new(&group), json!({"name": "gpu"}));
        assert_eq!(group.features(), [Feature::NodeGroups]);
        group.min_node_count = Some(0);
        assert_eq!(group.features(), [Feature::NodeGroups, Feature::ZeroNodes]);
    }
}

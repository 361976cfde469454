//! What is observed of a cluster, and what differs between two observations.
use super::TEMPLATE_FIELD;
use crate::{
    model::{Cluster, NodeGroup},
    status::Status,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum length of a text in an observation, in characters.
const MAX_TEXT_CHARS: usize = 500;
/// Maximum number of node groups in an observation.
const MAX_GROUPS: usize = 100;

/// What the journal compares of a cluster. Stored as JSON: a new field needs a default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// As Magnum writes it.
    pub status: String,
    #[serde(default)]
    pub reason: Option<String>,
    /// Magnum's `health_status`.
    #[serde(default)]
    pub health: Option<String>,
    /// The UUID.
    #[serde(default)]
    pub template: String,
    #[serde(default)]
    pub version: Option<String>,
    #[serde(default)]
    pub api_address: Option<String>,
    /// By name; `None`: the groups were never read.
    #[serde(default)]
    pub groups: Option<BTreeMap<String, ObservedGroup>>,
}

/// What the journal compares of a node group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservedGroup {
    #[serde(default)]
    pub status: String,
    #[serde(default)]
    pub nodes: u32,
    #[serde(default)]
    pub flavor: Option<String>,
}

/// One field that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// The field in words, such as `State` or `Nodes of gpu`.
    pub field: String,
    /// `None`: there was nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// `None`: there is nothing any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Whether it is the beginning of a change that a client of Magnum must have requested, in contrast
    /// to what Magnum does by itself, such as the end of a change.
    pub is_requested: bool,
}

impl Observation {
    /// Returns the observation of a cluster; `groups` is `None` if they could not be read now.
    pub fn of(cluster: &Cluster, health: Option<&str>, groups: Option<&[NodeGroup]>) -> Self {
        Self {
            status: cluster.status.to_string(),
            reason: cluster.reason.as_deref().and_then(text),
            health: health.and_then(text),
            template: cluster.template.clone(),
            version: cluster.version.as_deref().and_then(text),
            api_address: cluster.api_address.as_deref().and_then(text),
            groups: groups.map(observed_groups),
        }
    }

    /// Returns the observation that a cluster no longer exists.
    pub fn gone(before: &Self) -> Self {
        Self {
            status: "DELETE_COMPLETE".to_owned(),
            reason: None,
            health: None,
            ..before.clone()
        }
    }

    /// Returns this observation with what only the previous one has: groups that could not be read.
    #[must_use]
    pub fn completed_by(self, before: &Self) -> Self {
        Self {
            groups: self.groups.or_else(|| before.groups.clone()),
            ..self
        }
    }

    /// Returns whether Magnum works on the cluster, or on one of its node groups: while a group is deleted,
    /// the state of the cluster stays.
    pub fn is_busy(&self) -> bool {
        let mut groups = self.groups.iter().flat_map(BTreeMap::values);
        is_busy(&self.status) || groups.any(|group| is_busy(&group.status))
    }

    /// Returns what differs from an earlier observation, in the order in which a user wants to know it.
    pub fn differences(&self, before: &Self) -> Vec<Difference> {
        let mut all = Vec::new();
        let is_new_operation = begins_operation(&before.status, &self.status);
        compare(
            &mut all,
            "State",
            Some(&before.status),
            Some(&self.status),
            is_new_operation,
        );
        // a reason that is cleared explains nothing
        if self.reason.is_some() {
            compare(
                &mut all,
                "Reason",
                before.reason.as_deref(),
                self.reason.as_deref(),
                false,
            );
        }
        compare(
            &mut all,
            TEMPLATE_FIELD,
            some(&before.template),
            some(&self.template),
            true,
        );
        for (field, before, after) in [
            ("Kubernetes version", &before.version, &self.version),
            ("API address", &before.api_address, &self.api_address),
            ("Health", &before.health, &self.health),
        ] {
            compare(&mut all, field, before.as_deref(), after.as_deref(), false);
        }
        if let (Some(before_groups), Some(groups)) = (&before.groups, &self.groups) {
            all.extend(group_differences(before_groups, groups, before.is_busy()));
        }
        all
    }
}

fn observed_groups(groups: &[NodeGroup]) -> BTreeMap<String, ObservedGroup> {
    groups
        .iter()
        .filter(|group| group.status != Status::parse("DELETE_COMPLETE"))
        .take(MAX_GROUPS)
        .map(|group| {
            let observed = ObservedGroup {
                status: group.status.to_string(),
                nodes: group.node_count,
                flavor: group.flavor.clone(),
            };
            (group.name.clone(), observed)
        })
        .collect()
}

fn group_differences(
    before: &BTreeMap<String, ObservedGroup>,
    after: &BTreeMap<String, ObservedGroup>,
    was_busy: bool,
) -> Vec<Difference> {
    let names: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let mut all = Vec::new();
    for name in names {
        match (before.get(name), after.get(name)) {
            (Some(before), Some(after)) => {
                let nodes = |group: &ObservedGroup| group.nodes.to_string();
                let (from, to) = (nodes(before), nodes(after));
                // while Magnum works, it may report the number of nodes that are ready
                compare(
                    &mut all,
                    &format!("Nodes of {name}"),
                    Some(&from),
                    Some(&to),
                    !was_busy,
                );
                let begins = begins_operation(&before.status, &after.status);
                compare(
                    &mut all,
                    &format!("State of {name}"),
                    some(&before.status),
                    some(&after.status),
                    begins,
                );
            }
            (None, Some(after)) => all.push(Difference {
                field: format!("Node group {name}"),
                before: None,
                after: Some(format!("{} nodes", after.nodes)),
                is_requested: true,
            }),
            (Some(before), None) => all.push(Difference {
                field: format!("Node group {name}"),
                before: Some(format!("{} nodes", before.nodes)),
                after: None,
                is_requested: true,
            }),
            (None, None) => {}
        }
    }
    all
}

fn compare(
    all: &mut Vec<Difference>,
    field: &str,
    before: Option<&str>,
    after: Option<&str>,
    is_requested: bool,
) {
    if before == after {
        return;
    }
    all.push(Difference {
        field: field.to_owned(),
        before: before.map(str::to_owned),
        after: after.map(str::to_owned),
        is_requested,
    });
}

/// Returns whether a state is one that only a request leads to.
fn begins_operation(before: &str, after: &str) -> bool {
    let activity = |status: &str| match Status::parse(status) {
        Status::Known(activity, _) => Some(activity),
        Status::Other(_) => None,
    };
    is_busy(after) && (!is_busy(before) || activity(before) != activity(after))
}

fn is_busy(status: &str) -> bool {
    Status::parse(status).is_in_progress() || status.ends_with("_IN_PROGRESS")
}

fn some(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

fn text(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.chars().take(MAX_TEXT_CHARS).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    pub fn observed(status: &str, nodes: u32) -> Observation {
        let worker = ObservedGroup {
            status: status.to_owned(),
            nodes,
            flavor: None,
        };
        Observation {
            status: status.to_owned(),
            reason: None,
            health: Some("HEALTHY".to_owned()),
            template: "t1".to_owned(),
            version: Some("v1.31.0".to_owned()),
            api_address: None,
            groups: Some(BTreeMap::from([("default-worker".to_owned(), worker)])),
        }
    }

    fn fields(differences: &[Difference]) -> Vec<(&str, bool)> {
        differences
            .iter()
            .map(|one| (one.field.as_str(), one.is_requested))
            .collect()
    }

    #[test]
    fn the_same_observation_again_has_no_differences() {
        let one = observed("CREATE_COMPLETE", 2);
        assert!(one.differences(&one.clone()).is_empty());
    }

    #[test]
    fn the_beginning_of_an_operation_was_requested_and_its_end_was_not() {
        let settled = observed("CREATE_COMPLETE", 2);
        let busy = observed("UPDATE_IN_PROGRESS", 2);
        let done = observed("UPDATE_COMPLETE", 3);
        let begin = busy.differences(&settled);
        assert_eq!(
            fields(&begin),
            [("State", true), ("State of default-worker", true)]
        );
        let end = done.differences(&busy);
        assert_eq!(
            fields(&end),
            [
                ("State", false),
                ("Nodes of default-worker", false),
                ("State of default-worker", false)
            ]
        );
        // a deletion of a cluster that is being changed
        let deleting = observed("DELETE_IN_PROGRESS", 2);
        assert!(deleting.differences(&busy)[0].is_requested);
    }

    #[test]
    fn nodes_that_change_while_nothing_runs_were_requested() {
        let before = observed("CREATE_COMPLETE", 2);
        let after = observed("CREATE_COMPLETE", 3);
        assert_eq!(
            after.differences(&before),
            [Difference {
                field: "Nodes of default-worker".to_owned(),
                before: Some("2".to_owned()),
                after: Some("3".to_owned()),
                is_requested: true,
            }]
        );
    }

    #[test]
    fn groups_that_cannot_be_read_are_no_difference() {
        let before = observed("CREATE_COMPLETE", 2);
        let unread = Observation {
            groups: None,
            ..before.clone()
        };
        assert!(unread.differences(&before).is_empty());
        assert_eq!(unread.completed_by(&before), before);
    }

    #[test]
    fn a_group_that_appears_or_disappears_is_one_difference() {
        let before = observed("UPDATE_IN_PROGRESS", 2);
        let mut after = before.clone();
        let gpu = ObservedGroup {
            nodes: 1,
            ..ObservedGroup::default()
        };
        after.groups.as_mut().unwrap().insert("gpu".to_owned(), gpu);
        assert_eq!(
            fields(&after.differences(&before)),
            [("Node group gpu", true)]
        );
        assert_eq!(
            fields(&before.differences(&after)),
            [("Node group gpu", true)]
        );
    }

    #[test]
    fn case_37_an_upgrade_is_a_difference_with_both_templates_and_versions() {
        let before = observed("CREATE_COMPLETE", 3);
        let running = Observation {
            template: "t2".to_owned(),
            ..observed("UPDATE_IN_PROGRESS", 3)
        };
        let template = Difference {
            field: "Template".to_owned(),
            before: Some("t1".to_owned()),
            after: Some("t2".to_owned()),
            is_requested: true,
        };
        assert!(running.differences(&before).contains(&template));
        let done = Observation {
            template: "t2".to_owned(),
            version: Some("v1.32.0".to_owned()),
            ..observed("UPDATE_COMPLETE", 3)
        };
        let version = Difference {
            field: "Kubernetes version".to_owned(),
            before: Some("v1.31.0".to_owned()),
            after: Some("v1.32.0".to_owned()),
            // it is the effect of the request for the template
            is_requested: false,
        };
        assert!(done.differences(&running).contains(&version));
        // an observation that has seen nothing in between has both
        let both = done.differences(&before);
        assert!(both.contains(&template) && both.contains(&version));
    }

    #[test]
    fn a_cluster_is_busy_while_one_of_its_groups_is_deleted() {
        let mut one = observed("CREATE_COMPLETE", 2);
        assert!(!one.is_busy());
        let gpu = ObservedGroup {
            status: "DELETE_IN_PROGRESS".to_owned(),
            ..ObservedGroup::default()
        };
        one.groups.as_mut().unwrap().insert("gpu".to_owned(), gpu);
        assert!(one.is_busy());
    }

    #[test]
    fn an_observation_of_an_earlier_version_can_be_read() {
        let read: Observation = serde_json::from_str(r#"{"status": "CREATE_COMPLETE"}"#).unwrap();
        assert_eq!(read.groups, None);
        let long = "x".repeat(10_000);
        assert_eq!(text(&long).unwrap().len(), MAX_TEXT_CHARS);
    }
}

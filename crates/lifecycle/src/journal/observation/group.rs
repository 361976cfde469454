//! What is observed of node groups.
use super::{
    Difference, RecordFields,
    differences::{begins_operation, compare, some},
    record_fields,
};
use crate::{model::NodeGroup, plan::count};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What the journal compares of a node group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservedGroup {
    #[serde(default)]
    pub status: String,
    #[serde(default)]
    pub nodes: u32,
    #[serde(default)]
    pub flavor: Option<String>,
    /// The rest of the record. A list of groups has less of it than a group that is read by itself.
    #[serde(default, skip_serializing_if = "RecordFields::is_empty")]
    pub record: RecordFields,
}

impl ObservedGroup {
    /// Returns the observation of a group. Bounds, reason, labels and taints are fields only of one that was read
    /// by itself.
    pub fn of(group: &NodeGroup) -> Self {
        let mut record = RecordFields::default();
        record.value("id", Some(&group.uuid));
        record.value("role", Some(&group.role));
        if let Some(bounds) = group.bounds {
            let max = bounds.max.map(|max| max.to_string());
            record.value("min", Some(&bounds.min.to_string()));
            record.value("max", Some(max.as_deref().unwrap_or("unlimited")));
            record.value("reason", group.reason.as_deref());
            record.map("node_labels", &group.node_labels);
            record.list("node_taints", &group.node_taints);
        }
        Self {
            status: group.status.to_string(),
            nodes: group.node_count,
            flavor: group.flavor.clone(),
            record,
        }
    }

    /// Returns whether a group of the same name is another one.
    fn is_other_than(&self, before: &Self) -> bool {
        let id = |group: &Self| group.record.known("id").cloned();
        id(self).is_some_and(|own| id(before).is_some_and(|before| own != before))
    }
}

/// Returns groups with the fields that only the previous observation has.
pub fn completed(
    groups: BTreeMap<String, ObservedGroup>,
    before: &BTreeMap<String, ObservedGroup>,
) -> BTreeMap<String, ObservedGroup> {
    let complete = |name: &str, group: ObservedGroup| match before.get(name) {
        Some(before) if !group.is_other_than(before) => ObservedGroup {
            record: group.record.completed_by(&before.record),
            ..group
        },
        _ => group,
    };
    groups
        .into_iter()
        .map(|(name, group)| {
            let group = complete(&name, group);
            (name, group)
        })
        .collect()
}

/// Returns what differs between the groups of two observations.
pub fn differences(
    before: &BTreeMap<String, ObservedGroup>,
    after: &BTreeMap<String, ObservedGroup>,
    was_busy: bool,
) -> Vec<Difference> {
    let names: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let mut all = Vec::new();
    for name in names {
        match (before.get(name), after.get(name)) {
            (Some(before), Some(after)) => {
                of_one(&mut all, name, (before, after), was_busy);
            }
            (None, Some(after)) => all.push(Difference {
                field: format!("Node group {name}"),
                before: None,
                after: Some(count(after.nodes, "node")),
                is_requested: true,
            }),
            (Some(before), None) => all.push(Difference {
                field: format!("Node group {name}"),
                before: Some(count(before.nodes, "node")),
                after: None,
                is_requested: true,
            }),
            (None, None) => {}
        }
    }
    all
}

fn of_one(
    all: &mut Vec<Difference>,
    name: &str,
    (before, after): (&ObservedGroup, &ObservedGroup),
    was_busy: bool,
) {
    let nodes = |group: &ObservedGroup| group.nodes.to_string();
    let (from, to) = (nodes(before), nodes(after));
    // while Magnum works, it may report the number of nodes that are ready
    compare(
        all,
        &format!("Nodes of {name}"),
        Some(&from),
        Some(&to),
        !was_busy,
    );
    let begins = begins_operation(&before.status, &after.status);
    compare(
        all,
        &format!("State of {name}"),
        some(&before.status),
        some(&after.status),
        begins,
    );
    if let (Some(from), Some(to)) = (&before.flavor, &after.flavor) {
        let field = format!("Flavor of {name}");
        compare(all, &field, Some(from), Some(to), false);
    }
    all.extend(record_fields::of_group(name, &before.record, &after.record));
}

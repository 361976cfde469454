//! What is observed of a cluster, and what differs between two observations.
mod differences;
mod group;
mod record_fields;
#[cfg(test)]
mod tests;

pub use group::ObservedGroup;
pub use record_fields::RecordFields;

use super::TEMPLATE_FIELD;
use crate::{
    model::{Cluster, NodeGroup},
    status::Status,
};
use differences::{begins_operation, compare, is_busy, some};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The difference that names the owner, by user ID.
pub const OWNER_FIELD: &str = "Owner";

/// Maximum length of a text in an observation, in characters.
const MAX_TEXT_CHARS: usize = 500;
/// Maximum number of node groups in an observation.
const MAX_GROUPS: usize = 100;
/// Maximum size of the fields of an observation, in bytes of their texts.
const MAX_RECORD_BYTES: usize = 128 * 1024;

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
    /// The rest of the record.
    #[serde(default, skip_serializing_if = "RecordFields::is_empty")]
    pub record: RecordFields,
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
    /// Returns the observation of a cluster; `groups` is `None` if they could not be read now. Of the fields it
    /// has the owner only.
    pub fn of(cluster: &Cluster, health: Option<&str>, groups: Option<&[NodeGroup]>) -> Self {
        let mut record = RecordFields::default();
        // a list in its short form has no owner
        if let Some(owner) = &cluster.user_id {
            record.value("owner", Some(owner));
        }
        Self {
            status: cluster.status.to_string(),
            reason: cluster.reason.as_deref().and_then(text),
            health: health.and_then(text),
            template: cluster.template.clone(),
            version: cluster.version.as_deref().and_then(text),
            api_address: cluster.api_address.as_deref().and_then(text),
            groups: groups.map(observed_groups),
            record,
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

    /// Returns this observation with what only the previous one has: groups and fields that could not be
    /// read, or are not in the answer.
    #[must_use]
    pub fn completed_by(self, before: &Self) -> Self {
        let groups = match (self.groups, &before.groups) {
            (Some(groups), Some(before)) => Some(group::completed(groups, before)),
            (groups, before) => groups.or_else(|| before.clone()),
        };
        Self {
            groups,
            record: self.record.completed_by(&before.record),
            ..self
        }
        .bounded()
    }

    /// Returns the observation with fields of limited size: those of the last groups are left out first.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        let groups = self.groups.iter().flat_map(BTreeMap::values);
        let of_groups: usize = groups.map(|group| group.record.bytes()).sum();
        let mut bytes = self.record.bytes() + of_groups;
        for group in self.groups.iter_mut().flat_map(BTreeMap::values_mut).rev() {
            if bytes <= MAX_RECORD_BYTES {
                break;
            }
            bytes -= group.record.bytes();
            group.record = RecordFields::default();
        }
        self
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
            all.extend(group::differences(before_groups, groups, before.is_busy()));
        }
        all.extend(record_fields::of_cluster(&before.record, &self.record));
        all
    }
}

fn observed_groups(groups: &[NodeGroup]) -> BTreeMap<String, ObservedGroup> {
    groups
        .iter()
        .filter(|group| group.status != Status::parse("DELETE_COMPLETE"))
        .take(MAX_GROUPS)
        .map(|group| (group.name.clone(), ObservedGroup::of(group)))
        .collect()
}

fn text(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.chars().take(MAX_TEXT_CHARS).collect())
}

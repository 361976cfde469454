//! Labels as Magnum returns them.
use crate::lenient;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The labels of a cluster or a node group, and how they differ from those of its parent: the template
/// of a cluster, the cluster of a node group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct MergedLabels {
    /// What applies: those of the parent, with its own over them.
    #[serde(rename = "labels", default, deserialize_with = "lenient::texts")]
    pub applied: BTreeMap<String, String>,
    /// The values that the parent has for labels that are overridden.
    #[serde(
        rename = "labels_overridden",
        default,
        deserialize_with = "lenient::texts"
    )]
    pub overridden: BTreeMap<String, String>,
    /// The labels that the parent does not have.
    #[serde(rename = "labels_added", default, deserialize_with = "lenient::texts")]
    pub added: BTreeMap<String, String>,
    /// The parent's labels that do not apply, because it was made without merging.
    #[serde(
        rename = "labels_skipped",
        default,
        deserialize_with = "lenient::texts"
    )]
    pub skipped: BTreeMap<String, String>,
}

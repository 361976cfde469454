//! The cluster templates of a project: list, details, copies, flags and deletion.
use super::CapabilityLine;
use crate::{
    identity::Named,
    panel::{Reading, VersionSupport},
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use uuid::Uuid;

/// The content of the list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClusterTemplates {
    /// Deprecated and hidden ones last.
    pub templates: Vec<TemplateRow>,
    /// What could not be read completely, as sentences.
    pub gaps: Vec<String>,
}

/// A template that the project may use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TemplateRow {
    pub id: Uuid,
    pub name: String,
    /// The version of Kubernetes and until when it is supported upstream; `None`: not known.
    pub version: Option<VersionSupport>,
    /// The name of the driver, such as `magnum-capi-helm`.
    pub driver: String,
    /// Of the workers.
    pub flavor: Option<String>,
    pub control_plane_flavor: Option<String>,
    /// Whether every project may use it.
    pub is_public: bool,
    /// Whether it is offered to administrators of the cloud only.
    pub is_hidden: bool,
    /// Whether it belongs to the project.
    pub is_own: bool,
    /// Clusters of the project that use it, by UUID and name.
    pub used_by: Vec<Named>,
    /// Why no cluster for Portico can be made from it, as a sentence.
    pub refusal: Option<String>,
}

/// The content of the page of a template.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TemplateDetails {
    pub template: TemplateRow,
    /// Values of the template that a copy can replace.
    pub values: TemplateValues,
    /// What else the template fixes, as sentences.
    pub fixed: Vec<String>,
    /// What the driver can do and what it ignores.
    pub capabilities: Vec<CapabilityLine>,
    pub labels: Vec<TemplateLabel>,
    pub choices: TemplateChoices,
    pub refusals: TemplateRefusals,
    /// What could not be read completely, as sentences.
    pub gaps: Vec<String>,
}

/// Values of a template that a copy can replace. An empty text is no value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateValues {
    pub name: String,
    /// Name or ID.
    pub image: String,
    /// Of the workers.
    pub flavor: String,
    pub control_plane_flavor: String,
    pub keypair: String,
    pub external_network: String,
    /// An existing network; empty: the driver makes one.
    pub network: String,
    pub subnet: String,
    pub labels: BTreeMap<String, String>,
}

/// One label of a template.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateLabel {
    pub key: String,
    pub value: String,
    /// What it does, if it is known.
    pub meaning: Option<String>,
    /// That it is invalid, or that the driver ignores it, as sentences.
    pub notes: Vec<String>,
}

/// Suggestions for the values of a copy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TemplateChoices {
    pub images: Reading<Vec<String>>,
    pub flavors: Reading<Vec<String>>,
    /// Names of the viewer's own key pairs.
    pub keypairs: Reading<Vec<String>>,
    pub networks: Reading<Vec<String>>,
}

/// Why the viewer may not change a template, as sentences; `None`: they may.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateRefusals {
    pub copy: Option<String>,
    /// To publish it, or to no longer do so.
    pub publish: Option<String>,
    /// To hide it, or to show it again.
    pub hide: Option<String>,
    pub delete: Option<String>,
}

/// A flag that only administrators of the cloud set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TemplateFlag {
    /// Every project may use the template.
    Public,
    /// It is offered to administrators only.
    Hidden,
}

/// What came of a change of a template.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TemplateOutcome {
    /// It is done; the UUID is that of the template, or of the copy.
    Done { template: Uuid },
    /// It was refused; the texts are sentences.
    Refused {
        reason: String,
        next_step: Option<String>,
        request_id: Option<String>,
    },
    /// The response was lost: Magnum may have done it.
    Unknown { reason: String, next_step: String },
}

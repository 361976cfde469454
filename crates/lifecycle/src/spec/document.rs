//! The file that describes a cluster.
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::{Taint, labels_of_fields};

/// The name of the group of workers that Magnum makes with the cluster.
pub const DEFAULT_GROUP: &str = "default-worker";

/// A specification or request that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// The file does not have the form of a cluster; the text names the field.
    #[error("the cluster file is invalid: {0}")]
    Document(String),
    /// The JSON is not an object.
    #[error("the request is not a JSON object")]
    NotAnObject,
    /// Magnum does not know the field.
    #[error("Magnum does not know the field {0:?} of a cluster")]
    UnknownField(String),
    /// A value has another type than Magnum's API demands.
    #[error("{field} must be {expected}, not {found}")]
    Type {
        field: String,
        expected: &'static str,
        found: String,
    },
    #[error("{0} is missing")]
    Missing(&'static str),
}

/// A cluster as a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClusterDocument {
    pub api_version: DocumentVersion,
    pub kind: DocumentKind,
    pub metadata: Metadata,
    pub spec: ClusterSpec,
}

/// The version of the file's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum DocumentVersion {
    #[serde(rename = "portico.dev/v1alpha1")]
    V1Alpha1,
}

/// What the file describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum DocumentKind {
    Cluster,
}

/// Name and place of the cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Metadata {
    /// Begins with a letter; letters, digits, `_`, `.` and `-` follow.
    pub name: String,
    /// The project; absent: that of the token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Notes about the file, such as `portico.dev/reason`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

/// What the cluster consists of. An absent value is the template's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClusterSpec {
    #[serde(default, skip_serializing_if = "Provider::is_default")]
    pub provider: Provider,
    /// Name or UUID of the cluster template. Another one upgrades the cluster.
    pub template: String,
    /// The key pair for SSH to the nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keypair: Option<String>,
    /// Availability zone of the servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    #[serde(default, skip_serializing_if = "ControlPlane::is_empty")]
    pub control_plane: ControlPlane,
    #[serde(default, skip_serializing_if = "Network::is_empty")]
    pub network: Network,
    #[serde(default, skip_serializing_if = "Api::is_empty")]
    pub api: Api,
    /// Minutes after which a creation counts as failed, where the driver honours it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub create_timeout: Option<u32>,
    /// Size of the volume for containers of each node in GiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub docker_volume_size: Option<u32>,
    /// The URL with which the etcd members find each other, where the driver uses one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discovery_url: Option<String>,
    /// Merged over the template's. Fixed at creation.
    #[serde(
        default,
        deserialize_with = "labels",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    #[schemars(schema_with = "schema_of_labels")]
    pub labels: BTreeMap<String, String>,
    /// The group `default-worker` is made with the cluster, the others after it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub node_groups: Vec<NodeGroupSpec>,
    /// Services for the cluster, such as `monitoring`. Portico does not deploy them yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<String>,
    /// Portico does not delete the cluster; false removes the protection. Absent: unchanged, for a new cluster
    /// none. On the command line it needs the session of `portico login`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protection: Option<bool>,
}

/// Where the cluster is made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Provider {
    #[serde(default)]
    pub kind: ProviderKind,
    /// The name of a cloud in `clouds.yaml`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cloud: Option<String>,
}

/// The kind of a cloud.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ProviderKind {
    #[default]
    OpenStack,
}

/// The control plane.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ControlPlane {
    /// An odd number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<u32>,
    /// Name or ID of the flavor of the control plane nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flavor: Option<String>,
    /// A load balancer before the API servers; needed for more than one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_balancer: Option<bool>,
}

/// The network of the nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Network {
    /// Absent: the template's, or a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub existing: Option<ExistingNetwork>,
    /// A floating IP for each node, where the driver does so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floating_ips: Option<bool>,
}

/// An existing network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExistingNetwork {
    /// Name or ID of the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<String>,
    /// Name or ID of a subnet of that network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subnet: Option<String>,
}

/// From where the Kubernetes API can be reached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Api {
    /// Absent: as the template has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exposure: Option<Exposure>,
    /// Networks in CIDR notation; empty: every network.
    #[serde(
        default,
        rename = "allowedCIDRs",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub allowed_cidrs: Vec<String>,
}

/// Whether the Kubernetes API has an address outside the project's networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Exposure {
    /// Through a floating IP.
    Public,
    /// From the project's networks only.
    Private,
}

/// A group of workers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NodeGroupSpec {
    /// Unique in the cluster.
    pub name: String,
    /// The number of nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<u32>,
    /// Name or ID of the flavor. Fixed when the group is created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flavor: Option<String>,
    /// Fewest nodes of the autoscaler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<u32>,
    /// Most nodes of the autoscaler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u32>,
    /// Labels of the nodes in Kubernetes.
    #[serde(
        default,
        deserialize_with = "labels",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    #[schemars(schema_with = "schema_of_labels")]
    pub labels: BTreeMap<String, String>,
    /// Taints of the nodes: `key=value:Effect`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<String>")]
    pub taints: Vec<Taint>,
}

impl ClusterDocument {
    /// Makes a document of the current version.
    pub fn new(metadata: Metadata, spec: ClusterSpec) -> Self {
        Self {
            api_version: DocumentVersion::V1Alpha1,
            kind: DocumentKind::Cluster,
            metadata,
            spec,
        }
    }

    /// Reads a parsed file. Labels that are written as fields, such as `availability_zone`, move to
    /// their fields.
    ///
    /// # Errors
    /// [`SpecError::Document`], which names an unknown, missing or malformed field.
    pub fn read(value: Value) -> Result<Self, SpecError> {
        let mut document: Self = serde_json::from_value(value)
            .map_err(|error| SpecError::Document(error.to_string()))?;
        labels_of_fields::lift(&mut document.spec);
        Ok(document)
    }

    /// Returns the file as a value, without absent fields.
    pub fn to_value(&self) -> Value {
        // maps with text keys and plain values: this cannot fail
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Returns the JSON Schema of the file.
    pub fn json_schema() -> Value {
        schemars::schema_for!(Self).to_value()
    }
}

impl ClusterSpec {
    /// Returns the group that Magnum makes with the cluster, if it is described.
    pub fn default_group(&self) -> Option<&NodeGroupSpec> {
        self.node_groups
            .iter()
            .find(|group| group.name == DEFAULT_GROUP)
    }

    /// Returns whether a new cluster is to be protected from deletion.
    pub fn is_protected(&self) -> bool {
        self.protection == Some(true)
    }

    /// Returns the groups that are made after the cluster.
    pub fn further_groups(&self) -> impl Iterator<Item = &NodeGroupSpec> {
        self.node_groups
            .iter()
            .filter(|group| group.name != DEFAULT_GROUP)
    }
}

impl Provider {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl ControlPlane {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Network {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Api {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Reads labels; YAML has `true` and `3` where Magnum has text.
fn labels<'de, D: Deserializer<'de>>(input: D) -> Result<BTreeMap<String, String>, D::Error> {
    let values = BTreeMap::<String, Value>::deserialize(input)?;
    values
        .into_iter()
        .map(|(key, value)| match scalar(&value) {
            Some(text) => Ok((key, text)),
            None => Err(serde::de::Error::custom(format!(
                "the label {key} must be a text, a number, true or false"
            ))),
        })
        .collect()
}

/// Returns the schema of what [`labels`] reads.
fn schema_of_labels(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "additionalProperties": { "type": ["string", "number", "boolean"] },
    })
}

/// Returns a text, number or truth value as text.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

//! Magnum's requests (`POST /clusters`, `POST /clusters/{id}/nodegroups`) from a specification, and
//! back.
use serde_json::{Map, Value, json};

use super::{
    ClusterDocument, ClusterSpec, ControlPlane, DEFAULT_GROUP, ExistingNetwork, Metadata, Network,
    NodeGroupSpec, SpecError, document::scalar, labels_of_fields,
};
use crate::driver::Family;

/// Returns the body of `POST /clusters`. Absent values are left out, so that the template's apply.
/// Labels are merged with the template's (`merge_labels`), never instead of them.
pub fn create_request(document: &ClusterDocument, family: Family) -> Map<String, Value> {
    let spec = &document.spec;
    let group = spec.default_group();
    let existing = spec.network.existing.as_ref();
    let labels = labels_of_fields::all(spec, family);
    let fields = [
        ("name", Some(json!(document.metadata.name))),
        ("cluster_template_id", Some(json!(spec.template))),
        ("keypair", spec.keypair.as_ref().map(|text| json!(text))),
        (
            "master_count",
            spec.control_plane.replicas.map(|n| json!(n)),
        ),
        (
            "master_flavor_id",
            spec.control_plane.flavor.as_ref().map(|text| json!(text)),
        ),
        (
            "master_lb_enabled",
            spec.control_plane.load_balancer.map(|on| json!(on)),
        ),
        (
            "node_count",
            group.and_then(|group| group.replicas).map(|n| json!(n)),
        ),
        (
            "flavor_id",
            group
                .and_then(|group| group.flavor.as_ref())
                .map(|text| json!(text)),
        ),
        ("create_timeout", spec.create_timeout.map(|n| json!(n))),
        (
            "docker_volume_size",
            spec.docker_volume_size.map(|n| json!(n)),
        ),
        (
            "discovery_url",
            spec.discovery_url.as_ref().map(|text| json!(text)),
        ),
        (
            "fixed_network",
            existing
                .and_then(|existing| existing.network.as_ref())
                .map(|text| json!(text)),
        ),
        (
            "fixed_subnet",
            existing
                .and_then(|existing| existing.subnet.as_ref())
                .map(|text| json!(text)),
        ),
        (
            "floating_ip_enabled",
            spec.network.floating_ips.map(|on| json!(on)),
        ),
        ("merge_labels", (!labels.is_empty()).then_some(json!(true))),
        ("labels", (!labels.is_empty()).then(|| json!(labels))),
    ];
    fields
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), value?)))
        .collect()
}

/// Returns the body of `POST /clusters/{id}/nodegroups`. Labels and taints of nodes need version 1.14
/// of the API.
pub fn node_group_request(group: &NodeGroupSpec) -> Map<String, Value> {
    let taints: Vec<Value> = group
        .taints
        .iter()
        .map(|taint| {
            let mut entry = json!({ "key": taint.key, "effect": taint.effect });
            if let Some(value) = &taint.value {
                entry["value"] = json!(value);
            }
            entry
        })
        .collect();
    let fields = [
        ("name", Some(json!(group.name))),
        ("node_count", group.replicas.map(|n| json!(n))),
        ("flavor_id", group.flavor.as_ref().map(|text| json!(text))),
        ("min_node_count", group.min.map(|n| json!(n))),
        ("max_node_count", group.max.map(|n| json!(n))),
        (
            "node_labels",
            (!group.labels.is_empty()).then(|| json!(group.labels)),
        ),
        ("node_taints", (!taints.is_empty()).then(|| json!(taints))),
    ];
    fields
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), value?)))
        .collect()
}

/// A request of a user, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadRequest {
    /// What it describes.
    pub document: ClusterDocument,
    /// Where Portico sends something else than what was written, as sentences.
    pub notices: Vec<String>,
}

/// Reads the body of `POST /clusters` as users have it for other clients. `null` means the template's
/// value.
///
/// # Errors
/// [`SpecError`] names the field that is unknown, missing, or of the wrong type.
pub fn read_create_request(body: &Value) -> Result<ReadRequest, SpecError> {
    let body = body.as_object().ok_or(SpecError::NotAnObject)?;
    let known = [
        "name",
        "cluster_template_id",
        "keypair",
        "master_count",
        "master_flavor_id",
        "master_lb_enabled",
        "node_count",
        "flavor_id",
        "create_timeout",
        "docker_volume_size",
        "discovery_url",
        "fixed_network",
        "fixed_subnet",
        "floating_ip_enabled",
        "merge_labels",
        "labels",
    ];
    if let Some(unknown) = body.keys().find(|key| !known.contains(&key.as_str())) {
        return Err(SpecError::UnknownField(unknown.clone()));
    }
    let fields = Fields(body);
    let mut spec = ClusterSpec {
        template: fields
            .text("cluster_template_id")?
            .ok_or(SpecError::Missing("cluster_template_id"))?,
        keypair: fields.text("keypair")?,
        control_plane: ControlPlane {
            replicas: fields.number("master_count")?,
            flavor: fields.text("master_flavor_id")?,
            load_balancer: fields.flag("master_lb_enabled")?,
        },
        network: Network {
            existing: existing_network(&fields)?,
            floating_ips: fields.flag("floating_ip_enabled")?,
        },
        create_timeout: fields.number("create_timeout")?,
        docker_volume_size: fields.number("docker_volume_size")?,
        discovery_url: fields.text("discovery_url")?,
        labels: fields.labels()?,
        ..ClusterSpec::default()
    };
    let (replicas, flavor) = (fields.number("node_count")?, fields.text("flavor_id")?);
    if replicas.is_some() || flavor.is_some() {
        spec.node_groups.push(NodeGroupSpec {
            name: DEFAULT_GROUP.to_owned(),
            replicas,
            flavor,
            ..NodeGroupSpec::default()
        });
    }
    let mut notices = Vec::new();
    if !spec.labels.is_empty() && fields.flag("merge_labels")? != Some(true) {
        notices.push(
            "Portico adds merge_labels: true. Without it, Magnum would drop all labels of the template."
                .to_owned(),
        );
    }
    labels_of_fields::lift(&mut spec);
    let metadata = Metadata {
        name: fields.text("name")?.ok_or(SpecError::Missing("name"))?,
        ..Metadata::default()
    };
    Ok(ReadRequest {
        document: ClusterDocument::new(metadata, spec),
        notices,
    })
}

fn existing_network(fields: &Fields<'_>) -> Result<Option<ExistingNetwork>, SpecError> {
    let existing = ExistingNetwork {
        network: fields.text("fixed_network")?,
        subnet: fields.text("fixed_subnet")?,
    };
    Ok((existing != ExistingNetwork::default()).then_some(existing))
}

/// The fields of a body; `null` is absent.
struct Fields<'a>(&'a Map<String, Value>);

impl Fields<'_> {
    fn get(&self, field: &str) -> Option<&Value> {
        self.0.get(field).filter(|value| !value.is_null())
    }

    fn text(&self, field: &str) -> Result<Option<String>, SpecError> {
        let read = |value: &Value| value.as_str().map(str::to_owned);
        self.read(field, "a text", read)
    }

    fn number(&self, field: &str) -> Result<Option<u32>, SpecError> {
        let read = |value: &Value| value.as_u64().and_then(|n| u32::try_from(n).ok());
        self.read(field, "a whole number", read)
    }

    fn flag(&self, field: &str) -> Result<Option<bool>, SpecError> {
        self.read(field, "true or false", Value::as_bool)
    }

    fn labels(&self) -> Result<std::collections::BTreeMap<String, String>, SpecError> {
        let read = |value: &Value| {
            let entries = value.as_object()?.iter();
            entries
                .map(|(key, value)| Some((key.clone(), scalar(value)?)))
                .collect()
        };
        let labels = self.read("labels", "an object of texts", read)?;
        Ok(labels.unwrap_or_default())
    }

    fn read<T>(
        &self,
        field: &str,
        expected: &'static str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<Option<T>, SpecError> {
        let Some(value) = self.get(field) else {
            return Ok(None);
        };
        match read(value) {
            Some(value) => Ok(Some(value)),
            None => Err(SpecError::Type {
                field: field.to_owned(),
                expected,
                found: value.to_string(),
            }),
        }
    }
}

//! What is wrong with a specification, before it is sent.
use std::collections::BTreeSet;

use ipnet::IpNet;

use super::{ClusterDocument, Exposure, NodeGroupSpec, labels_of_fields};
use crate::labels;

/// Maximum length of the name of a cluster or node group, in bytes (Magnum's API).
const MAX_NAME_BYTES: usize = 242;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The field in the file, such as `spec.controlPlane.replicas`.
    pub field: String,
    /// A sentence with what to write instead.
    pub message: String,
}

/// Returns everything that is wrong with a specification, in the order of the file. Whether names of
/// templates, flavors and networks exist is not checked here.
pub fn validate(document: &ClusterDocument) -> Vec<Problem> {
    let mut found = Problems::default();
    let spec = &document.spec;
    found.add("metadata.name", name(&document.metadata.name));
    if spec.template.trim().is_empty() {
        found.add(
            "spec.template",
            Some("Choose a cluster template.".to_owned()),
        );
    }
    control_plane(document, &mut found);
    if let Some(existing) = &spec.network.existing
        && existing.network.is_none()
    {
        let message = "Choose the network of the subnet too.".to_owned();
        found.add("spec.network.existing.network", Some(message));
    }
    api(document, &mut found);
    if spec.docker_volume_size == Some(0) {
        let message = "Enter at least 1 GiB, or leave it empty.".to_owned();
        found.add("spec.dockerVolumeSize", Some(message));
    }
    for (key, value) in &spec.labels {
        found.add(format!("spec.labels.{key}"), label(key, value));
    }
    let mut names = BTreeSet::new();
    for (index, group) in spec.node_groups.iter().enumerate() {
        let field = format!("spec.nodeGroups[{index}]");
        if !names.insert(group.name.as_str()) {
            let message = format!("The node group {} is there twice.", group.name);
            found.add(format!("{field}.name"), Some(message));
        }
        node_group(group, &field, &mut found);
    }
    found.0
}

#[derive(Default)]
struct Problems(Vec<Problem>);

impl Problems {
    fn add(&mut self, field: impl Into<String>, message: Option<String>) {
        if let Some(message) = message {
            self.0.push(Problem {
                field: field.into(),
                message,
            });
        }
    }
}

/// Magnum's pattern `^[a-zA-Z][a-zA-Z0-9_.-]*$`.
fn name(name: &str) -> Option<String> {
    if name.is_empty() {
        return Some("Enter a name.".to_owned());
    }
    if name.len() > MAX_NAME_BYTES {
        return Some(format!("A name has at most {MAX_NAME_BYTES} characters."));
    }
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_valid = begins
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'));
    (!is_valid).then(|| {
        "Begin with a letter (a to z) and use letters, digits, \"_\", \".\" and \"-\" only."
            .to_owned()
    })
}

fn control_plane(document: &ClusterDocument, found: &mut Problems) {
    let masters = &document.spec.control_plane;
    let Some(replicas) = masters.replicas else {
        return;
    };
    if replicas.is_multiple_of(2) {
        let message = format!(
            "Enter an odd number such as 1, 3 or 5: etcd needs a majority, and Magnum refuses {replicas} \
             (\"size cannot be an even number\")."
        );
        found.add("spec.controlPlane.replicas", Some(message));
    }
    if replicas > 1 && masters.load_balancer == Some(false) {
        let message =
            "Several control plane nodes need a load balancer: set it to true, or use 1 node \
                       (\"master_count must be 1 when master_lb_enabled is False\")."
                .to_owned();
        found.add("spec.controlPlane.loadBalancer", Some(message));
    }
}

fn api(document: &ClusterDocument, found: &mut Problems) {
    let api = &document.spec.api;
    for (index, text) in api.allowed_cidrs.iter().enumerate() {
        found.add(format!("spec.api.allowedCIDRs[{index}]"), network(text));
    }
    let is_off = document.spec.control_plane.load_balancer == Some(false);
    if is_off && (api.exposure.is_some() || !api.allowed_cidrs.is_empty()) {
        let message = "How the API is exposed belongs to its load balancer, which is off: set \
                       controlPlane.loadBalancer to true, or leave spec.api out."
            .to_owned();
        found.add("spec.api", Some(message));
    } else if api.exposure == Some(Exposure::Private) && !api.allowed_cidrs.is_empty() {
        // permitted: networks of the project may be limited too, but not those of the internet
        let is_public = |text: &String| {
            let address = text.parse::<IpNet>().map(|network| network.network());
            address.is_ok_and(|address| !is_private(address))
        };
        if let Some(cidr) = api.allowed_cidrs.iter().find(|cidr| is_public(cidr)) {
            let message = format!(
                "The API is private, so clients in {cidr} cannot reach it: use the exposure public or \
                 remove the network."
            );
            found.add("spec.api.allowedCIDRs", Some(message));
        }
    }
}

fn is_private(address: std::net::IpAddr) -> bool {
    match address {
        std::net::IpAddr::V4(address) => address.is_private() || address.is_link_local(),
        std::net::IpAddr::V6(address) => address.is_unique_local(),
    }
}

fn network(text: &str) -> Option<String> {
    let Ok(network) = text.parse::<IpNet>() else {
        return Some(match text.parse::<std::net::IpAddr>() {
            Ok(address) if address.is_ipv4() => {
                format!("Enter a network: {address}/32 is this one address.")
            }
            Ok(address) => format!("Enter a network: {address}/128 is this one address."),
            Err(_) => "Enter a network such as 198.51.100.0/24.".to_owned(),
        });
    };
    let trunc = network.trunc();
    (trunc != network).then(|| format!("Write {trunc}: {text} has bits beyond its prefix."))
}

fn label(key: &str, value: &str) -> Option<String> {
    if key.is_empty() || key.contains(|c: char| c.is_whitespace() || c == '=' || c == ',') {
        return Some("A label has a name without spaces, \"=\" and \",\".".to_owned());
    }
    let field = labels_of_fields::FIELDS
        .iter()
        .find(|(label, _)| *label == key);
    if let Some((_, field)) = field {
        return Some(format!("Use {field} instead of this label."));
    }
    labels::known(key)?.values.problem(value)
}

fn node_group(group: &NodeGroupSpec, field: &str, found: &mut Problems) {
    found.add(format!("{field}.name"), name(&group.name));
    if group.name == "default-master" || group.name == "master" {
        let message = "The control plane is described by spec.controlPlane.".to_owned();
        found.add(format!("{field}.name"), Some(message));
    }
    found.add(format!("{field}.min"), bounds(group));
    for key in group.labels.keys() {
        found.add(format!("{field}.labels.{key}"), node_label(key));
    }
    for (index, taint) in group.taints.iter().enumerate() {
        found.add(format!("{field}.taints[{index}]"), node_label(&taint.key));
    }
}

fn bounds(group: &NodeGroupSpec) -> Option<String> {
    let (min, max) = (group.min.unwrap_or(0), group.max.unwrap_or(u32::MAX));
    if min > max {
        return Some(format!("The minimum {min} is above the maximum {max}."));
    }
    let replicas = group.replicas?;
    if replicas < min {
        return Some(format!("{replicas} nodes are below the minimum {min}."));
    }
    (replicas > max).then(|| format!("{replicas} nodes are above the maximum {max}."))
}

/// Magnum and the kubelet refuse labels in the namespaces of Kubernetes.
fn node_label(key: &str) -> Option<String> {
    let prefix = key.split_once('/').map(|(prefix, _)| prefix)?;
    let is_restricted = ["kubernetes.io", "k8s.io"]
        .iter()
        .any(|domain| prefix == *domain || prefix.ends_with(&format!(".{domain}")));
    (is_restricted).then(|| {
        format!("Labels with the prefix {prefix}/ are restricted: use a prefix of your own.")
    })
}

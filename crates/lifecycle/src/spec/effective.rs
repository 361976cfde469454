//! The specification with every default filled in.
use super::{ClusterDocument, DEFAULT_GROUP, ExistingNetwork, NodeGroupSpec};
use crate::model::Template;

/// Minutes after which Magnum gives up a creation, unless the request states others.
pub const DEFAULT_CREATE_TIMEOUT_MINUTES: u32 = 60;

/// A specification without gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effective {
    pub document: ClusterDocument,
    /// What was set for a reason other than that the template has it, as sentences.
    pub adjustments: Vec<String>,
}

/// Fills in the template's values and Magnum's defaults. Filling in again changes nothing, so a request
/// is the same whether it is made from the original or from the printed specification.
pub fn effective(document: &ClusterDocument, template: &Template) -> Effective {
    let mut document = document.clone();
    let mut adjustments = Vec::new();
    let spec = &mut document.spec;
    let or_template = |value: &mut Option<String>, template: &Option<String>| {
        if value.is_none() {
            value.clone_from(template);
        }
    };
    or_template(&mut spec.keypair, &template.keypair);
    spec.create_timeout
        .get_or_insert(DEFAULT_CREATE_TIMEOUT_MINUTES);
    spec.docker_volume_size = spec.docker_volume_size.or(template.docker_volume_size);
    spec.network
        .floating_ips
        .get_or_insert(template.has_floating_ips);
    if spec.network.existing.is_none() && template.network.is_some() {
        spec.network.existing = Some(ExistingNetwork {
            network: template.network.clone(),
            subnet: template.subnet.clone(),
        });
    }
    let masters = &mut spec.control_plane;
    or_template(&mut masters.flavor, &template.master_flavor);
    let replicas = *masters.replicas.get_or_insert(1);
    if masters.load_balancer.is_none() {
        let is_needed = replicas > 1 && !template.has_load_balancer;
        if is_needed {
            adjustments.push(format!(
                "The load balancer of the API is switched on: {replicas} control plane nodes need one, \
                 and the template has none."
            ));
        }
        masters.load_balancer = Some(template.has_load_balancer || is_needed);
    }
    if spec.default_group().is_none() {
        let group = NodeGroupSpec {
            name: DEFAULT_GROUP.to_owned(),
            ..NodeGroupSpec::default()
        };
        spec.node_groups.insert(0, group);
    }
    for group in &mut spec.node_groups {
        group.replicas.get_or_insert(1);
        or_template(&mut group.flavor, &template.flavor);
    }
    Effective {
        document,
        adjustments,
    }
}

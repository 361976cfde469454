//! Checks before a cluster is created.
use std::net::IpAddr;

use ipnet::IpNet;

use super::Checks;
use crate::{
    capabilities::{Feature, Support, capability},
    driver::{Cloud, Family},
    model::Template,
    quota::{FlavorSize, Projection},
    spec::{ClusterDocument, ClusterSpec, Exposure, validate},
};

/// The smallest flavor of a node: the least that kubeadm runs with.
pub const MIN_FLAVOR: FlavorSize = FlavorSize {
    vcpus: 2,
    ram_mib: 2048,
};

/// What is known before a creation. `None`: the caller could not find out.
#[derive(Clone, Debug)]
pub struct CreationContext<'a> {
    /// The specification with its defaults ([`crate::spec::effective`]).
    pub document: &'a ClusterDocument,
    /// The template that it names.
    pub template: &'a Template,
    /// What the cloud's Magnum offers.
    pub cloud: Cloud,
    /// Whether the user's roles permit `cluster:create`.
    pub is_permitted: Option<bool>,
    /// Whether a conductor of Magnum is up.
    pub has_conductor: Option<bool>,
    /// UUIDs of clusters of the project with the same name.
    pub same_name: &'a [String],
    /// What the creation needs ([`crate::quota::creation`]).
    pub quotas: &'a [Projection],
    /// The flavors that the specification names, with their sizes.
    pub flavors: &'a [(String, FlavorSize)],
    /// Free addresses of the chosen subnet.
    pub free_addresses: Option<u64>,
    /// The address from which the user would use the cluster.
    pub client: Option<IpAddr>,
}

/// Checks a creation.
pub fn before_creation(context: &CreationContext<'_>) -> Checks {
    let mut checks = Checks::default();
    specification(context, &mut checks);
    if context.is_permitted == Some(false) {
        checks.block(
            "Rights",
            "Magnum's policy cluster:create needs the role member in this project. Ask a project \
             administrator for access.",
        );
    }
    if context.has_conductor == Some(false) {
        checks.block(
            "Magnum",
            "No conductor of Magnum answers: the request would wait in its queue. Contact the operator.",
        );
    }
    if !context.same_name.is_empty() {
        let text = format!(
            "Magnum permits equal names, but commands then need the UUID. The name is used by {}.",
            context.same_name.join(", ")
        );
        checks.warn("Name", text);
    }
    if context.template.is_hidden {
        checks.warn("Template", "The template is hidden: it may be withdrawn.");
    }
    checks.quotas(context.quotas);
    for (name, size) in context.flavors {
        flavor(name, *size, context.template.driver.family, &mut checks);
    }
    network(context, &mut checks);
    api(context, &mut checks);
    ignored(context, &mut checks);
    groups(context, &mut checks);
    checks
}

fn specification(context: &CreationContext<'_>, checks: &mut Checks) {
    let problems = validate(context.document);
    for problem in &problems {
        checks.block(
            "Specification",
            format!("{}: {}", problem.field, problem.message),
        );
    }
    if problems.is_empty() {
        checks.ok("Specification", "The specification is valid.");
    }
}

fn flavor(name: &str, size: FlavorSize, family: Family, checks: &mut Checks) {
    if size.vcpus >= MIN_FLAVOR.vcpus && size.ram_mib >= MIN_FLAVOR.ram_mib {
        return;
    }
    let text = format!(
        "The flavor {name} has {} vCPUs and {} MiB of RAM; Kubernetes needs {} and {}.",
        size.vcpus, size.ram_mib, MIN_FLAVOR.vcpus, MIN_FLAVOR.ram_mib
    );
    // this driver refuses it; with the others the nodes may fail to join
    if family == Family::CapiHelm {
        checks.block("Flavor", text);
    } else {
        checks.warn("Flavor", text);
    }
}

fn network(context: &CreationContext<'_>, checks: &mut Checks) {
    let spec = &context.document.spec;
    let needed: u64 = nodes(spec).into();
    if let Some(free) = context.free_addresses {
        if free < needed {
            let text = format!("The subnet has {free} free addresses; {needed} nodes need more.");
            checks.block("Network", text);
        } else {
            checks.ok("Network", format!("The subnet has {free} free addresses."));
        }
    }
    let zone_of_volumes = spec.labels.get("boot_volume_availability_zone");
    if let (Some(servers), Some(volumes)) = (&spec.zone, zone_of_volumes)
        && servers != volumes
    {
        let text = format!(
            "Servers are in the zone {servers}, their volumes in {volumes}: some clouds refuse that."
        );
        checks.warn("Zone", text);
    }
}

fn nodes(spec: &ClusterSpec) -> u32 {
    let workers = spec
        .node_groups
        .iter()
        .map(|group| group.replicas.unwrap_or(1));
    workers.fold(
        spec.control_plane.replicas.unwrap_or(1),
        u32::saturating_add,
    )
}

fn api(context: &CreationContext<'_>, checks: &mut Checks) {
    let api = &context.document.spec.api;
    let networks: Vec<IpNet> = api
        .allowed_cidrs
        .iter()
        .filter_map(|cidr| cidr.parse().ok())
        .collect();
    if !networks.is_empty() {
        let support = capability(
            context.template.driver,
            context.cloud,
            Feature::AllowedCidrs,
        );
        if !support.is_offered() {
            checks.block("API", support.reason);
            return;
        }
        if support.support == Support::Unverified {
            checks.warn(
                "API",
                "The driver is not known to Portico: check afterwards that the API admits these networks \
                 only.",
            );
        }
        match context.client {
            Some(client) if networks.iter().any(|network| network.contains(&client)) => {
                checks.ok(
                    "API",
                    format!("Your address {client} is inside the networks."),
                );
            }
            Some(client) => checks.warn(
                "API",
                format!(
                    "Your address {client} is outside the networks: you could not use the cluster."
                ),
            ),
            None => {}
        }
        return;
    }
    match api.exposure {
        Some(Exposure::Public) => checks.warn(
            "API",
            "The Kubernetes API can be reached from every network. Enter the networks that need it.",
        ),
        Some(Exposure::Private) => checks.ok(
            "API",
            "The Kubernetes API can be reached from the project's networks only; Portico needs a route \
             to it.",
        ),
        None => {}
    }
}

/// What the driver ignores.
fn ignored(context: &CreationContext<'_>, checks: &mut Checks) {
    let spec = &context.document.spec;
    let support = |feature| capability(context.template.driver, context.cloud, feature);
    let timeout = support(Feature::CreateTimeout);
    if spec.create_timeout.is_some() && !timeout.is_offered() {
        checks.ok("Timeout", timeout.reason);
    }
    let proxy = support(Feature::Proxy);
    if context.template.has_proxy && !proxy.is_offered() {
        checks.warn("Proxy", proxy.reason);
    }
    if spec.docker_volume_size.is_some() && context.template.driver.family == Family::ClusterApi {
        checks.warn(
            "Volumes",
            "Some releases of magnum-cluster-api refuse a cluster with a volume for containers \
             (docker_volume_size): leave it empty.",
        );
    }
    let version = support(Feature::VersionLabel);
    if spec.labels.contains_key("kube_tag") && !version.is_offered() {
        checks.warn("Version", version.reason);
    }
}

fn groups(context: &CreationContext<'_>, checks: &mut Checks) {
    let spec = &context.document.spec;
    let support = |feature| capability(context.template.driver, context.cloud, feature);
    let groups = &spec.node_groups;
    let has_further = spec.further_groups().next().is_some();
    let has_labels = groups
        .iter()
        .any(|group| !group.labels.is_empty() || !group.taints.is_empty());
    let has_zero = groups.iter().any(|group| group.replicas == Some(0));
    for (is_used, feature) in [
        (has_further, Feature::NodeGroups),
        (has_labels, Feature::NodeLabelsAndTaints),
        (has_zero, Feature::ZeroNodes),
    ] {
        let support = support(feature);
        if is_used && !support.is_offered() {
            checks.block("Node groups", support.reason);
        }
    }
    let is_autoscaled = spec
        .labels
        .get("auto_scaling_enabled")
        .is_some_and(|value| value.eq_ignore_ascii_case("true"));
    if is_autoscaled && groups.iter().any(|group| group.min == Some(0)) {
        checks.warn(
            "Autoscaler",
            "With some drivers the autoscaler cannot scale up from 0 nodes: use a minimum of 1.",
        );
    }
}

//! Labels with a meaning that Portico explains. Every other label is passed on as it is.
use crate::driver::Family;

/// What a value of a label may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// `true` or `false`.
    Flag,
    /// A whole number.
    Number,
    /// A version such as `v1.32.1`.
    Version,
    /// Networks in CIDR notation, separated by commas.
    Networks,
    /// One of these.
    OneOf(&'static [&'static str]),
    /// Any text.
    Text,
}

/// A label that Portico explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownLabel {
    pub key: &'static str,
    pub meaning: &'static str,
    pub values: Values,
    /// The drivers that read it.
    pub read_by: &'static [Family],
}

use Family::{CapiHelm, ClusterApi, Heat};
use Values::{Flag, Networks, Number, OneOf, Text, Version};

const ALL: &[Family] = &[Heat, CapiHelm, ClusterApi];

/// The known labels, the most important first. Sources: the labels in Magnum's user guide (Heat),
/// `conf.py` of magnum-capi-helm, `docs/user/labels.md` of magnum-cluster-api.
pub const KNOWN: &[KnownLabel] = &[
    label(
        "kube_tag",
        "Version of Kubernetes",
        Version,
        &[Heat, ClusterApi],
    ),
    label(
        "auto_healing_enabled",
        "Replaces nodes that fail",
        Flag,
        ALL,
    ),
    label(
        "auto_upgrade_enabled",
        "Installs security updates without a request",
        Flag,
        &[],
    ),
    label(
        "auto_scaling_enabled",
        "Adds and removes workers by their load",
        Flag,
        ALL,
    ),
    label(
        "min_node_count",
        "Fewest workers of the autoscaler",
        Number,
        ALL,
    ),
    label(
        "max_node_count",
        "Most workers of the autoscaler",
        Number,
        ALL,
    ),
    label("availability_zone", "Zone of the servers", Text, ALL),
    label(
        "master_lb_floating_ip_enabled",
        "Makes the Kubernetes API reachable from outside through a floating IP",
        Flag,
        ALL,
    ),
    label(
        "api_master_lb_allowed_cidrs",
        "Networks that can reach the Kubernetes API",
        Networks,
        &[CapiHelm],
    ),
    label(
        "master_lb_allowed_cidrs",
        "Networks that can reach the Kubernetes API",
        Networks,
        &[Heat],
    ),
    label(
        "boot_volume_size",
        "Size of the boot volume of each node in GiB",
        Number,
        ALL,
    ),
    label("boot_volume_type", "Type of the boot volumes", Text, ALL),
    label(
        "boot_volume_availability_zone",
        "Zone of the boot volumes, if not that of the servers",
        Text,
        &[ClusterApi],
    ),
    label(
        "etcd_volume_size",
        "Size of the volume of etcd in GiB",
        Number,
        &[Heat, ClusterApi],
    ),
    label(
        "etcd_volume_type",
        "Type of the volume of etcd",
        Text,
        &[Heat, ClusterApi],
    ),
    label(
        "etcd_blockdevice_size",
        "Size of the block device of etcd in GiB",
        Number,
        &[CapiHelm],
    ),
    label(
        "etcd_blockdevice_volume_type",
        "Type of the block device of etcd",
        Text,
        &[CapiHelm],
    ),
    label(
        "monitoring_enabled",
        "Installs Prometheus and Grafana",
        Flag,
        &[Heat, CapiHelm],
    ),
    label(
        "kube_dashboard_enabled",
        "Installs the Kubernetes dashboard",
        Flag,
        &[Heat, CapiHelm],
    ),
    label(
        "keystone_auth_enabled",
        "Installs k8s-keystone-auth",
        Flag,
        ALL,
    ),
    label("octavia_provider", "Provider of load balancers", Text, ALL),
    label(
        "octavia_lb_algorithm",
        "How load balancers distribute connections; the provider ovn permits SOURCE_IP_PORT only",
        OneOf(&[
            "ROUND_ROBIN",
            "LEAST_CONNECTIONS",
            "SOURCE_IP",
            "SOURCE_IP_PORT",
        ]),
        ALL,
    ),
    label(
        "octavia_lb_healthcheck",
        "Monitors the members of load balancers",
        Flag,
        ALL,
    ),
    label(
        "fixed_subnet_cidr",
        "Addresses of the network of the nodes",
        Networks,
        ALL,
    ),
    label(
        "extra_network_names",
        "Further networks of the nodes",
        Text,
        &[CapiHelm],
    ),
    label(
        "container_infra_prefix",
        "Registry from which the nodes pull the images of Kubernetes",
        Text,
        &[Heat, ClusterApi],
    ),
    label(
        "api_server_cert_sans",
        "Further names of the API server in its certificate",
        Text,
        &[ClusterApi],
    ),
    label(
        "audit_log_enabled",
        "Writes the audit log of the API server",
        Flag,
        &[ClusterApi],
    ),
    label(
        "oidc_issuer_url",
        "Issuer of OpenID Connect tokens",
        Text,
        &[ClusterApi],
    ),
    label(
        "oidc_client_id",
        "Client ID of OpenID Connect tokens",
        Text,
        &[ClusterApi],
    ),
    label(
        "ingress_controller",
        "Installs an ingress controller",
        OneOf(&["octavia", "nginx", "traefik", ""]),
        &[Heat],
    ),
];

const fn label(
    key: &'static str,
    meaning: &'static str,
    values: Values,
    read_by: &'static [Family],
) -> KnownLabel {
    KnownLabel {
        key,
        meaning,
        values,
        read_by,
    }
}

/// Returns the known label of a key.
pub fn known(key: &str) -> Option<&'static KnownLabel> {
    KNOWN.iter().find(|label| label.key == key)
}

impl Values {
    /// Returns what is wrong with a value, as a sentence.
    pub fn problem(self, value: &str) -> Option<String> {
        let is_valid = match self {
            Self::Flag => matches!(value.to_lowercase().as_str(), "true" | "false"),
            Self::Number => value.parse::<u32>().is_ok(),
            Self::Version => is_version(value),
            Self::Networks => value
                .split(',')
                .all(|network| network.trim().parse::<ipnet::IpNet>().is_ok()),
            Self::OneOf(values) => values.contains(&value),
            Self::Text => true,
        };
        (!is_valid).then(|| match self {
            Self::Flag => "Enter true or false.".to_owned(),
            Self::Number => "Enter a whole number.".to_owned(),
            Self::Version => "Enter a version such as v1.32.1.".to_owned(),
            Self::Networks => {
                "Enter networks such as 198.51.100.0/24, separated by commas.".to_owned()
            }
            Self::OneOf(values) => {
                let values: Vec<_> = values
                    .iter()
                    .filter(|one| !one.is_empty())
                    .copied()
                    .collect();
                format!("Enter one of {}.", values.join(", "))
            }
            Self::Text => String::new(),
        })
    }
}

/// `v1.32.1`, with or without a suffix such as `-rancher1`.
fn is_version(value: &str) -> bool {
    let Some(numbers) = value.strip_prefix('v') else {
        return false;
    };
    let numbers = numbers.split(['-', '+']).next().unwrap_or_default();
    let parts: Vec<_> = numbers.split('.').collect();
    parts.len() == 3 && parts.iter().all(|part| part.parse::<u16>().is_ok())
}

//! Clusters, node groups and templates as they are printed: tables for users, Magnum's names of the
//! fields for programs.
use super::age;
use super::running::PorticoView;
use crate::output::TableRow;
use jiff::Timestamp;
use portico_cluster_operations::{Drivers, health, mapping};
use portico_openstack::magnum;
use serde::Serialize;
use std::collections::BTreeMap;

pub use super::printing::{print_list, print_object};

/// Of the column HEALTH in a list.
const MAX_HEALTH_CHARS: usize = 40;

/// A cluster.
#[derive(Debug, Serialize)]
pub struct ClusterView {
    pub uuid: String,
    pub name: String,
    pub status: String,
    pub status_reason: Option<String>,
    pub health_status: Option<String>,
    pub health_status_reason: BTreeMap<String, String>,
    pub cluster_template_id: String,
    pub master_count: Option<u32>,
    pub node_count: Option<u32>,
    pub coe_version: Option<String>,
    pub api_address: Option<String>,
    pub project_id: String,
    pub created_at: Option<Timestamp>,
    pub updated_at: Option<Timestamp>,
    /// What Portico makes of the state.
    pub portico: PorticoView,
    /// The health with its reasons, in words.
    #[serde(skip)]
    pub health: String,
}

impl ClusterView {
    /// Returns a cluster as it is printed.
    pub fn new(cluster: &magnum::Cluster, portico: PorticoView) -> Self {
        Self {
            uuid: cluster.uuid.to_string(),
            name: cluster.name.clone(),
            status: cluster.status.as_str().to_owned(),
            status_reason: cluster.status_reason.clone(),
            health_status: cluster
                .health_status
                .as_ref()
                .map(|health| health.as_str().to_owned()),
            health_status_reason: cluster.health_status_reason.clone(),
            cluster_template_id: cluster.cluster_template_id.clone(),
            master_count: cluster.master_count,
            node_count: cluster.node_count,
            coe_version: cluster.coe_version.clone(),
            api_address: cluster.api_address.clone(),
            project_id: cluster.project_id.clone(),
            created_at: cluster.created_at,
            updated_at: cluster.updated_at,
            portico,
            health: health::measured(
                cluster.health_status.as_ref(),
                &cluster.health_status_reason,
            ),
        }
    }
}

/// Returns a text of at most [`MAX_HEALTH_CHARS`]: a long reason would push the other columns off the screen.
/// `show`, `describe` and `health` have all of it.
fn brief(health: &str) -> String {
    if health.chars().count() <= MAX_HEALTH_CHARS {
        return health.to_owned();
    }
    let start: String = health.chars().take(MAX_HEALTH_CHARS - 1).collect();
    format!("{}…", start.trim_end())
}

impl TableRow for ClusterView {
    const HEADINGS: &'static [&'static str] = &[
        "NAME", "STATE", "HEALTH", "MASTERS", "WORKERS", "VERSION", "CREATED", "UUID",
    ];
    const WIDE: &'static [&'static str] = &["STEP", "API", "TEMPLATE", "REASON"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.name.clone(),
            self.status.clone(),
            brief(&self.health),
            or_dash(&self.master_count),
            or_dash(&self.node_count),
            or_dash(&self.coe_version),
            or_dash(&self.created_at.map(age::in_seconds)),
            self.uuid.clone(),
        ]
    }

    fn wide_cells(&self) -> Vec<String> {
        let reason = self.portico.blocked_reason.as_ref();
        vec![
            or_dash(&self.portico.step),
            or_dash(&self.api_address),
            self.cluster_template_id.clone(),
            or_dash(&reason.or(self.status_reason.as_ref())),
        ]
    }
}

/// A node group.
#[derive(Debug, Serialize)]
pub struct GroupView {
    pub uuid: String,
    pub name: String,
    pub role: String,
    pub status: Option<String>,
    pub status_reason: Option<String>,
    pub node_count: u32,
    pub min_node_count: u32,
    pub max_node_count: Option<u32>,
    pub flavor_id: Option<String>,
    pub is_default: bool,
    pub node_labels: BTreeMap<String, String>,
    /// `key=value:Effect`.
    pub node_taints: Vec<String>,
}

impl From<&magnum::NodeGroup> for GroupView {
    fn from(detail: &magnum::NodeGroup) -> Self {
        let group = &detail.summary;
        let status = group.status.as_ref();
        Self {
            uuid: group.uuid.to_string(),
            name: group.name.clone(),
            role: group.role.clone(),
            status: status.map(|status| status.as_str().to_owned()),
            status_reason: detail.status_reason.clone(),
            node_count: group.node_count,
            min_node_count: detail.min_node_count,
            max_node_count: detail.max_node_count,
            flavor_id: group.flavor_id.clone(),
            is_default: group.is_default,
            node_labels: detail.node_labels.clone(),
            node_taints: mapping::detailed_group(detail).node_taints,
        }
    }
}

impl TableRow for GroupView {
    const HEADINGS: &'static [&'static str] = &[
        "NODE GROUP",
        "ROLE",
        "STATE",
        "NODES",
        "MIN",
        "MAX",
        "FLAVOR",
    ];
    const WIDE: &'static [&'static str] = &["LABELS", "TAINTS", "REASON", "UUID"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.name.clone(),
            self.role.clone(),
            or_dash(&self.status),
            self.node_count.to_string(),
            self.min_node_count.to_string(),
            or_dash(&self.max_node_count),
            or_dash(&self.flavor_id),
        ]
    }

    fn wide_cells(&self) -> Vec<String> {
        let labels = self.node_labels.iter();
        let labels: Vec<_> = labels
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        vec![
            joined(&labels),
            joined(&self.node_taints),
            or_dash(&self.status_reason),
            self.uuid.clone(),
        ]
    }
}

/// A template.
#[derive(Debug, Serialize)]
pub struct TemplateView {
    pub uuid: String,
    pub name: String,
    pub driver: String,
    pub kubernetes_version: Option<String>,
    pub flavor_id: Option<String>,
    pub master_flavor_id: Option<String>,
    pub keypair_id: Option<String>,
    pub master_lb_enabled: bool,
    pub public: bool,
    pub hidden: bool,
    pub labels: BTreeMap<String, String>,
}

impl TemplateView {
    /// Returns a template as it is printed.
    pub fn new(template: &magnum::ClusterTemplate, drivers: &Drivers) -> Self {
        let model = mapping::template(template, drivers);
        let driver = template.driver.clone();
        Self {
            uuid: template.uuid.to_string(),
            name: template.name.clone(),
            driver: driver.unwrap_or_else(|| model.driver.family.name().to_owned()),
            kubernetes_version: model
                .kubernetes_version()
                .map(|version| version.to_string()),
            flavor_id: template.flavor_id.clone(),
            master_flavor_id: template.master_flavor_id.clone(),
            keypair_id: template.keypair_id.clone(),
            master_lb_enabled: template.master_lb_enabled,
            public: template.public,
            hidden: template.hidden,
            labels: template.labels.clone(),
        }
    }
}

impl TableRow for TemplateView {
    const HEADINGS: &'static [&'static str] = &[
        "NAME",
        "VERSION",
        "DRIVER",
        "FLAVOR",
        "MASTER FLAVOR",
        "KEY PAIR",
        "PUBLIC",
        "UUID",
    ];
    const WIDE: &'static [&'static str] = &["LABELS"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.name.clone(),
            or_dash(&self.kubernetes_version),
            self.driver.clone(),
            or_dash(&self.flavor_id),
            or_dash(&self.master_flavor_id),
            or_dash(&self.keypair_id),
            if self.public { "yes" } else { "no" }.to_owned(),
            self.uuid.clone(),
        ]
    }

    fn wide_cells(&self) -> Vec<String> {
        let labels = self.labels.iter();
        let labels: Vec<_> = labels
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        vec![joined(&labels)]
    }
}

fn joined(texts: &[String]) -> String {
    match texts.is_empty() {
        true => "-".to_owned(),
        false => texts.join(","),
    }
}

fn or_dash<T: ToString>(value: &Option<T>) -> String {
    value
        .as_ref()
        .map_or_else(|| "-".to_owned(), ToString::to_string)
}

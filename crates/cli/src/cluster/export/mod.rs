//! `portico cluster export`: a cluster as a file, or as a resource of Terraform.
mod terraform;

use super::arguments::{ClusterOutput, ExportOutputParser, SharedArgs};
use super::connection::Connection;
use super::console::Console;
use super::error::ClusterError;
use crate::output::OutputError;
use clap::{Args, ValueEnum};
use portico_cluster_operations::mapping;
use portico_lifecycle::model::{Cluster, NodeGroup};
use portico_lifecycle::spec::{
    ClusterDocument, ClusterSpec, ControlPlane, DEFAULT_GROUP, ExistingNetwork, Metadata, Network,
    NodeGroupSpec,
};
use std::collections::BTreeMap;
use terraform::terraform;

/// Print a cluster as the file that describes it, or as resources of Terraform
///
/// The file can be given to `diff`, `apply` and `create`. The labels are those that differ from the
/// template's. The provider of Terraform has no arguments for labels and taints of nodes: they are comments.
#[derive(Args, Debug)]
#[command(
    mut_arg("output", |output| output.value_parser(ExportOutputParser).default_value("file")),
    after_help = "\
Examples:
  portico cluster export shop > shop.yaml
  portico cluster export shop -o terraform > shop.tf   # with the commands that import what exists"
)]
pub struct ExportArgs {
    /// Name or UUID
    pub cluster: String,
    /// The same as --output
    #[arg(
        long = "as",
        value_enum,
        value_name = "FORM",
        conflicts_with = "output",
        hide = true
    )]
    pub form: Option<ExportForm>,
    #[command(flatten)]
    pub shared: SharedArgs,
}

/// The form of an exported cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportForm {
    /// Portico's file
    File,
    /// Resources of the OpenStack provider of Terraform
    Terraform,
    /// Portico's file as JSON
    Json,
}

impl ExportArgs {
    fn form(&self) -> ExportForm {
        self.form.unwrap_or(match self.shared.output {
            ClusterOutput::Terraform => ExportForm::Terraform,
            ClusterOutput::Json => ExportForm::Json,
            _ => ExportForm::File,
        })
    }
}

/// Prints a cluster.
///
/// # Errors
/// If Magnum cannot be asked or refuses, or the list of node groups is incomplete.
pub async fn export(
    connection: &Connection,
    console: &mut Console,
    args: &ExportArgs,
) -> Result<(), ClusterError> {
    let (magnum, token) = (&connection.clients.magnum, &connection.token);
    let found = magnum.cluster_named(token, &args.cluster).await?;
    let template = connection.template_of(&found).await?;
    let detailed = connection.detailed_groups(found.uuid).await?;
    let groups: Vec<_> = detailed.iter().map(mapping::detailed_group).collect();
    let cluster = connection.model(&found, template.as_ref());
    let of_template = template.as_ref().map(|template| &template.labels);
    let name = template.as_ref().map_or_else(
        || cluster.template.clone(),
        |template| template.name.clone(),
    );
    let document = document(&cluster, &groups, &name, of_template);
    let text = match args.form() {
        ExportForm::File => serde_norway::to_string(&document).map_err(OutputError::from)?,
        ExportForm::Json => {
            let json = serde_json::to_string_pretty(&document).map_err(OutputError::from)?;
            json + "\n"
        }
        ExportForm::Terraform => terraform(&cluster, &document.spec.labels, &detailed),
    };
    console.print(&text)
}

fn document(
    cluster: &Cluster,
    groups: &[NodeGroup],
    template: &str,
    of_template: Option<&BTreeMap<String, String>>,
) -> ClusterDocument {
    let is_own = |(key, value): &(&String, &String)| {
        of_template.and_then(|labels| labels.get(*key)) != Some(value)
    };
    let labels = cluster.labels.iter().filter(is_own);
    let workers = groups.iter().filter(|group| !group.is_control_plane());
    let spec = ClusterSpec {
        template: template.to_owned(),
        keypair: cluster.keypair.clone(),
        control_plane: ControlPlane {
            replicas: Some(cluster.master_count),
            flavor: cluster.master_flavor.clone(),
            load_balancer: Some(cluster.has_load_balancer),
        },
        network: Network {
            existing: cluster.network.clone().map(|network| ExistingNetwork {
                network: Some(network),
                subnet: cluster.subnet.clone(),
            }),
            floating_ips: Some(cluster.has_floating_ips),
        },
        docker_volume_size: cluster.docker_volume_size,
        labels: labels
            .filter(|(key, _)| key.as_str() != portico_lifecycle::idempotency::MARKER_LABEL)
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
        node_groups: workers.map(group_spec).collect(),
        ..ClusterSpec::default()
    };
    let metadata = Metadata {
        name: cluster.name.clone(),
        ..Metadata::default()
    };
    ClusterDocument::new(metadata, spec)
}

fn group_spec(group: &NodeGroup) -> NodeGroupSpec {
    let bounds = group.bounds.unwrap_or_default();
    NodeGroupSpec {
        name: if group.is_default {
            DEFAULT_GROUP.to_owned()
        } else {
            group.name.clone()
        },
        replicas: Some(group.node_count),
        flavor: group.flavor.clone(),
        min: (bounds.min > 0).then_some(bounds.min),
        max: bounds.max,
        labels: group.node_labels.clone(),
        taints: group
            .node_taints
            .iter()
            .filter_map(|taint| taint.parse().ok())
            .collect(),
    }
}

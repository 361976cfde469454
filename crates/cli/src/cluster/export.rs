//! `portico cluster export`: a cluster as a file, or as a resource of Terraform.
use super::arguments::SharedArgs;
use super::connection::Connection;
use super::console::Console;
use super::error::ClusterError;
use clap::{Args, ValueEnum};
use portico_cluster_operations::mapping;
use portico_lifecycle::model::{Cluster, NodeGroup};
use portico_lifecycle::spec::{
    ClusterDocument, ClusterSpec, ControlPlane, DEFAULT_GROUP, ExistingNetwork, Metadata, Network,
    NodeGroupSpec,
};
use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::output::OutputError;

/// Print a cluster as the file that describes it, or as resources of Terraform
///
/// The file can be given to `diff`, `apply` and `create`. The labels are those that differ from the
/// template's.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  portico cluster export shop > shop.yaml
  portico cluster export shop --as terraform > shop.tf   # with the command that imports the cluster")]
pub struct ExportArgs {
    /// Name or UUID
    pub cluster: String,
    /// The form
    #[arg(long = "as", value_enum, default_value_t)]
    pub form: ExportForm,
    #[command(flatten)]
    pub shared: SharedArgs,
}

/// The form of an exported cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ExportForm {
    /// Portico's file
    #[default]
    File,
    /// Resources of the OpenStack provider of Terraform
    Terraform,
    /// Portico's file as JSON
    Json,
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
    let groups = connection.detailed_groups(found.uuid).await?;
    let groups: Vec<_> = groups.iter().map(mapping::detailed_group).collect();
    let cluster = connection.model(&found, template.as_ref());
    let of_template = template.as_ref().map(|template| &template.labels);
    let name = template.as_ref().map_or_else(
        || cluster.template.clone(),
        |template| template.name.clone(),
    );
    let document = document(&cluster, &groups, &name, of_template);
    let text = match args.form {
        ExportForm::File => serde_norway::to_string(&document).map_err(OutputError::from)?,
        ExportForm::Json => {
            let json = serde_json::to_string_pretty(&document).map_err(OutputError::from)?;
            json + "\n"
        }
        ExportForm::Terraform => terraform(&cluster, &document),
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

/// Returns resources `openstack_containerinfra_cluster_v1` and `…_nodegroup_v1`, with the commands that
/// take over what exists.
fn terraform(cluster: &Cluster, document: &ClusterDocument) -> String {
    let spec = &document.spec;
    let id = identifier(&cluster.name);
    let mut text = String::new();
    // writing to a string cannot fail
    let _ = writeln!(
        text,
        "# terraform import openstack_containerinfra_cluster_v1.{id} {}",
        cluster.uuid
    );
    let _ = writeln!(
        text,
        "resource \"openstack_containerinfra_cluster_v1\" \"{id}\" {{"
    );
    let mut line = |key: &str, value: String| {
        let _ = writeln!(text, "  {key} = {value}");
    };
    line("name", quoted(&cluster.name));
    line("cluster_template_id", quoted(&cluster.template));
    line("master_count", cluster.master_count.to_string());
    let default = spec.default_group().and_then(|group| group.replicas);
    line("node_count", default.unwrap_or(1).to_string());
    for (key, value) in [
        ("keypair", &cluster.keypair),
        ("flavor", &cluster.flavor),
        ("master_flavor", &cluster.master_flavor),
        ("fixed_network", &cluster.network),
        ("fixed_subnet", &cluster.subnet),
    ] {
        if let Some(value) = value {
            line(key, quoted(value));
        }
    }
    line("floating_ip_enabled", cluster.has_floating_ips.to_string());
    if !spec.labels.is_empty() {
        line("merge_labels", "true".to_owned());
        let labels = spec.labels.iter();
        let labels =
            labels.map(|(key, value)| format!("    {} = {}\n", quoted(key), quoted(value)));
        line("labels", format!("{{\n{}  }}", labels.collect::<String>()));
    }
    text.push_str("}\n");
    for group in spec.further_groups() {
        let of_group = identifier(&format!("{}_{}", cluster.name, group.name));
        let _ = write!(
            text,
            "\nresource \"openstack_containerinfra_nodegroup_v1\" \"{of_group}\" {{\n  cluster_id = \
             openstack_containerinfra_cluster_v1.{id}.id\n  name = {}\n  node_count = {}\n",
            quoted(&group.name),
            group.replicas.unwrap_or(1)
        );
        if let Some(flavor) = &group.flavor {
            let _ = writeln!(text, "  flavor_id = {}", quoted(flavor));
        }
        if let Some(min) = group.min {
            let _ = writeln!(text, "  min_node_count = {min}");
        }
        if let Some(max) = group.max {
            let _ = writeln!(text, "  max_node_count = {max}");
        }
        text.push_str("}\n");
    }
    text
}

/// Returns a name that HCL permits.
fn identifier(name: &str) -> String {
    let is_valid = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    name.chars()
        .map(|letter| if is_valid(letter) { letter } else { '_' })
        .collect()
}

/// Returns a text as a string of HCL: JSON's escapes, and no template.
fn quoted(text: &str) -> String {
    let json = serde_json::Value::String(text.to_owned()).to_string();
    json.replace("${", "$${").replace("%{", "%%{")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_terraform_have_no_templates() {
        assert_eq!(quoted("a\"b"), r#""a\"b""#);
        assert_eq!(quoted("${x} %{y}"), r#""$${x} %%{y}""#);
        assert_eq!(identifier("shop.eu-1"), "shop_eu-1");
    }
}

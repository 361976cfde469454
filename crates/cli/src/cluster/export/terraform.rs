//! A cluster as resources of the OpenStack provider of Terraform.
use portico_cluster_operations::mapping;
use portico_lifecycle::model::Cluster;
use portico_openstack::magnum::NodeGroup;
use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};

const CONTROL_PLANE: &str = "master";

/// Returns resources `openstack_containerinfra_cluster_v1` and `…_nodegroup_v1`, with the commands that
/// take over what exists. `labels` are those that differ from the template's.
pub fn terraform(
    cluster: &Cluster,
    labels: &BTreeMap<String, String>,
    groups: &[NodeGroup],
) -> String {
    let id = identifier(&cluster.name);
    let kind = "openstack_containerinfra_cluster_v1";
    let mut block = Block::begin(kind, &id, &cluster.uuid);
    let workers = groups.iter().filter(|group| !is_control_plane(group));
    let (default, further): (Vec<_>, Vec<_>) = workers.partition(|one| one.summary.is_default);
    let node_count = default.first().map_or(1, |one| one.summary.node_count);
    block.value("name", quoted(&cluster.name));
    block.value("cluster_template_id", quoted(&cluster.template));
    block.value("master_count", cluster.master_count);
    block.value("node_count", node_count);
    for (key, value) in [
        ("keypair", &cluster.keypair),
        ("flavor", &cluster.flavor),
        ("master_flavor", &cluster.master_flavor),
        ("fixed_network", &cluster.network),
        ("fixed_subnet", &cluster.subnet),
    ] {
        block.option(key, value.as_deref().map(quoted));
    }
    block.option("docker_volume_size", cluster.docker_volume_size);
    block.value("floating_ip_enabled", cluster.has_floating_ips);
    block.value("master_lb_enabled", cluster.has_load_balancer);
    block.labels(labels);
    for group in default {
        block.comment(&without_arguments(group));
    }
    let mut text = block.end();
    for group in further {
        text.push('\n');
        text.push_str(&node_group(cluster, &id, group));
    }
    text
}

fn node_group(cluster: &Cluster, cluster_id: &str, group: &NodeGroup) -> String {
    let summary = &group.summary;
    let id = identifier(&format!("{}_{}", cluster.name, summary.name));
    let import = format!("{}/{}", cluster.uuid, summary.uuid);
    let mut block = Block::begin("openstack_containerinfra_nodegroup_v1", &id, &import);
    let of_cluster = format!("openstack_containerinfra_cluster_v1.{cluster_id}.id");
    block.value("cluster_id", of_cluster);
    block.value("name", quoted(&summary.name));
    if summary.role != "worker" && !summary.role.is_empty() {
        block.value("role", quoted(&summary.role));
    }
    block.value("node_count", summary.node_count);
    block.option("flavor_id", summary.flavor_id.as_deref().map(quoted));
    block.option("image_id", summary.image_id.as_deref().map(quoted));
    if group.min_node_count > 0 {
        block.value("min_node_count", group.min_node_count);
    }
    block.option("max_node_count", group.max_node_count);
    block.option("docker_volume_size", group.docker_volume_size);
    block.labels(&own_labels(group));
    block.comment(&without_arguments(group));
    block.end()
}

/// Returns the labels of a group that differ from the cluster's.
fn own_labels(group: &NodeGroup) -> BTreeMap<String, String> {
    let labels = &group.labels;
    let is_own =
        |key: &&String| labels.added.contains_key(*key) || labels.overridden.contains_key(*key);
    let keys = labels.applied.keys().filter(is_own);
    keys.filter_map(|key| Some((key.clone(), labels.applied.get(key)?.clone())))
        .collect()
}

/// Returns comments for the labels and taints of nodes, which the provider has no arguments for.
fn without_arguments(group: &NodeGroup) -> String {
    let mut text = String::new();
    let name = crate::one_line(&group.summary.name);
    let taints = mapping::detailed_group(group).node_taints;
    // writing to a string cannot fail
    for (key, value) in &group.node_labels {
        let label = crate::one_line(&format!("{key}={value}"));
        let _ = writeln!(
            text,
            "  # nodes of {name} have the label {label}, for which the provider has no argument"
        );
    }
    for taint in &taints {
        let taint = crate::one_line(taint);
        let _ = writeln!(
            text,
            "  # nodes of {name} have the taint {taint}, for which the provider has no argument"
        );
    }
    text
}

fn is_control_plane(group: &NodeGroup) -> bool {
    group.summary.role == CONTROL_PLANE
}

/// A resource that is being written.
struct Block(String);

impl Block {
    /// Begins a resource, with the command that takes over what exists.
    fn begin(kind: &str, id: &str, import: &str) -> Self {
        Self(format!(
            "# terraform import {kind}.{id} {import}\nresource \"{kind}\" \"{id}\" {{\n"
        ))
    }

    fn value(&mut self, key: &str, value: impl Display) {
        // writing to a string cannot fail
        let _ = writeln!(self.0, "  {key} = {value}");
    }

    fn option(&mut self, key: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.value(key, value);
        }
    }

    fn labels(&mut self, labels: &BTreeMap<String, String>) {
        if labels.is_empty() {
            return;
        }
        let lines = labels.iter();
        let lines = lines.map(|(key, value)| format!("    {} = {}\n", quoted(key), quoted(value)));
        self.value("merge_labels", true);
        self.value("labels", format!("{{\n{}  }}", lines.collect::<String>()));
    }

    fn comment(&mut self, text: &str) {
        self.0.push_str(text);
    }

    fn end(mut self) -> String {
        self.0.push_str("}\n");
        self.0
    }
}

/// Returns a name that HCL permits.
fn identifier(name: &str) -> String {
    let is_valid = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    let name: String = name
        .chars()
        .map(|letter| if is_valid(letter) { letter } else { '_' })
        .collect();
    match name.starts_with(|letter: char| letter.is_ascii_digit() || letter == '-') {
        true => format!("_{name}"),
        false => name,
    }
}

/// Returns a text as a string of HCL: JSON's escapes, and no template.
fn quoted(text: &str) -> String {
    let json = serde_json::Value::String(text.to_owned()).to_string();
    json.replace("${", "$${").replace("%{", "%%{")
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_lifecycle::status::Status;
    use serde_json::{Value, json};

    const UUID: &str = "900e3758-8071-430e-a8cf-5c48f428dc0e";

    fn group(number: u8, fields: Value) -> NodeGroup {
        let mut group = json!({"uuid": format!("5d1bc0c0-6b93-4d0f-a0a2-3d8d5b0f5a0{number}")});
        for (key, value) in fields.as_object().unwrap() {
            group[key] = value.clone();
        }
        serde_json::from_value(group).unwrap()
    }

    fn groups() -> Vec<NodeGroup> {
        let default = json!({"name": "default-worker", "role": "worker", "is_default": true,
                             "node_count": 3, "flavor_id": "m1.small", "node_labels": {"tier": "web"}});
        let taint = json!({"key": "gpu", "value": "true", "effect": "NoSchedule"});
        let gpu = json!({"name": "gpu", "role": "gpu", "node_count": 1, "min_node_count": 1,
                         "max_node_count": 4, "flavor_id": "m1.large", "docker_volume_size": 50,
                         "labels": {"boot_volume_size": "40", "kube_tag": "v1.31.0"},
                         "labels_overridden": {"boot_volume_size": "20"},
                         "node_labels": {"tier": "gpu"}, "node_taints": [taint]});
        let master = json!({"name": "default-master", "role": "master", "is_default": true});
        vec![group(1, master), group(2, default), group(3, gpu)]
    }

    #[test]
    fn a_cluster_and_its_groups_are_resources_with_all_their_arguments() {
        let cluster = Cluster {
            status: Status::parse("CREATE_COMPLETE"),
            template: "f7617ea3-8060-4dd2-9479-e441e1a40404".to_owned(),
            keypair: Some("ops".to_owned()),
            flavor: Some("m1.small".to_owned()),
            network: Some("net-1".to_owned()),
            master_count: 3,
            has_load_balancer: true,
            docker_volume_size: Some(20),
            ..Cluster::deleted(UUID.to_owned(), "shop.eu".to_owned())
        };
        let labels = BTreeMap::from([("auto_healing_enabled".to_owned(), "true".to_owned())]);
        let expected = r#"# terraform import openstack_containerinfra_cluster_v1.shop_eu 900e3758-8071-430e-a8cf-5c48f428dc0e
resource "openstack_containerinfra_cluster_v1" "shop_eu" {
  name = "shop.eu"
  cluster_template_id = "f7617ea3-8060-4dd2-9479-e441e1a40404"
  master_count = 3
  node_count = 3
  keypair = "ops"
  flavor = "m1.small"
  fixed_network = "net-1"
  docker_volume_size = 20
  floating_ip_enabled = false
  master_lb_enabled = true
  merge_labels = true
  labels = {
    "auto_healing_enabled" = "true"
  }
  # nodes of default-worker have the label tier=web, for which the provider has no argument
}

# terraform import openstack_containerinfra_nodegroup_v1.shop_eu_gpu 900e3758-8071-430e-a8cf-5c48f428dc0e/5d1bc0c0-6b93-4d0f-a0a2-3d8d5b0f5a03
resource "openstack_containerinfra_nodegroup_v1" "shop_eu_gpu" {
  cluster_id = openstack_containerinfra_cluster_v1.shop_eu.id
  name = "gpu"
  role = "gpu"
  node_count = 1
  flavor_id = "m1.large"
  min_node_count = 1
  max_node_count = 4
  docker_volume_size = 50
  merge_labels = true
  labels = {
    "boot_volume_size" = "40"
  }
  # nodes of gpu have the label tier=gpu, for which the provider has no argument
  # nodes of gpu have the taint gpu=true:NoSchedule, for which the provider has no argument
}
"#;
        assert_eq!(terraform(&cluster, &labels, &groups()), expected);
    }

    #[test]
    fn texts_of_terraform_have_no_templates() {
        assert_eq!(quoted("a\"b"), r#""a\"b""#);
        assert_eq!(quoted("${x} %{y}"), r#""$${x} %%{y}""#);
        assert_eq!(identifier("shop.eu-1"), "shop_eu-1");
        assert_eq!(identifier("1shop"), "_1shop");
    }
}

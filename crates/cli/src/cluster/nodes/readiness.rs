//! What Kubernetes reports about the nodes: whether they are ready, the version of their kubelets, and
//! their age.
use crate::cluster::connection::Connection;
use crate::cluster::kubernetes::{self, Kubernetes};
use jiff::Timestamp;
use portico_cluster_operations::nodes::Node;
use serde_json::Value;
use std::collections::BTreeSet;
use uuid::Uuid;

const NODES: &str = "/api/v1/nodes";

/// A node as Kubernetes has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kubelet {
    pub name: String,
    /// Of every type, the name of the host among them.
    pub addresses: BTreeSet<String>,
    /// `None`: the kubelet does not report any longer.
    pub is_ready: Option<bool>,
    /// Whether new pods may be placed on it.
    pub is_schedulable: bool,
    /// Such as `v1.32.1`.
    pub version: Option<String>,
    pub created_at: Option<Timestamp>,
}

impl Kubelet {
    /// Returns the state as kubectl shows it, such as `Ready,SchedulingDisabled`.
    pub fn state(&self) -> String {
        let ready = match self.is_ready {
            Some(true) => "Ready",
            Some(false) => "NotReady",
            None => "Unknown",
        };
        match self.is_schedulable {
            true => ready.to_owned(),
            false => format!("{ready},SchedulingDisabled"),
        }
    }

    /// Reads an object of Kubernetes; `None` if it has no name.
    fn read(object: &Value) -> Option<Self> {
        let text = |path: &str| object.pointer(path).and_then(Value::as_str);
        let list = |path: &str| {
            let found = object.pointer(path).and_then(Value::as_array);
            found.into_iter().flatten()
        };
        let addresses = list("/status/addresses");
        let addresses = addresses.filter_map(|one| one.get("address")?.as_str());
        let ready = list("/status/conditions")
            .find(|one| one.get("type").and_then(Value::as_str) == Some("Ready"))
            .and_then(|one| one.get("status")?.as_str());
        let unschedulable = object.pointer("/spec/unschedulable");
        Some(Self {
            name: text("/metadata/name")?.to_owned(),
            addresses: addresses.map(str::to_owned).collect(),
            is_ready: match ready {
                Some("True") => Some(true),
                Some("False") => Some(false),
                _ => None,
            },
            is_schedulable: unschedulable.and_then(Value::as_bool) != Some(true),
            version: text("/status/nodeInfo/kubeletVersion").map(str::to_owned),
            created_at: text("/metadata/creationTimestamp").and_then(|text| text.parse().ok()),
        })
    }
}

/// Reads the nodes of a cluster with the user's own access to it.
///
/// # Errors
/// Why Kubernetes could not be asked, as a clause.
pub async fn read(connection: &Connection, cluster: Uuid) -> Result<Vec<Kubelet>, String> {
    let access = kubernetes::find(connection, cluster).await;
    let access = access.map_err(|error| error.to_string())?;
    let api = Kubernetes::new(&access).map_err(|error| error.to_string())?;
    let objects = api.list(NODES, &[]).await;
    let objects = objects.map_err(|error| error.to_string())?;
    Ok(objects.iter().filter_map(Kubelet::read).collect())
}

/// Returns what Kubernetes reports about a node: the one with the name of its server, or else with one of
/// its addresses.
pub fn of_node<'a>(kubelets: &'a [Kubelet], node: &Node) -> Option<&'a Kubelet> {
    let name = node.name.as_ref();
    let by_name = kubelets.iter().find(|one| Some(&one.name) == name);
    let has_address = |one: &&Kubelet| node.addresses.iter().any(|own| one.addresses.contains(own));
    by_name.or_else(|| kubelets.iter().find(has_address))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(name: &str, address: &str, ready: &str) -> Value {
        json!({"metadata": {"name": name, "creationTimestamp": "2026-11-21T11:13:55Z"},
               "status": {"addresses": [{"type": "InternalIP", "address": address}],
                          "conditions": [{"type": "Ready", "status": ready}],
                          "nodeInfo": {"kubeletVersion": "v1.32.1"}}})
    }

    fn node(name: Option<&str>, address: &str) -> Node {
        Node {
            name: name.map(str::to_owned),
            group: None,
            role: None,
            server: None,
            flavor: None,
            addresses: vec![address.to_owned()],
            status: None,
            task: None,
        }
    }

    #[test]
    fn a_node_is_found_by_its_name_or_else_by_an_address() {
        let objects = [
            object("shop-node-0", "10.0.0.3", "True"),
            object("shop-node-1", "10.0.0.4", "False"),
        ];
        let kubelets: Vec<_> = objects.iter().filter_map(Kubelet::read).collect();
        let found = |node: &Node| of_node(&kubelets, node).map(|one| one.name.as_str());
        // a name counts more than an address, which another node may have had before
        let named = node(Some("shop-node-1"), "10.0.0.3");
        assert_eq!(found(&named), Some("shop-node-1"));
        assert_eq!(found(&node(Some("vm-7"), "10.0.0.3")), Some("shop-node-0"));
        assert_eq!(found(&node(None, "10.0.0.4")), Some("shop-node-1"));
        assert_eq!(found(&node(Some("vm-8"), "10.0.0.9")), None);
    }

    #[test]
    fn the_state_is_that_of_kubectl() {
        for (ready, expected) in [
            ("True", "Ready"),
            ("False", "NotReady"),
            ("Unknown", "Unknown"),
        ] {
            let kubelet = Kubelet::read(&object("a", "10.0.0.3", ready)).unwrap();
            assert_eq!(kubelet.state(), expected);
            assert_eq!(kubelet.version.as_deref(), Some("v1.32.1"));
        }
        let mut cordoned = object("a", "10.0.0.3", "True");
        cordoned["spec"] = json!({"unschedulable": true});
        let kubelet = Kubelet::read(&cordoned).unwrap();
        assert_eq!(kubelet.state(), "Ready,SchedulingDisabled");
        assert_eq!(Kubelet::read(&json!({"metadata": {}})), None);
    }
}

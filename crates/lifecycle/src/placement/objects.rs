//! What matters of a node and of a pod for the question where a pod has room.
use super::quantity::thousandths;
use crate::plan::ChosenNode;
use serde_json::Value;
use std::collections::BTreeMap;

/// The label of the zone of a node.
const ZONE: &str = "topology.kubernetes.io/zone";
/// The annotation of a pod that the kubelet reads from a file.
const MIRROR: &str = "/metadata/annotations/kubernetes.io~1config.mirror";
/// The number of pods, which nodes limit as well.
const PODS: &str = "pods";
const ONE: i128 = 1000;
/// How `spec.providerID` of a server of OpenStack begins.
const OPENSTACK: &str = "openstack:";

/// Amounts of resources in thousandths, by name.
pub type Amounts = BTreeMap<String, i128>;

/// A node.
#[derive(Debug)]
pub struct Node<'a> {
    pub name: &'a str,
    /// The ID of its server, from `spec.providerID`.
    pub server: Option<&'a str>,
    pub labels: &'a Value,
    pub taints: Vec<&'a Value>,
    /// Whether it is ready and not cordoned.
    pub takes_pods: bool,
    /// `None`: a quantity cannot be read.
    pub allocatable: Option<Amounts>,
    /// Whether it states the server of OpenStack on which it runs.
    has_server: bool,
}

impl<'a> Node<'a> {
    /// Returns the node; `None` for an object without a name.
    pub fn of(object: &'a Value) -> Option<Self> {
        let spec = &object["spec"];
        let provider = spec["providerID"].as_str();
        let server = provider.and_then(|id| id.rsplit('/').next());
        let conditions = object["status"]["conditions"].as_array();
        let is_ready = conditions
            .into_iter()
            .flatten()
            .any(|condition| condition["type"] == "Ready" && condition["status"] == "True");
        Some(Self {
            name: object["metadata"]["name"].as_str()?,
            server: server.filter(|id| !id.is_empty()),
            labels: &object["metadata"]["labels"],
            taints: items(&spec["taints"]).collect(),
            takes_pods: is_ready && spec["unschedulable"] != true,
            allocatable: amounts(&object["status"]["allocatable"]),
            has_server: provider.is_some_and(|id| id.starts_with(OPENSTACK)),
        })
    }

    /// Returns whether it runs on a server, by the server's ID.
    pub fn is_on(&self, chosen: &ChosenNode) -> bool {
        self.server == Some(chosen.server.as_str())
    }

    /// Returns whether it has the name of a server, and does not state that it runs on another one: a new
    /// server may have the name of one that has left.
    pub fn is_named_as(&self, chosen: &ChosenNode) -> bool {
        self.name == chosen.name && !self.has_server
    }

    /// Returns the zone; `None` without one.
    pub fn zone(&self) -> Option<&'a str> {
        self.labels[ZONE].as_str()
    }
}

/// A pod that has not ended.
#[derive(Debug)]
pub struct Pod<'a> {
    /// `namespace/name`.
    pub name: String,
    /// The name of its node.
    pub node: Option<&'a str>,
    pub spec: &'a Value,
    /// `None`: a quantity cannot be read.
    pub requests: Option<Amounts>,
    /// Whether it belongs to its node: it is of a DaemonSet, or the kubelet reads it from a file.
    pub is_of_node: bool,
    /// Whether a controller creates it again.
    pub has_controller: bool,
}

impl<'a> Pod<'a> {
    /// Returns the pod; `None` for one that has ended, or an object without a name.
    pub fn of(object: &'a Value) -> Option<Self> {
        let phase = object["status"]["phase"].as_str();
        if matches!(phase, Some("Succeeded" | "Failed")) {
            return None;
        }
        let metadata = &object["metadata"];
        let name = metadata["name"].as_str()?;
        let namespace = metadata["namespace"].as_str().unwrap_or_default();
        let mut owners = items(&metadata["ownerReferences"]);
        let controller = owners.find(|owner| owner["controller"] == true);
        let is_mirror = object.pointer(MIRROR).is_some();
        Some(Self {
            name: format!("{namespace}/{name}"),
            node: object["spec"]["nodeName"].as_str(),
            spec: &object["spec"],
            requests: requests(&object["spec"]),
            is_of_node: is_mirror || controller.is_some_and(|one| one["kind"] == "DaemonSet"),
            has_controller: controller.is_some(),
        })
    }

    /// Returns whether a volume may bind the pod to the zone of its node.
    pub fn has_claims(&self) -> bool {
        items(&self.spec["volumes"]).any(|volume| {
            !volume["persistentVolumeClaim"].is_null() || !volume["ephemeral"].is_null()
        })
    }
}

/// Returns the elements of a list; none for anything else.
pub fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Returns the amounts of a map of quantities; `None` if one cannot be read.
fn amounts(map: &Value) -> Option<Amounts> {
    let entries = map.as_object().into_iter().flatten();
    entries
        .map(|(name, quantity)| {
            let amount = match quantity {
                Value::String(text) => thousandths(text),
                Value::Number(number) => thousandths(&number.to_string()),
                _ => None,
            };
            Some((name.clone(), amount?))
        })
        .collect()
}

/// Returns what a pod requests: its containers together, or a container that runs before them if that
/// needs more, with those that stay beside them and the overhead.
fn requests(spec: &Value) -> Option<Amounts> {
    let mut running = Amounts::new();
    for container in items(&spec["containers"]) {
        add(&mut running, &of_container(container)?);
    }
    let mut before = Amounts::new();
    let mut beside = Amounts::new();
    for container in items(&spec["initContainers"]) {
        let amounts = of_container(container)?;
        if container["restartPolicy"] == "Always" {
            add(&mut beside, &amounts);
        } else {
            raise(&mut before, &amounts);
        }
    }
    raise(&mut running, &before);
    add(&mut running, &beside);
    // of the pod as a whole, from Kubernetes 1.34 on
    raise(&mut running, &amounts(&spec["resources"]["requests"])?);
    add(&mut running, &amounts(&spec["overhead"])?);
    running.insert(PODS.to_owned(), ONE);
    Some(running)
}

fn of_container(container: &Value) -> Option<Amounts> {
    amounts(&container["resources"]["requests"])
}

/// Adds amounts.
fn add(sum: &mut Amounts, amounts: &Amounts) {
    for (name, amount) in amounts {
        let entry = sum.entry(name.clone()).or_default();
        *entry = entry.saturating_add(*amount);
    }
}

/// Takes amounts away.
pub fn subtract(rest: &mut Amounts, amounts: &Amounts) {
    for (name, amount) in amounts {
        let entry = rest.entry(name.clone()).or_default();
        *entry = entry.saturating_sub(*amount);
    }
}

/// Raises each amount to at least another one.
fn raise(least: &mut Amounts, amounts: &Amounts) {
    for (name, amount) in amounts {
        let entry = least.entry(name.clone()).or_default();
        *entry = (*entry).max(*amount);
    }
}

/// Returns whether amounts fit into what is left. What a node does not have is not there.
pub fn fits(amounts: &Amounts, rest: &Amounts) -> bool {
    amounts
        .iter()
        .all(|(name, amount)| *amount <= 0 || rest.get(name).is_some_and(|left| left >= amount))
}

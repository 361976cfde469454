//! Which pods of nodes that leave have no place on the nodes that remain.
//!
//! An estimate from the objects of Kubernetes, before anything is removed: the requests of the pods against
//! what is left of the allocatable resources, with taints, node selectors and required node affinity. The
//! largest pods are placed first. What depends on more than that may not fit, and is named apart.
mod objects;
mod quantity;
mod rules;

use crate::plan::ChosenNode;
use objects::{Amounts, Node, Pod, fits, subtract};
use rules::{Eligibility, eligibility, unchecked};
use serde_json::{Value, json};
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    slice,
};

/// Maximum number of names in one sentence.
const MAX_NAMES: usize = 10;
/// The label with the name of a node, which a new one has not.
const HOST_NAME: &str = "kubernetes.io/hostname";
/// Maximum number of nodes that are tried as the one that Magnum chooses.
const MAX_CHOICES: usize = 100;
/// Maximum number of pairs of a pod and a node for all of them: a large cluster has fewer tries.
const MAX_COMPARISONS: usize = 5_000_000;

/// The nodes that leave a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leaving {
    None,
    /// These.
    Chosen(Vec<ChosenNode>),
    /// This one, for which a new one like it is added.
    Replaced(ChosenNode),
    /// So many of these: Magnum chooses them.
    Any {
        nodes: Vec<ChosenNode>,
        number: u32,
    },
}

/// What is known about the pods of the nodes that leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// No node leaves.
    NotNeeded,
    /// Why nothing is known, as a sentence.
    NotChecked(String),
    Checked(Unplaced),
}

/// The pods that would not run after the nodes have left, as `namespace/name`, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unplaced {
    /// No remaining node that may run them has room.
    pub without_place: Vec<String>,
    /// They may not fit: it depends on rules or objects that were not looked at.
    pub uncertain: Vec<String>,
    /// No controller creates them again.
    pub lost: Vec<String>,
    /// Whether it depends on which nodes Magnum chooses.
    pub depends_on_choice: bool,
}

impl Placement {
    /// Returns the pods that would, or may, stay pending: what a user has to accept before the nodes leave.
    pub fn pending(&self) -> Vec<String> {
        match self {
            Self::Checked(unplaced) => {
                let both = [&unplaced.without_place, &unplaced.uncertain];
                both.into_iter().flatten().cloned().collect()
            }
            Self::NotNeeded | Self::NotChecked(_) => Vec::new(),
        }
    }

    /// Returns the pods that would, or may, stay pending and are not among those that a user accepted.
    pub fn not_accepted(&self, accepted: &[String]) -> Vec<String> {
        let mut pending = self.pending();
        pending.retain(|pod| !accepted.contains(pod));
        pending
    }
}

/// Returns names in one sentence, at most ten of them.
pub fn names(names: &[String]) -> String {
    let shown = names.iter().take(MAX_NAMES).map(String::as_str);
    let shown: Vec<_> = shown.collect();
    let more = names.len().saturating_sub(MAX_NAMES);
    if more == 0 {
        shown.join(", ")
    } else {
        format!("{} and {more} more", shown.join(", "))
    }
}

/// Finds the pods that have no place when nodes leave. `nodes` and `pods` are all objects of the cluster, as
/// its API returns them.
pub fn placement(nodes: &[Value], pods: &[Value], leaving: &Leaving) -> Placement {
    let (chosen, number) = match leaving {
        Leaving::None => return Placement::NotNeeded,
        Leaving::Replaced(node) => return replaced(nodes, pods, node),
        Leaving::Chosen(nodes) => (nodes, None),
        Leaving::Any { number: 0, .. } => return Placement::NotNeeded,
        Leaving::Any { nodes, number } => (nodes, Some(*number)),
    };
    let nodes: Vec<_> = nodes.iter().filter_map(Node::of).collect();
    let pods: Vec<_> = pods.iter().filter_map(Pod::of).collect();
    let found = match in_kubernetes(&nodes, chosen) {
        Ok(found) => found,
        Err(reason) => return Placement::NotChecked(reason),
    };
    let number = number.map(|number| usize::try_from(number).unwrap_or(usize::MAX));
    let content = Content::of(&nodes, &pods);
    match number.filter(|number| *number < found.len()) {
        None => Placement::Checked(content.without(&found)),
        Some(number) => Placement::Checked(content.with_any_choice(&found, number)),
    }
}

/// Finds the pods that have no place when a node is replaced with a new one like it, on which the pods that
/// belong to each node run as well.
fn replaced(nodes: &[Value], pods: &[Value], node: &ChosenNode) -> Placement {
    let leaving = Leaving::Chosen(vec![node.clone()]);
    let mut nodes = nodes.to_vec();
    let old = match name_in_kubernetes(&nodes, node) {
        Ok(old) => old,
        Err(reason) => return Placement::NotChecked(reason),
    };
    let new = format!("the new node in place of {old}");
    let named = nodes.iter().find(|node| node["metadata"]["name"] == *old);
    if let Some(mut added) = named.cloned() {
        added["metadata"]["name"] = json!(new);
        if let Some(labels) = added["metadata"]["labels"].as_object_mut() {
            labels.remove(HOST_NAME);
        }
        if let Some(spec) = added["spec"].as_object_mut() {
            spec.remove("providerID");
            spec.remove("unschedulable");
        }
        added["status"]["conditions"] = json!([{"type": "Ready", "status": "True"}]);
        nodes.push(added);
    }
    let is_copied = |object: &&Value| {
        let pod = Pod::of(object);
        pod.is_some_and(|pod| pod.is_of_node && pod.node == Some(old.as_str()))
    };
    let mut of_node: Vec<_> = pods.iter().filter(is_copied).cloned().collect();
    for pod in &mut of_node {
        pod["spec"]["nodeName"] = json!(new);
    }
    let pods: Vec<_> = pods.iter().cloned().chain(of_node).collect();
    placement(&nodes, &pods, &leaving)
}

fn name_in_kubernetes(nodes: &[Value], node: &ChosenNode) -> Result<String, String> {
    let nodes: Vec<_> = nodes.iter().filter_map(Node::of).collect();
    let found = in_kubernetes(&nodes, slice::from_ref(node))?;
    Ok(found.into_iter().collect())
}

/// Returns the node in Kubernetes of a server, by the ID of the server, else by its name.
pub fn node_of<'v>(nodes: &'v [Value], chosen: &ChosenNode) -> Option<&'v Value> {
    let read = |value: &'v Value| Some((value, Node::of(value)?));
    let nodes: Vec<_> = nodes.iter().filter_map(read).collect();
    let by_server = nodes.iter().find(|(_, node)| node.is_on(chosen));
    let by_name = || nodes.iter().find(|(_, node)| node.is_named_as(chosen));
    by_server.or_else(by_name).map(|(value, _)| *value)
}

/// Returns the names of the nodes in Kubernetes of servers, by the ID of the server or its name.
///
/// # Errors
/// Which of them Kubernetes does not have, as a sentence.
fn in_kubernetes<'a>(
    nodes: &[Node<'a>],
    chosen: &[ChosenNode],
) -> Result<BTreeSet<&'a str>, String> {
    let mut found = BTreeSet::new();
    let mut missing = Vec::new();
    for one in chosen {
        let by_server = nodes.iter().find(|node| node.is_on(one));
        let by_name = || nodes.iter().find(|node| node.is_named_as(one));
        match by_server.or_else(by_name) {
            Some(node) => {
                found.insert(node.name);
            }
            None => missing.push(one.name.clone()),
        }
    }
    if !missing.is_empty() {
        return Err(format!(
            "Kubernetes has no node for the server {}.",
            names(&missing)
        ));
    }
    if found.is_empty() {
        return Err("It is not known which servers may leave.".to_owned());
    }
    Ok(found)
}

/// The nodes and pods of a cluster.
struct Content<'a> {
    nodes: &'a [Node<'a>],
    pods: &'a [Pod<'a>],
    /// What each node has left, by its name. Those of which it is not known are left out.
    free: BTreeMap<&'a str, Amounts>,
}

impl<'a> Content<'a> {
    fn of(nodes: &'a [Node<'a>], pods: &'a [Pod<'a>]) -> Self {
        let allocatable = nodes
            .iter()
            .filter_map(|node| Some((node.name, node.allocatable.clone()?)));
        let mut free: BTreeMap<_, _> = allocatable.collect();
        for pod in pods {
            let Some(node) = pod.node else {
                continue;
            };
            match &pod.requests {
                Some(requests) => {
                    if let Some(left) = free.get_mut(node) {
                        subtract(left, requests);
                    }
                }
                None => {
                    free.remove(node);
                }
            }
        }
        Self { nodes, pods, free }
    }

    /// Returns the pods without a place for several choices of the nodes: the fullest, and each other one
    /// with them.
    fn with_any_choice(&self, found: &BTreeSet<&str>, number: usize) -> Unplaced {
        let mut found: Vec<_> = found.iter().copied().collect();
        found.sort_by_cached_key(|name| Reverse(self.load(name)));
        let first = number.saturating_sub(1);
        let mut union = [BTreeSet::new(), BTreeSet::new(), BTreeSet::new()];
        let pairs = self.pods.len().saturating_mul(self.nodes.len());
        let choices = MAX_COMPARISONS / pairs.max(1);
        for last in found.iter().skip(first).take(choices.clamp(1, MAX_CHOICES)) {
            let leaving = found.iter().take(first).chain([last]).copied().collect();
            let unplaced = self.without(&leaving);
            let lists = [unplaced.without_place, unplaced.uncertain, unplaced.lost];
            for (all, more) in union.iter_mut().zip(lists) {
                all.extend(more);
            }
        }
        let [without_place, uncertain, lost] = union;
        Unplaced {
            uncertain: uncertain.difference(&without_place).cloned().collect(),
            without_place: without_place.into_iter().collect(),
            lost: lost.into_iter().collect(),
            depends_on_choice: true,
        }
    }

    /// Returns the memory that the movable pods of a node request, and their number.
    fn load(&self, node: &str) -> (i128, usize) {
        let movable = self
            .pods
            .iter()
            .filter(|pod| pod.node == Some(node) && !pod.is_of_node);
        let memory = movable.map(|pod| {
            let requests = pod.requests.as_ref();
            requests.and_then(|requests| requests.get("memory").copied())
        });
        memory.fold((0, 0), |(sum, pods), memory| {
            (
                i128::saturating_add(sum, memory.unwrap_or_default()),
                pods + 1,
            )
        })
    }

    /// Returns the pods without a place when these nodes have left.
    fn without(&self, leaving: &BTreeSet<&str>) -> Unplaced {
        let remaining = self
            .nodes
            .iter()
            .filter(|node| !leaving.contains(node.name));
        let mut rest: Vec<_> = remaining
            .filter_map(|node| Some((node, self.free.get(node.name)?.clone())))
            .collect();
        let mut moving: Vec<_> = self
            .pods
            .iter()
            .filter(|pod| pod.node.is_some_and(|node| leaving.contains(node)) && !pod.is_of_node)
            .collect();
        let largest = largest(self.nodes);
        moving.sort_by_cached_key(|pod| {
            let share = share(pod.requests.as_ref(), &largest);
            (Reverse(share), pod.name.clone())
        });
        let mut unplaced = Unplaced::default();
        for pod in moving {
            if !pod.has_controller {
                unplaced.lost.push(pod.name.clone());
                continue;
            }
            match place(pod, self.zone_of(pod), &mut rest) {
                Eligibility::Yes if unchecked(pod) => unplaced.uncertain.push(pod.name.clone()),
                Eligibility::Yes => {}
                Eligibility::Unknown => unplaced.uncertain.push(pod.name.clone()),
                Eligibility::No => unplaced.without_place.push(pod.name.clone()),
            }
        }
        unplaced.without_place.sort();
        unplaced.uncertain.sort();
        unplaced.lost.sort();
        unplaced
    }

    /// Returns the zone of the node on which a pod runs.
    fn zone_of(&self, pod: &Pod<'_>) -> Option<&'a str> {
        let name = pod.node?;
        let mut nodes = self.nodes.iter();
        nodes.find(|node| node.name == name)?.zone()
    }
}

/// Takes the room of a pod on the first node that may run it, else on one of which that is not known.
fn place(pod: &Pod<'_>, zone: Option<&str>, rest: &mut [(&Node<'_>, Amounts)]) -> Eligibility {
    let Some(requests) = &pod.requests else {
        return Eligibility::Unknown;
    };
    for wanted in [Eligibility::Yes, Eligibility::Unknown] {
        let mut fitting = rest
            .iter_mut()
            .filter(|(node, left)| fits(requests, left) && eligibility(pod, node, zone) == wanted);
        if let Some((_, left)) = fitting.next() {
            subtract(left, requests);
            return wanted;
        }
    }
    Eligibility::No
}

/// Returns the largest allocatable amount of each resource.
fn largest(nodes: &[Node<'_>]) -> Amounts {
    let mut largest = Amounts::new();
    for allocatable in nodes.iter().filter_map(|node| node.allocatable.as_ref()) {
        for (name, amount) in allocatable {
            let entry = largest.entry(name.clone()).or_default();
            *entry = (*entry).max(*amount);
        }
    }
    largest
}

/// Returns the largest share of a node that a pod requests of any resource, in millionths.
fn share(requests: Option<&Amounts>, largest: &Amounts) -> i128 {
    let shares = requests.into_iter().flatten().map(|(name, amount)| {
        let of = largest.get(name).copied().unwrap_or_default().max(1);
        amount.saturating_mul(1_000_000) / of
    });
    shares.max().unwrap_or_default()
}

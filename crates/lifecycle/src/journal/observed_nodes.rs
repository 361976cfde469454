//! The nodes of a cluster at one time, and what happened between two looks.
use super::node_event::{MAX_NAME_CHARS, NodeChange, NodeEvent, cut};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Maximum number of nodes that are compared.
const MAX_NODES: usize = 500;
/// Maximum number of changes of one comparison.
const MAX_CHANGES: usize = 200;

/// The nodes of a cluster at one time, by name. Stored as JSON: a new field needs a default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservedNodes {
    pub nodes: BTreeMap<String, ObservedNode>,
    /// Whether there were more than could be read: one that is missing has not left then.
    #[serde(default)]
    pub is_cut: bool,
}

/// A node at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservedNode {
    /// Kubernetes'.
    #[serde(default)]
    pub uid: String,
    #[serde(default)]
    pub created_at: Option<Timestamp>,
    #[serde(default)]
    pub is_ready: bool,
    /// When it became ready, or was no longer.
    #[serde(default)]
    pub ready_since: Option<Timestamp>,
    /// Why it is not ready, as Kubernetes writes it.
    #[serde(default)]
    pub reason: Option<String>,
    #[serde(default)]
    pub message: Option<String>,
    /// Of the kubelet.
    #[serde(default)]
    pub version: String,
    #[serde(default)]
    pub is_cordoned: bool,
}

impl ObservedNodes {
    /// Returns the nodes with texts of limited length, 500 at most.
    #[must_use]
    pub fn limited(self) -> Self {
        let is_cut = self.is_cut || self.nodes.len() > MAX_NODES;
        let limited = |(name, node): (String, ObservedNode)| {
            let short = |text: Option<String>| text.and_then(|text| cut(&text, MAX_NAME_CHARS));
            let node = ObservedNode {
                uid: cut(&node.uid, MAX_NAME_CHARS).unwrap_or_default(),
                version: cut(&node.version, MAX_NAME_CHARS).unwrap_or_default(),
                reason: short(node.reason),
                message: short(node.message),
                ..node
            };
            (cut(&name, MAX_NAME_CHARS).unwrap_or_default(), node)
        };
        Self {
            nodes: self
                .nodes
                .into_iter()
                .take(MAX_NODES)
                .map(limited)
                .collect(),
            is_cut,
        }
    }

    /// Returns what happened between two looks, the oldest first, 200 changes at most; without an earlier look,
    /// which nodes have joined. `before` has the time of the earlier look.
    pub fn changes(&self, before: Option<(&Self, Timestamp)>, now: Timestamp) -> Vec<NodeEvent> {
        let since = before.map(|(_, at)| at);
        let mut all = Vec::new();
        for (name, node) in &self.nodes {
            let earlier = before.and_then(|(before, _)| before.nodes.get(name));
            match earlier {
                Some(earlier) if earlier.uid == node.uid => {
                    of_one(&mut all, name, (earlier, node), (since, now));
                }
                Some(earlier) => {
                    all.push(left(name, earlier, (since, now)));
                    all.push(joined(name, node, now));
                }
                // one that was beyond the end of the earlier list has not joined
                None if before.is_some_and(|(before, _)| before.is_cut) => {}
                None => all.push(joined(name, node, now)),
            }
        }
        if let Some((before, _)) = before.filter(|_| !self.is_cut) {
            let gone = before.nodes.iter();
            let gone = gone.filter(|(name, _)| !self.nodes.contains_key(*name));
            all.extend(gone.map(|(name, node)| left(name, node, (since, now))));
        }
        all.sort_by_key(|event| event.at);
        all.truncate(MAX_CHANGES);
        all
    }
}

fn joined(name: &str, node: &ObservedNode, now: Timestamp) -> NodeEvent {
    NodeEvent {
        after: some(&node.version),
        ..NodeEvent::new(node.created_at.unwrap_or(now), name, NodeChange::Joined)
    }
}

fn left(
    name: &str,
    node: &ObservedNode,
    (since, now): (Option<Timestamp>, Timestamp),
) -> NodeEvent {
    NodeEvent {
        since,
        before: some(&node.version),
        ..NodeEvent::new(now, name, NodeChange::Left)
    }
}

fn of_one(
    all: &mut Vec<NodeEvent>,
    name: &str,
    (before, after): (&ObservedNode, &ObservedNode),
    (since, now): (Option<Timestamp>, Timestamp),
) {
    let looked = |change| NodeEvent {
        since,
        ..NodeEvent::new(now, name, change)
    };
    if before.version != after.version {
        all.push(NodeEvent {
            before: some(&before.version),
            after: some(&after.version),
            ..looked(NodeChange::Version)
        });
    }
    match (before.is_cordoned, after.is_cordoned) {
        (false, true) => all.push(looked(NodeChange::Cordoned)),
        (true, false) => all.push(looked(NodeChange::Uncordoned)),
        _ => {}
    }
    // it was another one in between
    let is_again = before.ready_since.is_some() && before.ready_since != after.ready_since;
    if before.is_ready == after.is_ready && !is_again {
        return;
    }
    let change = if after.is_ready {
        NodeChange::Ready
    } else {
        NodeChange::NotReady
    };
    let event = match after.ready_since {
        Some(at) => NodeEvent::new(at, name, change),
        None => looked(change),
    };
    let why = |text: &Option<String>| text.clone().filter(|_| !after.is_ready);
    let interrupted = (before.is_ready == after.is_ready && after.is_ready)
        .then(|| "It was not ready for a while before that.".to_owned());
    all.push(NodeEvent {
        reason: why(&after.reason),
        message: why(&after.message).or(interrupted),
        ..event
    });
}

fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    fn node(uid: &str) -> ObservedNode {
        ObservedNode {
            uid: uid.to_owned(),
            created_at: Some(at(1)),
            is_ready: true,
            ready_since: Some(at(2)),
            version: "v1.31.0".to_owned(),
            ..ObservedNode::default()
        }
    }

    fn nodes(all: &[(&str, ObservedNode)]) -> ObservedNodes {
        let all = all.iter();
        let all = all.map(|(name, node)| ((*name).to_owned(), node.clone()));
        ObservedNodes {
            nodes: all.collect(),
            is_cut: false,
        }
    }

    fn titles(before: &ObservedNodes, after: &ObservedNodes) -> Vec<String> {
        let changes = after.changes(Some((before, at(50))), at(60));
        changes.iter().map(NodeEvent::title).collect()
    }

    #[test]
    fn the_first_look_has_the_nodes_with_the_times_at_which_they_joined() {
        let first = nodes(&[("n1", node("1")), ("n2", node("2"))]);
        let changes = first.changes(None, at(60));
        assert_eq!(changes.len(), 2);
        assert_eq!(
            (changes[0].change, changes[0].at),
            (NodeChange::Joined, at(1))
        );
        assert_eq!(changes[0].lines(), ["Kubelet: v1.31.0"]);
        assert_eq!(titles(&first, &first), Vec::<String>::new());
    }

    #[test]
    fn nodes_that_come_go_or_are_made_anew_are_named() {
        let before = nodes(&[("n1", node("1")), ("n2", node("2"))]);
        let after = nodes(&[("n2", node("other")), ("n3", node("3"))]);
        let found = titles(&before, &after);
        // those that joined have Kubernetes' time
        assert_eq!(
            found,
            [
                "Node n2 joined",
                "Node n3 joined",
                "Node n2 left",
                "Node n1 left"
            ]
        );
        let left = &after.changes(Some((&before, at(50))), at(60))[3];
        assert_eq!((left.at, left.since), (at(60), Some(at(50))));
    }

    #[test]
    fn readiness_has_kubernetes_time_and_reason() {
        let before = nodes(&[("n1", node("1"))]);
        let mut lost = node("1");
        lost.is_ready = false;
        lost.ready_since = Some(at(55));
        lost.reason = Some("NodeStatusUnknown".to_owned());
        lost.message = Some("Kubelet stopped posting node status.".to_owned());
        let lost = nodes(&[("n1", lost)]);
        let changes = lost.changes(Some((&before, at(50))), at(60));
        assert_eq!(
            (changes[0].title().as_str(), changes[0].at),
            ("Node n1 is not ready", at(55))
        );
        assert_eq!(
            changes[0].lines(),
            ["NodeStatusUnknown", "Kubelet stopped posting node status."]
        );
        assert_eq!(titles(&lost, &before), ["Node n1 is ready"]);
        // ready at both looks, and not in between
        let mut again = node("1");
        again.ready_since = Some(at(57));
        let again = nodes(&[("n1", again)]);
        let changes = again.changes(Some((&before, at(50))), at(60));
        assert_eq!(
            changes[0].lines(),
            ["It was not ready for a while before that."]
        );
    }

    #[test]
    fn another_kubelet_and_a_cordon_are_changes() {
        let before = nodes(&[("n1", node("1"))]);
        let mut after = node("1");
        after.version = "v1.32.0".to_owned();
        after.is_cordoned = true;
        let after = nodes(&[("n1", after)]);
        assert_eq!(
            titles(&before, &after),
            ["Node n1 runs another kubelet", "Node n1 was cordoned"]
        );
        let changes = after.changes(Some((&before, at(50))), at(60));
        assert_eq!(changes[0].lines(), ["Kubelet: v1.31.0 → v1.32.0"]);
        assert!(titles(&after, &before).contains(&"Node n1 was uncordoned".to_owned()));
    }

    #[test]
    fn a_list_that_is_cut_has_no_nodes_that_left_or_joined() {
        let before = nodes(&[("n1", node("1"))]);
        let mut cut = nodes(&[("n2", node("2"))]);
        cut.is_cut = true;
        assert_eq!(titles(&before, &cut), ["Node n2 joined"]);
        assert_eq!(titles(&cut, &before), ["Node n2 left"]);
        let many = (0..900).map(|number| (format!("n{number:03}"), node("1")));
        let many = ObservedNodes {
            nodes: many.collect(),
            is_cut: false,
        };
        let many = many.limited();
        assert!(many.is_cut && many.nodes.len() == MAX_NODES);
        assert_eq!(many.changes(None, at(60)).len(), MAX_CHANGES);
    }
}

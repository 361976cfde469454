//! What happens to the nodes of a cluster, as its API server reports it.
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Maximum length of a name, in characters; Kubernetes' have 253 at most.
pub(super) const MAX_NAME_CHARS: usize = 253;
/// Maximum length of a message, in characters.
const MAX_MESSAGE_CHARS: usize = 1_000;

/// Why nothing is recorded any longer.
const STOPPED: &str = "Half of the journal are events of nodes. The rest is left to requests and changes of the \
                       cluster, so what happens to nodes is recorded again when older entries have left.";

/// One change of a node, or an event about it. Stored as JSON: a new field needs a default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeEvent {
    /// Kubernetes' time where it has one, else that of the look which has seen it.
    pub at: Timestamp,
    /// When the nodes were looked at before, if the time is that of a look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    pub node: String,
    pub change: NodeChange,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// As Kubernetes writes it, such as `KubeletNotReady`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What reports it, such as `kubelet`; only of an event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub component: Option<String>,
}

/// What happened to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeChange {
    Joined,
    Left,
    Ready,
    NotReady,
    /// Another version of the kubelet.
    Version,
    Cordoned,
    Uncordoned,
    /// An event of the type `Normal`.
    Reported,
    /// An event of the type `Warning`.
    Warned,
    /// The journal records no more of them until it has room; of no node.
    Stopped,
}

impl NodeEvent {
    pub(super) fn new(at: Timestamp, node: &str, change: NodeChange) -> Self {
        Self {
            at,
            since: None,
            node: cut(node, MAX_NAME_CHARS).unwrap_or_default(),
            change,
            before: None,
            after: None,
            reason: None,
            message: None,
            component: None,
        }
    }

    /// Returns an event that Kubernetes has about a node.
    pub fn reported(
        at: Timestamp,
        node: &str,
        is_warning: bool,
        reason: &str,
        message: &str,
        component: &str,
    ) -> Self {
        let change = if is_warning {
            NodeChange::Warned
        } else {
            NodeChange::Reported
        };
        Self {
            reason: cut(reason, MAX_NAME_CHARS),
            message: cut(message, MAX_MESSAGE_CHARS),
            component: cut(component, MAX_NAME_CHARS),
            ..Self::new(at, node, change)
        }
    }

    /// Returns that the journal records no more events of nodes.
    pub fn stopped(at: Timestamp) -> Self {
        Self {
            message: Some(STOPPED.to_owned()),
            component: Some("Portico".to_owned()),
            ..Self::new(at, "", NodeChange::Stopped)
        }
    }

    /// Returns what happened in words, such as `Node n1 is not ready`.
    pub fn title(&self) -> String {
        let node = &self.node;
        match self.change {
            NodeChange::Joined => format!("Node {node} joined"),
            NodeChange::Left => format!("Node {node} left"),
            NodeChange::Ready => format!("Node {node} is ready"),
            NodeChange::NotReady => format!("Node {node} is not ready"),
            NodeChange::Version => format!("Node {node} runs another kubelet"),
            NodeChange::Cordoned => format!("Node {node} was cordoned"),
            NodeChange::Uncordoned => format!("Node {node} was uncordoned"),
            NodeChange::Stopped => "Events of nodes are no longer recorded".to_owned(),
            NodeChange::Reported | NodeChange::Warned => {
                format!("Node {node}: {}", self.reason.as_deref().unwrap_or("event"))
            }
        }
    }

    /// Returns the details, each as a line.
    pub fn lines(&self) -> Vec<String> {
        let version = match (&self.before, &self.after) {
            (Some(before), Some(after)) => Some(format!("Kubelet: {before} → {after}")),
            (None, Some(after)) => Some(format!("Kubelet: {after}")),
            (Some(before), None) => Some(format!("Kubelet: {before}")),
            (None, None) => None,
        };
        let is_event = matches!(self.change, NodeChange::Reported | NodeChange::Warned);
        let reason = self.reason.clone().filter(|_| !is_event);
        [version, reason, self.message.clone()]
            .into_iter()
            .flatten()
            .collect()
    }
}

/// Returns a text of limited length, unless it is empty.
pub(super) fn cut(text: &str, chars: usize) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.chars().take(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_read_as_it_was_stored() {
        let event = NodeEvent::reported(
            Timestamp::UNIX_EPOCH,
            "n1",
            true,
            "Rebooted",
            "x",
            "kubelet",
        );
        let text = serde_json::to_string(&event).unwrap();
        assert!(text.contains(r#""change":"warned""#), "{text}");
        assert_eq!(serde_json::from_str::<NodeEvent>(&text).unwrap(), event);
        assert_eq!(event.title(), "Node n1: Rebooted");
        assert_eq!(event.lines(), ["x"]);
    }

    #[test]
    fn the_end_of_the_recording_is_an_entry_of_no_node_with_its_reason() {
        let stopped = NodeEvent::stopped(Timestamp::UNIX_EPOCH);
        assert_eq!(stopped.title(), "Events of nodes are no longer recorded");
        assert_eq!(stopped.lines(), [STOPPED]);
        let text = serde_json::to_string(&stopped).unwrap();
        assert_eq!(serde_json::from_str::<NodeEvent>(&text).unwrap(), stopped);
    }
}

//! The nodes of a cluster while an operation is followed: versions, readiness, and what a drain waits for.
use super::connection::Connection;
use super::console::Console;
use super::error::ClusterError;
use super::kubernetes::{self, Kubernetes};
use jiff::Timestamp;
use portico_cluster_operations::inside::{Inspection, inspect};
use portico_lifecycle::progress::{Followed, NodeReport, NodeSurvey, Nodes};
use portico_lifecycle::status::Operation;
use portico_lifecycle::version::VersionChange;
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;
use uuid::Uuid;

/// How long nodes are not read again.
const PAUSE: Duration = Duration::from_secs(5);
/// The same after the API server did not return them, or was not found.
const LONG_PAUSE: Duration = Duration::from_secs(30);
/// Maximum time for one look, so that Magnum is asked nevertheless.
const PATIENCE: Duration = Duration::from_secs(8);

/// The nodes of the cluster of an operation.
pub struct FollowedNodes {
    cluster: Uuid,
    versions: Option<VersionChange>,
    /// `None`: a deletion.
    importance: Option<Importance>,
    api: Option<Kubernetes>,
    last: Option<Inspection>,
    next: Option<Instant>,
    shown: Shown,
}

/// Whether the user learns that the nodes cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Importance {
    /// An upgrade, or a change of which only the state is known.
    Reported,
    /// A new cluster is not enrolled yet, and other changes do not touch the versions.
    Silent,
}

/// What was printed.
#[derive(Debug, Default)]
struct Shown {
    nodes: BTreeMap<String, NodeReport>,
    summary: Option<String>,
    reason: Option<String>,
    has_begun: bool,
}

impl FollowedNodes {
    /// Prepares to follow; reads nothing yet.
    pub fn new(cluster: Uuid, followed: &Followed, versions: Option<VersionChange>) -> Self {
        Self {
            cluster,
            versions,
            importance: match followed {
                Followed::Deletion { .. } => None,
                Followed::Change {
                    operation: Operation::Upgrade | Operation::Patch,
                    ..
                } => Some(Importance::Reported),
                Followed::Creation { .. } | Followed::Change { .. } => Some(Importance::Silent),
            },
            api: None,
            last: None,
            next: None,
            shown: Shown::default(),
        }
    }

    /// Reads the nodes, if that is due.
    pub async fn look(&mut self, connection: &Connection) {
        let is_due = self.next.is_none_or(|next| next <= Instant::now());
        if self.importance.is_none() || !is_due {
            return;
        }
        let found = self.read(connection).await;
        let pause = if found.nodes.is_ok() {
            PAUSE
        } else {
            LONG_PAUSE
        };
        self.next = Some(Instant::now() + pause);
        self.last = Some(found);
    }

    async fn read(&mut self, connection: &Connection) -> Inspection {
        let unread = |error: String| Inspection::not_checked(kubernetes::sentence(&error));
        if self.api.is_none() {
            let access = match kubernetes::find(connection, self.cluster).await {
                Ok(access) => access,
                Err(error) => return unread(error.to_string()),
            };
            match Kubernetes::new(&access) {
                Ok(api) => self.api = Some(api),
                Err(error) => return unread(error.to_string()),
            }
        }
        let Some(api) = &self.api else {
            return unread("there is no client for the API server".to_owned());
        };
        let api = match api.authorized().await {
            Ok(api) => api,
            Err(error) => return unread(error.to_string()),
        };
        // only this part: a session that is being renewed must not be interrupted
        let read = tokio::time::timeout(PATIENCE, inspect(&api)).await;
        read.unwrap_or_else(|_| Inspection::not_checked("The API server did not respond in time."))
    }

    /// Returns whether the API server is ready; `None`: not known.
    pub fn is_api_ready(&self) -> Option<bool> {
        self.last.as_ref()?.is_api_ready
    }

    /// Returns the nodes as the progress counts them; `wanted` is the number that the cluster is to have.
    pub fn counts(&self, wanted: Option<u32>) -> Option<Nodes> {
        let survey = self.last.as_ref()?.nodes.as_ref().ok()?;
        survey.counts(wanted, self.versions)
    }

    /// Prints what has changed since the last look; `elapsed` is the time of the operation in words, and
    /// `at` the time of the look.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn show(
        &mut self,
        console: &mut Console,
        elapsed: &str,
        at: Timestamp,
        has_json_lines: bool,
    ) -> Result<(), ClusterError> {
        let to = self.versions.map(|versions| versions.to);
        let lines = match self.last.as_ref().map(|last| &last.nodes) {
            None => Vec::new(),
            Some(Ok(survey)) => self.shown.take(survey, survey.summary(to)),
            Some(Err(_)) if self.importance != Some(Importance::Reported) => Vec::new(),
            Some(Err(reason)) => self.shown.not_checked(reason),
        };
        for line in lines {
            if has_json_lines {
                console.print(&line.json(at))?;
            } else {
                console.say(format!("{elapsed:>6}  {}", line.text()));
            }
        }
        Ok(())
    }
}

/// Something that has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    /// `Nodes`, or `Node` with a name.
    step: String,
    /// How far it is.
    state: String,
    reason: Option<String>,
    node: Option<NodeReport>,
}

impl Line {
    fn text(&self) -> String {
        let reason = self.reason.as_ref().map(|reason| format!(" ({reason})"));
        format!(
            "{}: {}{}",
            self.step,
            self.state,
            reason.unwrap_or_default()
        )
    }

    fn json(&self, at: Timestamp) -> String {
        let node = self.node.as_ref().map(|node| {
            json!({"name": node.name, "version": node.version, "is_ready": node.is_ready,
                   "is_cordoned": node.is_cordoned, "waits_for": node.waits_for})
        });
        let object = json!({"time": at, "step": self.step, "state": self.state,
                            "reason": self.reason, "percent": null, "node": node});
        format!("{object}\n")
    }
}

impl Shown {
    /// Returns what a look has found and was not printed yet. The first one prints only how far all nodes are.
    fn take(&mut self, survey: &NodeSurvey, summary: String) -> Vec<Line> {
        let mut lines = Vec::new();
        for node in &survey.nodes {
            let before = self.nodes.insert(node.name.clone(), node.clone());
            let is_news = match &before {
                Some(before) => before != node,
                None => self.has_begun || !node.waits_for.is_empty(),
            };
            if is_news {
                lines.push(Line {
                    step: format!("Node {}", node.name),
                    state: state(node),
                    reason: node.waiting(),
                    node: Some(node.clone()),
                });
            }
        }
        let has_left = |name: &String| !survey.nodes.iter().any(|node| node.name == *name);
        let left: Vec<_> = self
            .nodes
            .keys()
            .filter(|name| has_left(name))
            .cloned()
            .collect();
        for name in left {
            self.nodes.remove(&name);
            lines.push(Line {
                step: format!("Node {name}"),
                state: "removed".to_owned(),
                reason: None,
                node: None,
            });
        }
        if self.summary.as_ref() != Some(&summary) {
            lines.push(Line {
                step: "Nodes".to_owned(),
                state: summary.trim_end_matches('.').to_owned(),
                reason: survey.note.clone(),
                node: None,
            });
            self.summary = Some(summary);
        }
        self.has_begun = true;
        self.reason = None;
        lines
    }

    /// Returns that the nodes were not read, unless that was printed.
    fn not_checked(&mut self, reason: &str) -> Vec<Line> {
        if self.reason.as_deref() == Some(reason) {
            return Vec::new();
        }
        self.reason = Some(reason.to_owned());
        vec![Line {
            step: "Nodes".to_owned(),
            state: "not checked".to_owned(),
            reason: Some(reason.to_owned()),
            node: None,
        }]
    }
}

fn state(node: &NodeReport) -> String {
    let version = if node.version.is_empty() {
        "no version reported"
    } else {
        node.version.as_str()
    };
    let ready = if node.is_ready { "ready" } else { "not ready" };
    let cordoned = if node.is_cordoned { ", cordoned" } else { "" };
    format!("{version}, {ready}{cordoned}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, version: &str) -> NodeReport {
        NodeReport {
            name: name.to_owned(),
            version: version.to_owned(),
            is_ready: true,
            ..NodeReport::default()
        }
    }

    fn lines(shown: &mut Shown, nodes: Vec<NodeReport>) -> Vec<String> {
        let survey = NodeSurvey {
            nodes,
            is_complete: true,
            note: None,
        };
        let summary = survey.summary(Some("v1.34.2".parse().unwrap()));
        let lines = shown.take(&survey, summary);
        lines.iter().map(Line::text).collect()
    }

    #[test]
    fn only_what_has_changed_is_printed() {
        let mut shown = Shown::default();
        let old = || vec![node("shop-0", "v1.33.0"), node("shop-1", "v1.33.0")];
        assert_eq!(
            lines(&mut shown, old()),
            ["Nodes: 0 of 2 nodes run v1.34.2"]
        );
        assert!(lines(&mut shown, old()).is_empty());
        let mut draining = old();
        draining[1].is_cordoned = true;
        draining[1].waits_for = vec!["shop/web".to_owned()];
        let changed = lines(&mut shown, draining);
        assert_eq!(changed.len(), 1);
        let text = "Node shop-1: v1.33.0, ready, cordoned (The drain of shop-1 waits for shop/web";
        assert!(changed[0].starts_with(text), "{changed:?}");
        let replaced = vec![node("shop-0", "v1.33.0"), node("shop-2", "v1.34.2")];
        assert_eq!(
            lines(&mut shown, replaced),
            [
                "Node shop-2: v1.34.2, ready",
                "Node shop-1: removed",
                "Nodes: 1 of 2 nodes runs v1.34.2"
            ]
        );
    }

    #[test]
    fn a_line_of_json_has_the_node_and_the_reason() {
        let mut waiting = node("shop-1", "v1.33.0");
        waiting.waits_for = vec!["shop/web".to_owned()];
        let line = Line {
            step: "Node shop-1".to_owned(),
            state: state(&waiting),
            reason: waiting.waiting(),
            node: Some(waiting),
        };
        let json: serde_json::Value =
            serde_json::from_str(&line.json(Timestamp::UNIX_EPOCH)).unwrap();
        assert_eq!(json["time"], "1970-01-01T00:00:00Z");
        assert_eq!(json["step"], "Node shop-1");
        assert_eq!(json["node"]["waits_for"][0], "shop/web");
        assert_eq!(json["node"]["version"], "v1.33.0");
    }

    #[test]
    fn why_the_nodes_were_not_read_is_printed_once() {
        let mut shown = Shown::default();
        let reason = "This machine has no session.";
        let lines = shown.not_checked(reason);
        assert_eq!(
            lines[0].text(),
            "Nodes: not checked (This machine has no session.)"
        );
        assert!(shown.not_checked(reason).is_empty());
    }
}

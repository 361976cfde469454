//! The nodes of a cluster while it is created or changed: versions, readiness, and what holds up a drain.
use super::{ApiServer, NODES, ReadError, budgets, drain, list, workloads};
use portico_lifecycle::progress::{NodeReport, NodeSurvey};
use serde_json::Value;
use std::collections::BTreeSet;

/// Maximum number of cordoned nodes whose pods are read: a rolling change has one at a time, or a few.
const MAX_CORDONED: usize = 5;
/// Maximum number of namespaces in which pods of cordoned nodes are read.
const MAX_NAMESPACES: usize = 5;

/// What one look at a cluster has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspection {
    /// Whether the API server is ready; `None`: it did not say.
    pub is_api_ready: Option<bool>,
    /// The nodes, or why they are not known, as a sentence.
    pub nodes: Result<NodeSurvey, String>,
}

impl Inspection {
    /// Returns that nothing was read, for a reason (a sentence).
    pub fn not_checked(reason: impl Into<String>) -> Self {
        Self {
            is_api_ready: None,
            nodes: Err(reason.into()),
        }
    }
}

/// Looks at a cluster: two requests, and some more while nodes are cordoned.
pub async fn inspect(api: &impl ApiServer) -> Inspection {
    let (ready, nodes) = tokio::join!(api.text("/readyz"), list(api, NODES, &[]));
    let is_api_ready = match ready {
        Ok(_) => Some(true),
        Err(ReadError::Failed(_)) => Some(false),
        Err(ReadError::NotFound(_) | ReadError::Refused(_)) => None,
    };
    let nodes = match nodes {
        Ok(nodes) => nodes,
        Err(error) => {
            return Inspection {
                is_api_ready,
                nodes: Err(unread(error)),
            };
        }
    };
    let mut survey = NodeSurvey {
        nodes: nodes.items.iter().map(report).collect(),
        is_complete: nodes.is_complete,
        note: None,
    };
    survey.nodes.sort_by_cached_key(|node| node.name.clone());
    find_budgets(api, &mut survey).await;
    Inspection {
        is_api_ready,
        nodes: Ok(survey),
    }
}

fn report(node: &Value) -> NodeReport {
    let version = node.pointer("/status/nodeInfo/kubeletVersion");
    NodeReport {
        name: workloads::name(node),
        version: version
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        is_ready: !workloads::is_unready(node),
        is_cordoned: node.pointer("/spec/unschedulable") == Some(&true.into()),
        waits_for: Vec::new(),
    }
}

/// Adds to each cordoned node what its drain waits for. Pods are read only in namespaces with a budget that
/// permits no disruption, so that roles in these namespaces suffice.
async fn find_budgets(api: &impl ApiServer, survey: &mut NodeSurvey) {
    let cordoned = survey.nodes.iter_mut().filter(|node| node.is_cordoned);
    let mut cordoned: Vec<_> = cordoned.take(MAX_CORDONED).collect();
    if cordoned.is_empty() {
        return;
    }
    let mut budgets = match budgets(api).await {
        Ok(budgets) => budgets.items,
        Err(error) => {
            survey.note = Some(not_checked(error));
            return;
        }
    };
    budgets.retain(workloads::is_blocking);
    let namespaces: BTreeSet<_> = budgets.iter().filter_map(drain::namespace).collect();
    let mut failure = None;
    for namespace in namespaces.into_iter().take(MAX_NAMESPACES) {
        let path = format!("/api/v1/namespaces/{namespace}/pods");
        for node in &mut cordoned {
            let selector = format!("spec.nodeName={}", node.name);
            match list(api, &path, &[("fieldSelector", selector.as_str())]).await {
                Ok(pods) => {
                    let found = drain::holding_up(&budgets, &pods.items);
                    node.waits_for.extend(found);
                }
                Err(error) => failure = Some(error),
            }
        }
    }
    survey.note = failure.map(not_checked);
}

/// Returns why the nodes are not known, as a sentence. It names no user, as [`not_checked`].
fn unread(error: ReadError) -> String {
    match error {
        ReadError::Refused(_) => {
            "The roles with which the nodes were to be read do not permit to list them.".to_owned()
        }
        other => other.into_sentence(),
    }
}

/// Returns the reason as a sentence. It names no user: others may see it than the one who was refused.
fn not_checked(error: ReadError) -> String {
    let reason = match error {
        ReadError::Refused(_) => {
            "the roles with which it was read do not permit to list PodDisruptionBudgets and pods."
                .to_owned()
        }
        other => other.into_sentence(),
    };
    format!("What a drain waits for is not checked: {reason}")
}

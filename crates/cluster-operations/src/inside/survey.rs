//! The nodes of a cluster while it is created or changed: versions, readiness, and what holds up a drain.
use super::{ApiServer, NODES, PODS, ReadError, budgets, drain, list, workloads};
use portico_lifecycle::progress::{NodeReport, NodeSurvey};
use serde_json::Value;

/// Maximum number of cordoned nodes whose pods are read: a rolling change has one at a time, or a few.
const MAX_CORDONED: usize = 5;

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

/// Looks at a cluster: three requests at most, and one for each cordoned node.
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
                nodes: Err(error.into_sentence()),
            };
        }
    };
    let mut survey = NodeSurvey {
        nodes: nodes.items.iter().map(report).collect(),
        is_complete: nodes.is_complete,
        note: None,
    };
    survey.nodes.sort_by(|one, other| one.name.cmp(&other.name));
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

/// Adds to each cordoned node what its drain waits for.
async fn find_budgets(api: &impl ApiServer, survey: &mut NodeSurvey) {
    let cordoned = survey.nodes.iter_mut().filter(|node| node.is_cordoned);
    let mut cordoned: Vec<_> = cordoned.take(MAX_CORDONED).collect();
    if cordoned.is_empty() {
        return;
    }
    let note = |error: ReadError| {
        Some(format!(
            "What a drain waits for is not checked: {}",
            error.into_sentence()
        ))
    };
    let budgets = match budgets(api).await {
        Ok(budgets) => budgets.items,
        Err(error) => {
            survey.note = note(error);
            return;
        }
    };
    let mut failure = None;
    for node in &mut cordoned {
        let selector = format!("spec.nodeName={}", node.name);
        match list(api, PODS, &[("fieldSelector", selector.as_str())]).await {
            Ok(pods) => node.waits_for = drain::holding_up(&budgets, &pods.items),
            Err(error) => failure = Some(error),
        }
    }
    survey.note = failure.and_then(note);
}

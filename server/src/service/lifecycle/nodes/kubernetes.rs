//! What Kubernetes reports about the nodes of a cluster. Read with the caller's own token and rights; what
//! they may not read is not shown.
use crate::{
    caller::Caller,
    kube::{Api, ClusterSnapshot, KubeError},
    service::Services,
};
use jiff::Timestamp;
use portico_domain::panel::{Health, lifecycle::KubernetesNode};
use serde_json::Value;
use std::{collections::BTreeMap, time::Duration};
use uuid::Uuid;

/// How long to wait for the API server: the servers are shown without it.
const PATIENCE: Duration = Duration::from_secs(8);

/// The nodes that Kubernetes has.
#[derive(Debug, Default)]
pub struct InKubernetes {
    /// By their names.
    pub nodes: BTreeMap<String, KubernetesNode>,
    /// Why nothing, or not everything, is known, as a sentence.
    pub note: Option<String>,
}

impl InKubernetes {
    fn unknown(reason: impl Into<String>) -> Self {
        Self {
            nodes: BTreeMap::new(),
            note: Some(reason.into()),
        }
    }
}

/// Returns the nodes of a cluster that the caller may open, else why they are not known.
pub async fn read(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
) -> InKubernetes {
    if clusters.get(cluster).is_none() {
        return InKubernetes::unknown(
            "Whether a node is ready is read from enrolled clusters only. Enrol the cluster to see it.",
        );
    }
    let reading = async {
        match services.api_among(clusters, caller, cluster).await {
            Ok((api, _)) => of_api(&api).await,
            Err(error) => not_read(&error.message),
        }
    };
    let read = tokio::time::timeout(PATIENCE, reading).await;
    read.unwrap_or_else(|_| not_read("The API server did not respond in time."))
}

async fn of_api(api: &Api) -> InKubernetes {
    of_list(api.get("/api/v1/nodes?limit=500").await)
}

/// Returns the nodes of a list.
pub fn of_list(list: Result<Value, KubeError>) -> InKubernetes {
    let list = match list {
        Ok(list) => list,
        Err(error) => return not_read(&error.sentence()),
    };
    let Some(items) = list["items"].as_array() else {
        return not_read("The API server returned a list without items.");
    };
    let is_cut = list["metadata"]["continue"]
        .as_str()
        .is_some_and(|rest| !rest.is_empty());
    let named = |node: &Value| Some((node["metadata"]["name"].as_str()?.to_owned(), of_node(node)));
    InKubernetes {
        nodes: items.iter().filter_map(named).collect(),
        note: is_cut.then(|| {
            format!(
                "Kubernetes has more than the {} nodes that were read.",
                items.len()
            )
        }),
    }
}

fn not_read(reason: &str) -> InKubernetes {
    InKubernetes::unknown(format!(
        "Whether the nodes are ready is not known. {reason}"
    ))
}

fn of_node(node: &Value) -> KubernetesNode {
    let mut conditions = node["status"]["conditions"]
        .as_array()
        .into_iter()
        .flatten();
    let ready = conditions.find(|condition| condition["type"] == "Ready");
    let (health, words) = match ready.and_then(|condition| condition["status"].as_str()) {
        Some("True") => (Health::Ok, "Ready"),
        Some("False") => (Health::Failed, "Not ready"),
        // the control plane writes it when the kubelet reports no longer
        Some(_) => (Health::Warning, "Not ready: the kubelet does not report"),
        None => (Health::Unknown, "Not known"),
    };
    let is_cordoned = node["spec"]["unschedulable"] == true;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let created_at = node["metadata"]["creationTimestamp"].as_str();
    let created_at = created_at.and_then(|text| text.parse::<Timestamp>().ok());
    KubernetesNode {
        status: if is_cordoned {
            format!("{words}, cordoned")
        } else {
            words.to_owned()
        },
        health: if is_cordoned && health == Health::Ok {
            Health::Warning
        } else {
            health
        },
        version: text(&node["status"]["nodeInfo"]["kubeletVersion"]),
        created_at: created_at.map(Timestamp::as_second),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn node(name: &str, ready: &Value, is_cordoned: bool) -> Value {
        json!({"metadata": {"name": name, "creationTimestamp": "2026-11-21T11:13:55Z"},
               "spec": {"unschedulable": is_cordoned},
               "status": {"conditions": [{"type": "MemoryPressure", "status": "False"},
                                         {"type": "Ready", "status": ready}],
                          "nodeInfo": {"kubeletVersion": "v1.31.0"}}})
    }

    #[test]
    fn a_node_has_its_condition_its_version_and_the_time_of_its_registration() {
        let items = json!([
            node("one", &json!("True"), false),
            node("two", &json!("False"), false),
            node("three", &json!("Unknown"), false),
            node("four", &json!("True"), true),
            {"metadata": {"name": "new"}}
        ]);
        let found = of_list(Ok(json!({"metadata": {}, "items": items})));
        assert_eq!(found.note, None);
        let shown = |name: &str| {
            let node = found.nodes.get(name).unwrap();
            (node.status.as_str(), node.health)
        };
        assert_eq!(shown("one"), ("Ready", Health::Ok));
        assert_eq!(shown("two"), ("Not ready", Health::Failed));
        assert_eq!(shown("three").1, Health::Warning);
        assert_eq!(shown("four"), ("Ready, cordoned", Health::Warning));
        assert_eq!(shown("new"), ("Not known", Health::Unknown));
        let one = found.nodes.get("one").unwrap();
        assert_eq!(one.version, "v1.31.0");
        assert_eq!(one.created_at, Some(1_795_259_635));
        assert_eq!(found.nodes.get("new").unwrap().created_at, None);
    }

    #[test]
    fn what_could_not_be_read_is_a_sentence() {
        let failed = of_list(Err(KubeError::Timeout(8)));
        assert!(failed.nodes.is_empty());
        let note = failed.note.unwrap();
        assert!(note.ends_with('.'), "{note}");
        assert!(of_list(Ok(json!({}))).note.is_some());
        let list = json!({"metadata": {"continue": "next"}, "items": [node("one", &json!("True"), false)]});
        let cut = of_list(Ok(list));
        assert_eq!(cut.nodes.len(), 1);
        assert!(cut.note.unwrap().contains("more than the 1 nodes"));
    }
}

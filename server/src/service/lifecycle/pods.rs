//! The pods of nodes that leave: whether the remaining nodes have room for them. Read with the caller's own
//! token and rights; what they may not read is not checked, and the reason is shown.
use crate::{
    caller::Caller,
    kube::{Api, ClusterSnapshot, path},
    service::Services,
};
use portico_lifecycle::{
    drain,
    placement::{Leaving, Placement, names, node_of as find_node, placement},
    plan::ChosenNode,
};
use serde_json::Value;
use std::time::Duration;
use uuid::Uuid;

/// How long to wait for the API server: the other checks do not need it.
const PATIENCE: Duration = Duration::from_secs(8);
const NODES: &str = "/api/v1/nodes";
const PODS: &str = "/api/v1/pods";
/// Objects in one answer.
const PAGE_SIZE: &str = "500";
/// Maximum number of answers that make up a list.
const MAX_PAGES: usize = 20;

/// Where nodes and pods of a cluster are read.
#[derive(Clone, Copy)]
pub enum PodSource<'a> {
    /// The API server of an enrolled cluster, with the caller's rights.
    Kubernetes {
        services: &'a Services,
        clusters: &'a ClusterSnapshot,
        caller: &'a Caller,
    },
    /// What a test has found.
    #[cfg(test)]
    Given(&'a Placement),
    /// The objects of a cluster inside of a test.
    #[cfg(test)]
    Listed {
        nodes: &'a [Value],
        pods: &'a [Value],
    },
}

impl PodSource<'_> {
    /// Returns which pods have no place when nodes leave; nothing is read if none leaves.
    pub async fn placement(self, cluster: Uuid, leaving: &Leaving) -> Placement {
        if *leaving == Leaving::None {
            return Placement::NotNeeded;
        }
        let (services, clusters, caller) = match self {
            Self::Kubernetes {
                services,
                clusters,
                caller,
            } => (services, clusters, caller),
            #[cfg(test)]
            Self::Given(found) => return found.clone(),
            #[cfg(test)]
            Self::Listed { nodes, pods } => return placement(nodes, pods, leaving),
        };
        if clusters.get(cluster).is_none() {
            return not_checked(
                "The pods of enrolled clusters are read only. Enrol the cluster to check them.",
            );
        }
        let reading = async {
            match services.api_among(clusters, caller, cluster).await {
                Ok((api, _)) => of_api(&api, leaving).await,
                Err(error) => not_checked(&error.message),
            }
        };
        let read = tokio::time::timeout(PATIENCE, reading).await;
        read.unwrap_or_else(|_| not_checked("The API server did not respond in time."))
    }

    /// Checks that nodes are drained before they are removed. The cluster is read once for all of them.
    ///
    /// # Errors
    /// Which of them are not and why, or why that is not known, as sentences.
    pub async fn ensure_drained(self, cluster: Uuid, chosen: &[ChosenNode]) -> Result<(), String> {
        let (services, clusters, caller) = match self {
            Self::Kubernetes {
                services,
                clusters,
                caller,
            } => (services, clusters, caller),
            #[cfg(test)]
            Self::Given(Placement::NotChecked(reason)) => return Err(reason.clone()),
            #[cfg(test)]
            Self::Given(_) => return Ok(()),
            #[cfg(test)]
            Self::Listed { nodes, pods } => return all_drained(nodes, pods, chosen),
        };
        if clusters.get(cluster).is_none() {
            return Err("The pods of enrolled clusters are read only.".to_owned());
        }
        let reading = async {
            let opened = services.api_among(clusters, caller, cluster).await;
            let (api, _) = opened.map_err(|error| error.message)?;
            ensure_drained(&api, chosen).await
        };
        let read = tokio::time::timeout(PATIENCE, reading).await;
        read.unwrap_or_else(|_| Err("The API server did not respond in time.".to_owned()))
    }
}

/// Returns the node in Kubernetes of a server.
///
/// # Errors
/// That there is none, or why it cannot be read, as a sentence.
pub async fn node_of(api: &Api, chosen: &ChosenNode) -> Result<Value, String> {
    let (_, node) = nodes_with(api, chosen).await?;
    Ok(node)
}

/// Returns all nodes in Kubernetes, and that of a server.
///
/// # Errors
/// As [`node_of`].
pub async fn nodes_with(api: &Api, chosen: &ChosenNode) -> Result<(Vec<Value>, Value), String> {
    let nodes = all(api, NODES, "").await?;
    match find_node(&nodes, chosen).cloned() {
        Some(found) => Ok((nodes, found)),
        None => Err(missing(chosen)),
    }
}

/// Checks that nodes are cordoned, and run only pods that belong to them. Their pods are read after the nodes: on
/// a cordoned node no other pod starts in between.
///
/// # Errors
/// As [`PodSource::ensure_drained`].
async fn ensure_drained(api: &Api, chosen: &[ChosenNode]) -> Result<(), String> {
    let nodes = all(api, NODES, "").await?;
    let only = match chosen {
        // of one node, the pods of the others are not needed
        [one] => match find_node(&nodes, one) {
            Some(node) => format!("spec.nodeName={}", name_of(node)),
            // and none at all of one that does not exist
            None => return all_drained(&nodes, &[], chosen),
        },
        _ => String::new(),
    };
    let pods = all(api, PODS, &only).await?;
    all_drained(&nodes, &pods, chosen)
}

/// Checks that the chosen nodes are drained; `nodes` and `pods` are those of the cluster.
///
/// # Errors
/// The name of the first that is not, with the reason, and the names of the others.
fn all_drained(nodes: &[Value], pods: &[Value], chosen: &[ChosenNode]) -> Result<(), String> {
    let mut undrained = chosen.iter().filter_map(|one| {
        let reason = drained(nodes, pods, one).err()?;
        Some((one.name.clone(), reason))
    });
    let Some((name, reason)) = undrained.next() else {
        return Ok(());
    };
    let others: Vec<_> = undrained.map(|(name, _)| name).collect();
    Err(if others.is_empty() {
        format!("{name}: {reason}")
    } else {
        format!("{name}: {reason} Not drained either: {}.", names(&others))
    })
}

fn drained(nodes: &[Value], pods: &[Value], chosen: &ChosenNode) -> Result<(), String> {
    let node = find_node(nodes, chosen).ok_or_else(|| missing(chosen))?;
    let name = name_of(node);
    let of_node = pods.iter().filter(|pod| pod["spec"]["nodeName"] == name);
    drain::ensure_drained(node, of_node)
}

fn name_of(node: &Value) -> &str {
    node["metadata"]["name"].as_str().unwrap_or_default()
}

fn missing(chosen: &ChosenNode) -> String {
    format!("Kubernetes has no node for the server {}.", chosen.name)
}

/// Returns why pods must be accepted before nodes leave, as a sentence; `accepted` are those that the user
/// has accepted.
pub fn refusal(found: &Placement, accepted: &[String]) -> Option<String> {
    let pods = found.not_accepted(accepted);
    (!pods.is_empty()).then(|| {
        format!(
            "The remaining nodes may have no room for pods that you have not accepted: {}. Accept that they \
             stay pending, or make room for them first.",
            names(&pods)
        )
    })
}

async fn of_api(api: &Api, leaving: &Leaving) -> Placement {
    let (nodes, pods) = tokio::join!(all(api, NODES, ""), all(api, PODS, ""));
    match (nodes, pods) {
        (Ok(nodes), Ok(pods)) => placement(&nodes, &pods, leaving),
        (Err(reason), _) | (_, Err(reason)) => not_checked(&reason),
    }
}

/// Reads all objects of a list that a field selector selects; all with an empty one.
///
/// # Errors
/// Why they could not be read, as a sentence.
async fn all(api: &Api, list: &str, fields: &str) -> Result<Vec<Value>, String> {
    let mut items = Vec::new();
    let mut next = String::new();
    for _ in 0..MAX_PAGES {
        let query = [
            ("fieldSelector", fields),
            ("limit", PAGE_SIZE),
            ("continue", next.as_str()),
        ];
        let path = path::with_query(list, &query);
        let page = api.get(&path).await;
        let mut page = page.map_err(|error| error.sentence())?;
        match page.get_mut("items").map(Value::take) {
            Some(Value::Array(found)) => items.extend(found),
            // an empty list of Go
            Some(Value::Null) => {}
            _ => return Err("The API server returned a list without items.".to_owned()),
        }
        let token = page.pointer("/metadata/continue").and_then(Value::as_str);
        next = token.unwrap_or_default().to_owned();
        if next.is_empty() {
            return Ok(items);
        }
    }
    Err(format!(
        "The cluster has more objects than the {} that are read.",
        items.len()
    ))
}

fn not_checked(reason: &str) -> Placement {
    Placement::NotChecked(reason.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_lifecycle::placement::Unplaced;

    #[test]
    fn only_pods_that_were_not_accepted_are_refused() {
        let found = Placement::Checked(Unplaced {
            without_place: vec!["shop/web".to_owned()],
            uncertain: vec!["shop/db".to_owned()],
            lost: vec!["shop/bare".to_owned()],
            ..Unplaced::default()
        });
        let accepted =
            |names: &[&str]| -> Vec<String> { names.iter().map(|&name| name.to_owned()).collect() };
        let refused = refusal(&found, &accepted(&["shop/web"])).unwrap();
        assert!(
            refused.contains("shop/db") && !refused.contains("shop/web"),
            "{refused}"
        );
        assert_eq!(refusal(&found, &accepted(&["shop/web", "shop/db"])), None);
        assert_eq!(refusal(&not_checked("Unknown."), &[]), None);
    }
}

//! What runs in a cluster, as far as an upgrade depends on it. Read through Kubernetes, with the caller's own
//! rights; what they may not read is not checked.
use crate::{
    caller::Caller,
    kube::{Api, ClusterSnapshot, KubeError},
    service::Services,
};
use portico_cluster_operations::upgrades::Inside;
use portico_lifecycle::preflight::Reading;
use serde_json::Value;
use std::time::Duration;
use uuid::Uuid;

/// How long to wait for the API server: the other checks do not need it.
const PATIENCE: Duration = Duration::from_secs(8);
/// Maximum number of names in one check.
const MAX_NAMES: usize = 10;

/// Returns what runs in a cluster that the caller may open; else that nothing was checked.
pub async fn read(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
) -> Inside {
    if clusters.get(cluster).is_none() {
        return Inside::default();
    }
    let reading = async {
        let opened = services.api_among(clusters, caller, cluster).await;
        match opened {
            Ok((api, _)) => of_api(&api).await,
            Err(_) => Inside::default(),
        }
    };
    let read = tokio::time::timeout(PATIENCE, reading).await;
    read.unwrap_or_default()
}

async fn of_api(api: &Api) -> Inside {
    let (nodes, blocking_budgets, pods) = tokio::join!(
        api.get("/api/v1/nodes?limit=500"),
        blocking_budgets(api),
        api.get("/api/v1/pods?limit=500"),
    );
    Inside {
        unready_nodes: names(nodes, is_unready),
        blocking_budgets,
        bare_pods: names(pods, is_bare),
    }
}

/// Returns the names of the budgets that permit no disruption now; not checked if they cannot be read.
pub async fn blocking_budgets(api: &Api) -> Reading<Vec<String>> {
    names(budgets(api).await, is_blocking)
}

async fn budgets(api: &Api) -> Result<Value, KubeError> {
    let found = api
        .get("/apis/policy/v1/poddisruptionbudgets?limit=500")
        .await;
    match found {
        // Kubernetes before 1.21
        Err(KubeError::NotFound(_)) => {
            api.get("/apis/policy/v1beta1/poddisruptionbudgets?limit=500")
                .await
        }
        found => found,
    }
}

/// Returns the names of the objects of a list that are meant; not checked if the list could not be read, or
/// is not complete.
fn names(
    list: Result<Value, KubeError>,
    is_meant: impl Fn(&Value) -> bool,
) -> Reading<Vec<String>> {
    let Ok(list) = list else {
        return Reading::NotChecked;
    };
    let is_cut = list["metadata"]["continue"]
        .as_str()
        .is_some_and(|rest| !rest.is_empty());
    let Some(items) = list["items"].as_array().filter(|_| !is_cut) else {
        return Reading::NotChecked;
    };
    let mut names: Vec<_> = items
        .iter()
        .filter(|object| is_meant(object))
        .filter_map(|object| {
            let metadata = &object["metadata"];
            let name = metadata["name"].as_str()?;
            Some(match metadata["namespace"].as_str() {
                Some(namespace) => format!("{namespace}/{name}"),
                None => name.to_owned(),
            })
        })
        .collect();
    let more = names.len().saturating_sub(MAX_NAMES);
    if more > 0 {
        names.truncate(MAX_NAMES);
        names.push(format!("{more} more"));
    }
    Reading::Known(names)
}

fn is_unready(node: &Value) -> bool {
    let mut conditions = node["status"]["conditions"]
        .as_array()
        .into_iter()
        .flatten();
    let ready = conditions.find(|condition| condition["type"] == "Ready");
    ready.is_none_or(|condition| condition["status"] != "True")
}

/// A budget without pods delays no drain.
fn is_blocking(budget: &Value) -> bool {
    let status = &budget["status"];
    status["disruptionsAllowed"] == 0 && status["expectedPods"].as_i64().unwrap_or_default() > 0
}

/// A pod that has ended is not missed.
fn is_bare(pod: &Value) -> bool {
    let mut owners = pod["metadata"]["ownerReferences"]
        .as_array()
        .into_iter()
        .flatten();
    let has_ended = matches!(
        pod["status"]["phase"].as_str(),
        Some("Succeeded" | "Failed")
    );
    !has_ended && !owners.any(|owner| owner["controller"] == true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn known(items: Value, is_meant: fn(&Value) -> bool) -> Vec<String> {
        match names(Ok(json!({"metadata": {}, "items": items})), is_meant) {
            Reading::Known(names) => names,
            Reading::NotChecked => panic!("the list is complete"),
        }
    }

    #[test]
    fn a_node_is_ready_only_if_its_condition_is() {
        let node = |name: &str, status: &str| {
            json!({"metadata": {"name": name},
                   "status": {"conditions": [{"type": "Ready", "status": status}]}})
        };
        let nodes = json!([
            node("one", "True"),
            node("two", "Unknown"),
            {"metadata": {"name": "new"}}
        ]);
        assert_eq!(known(nodes, is_unready), ["two", "new"]);
    }

    #[test]
    fn case_38_a_budget_without_a_permitted_disruption_delays_a_drain() {
        let budget = |name: &str, allowed: u32, pods: u32| {
            json!({"metadata": {"name": name, "namespace": "shop"},
                   "status": {"disruptionsAllowed": allowed, "expectedPods": pods}})
        };
        let budgets = json!([
            budget("web", 0, 1),
            budget("db", 1, 3),
            budget("unused", 0, 0)
        ]);
        assert_eq!(known(budgets, is_blocking), ["shop/web"]);
    }

    #[test]
    fn a_pod_without_a_controller_is_lost_unless_it_has_ended() {
        let pod = |name: &str, phase: &str, controller: bool| {
            json!({"metadata": {"name": name, "namespace": "shop",
                                "ownerReferences": [{"controller": controller}]},
                   "status": {"phase": phase}})
        };
        let pods = json!([
            pod("owned", "Running", true),
            pod("bare", "Running", false),
            pod("ended", "Succeeded", false)
        ]);
        assert_eq!(known(pods, is_bare), ["shop/bare"]);
    }

    #[test]
    fn an_incomplete_list_is_not_a_check_and_a_long_one_is_shortened() {
        let cut = json!({"metadata": {"continue": "next"}, "items": []});
        assert_eq!(names(Ok(cut), is_bare), Reading::NotChecked);
        assert_eq!(names(Ok(json!({})), is_bare), Reading::NotChecked);
        let many: Vec<_> = (0..12)
            .map(|number| json!({"metadata": {"name": format!("pod-{number}")}}))
            .collect();
        let found = known(json!(many), is_bare);
        assert_eq!(found.len(), MAX_NAMES + 1);
        assert_eq!(found[MAX_NAMES], "2 more");
    }
}

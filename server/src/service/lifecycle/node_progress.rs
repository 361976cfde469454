//! The nodes of a cluster while it is created or changed, as one viewer may see them.
use super::{
    access::MagnumAccess,
    feeds::View,
    inside::UserApi,
    inspector::{Permission, permission, readable_namespaces},
    viewer::Viewer,
};
use crate::{caller::Caller, kube::ClusterSnapshot, service::Services};
use portico_domain::panel::{
    Health,
    lifecycle::{NodeProgress, NodeTable, NodeVersion},
};
use portico_lifecycle::{
    progress::{NodeReport, NodeSurvey},
    version::KubernetesVersion,
};
use std::collections::BTreeSet;
use uuid::Uuid;

/// Maximum number of rows of the table.
const MAX_ROWS: usize = 100;

/// Returns the nodes during an operation; `None` while none is followed, and during a deletion. They are read
/// by the poller of the cluster with the rights of a viewer who may list them; another viewer gets nothing
/// of it.
pub async fn of(
    services: &Services,
    access: &MagnumAccess,
    clusters: &ClusterSnapshot,
    (caller, viewer): (&Caller, &Viewer),
    cluster: Uuid,
    view: &View,
) -> Option<NodeProgress> {
    let following = view.following.as_ref()?;
    if view.is_gone || !following.is_about_nodes(services.clock.now()) {
        return None;
    }
    match permission(services, clusters, caller, viewer, cluster).await {
        Permission::NotChecked(reason) => Some(NodeProgress::NotChecked(reason)),
        Permission::Granted(lender, api) => {
            access.feeds.lend(viewer, cluster, lender).await;
            Some(shown(view, following.target_version(), &api).await)
        }
    }
}

/// Returns what was read last; `api` is the viewer's own access.
async fn shown(view: &View, to: Option<KubernetesVersion>, api: &UserApi) -> NodeProgress {
    let Some(inspection) = &view.inspection else {
        return NodeProgress::NotChecked("The nodes are being read.".to_owned());
    };
    match &inspection.nodes {
        Ok(survey) => {
            let readable = readable_namespaces(api, survey).await;
            NodeProgress::Known(table(survey, to, &readable))
        }
        Err(reason) => NodeProgress::NotChecked(reason.clone()),
    }
}

/// Returns the table of the nodes; `to` is the version to which they change. Budgets are named only in namespaces
/// that the viewer may read.
fn table(
    survey: &NodeSurvey,
    to: Option<KubernetesVersion>,
    readable: &BTreeSet<String>,
) -> NodeTable {
    let target = survey.target(to);
    let mut nodes: Vec<_> = survey
        .nodes
        .iter()
        .map(|node| row(node, target, readable))
        .collect();
    nodes.sort_by(|one, other| order(one).cmp(&order(other)));
    let mut notes = Vec::new();
    if !survey.is_complete {
        notes.push(format!(
            "The cluster has more than the {} nodes that were read.",
            nodes.len()
        ));
    }
    if nodes.len() > MAX_ROWS {
        notes.push(format!("{MAX_ROWS} of {} nodes are shown.", nodes.len()));
        nodes.truncate(MAX_ROWS);
    }
    let mut names = survey.nodes.iter().flat_map(|node| &node.waits_for);
    if names.any(|name| !is_readable(name, readable)) {
        notes.push(
            "A drain waits for a PodDisruptionBudget in a namespace that your roles do not permit to read."
                .to_owned(),
        );
    }
    notes.extend(survey.note.clone());
    NodeTable {
        summary: survey.summary(to),
        nodes,
        notes,
    }
}

/// Returns whether the budget `namespace/name` is in a namespace that the viewer may read.
fn is_readable(name: &str, readable: &BTreeSet<String>) -> bool {
    name.split_once('/')
        .is_some_and(|(namespace, _)| readable.contains(namespace))
}

/// Those that wait come first, then those without the new version.
fn order(row: &NodeVersion) -> (bool, bool, &str) {
    (
        row.waiting.is_none(),
        row.is_upgraded == Some(true),
        &row.name,
    )
}

fn row(
    node: &NodeReport,
    target: Option<KubernetesVersion>,
    readable: &BTreeSet<String>,
) -> NodeVersion {
    let ready = if node.is_ready { "Ready" } else { "Not ready" };
    let waits_for = node.waits_for.iter();
    let waits_for = waits_for.filter(|name| is_readable(name, readable));
    let waiting = NodeReport {
        name: node.name.clone(),
        waits_for: waits_for.cloned().collect(),
        ..NodeReport::default()
    };
    NodeVersion {
        name: node.name.clone(),
        version: node.version.clone(),
        is_upgraded: target.map(|target| node.kubernetes_version() == Some(target)),
        health: match (node.is_ready, node.is_cordoned) {
            (true, false) => Health::Ok,
            (true, true) => Health::Warning,
            (false, _) => Health::Progressing,
        },
        status: if node.is_cordoned {
            format!("{ready}, cordoned")
        } else {
            ready.to_owned()
        },
        waiting: waiting.waiting(),
    }
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

    fn survey() -> NodeSurvey {
        let mut draining = node("shop-2", "v1.33.0");
        draining.is_cordoned = true;
        draining.waits_for = vec!["shop/web".to_owned()];
        NodeSurvey {
            nodes: vec![
                node("shop-0", "v1.34.2"),
                node("shop-1", "v1.33.0"),
                draining,
            ],
            is_complete: true,
            note: None,
        }
    }

    fn readable(namespaces: &[&str]) -> BTreeSet<String> {
        namespaces.iter().map(|one| (*one).to_owned()).collect()
    }

    fn to() -> Option<KubernetesVersion> {
        Some("v1.34.2".parse().unwrap())
    }

    #[test]
    fn nodes_that_wait_come_first_with_the_budget_that_holds_them_up() {
        let table = table(&survey(), to(), &readable(&["shop"]));
        assert_eq!(table.summary, "1 of 3 nodes runs v1.34.2.");
        let names: Vec<_> = table.nodes.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["shop-2", "shop-1", "shop-0"]);
        let waiting = table.nodes[0].waiting.as_deref().unwrap();
        assert!(waiting.contains("shop/web"), "{waiting}");
        assert_eq!(table.nodes[0].status, "Ready, cordoned");
        let upgraded: Vec<_> = table.nodes.iter().map(|row| row.is_upgraded).collect();
        assert_eq!(upgraded, [Some(false), Some(false), Some(true)]);
        assert!(table.notes.is_empty());
    }

    #[test]
    fn a_viewer_who_may_not_list_budgets_does_not_see_their_names() {
        let table = table(&survey(), to(), &readable(&["default"]));
        assert!(table.nodes.iter().all(|row| row.waiting.is_none()));
        let text = "your roles do not permit";
        assert!(table.notes[0].contains(text), "{:?}", table.notes);
        assert!(!table.notes[0].contains("shop"), "{:?}", table.notes);
    }

    #[test]
    fn a_long_list_is_shortened_and_an_incomplete_one_is_named() {
        let nodes = (0..120).map(|number| node(&format!("shop-{number}"), "v1.33.0"));
        let long = NodeSurvey {
            nodes: nodes.collect(),
            is_complete: false,
            note: None,
        };
        let table = table(&long, None, &readable(&[]));
        assert_eq!(table.nodes.len(), MAX_ROWS);
        assert_eq!(table.notes.len(), 2);
        assert_eq!(table.nodes[0].is_upgraded, None);
    }
}

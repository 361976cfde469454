//! The step that removes chosen nodes.
use super::examples::{NEWEST, cluster, driver, masters, workers};
use crate::{
    driver::Family,
    model::NodeGroup,
    plan::{Action, ChosenNode, Impact, Step, node_removal},
};

fn removal(family: Family, status: &str, group: &NodeGroup) -> Step {
    let mut cluster = cluster(status);
    cluster.driver = driver(family);
    let node = |number: u32| ChosenNode {
        server: format!("server-{number}"),
        name: format!("shop-node-{number}"),
    };
    node_removal(&cluster, NEWEST, group, 3, &[node(1), node(2)])
}

fn refusal(family: Family, status: &str, group: &NodeGroup) -> String {
    removal(family, status, group).refusal.unwrap()
}

#[test]
fn chosen_nodes_leave_with_their_names() {
    let group = workers("default-worker", 3);
    let step = removal(Family::ClusterApi, "CREATE_COMPLETE", &group);
    assert_eq!(
        step.effect,
        "Removes the nodes shop-node-1, shop-node-2 from default-worker (3 to 1). Pods move to other \
         nodes; data on the disks is lost."
    );
    assert_eq!(step.impact, Impact::Destructive);
    assert_eq!(step.refusal, None);
    let servers = vec!["server-1".to_owned(), "server-2".to_owned()];
    assert_eq!(
        step.action,
        Action::RemoveNodes {
            group: "default-worker".to_owned(),
            from: 3,
            to: 1,
            servers,
        }
    );
}

#[test]
fn chosen_nodes_are_refused_where_another_node_would_leave() {
    let group = workers("default-worker", 3);
    let text = refusal(Family::CapiHelm, "CREATE_COMPLETE", &group);
    let texts = [
        text,
        refusal(Family::ClusterApi, "CREATE_COMPLETE", &masters(3)),
        refusal(Family::ClusterApi, "UPDATE_IN_PROGRESS", &group),
    ];
    insta::assert_snapshot!("refusals", texts.join("\n"));
}

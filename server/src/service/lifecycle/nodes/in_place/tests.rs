//! Replacements in place, with Magnum and Nova inside of the test.
use super::{add, leave};
use crate::service::lifecycle::{
    changing_magnum::{CLUSTER, ChangingMagnum},
    journal::RequestOutcome,
    nodes::{
        kubernetes::InKubernetes,
        reading::find,
        replacement::{Replacement, Stage, of_requests, progress, tests::request},
        tests::{NAME, ONE, TWO, cloud, reason, removal, server, servers},
    },
    pods::PodSource,
};
use portico_domain::panel::lifecycle::{
    ChangeOutcome, NodeRemoval, NodeReplacement, ReplacementStage,
};
use portico_lifecycle::placement::Placement;
use serde_json::{Value, json};
use std::slice;

const NEW: &str = "kube-x1y2z-default-worker-ddddd";

fn replacement(stage: Stage) -> Replacement {
    Replacement {
        stage,
        server: ONE.to_owned(),
        group: "default-worker".to_owned(),
        from: 2,
        name: NAME.to_owned(),
    }
}

/// Returns the servers without the old node.
fn without_old() -> Vec<Value> {
    servers().split_off(1)
}

fn with_new() -> Vec<Value> {
    let mut servers = without_old();
    servers.push(server("new", NEW, None));
    servers
}

async fn shown(magnum: &ChangingMagnum, stage: Stage) -> Option<NodeReplacement> {
    let ada = magnum.viewer("ada", &["member", "reader"]);
    let found = find(&magnum.clients, &ada, CLUSTER).await.unwrap();
    progress(&found, &replacement(stage), &InKubernetes::default())
}

async fn stage(magnum: &ChangingMagnum, of: Stage) -> ReplacementStage {
    let shown = shown(magnum, of).await.unwrap();
    assert!(shown.is_in_place);
    shown.stage
}

#[tokio::test]
async fn the_node_leaves_first_and_the_new_one_is_added_after_it() {
    let magnum = cloud("CREATE_COMPLETE", 2).await;
    let ada = magnum.viewer("ada", &["member", "reader"]);
    let (node, wanted) = (removal(ONE, NAME), replacement(Stage::Leave));
    let source = PodSource::Given(&Placement::NotNeeded);
    let sent = leave(
        &magnum.clients,
        &ada,
        CLUSTER,
        (&node, &wanted, None),
        source,
    );
    assert_eq!(sent.await.unwrap().outcome, ChangeOutcome::Accepted);
    let sent = magnum.changes();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].body["node_count"], 1);
    assert_eq!(sent[0].body["nodes_to_remove"], json!([ONE]));

    let magnum = cloud("UPDATE_COMPLETE", 1)
        .await
        .with_servers(without_old());
    let ada = magnum.viewer("ada", &["member", "reader"]);
    let wanted = replacement(Stage::Refill);
    let sent = add(&magnum.clients, &ada, CLUSTER, &wanted).await;
    assert_eq!(sent.unwrap().outcome, ChangeOutcome::Accepted);
    let sent = magnum.changes();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].body["node_count"], 2);
    assert!(
        sent[0]
            .body
            .get("nodes_to_remove")
            .is_none_or(|nodes| *nodes == json!([]))
    );
}

#[tokio::test]
async fn a_replacement_in_place_waits_for_the_user_when_the_node_has_left() {
    let present = cloud("UPDATE_IN_PROGRESS", 1).await;
    assert_eq!(
        stage(&present, Stage::Leave).await,
        ReplacementStage::Removing
    );
    let left = present.with_servers(without_old());
    assert_eq!(stage(&left, Stage::Leave).await, ReplacementStage::Removing);
    let settled = cloud("UPDATE_COMPLETE", 1)
        .await
        .with_servers(without_old());
    for of in [Stage::Leave, Stage::Refill] {
        assert_eq!(stage(&settled, of).await, ReplacementStage::WaitingForYou);
    }
    let adding = cloud("UPDATE_IN_PROGRESS", 2)
        .await
        .with_servers(without_old());
    assert_eq!(
        stage(&adding, Stage::Refill).await,
        ReplacementStage::Adding
    );
    let counted = cloud("UPDATE_COMPLETE", 2)
        .await
        .with_servers(without_old());
    assert_eq!(
        stage(&counted, Stage::Refill).await,
        ReplacementStage::Adding
    );
    let done = counted.with_servers(with_new());
    assert_eq!(shown(&done, Stage::Refill).await, None);
    // the removal had no effect
    let stays = cloud("UPDATE_FAILED", 2).await;
    let text = shown(&stays, Stage::Leave).await.unwrap().text;
    assert!(text.contains("may have failed"), "{text}");
}

#[tokio::test]
async fn no_second_node_leaves_and_none_is_added_before_the_first_has_left() {
    let magnum = cloud("CREATE_COMPLETE", 2).await;
    let ada = magnum.viewer("ada", &["member", "reader"]);
    let bob = magnum.viewer("bob", &["reader"]);
    let clients = &magnum.clients;
    let source = PodSource::Given(&Placement::NotNeeded);
    let other = Replacement {
        server: TWO.to_owned(),
        ..replacement(Stage::Leave)
    };
    let (node, wanted) = (removal(ONE, NAME), replacement(Stage::Leave));
    let sent = leave(
        clients,
        &ada,
        CLUSTER,
        (&node, &wanted, Some(&other)),
        source,
    );
    let beside_another = reason(sent.await.unwrap().outcome);
    let older = Replacement {
        from: 3,
        ..wanted.clone()
    };
    let sent = leave(clients, &ada, CLUSTER, (&node, &older, None), source);
    let outdated = reason(sent.await.unwrap().outcome);
    let sent = leave(clients, &bob, CLUSTER, (&node, &wanted, None), source);
    let of_reader = reason(sent.await.unwrap().outcome);
    let refill = replacement(Stage::Refill);
    let early = reason(add(clients, &ada, CLUSTER, &refill).await.unwrap().outcome);
    assert_eq!(magnum.calls(), [""; 0]);
    // a request that is repeated adds no second node
    let full = cloud("UPDATE_COMPLETE", 2).await.with_servers(with_new());
    let ada = full.viewer("ada", &["member", "reader"]);
    let repeated = reason(
        add(&full.clients, &ada, CLUSTER, &refill)
            .await
            .unwrap()
            .outcome,
    );
    let refusals = [beside_another, outdated, of_reader, early, repeated];
    insta::assert_snapshot!("refusals", refusals.join("\n"));
    assert_eq!(full.calls(), [""; 0]);
}

#[tokio::test]
async fn one_node_is_replaced_in_place_and_not_others_with_it() {
    let magnum = cloud("CREATE_COMPLETE", 2).await;
    let ada = magnum.viewer("ada", &["member", "reader"]);
    let source = PodSource::Given(&Placement::NotNeeded);
    let wanted = replacement(Stage::Leave);
    let too_many = (0..NodeRemoval::MAX_NODES).map(|number| number.to_string());
    for others in [vec![TWO.to_owned()], too_many.collect()] {
        let typed = NodeRemoval::confirmation(NAME, others.len());
        let node = NodeRemoval {
            others,
            ..removal(ONE, &typed)
        };
        let what = (&node, &wanted, None);
        let sent = leave(&magnum.clients, &ada, CLUSTER, what, source).await;
        let refused = reason(sent.unwrap().outcome);
        assert_eq!(refused, "One node is replaced at a time.");
    }
    assert_eq!(magnum.calls(), [""; 0]);
}

#[test]
fn a_replacement_in_place_ends_with_the_accepted_request_for_the_new_node() {
    let [leave, refill] = [Stage::Leave, Stage::Refill].map(replacement);
    let began = request(&leave.to_string(), RequestOutcome::Accepted);
    let added = |outcome| request(&refill.to_string(), outcome);
    assert_eq!(of_requests(slice::from_ref(&began)), Some(leave.clone()));
    // a refused one may be repeated, and of a lost one it is not known
    let requests = [added(RequestOutcome::Refused), began.clone()];
    assert_eq!(of_requests(&requests), Some(leave));
    let requests = [added(RequestOutcome::Unknown), began.clone()];
    assert_eq!(of_requests(&requests), Some(refill.clone()));
    let requests = [added(RequestOutcome::Accepted), began];
    assert_eq!(of_requests(&requests), None);
}

#[test]
fn a_removal_that_is_repeated_stays_one_in_place() {
    assert_eq!(replacement(Stage::Refill).removal().stage, Stage::Leave);
    assert_eq!(replacement(Stage::Add).removal().stage, Stage::Remove);
    let title = replacement(Stage::Leave).title();
    assert!(
        title.ends_with("in place: remove it first (2 to 1)"),
        "{title}"
    );
    let title = replacement(Stage::Refill).title();
    assert!(
        title.ends_with("one node more in default-worker (1 to 2)"),
        "{title}"
    );
}

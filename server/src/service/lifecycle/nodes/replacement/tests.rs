//! Replacements, with Magnum and Nova inside of the test.
use super::{Replacement, Stage, is_stop, of_requests, progress};
use crate::service::lifecycle::{
    changing_magnum::{CLUSTER, ChangingMagnum},
    journal::{RequestContent, RequestOutcome},
    nodes::{
        kubernetes::{InKubernetes, of_list},
        reading::find,
        replacing::{reviewed, send},
        tests::{NAME, ONE, TWO, cloud, reason, server, servers},
    },
    pods::PodSource,
};
use portico_domain::panel::lifecycle::{ChangeOutcome, NodeReplacement, ReplacementStage};
use portico_lifecycle::placement::Placement;
use serde_json::json;

const NEW: &str = "kube-x1y2z-default-worker-ddddd";

fn replacement(stage: Stage, server: &str) -> Replacement {
    Replacement {
        stage,
        server: server.to_owned(),
        group: "default-worker".to_owned(),
        from: 2,
        name: NAME.to_owned(),
    }
}

pub fn request(target: &str, outcome: RequestOutcome) -> RequestContent {
    RequestContent {
        action: super::REPLACE.to_owned(),
        target: target.to_owned(),
        user_id: "ada".to_owned(),
        user_name: "ada".to_owned(),
        request_id: None,
        reason: None,
        outcome,
        answer: None,
    }
}

/// Returns how far the replacement of the first node is.
async fn shown(
    magnum: &ChangingMagnum,
    stage: Stage,
    in_kubernetes: &InKubernetes,
) -> Option<NodeReplacement> {
    let ada = magnum.viewer("ada", &["member", "reader"]);
    let found = find(&magnum.clients, &ada, CLUSTER).await.unwrap();
    progress(&found, &replacement(stage, ONE), in_kubernetes)
}

fn with_new() -> Vec<serde_json::Value> {
    let mut servers = servers();
    servers.push(server("new", NEW, None));
    servers
}

#[test]
fn the_target_of_a_request_is_read_as_it_was_written() {
    for stage in Stage::ALL {
        let mut written = replacement(stage, ONE);
        written.name = "a name with spaces".to_owned();
        assert_eq!(written.to_string().parse::<Replacement>(), Ok(written));
    }
    for text in ["", "add", "add s g 2", "add s g two n", "grow s g 2 n"] {
        assert_eq!(text.parse::<Replacement>(), Err(()), "{text}");
    }
    let title = replacement(Stage::Add, ONE).title();
    assert!(
        title.ends_with("one node more in default-worker (2 to 3)"),
        "{title}"
    );
}

#[test]
fn a_replacement_is_open_until_it_is_stopped_and_a_refused_request_has_no_effect() {
    let add = replacement(Stage::Add, ONE);
    let remove = replacement(Stage::Remove, ONE);
    let stop = replacement(Stage::Stop, ONE);
    let [of_add, of_remove, of_stop] = [&add, &remove, &stop].map(ToString::to_string);
    let accepted = |target: &str| request(target, RequestOutcome::Accepted);
    let refused = |target: &str| request(target, RequestOutcome::Refused);
    assert_eq!(of_requests(&[]), None);
    assert_eq!(of_requests(&[refused(&of_add)]), None);
    // the answer may have been lost, or the process may have ended
    for outcome in [RequestOutcome::Sending, RequestOutcome::Unknown] {
        assert_eq!(of_requests(&[request(&of_add, outcome)]), Some(add.clone()));
    }
    let requests = [refused(&of_remove), accepted(&of_add)];
    assert_eq!(of_requests(&requests), Some(add));
    let requests = [accepted(&of_remove), accepted(&of_add)];
    assert_eq!(of_requests(&requests), Some(remove));
    assert_eq!(of_requests(&[accepted(&of_stop), accepted(&of_add)]), None);
    assert!(is_stop(&accepted(&of_stop)) && !is_stop(&accepted(&of_add)));
}

#[tokio::test]
async fn a_replacement_waits_for_the_server_and_for_kubernetes_and_then_for_the_user() {
    let unknown = InKubernetes {
        note: Some("Not read.".to_owned()),
        ..InKubernetes::default()
    };
    let stage = async |magnum: &ChangingMagnum, nodes: &InKubernetes| {
        let shown = shown(magnum, Stage::Add, nodes).await;
        shown.unwrap().stage
    };
    let busy = cloud("UPDATE_IN_PROGRESS", 2).await;
    assert_eq!(stage(&busy, &unknown).await, ReplacementStage::Adding);
    let counted = cloud("UPDATE_COMPLETE", 3).await;
    assert_eq!(stage(&counted, &unknown).await, ReplacementStage::Adding);
    let made = counted.with_servers(with_new());
    assert_eq!(
        stage(&made, &unknown).await,
        ReplacementStage::WaitingForYou
    );
    let node = |name: &str, ready: &str| {
        json!({"metadata": {"name": name},
               "status": {"conditions": [{"type": "Ready", "status": ready}]}})
    };
    let list = |ready: &str| {
        let second = node("kube-x1y2z-default-worker-bbbbb", "True");
        let items = json!([node(NAME, "True"), second, node(NEW, ready)]);
        of_list(Ok(json!({"metadata": {}, "items": items})))
    };
    assert_eq!(
        stage(&made, &list("False")).await,
        ReplacementStage::NotReady
    );
    assert_eq!(
        stage(&made, &list("True")).await,
        ReplacementStage::WaitingForYou
    );
    let removing = shown(&made, Stage::Remove, &unknown).await.unwrap();
    assert_eq!(removing.stage, ReplacementStage::Removing);
    // the old node has left
    let done = made.with_servers(with_new().split_off(1));
    assert_eq!(shown(&done, Stage::Remove, &unknown).await, None);
}

#[tokio::test]
async fn a_settled_cluster_without_the_new_node_is_named_as_such() {
    let magnum = cloud("UPDATE_FAILED", 2).await;
    let shown = shown(&magnum, Stage::Add, &InKubernetes::default()).await;
    let text = shown.unwrap().text;
    assert!(text.contains("may have failed"), "{text}");
}

#[tokio::test]
async fn a_replacement_begins_with_one_more_node_and_removes_none() {
    let magnum = cloud("CREATE_COMPLETE", 2).await;
    let ada = magnum.viewer("ada", &["member", "reader"]);
    let found = find(&magnum.clients, &ada, CLUSTER).await.unwrap();
    let source = PodSource::Given(&Placement::NotNeeded);
    let review = reviewed(&magnum.clients, &found, &ada, ONE, source).await;
    assert!(review.can_be_sent(), "{review:?}");
    insta::assert_json_snapshot!("review", review);
    let wanted = replacement(Stage::Add, ONE);
    // one that is complete does not count
    let complete = replacement(Stage::Remove, "gone");
    let sent = send(&magnum.clients, &ada, CLUSTER, &wanted, Some(&complete)).await;
    assert_eq!(sent.unwrap().outcome, ChangeOutcome::Accepted);
    let sent = magnum.changes();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].body["node_count"], 3);
    assert!(
        !sent[0].body.to_string().contains(ONE),
        "{:?}",
        sent[0].body
    );
}

#[tokio::test]
async fn a_second_replacement_or_one_of_a_changed_group_is_not_begun() {
    let magnum = cloud("CREATE_COMPLETE", 2).await;
    let ada = magnum.viewer("ada", &["member", "reader"]);
    let bob = magnum.viewer("bob", &["reader"]);
    let clients = &magnum.clients;
    let wanted = replacement(Stage::Add, ONE);
    let other = replacement(Stage::Add, TWO);
    let sent = send(clients, &ada, CLUSTER, &wanted, Some(&other)).await;
    let beside_another = reason(sent.unwrap().outcome);
    let older = Replacement {
        from: 1,
        ..wanted.clone()
    };
    let outdated = reason(
        send(clients, &ada, CLUSTER, &older, None)
            .await
            .unwrap()
            .outcome,
    );
    let of_reader = reason(
        send(clients, &bob, CLUSTER, &wanted, None)
            .await
            .unwrap()
            .outcome,
    );
    let refusals = [beside_another, outdated, of_reader].join("\n");
    insta::assert_snapshot!("refusals", refusals);
    assert_eq!(magnum.calls(), [""; 0]);
}

//! The way out of a failed change, with Magnum inside of the test.
use super::{read, send, view};
use crate::service::lifecycle::changing_magnum::{CLUSTER, ChangingMagnum, cluster};
use portico_domain::panel::lifecycle::{ChangeOutcome, FailureAction, SettledSize, Settlement};
use serde_json::{Value, json};

/// Magnum with a cluster of three workers that accepts changes.
async fn magnum(status: &str) -> ChangingMagnum {
    let mut shop = cluster("shop", status);
    shop["node_count"] = json!(3);
    shop["status_reason"] = json!("Quota exceeded for instances: 20 of 20");
    ChangingMagnum::start(vec![shop], |request, clusters| {
        if request.method != "POST" {
            return None;
        }
        clusters[0]["status"] = json!("UPDATE_IN_PROGRESS");
        Some((202, json!({"uuid": CLUSTER})))
    })
    .await
}

/// What the page has shown of the cluster.
fn reviewed(nodes: u32) -> SettledSize {
    SettledSize {
        group: "default-worker".to_owned(),
        nodes,
    }
}

async fn shown(magnum: &ChangingMagnum, user: &str, roles: &[&str]) -> Settlement {
    let viewer = magnum.viewer(user, roles);
    let target = read(&magnum.clients, &viewer, CLUSTER).await;
    view(&target.unwrap(), &viewer)
}

#[tokio::test]
async fn case_35_a_failed_change_is_settled_with_the_size_that_magnum_has() {
    let magnum = magnum("UPDATE_FAILED").await;
    let page = shown(&magnum, "bob", &["member", "reader"]).await;
    assert!(page.can_be_sent(), "{page:?}");
    let failure = page.failure.unwrap();
    let steps: Vec<_> = failure.next_steps.iter().map(|step| step.action).collect();
    assert!(steps.contains(&FailureAction::Settle), "{steps:?}");
    let size = page.size.unwrap();
    assert_eq!(size, reviewed(3));
    let request = page.request.unwrap();
    insta::assert_snapshot!("request", request);
    insta::assert_snapshot!("effects", page.effects.join("\n"));
    let ada = magnum.viewer("ada", &["member", "reader"]);
    let sent = send(&magnum.clients, &ada, CLUSTER, &size).await.unwrap();
    assert_eq!(sent.outcome, ChangeOutcome::Accepted);
    assert!(sent.accepted.is_some());
    let changes = magnum.changes();
    assert_eq!(changes.len(), 1);
    assert_eq!(
        changes[0].path,
        format!("clusters/{CLUSTER}/actions/resize")
    );
    assert_eq!(changes[0].body["node_count"], 3);
    assert_ne!(changes[0].body["nodegroup"], Value::Null);
    // while it runs, a second request is not sent
    let again = send(&magnum.clients, &ada, CLUSTER, &size).await.unwrap();
    assert!(matches!(again.outcome, ChangeOutcome::Refused { .. }));
    assert_eq!(magnum.changes().len(), 1);
}

#[tokio::test]
async fn nothing_is_sent_for_other_states_or_without_the_role() {
    let reader: &[&str] = &["reader"];
    let member: &[&str] = &["member", "reader"];
    for (status, roles, reason) in [
        ("UPDATE_COMPLETE", member, "nothing to settle"),
        ("CREATE_FAILED", member, "nothing to settle"),
        ("DELETE_FAILED", member, "nothing to settle"),
        ("UPDATE_FAILED", reader, "cluster:resize"),
    ] {
        let magnum = magnum(status).await;
        let page = shown(&magnum, "ada", roles).await;
        assert!(!page.can_be_sent(), "{status}");
        let refusal = page.refusal.unwrap();
        assert!(refusal.contains(reason), "{status}: {refusal}");
        let ada = magnum.viewer("ada", roles);
        let sent = send(&magnum.clients, &ada, CLUSTER, &reviewed(3))
            .await
            .unwrap();
        assert!(matches!(sent.outcome, ChangeOutcome::Refused { .. }));
        assert!(magnum.changes().is_empty(), "{status}");
    }
}

#[tokio::test]
async fn another_size_or_group_than_the_reviewed_one_is_not_requested() {
    let magnum = magnum("UPDATE_FAILED").await;
    let ada = magnum.viewer("ada", &["member", "reader"]);
    let other = SettledSize {
        group: "gpu".to_owned(),
        nodes: 3,
    };
    for (name, outdated) in [("outdated_size", reviewed(2)), ("another_group", other)] {
        let sent = send(&magnum.clients, &ada, CLUSTER, &outdated).await;
        let ChangeOutcome::Refused {
            reason, next_step, ..
        } = sent.unwrap().outcome
        else {
            panic!("it is refused");
        };
        let text = format!("{reason}\n{}", next_step.unwrap());
        insta::assert_snapshot!(name, text);
    }
    assert!(magnum.changes().is_empty());
    // control case
    let sent = send(&magnum.clients, &ada, CLUSTER, &reviewed(3)).await;
    assert_eq!(sent.unwrap().outcome, ChangeOutcome::Accepted);
}

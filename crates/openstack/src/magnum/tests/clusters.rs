use super::*;
use crate::rest::Effect;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

#[tokio::test]
async fn a_creation_whose_answer_is_lost_is_sent_once() {
    for lost in [Reply::Close, Reply::Silence, Reply::Json(504, json!({}))] {
        let server = magnum("1.14", move |_| lost.clone()).await;
        let new = NewCluster::of_template("a", uuid());
        let error = client()
            .create_cluster(&server.token(), &new)
            .await
            .unwrap_err();
        assert_eq!(error.effect, Effect::Unknown);
        assert!(error.next_step().unwrap().contains("before you repeat it"));
        assert_eq!(calls(&server), ["POST clusters"]);
    }
}

#[tokio::test]
async fn a_cluster_of_ones_own_may_be_missing_for_a_moment() {
    let count = AtomicUsize::new(0);
    let server = magnum("1.14", move |_| {
        match count.fetch_add(1, Ordering::SeqCst) {
            0 | 1 => not_found(),
            2 => without_node_groups(),
            _ => Reply::Json(200, cluster(CLUSTER, "a", PROJECT)),
        }
    })
    .await;
    let (client, token) = (client(), server.token());
    assert!(
        client
            .cluster(&token, uuid())
            .await
            .unwrap_err()
            .is_not_found()
    );
    let patience = Duration::from_secs(5);
    let found = client.created_cluster(&token, uuid(), patience).await;
    assert_eq!(found.unwrap().unwrap().uuid, uuid());
    assert_eq!(calls(&server).len(), 4);
}

#[tokio::test]
async fn patience_ends_and_other_errors_end_it_at_once() {
    for unrecorded in [not_found(), without_node_groups()] {
        let server = magnum("1.14", move |_| unrecorded.clone()).await;
        let patience = Duration::from_millis(250);
        let found = client()
            .created_cluster(&server.token(), uuid(), patience)
            .await;
        assert_eq!(found.unwrap(), None);
        // at 0, 100 and 250 ms
        assert_eq!(calls(&server).len(), 3);
    }
    for status in [401, 403, 405, 409, 422, 500] {
        let server = magnum("1.14", move |_| Reply::Json(status, json!({"errors": []}))).await;
        let patience = Duration::from_secs(5);
        let error = client()
            .created_cluster(&server.token(), uuid(), patience)
            .await;
        assert_eq!(error.unwrap_err().status, Some(status));
        assert_eq!(calls(&server).len(), 1, "{status}");
    }
}

#[tokio::test]
async fn an_upgrade_sends_all_that_the_server_needs() {
    let server = magnum("1.14", |_| Reply::Json(202, json!({"uuid": CLUSTER}))).await;
    let (client, token) = (client(), server.token());
    let upgrade = Upgrade {
        cluster_template: uuid(),
        node_group: uuid(),
        max_batch_size: 0,
    };
    client
        .upgrade_cluster(&token, uuid(), &upgrade)
        .await
        .unwrap();
    let received = server.received();
    assert_eq!(
        received[1].body,
        json!({"cluster_template": CLUSTER, "nodegroup": CLUSTER, "max_batch_size": 1})
    );
    assert!(received[1].path().ends_with("/actions/upgrade"));
}

#[tokio::test]
async fn changes_are_sent_as_magnum_expects_them() {
    let server = accepting().await;
    let (client, token) = (client(), server.token());
    let resize = Resize {
        node_count: 4,
        nodes_to_remove: vec!["s".to_owned()],
        node_group: Some(uuid()),
    };
    client
        .resize_cluster(&token, uuid(), &resize)
        .await
        .unwrap();
    let change = ClusterChange {
        health_status: Some(HealthStatus::Unknown),
        rollback: true,
        ..ClusterChange::default()
    };
    client
        .change_cluster(&token, uuid(), &change)
        .await
        .unwrap();
    client.delete_cluster(&token, uuid()).await.unwrap();
    let argument = ("accepted", "services,claims");
    client
        .delete_cluster_with(&token, uuid(), argument)
        .await
        .unwrap();
    let path = format!("clusters/{CLUSTER}");
    assert_eq!(
        calls(&server),
        [
            format!("POST {path}/actions/resize"),
            format!("PATCH {path}"),
            format!("DELETE {path}"),
            format!("DELETE {path}"),
        ]
    );
    let received = server.received();
    let last = received.last().unwrap();
    assert!(last.target.ends_with("?accepted=services%2Cclaims"));
    assert_eq!(
        received[1].body,
        json!({"node_count": 4, "nodes_to_remove": ["s"], "nodegroup": CLUSTER})
    );
    assert!(received[2].target.ends_with("?rollback=true"));
    assert_eq!(
        received[2].body,
        json!([{"op": "replace", "path": "/health_status", "value": "UNKNOWN"}])
    );
}

#[tokio::test]
async fn a_change_of_nothing_is_not_sent() {
    let server = accepting().await;
    let (client, token) = (client(), server.token());
    let change = ClusterChange::default();
    let error = client.change_cluster(&token, uuid(), &change).await;
    assert!(matches!(error.unwrap_err().kind, ErrorKind::Invalid(_)));
    assert!(server.calls().is_empty());
}

#[tokio::test]
async fn a_list_that_fails_while_a_cluster_is_recorded_is_read_once_more() {
    let looks = AtomicUsize::new(0);
    let server = magnum("1.14", move |_| {
        if looks.fetch_add(1, Ordering::Relaxed) == 0 {
            return without_node_groups();
        }
        Reply::Json(
            200,
            json!({"clusters": [cluster(CLUSTER, "shop", PROJECT)]}),
        )
    })
    .await;
    let listing = client().clusters(&server.token()).await.unwrap();
    assert_eq!(listing.items.len(), 1);
    assert_eq!(calls(&server).len(), 2);
}

//! Clusters of the signed list through a real TLS listener, with real signatures and certificates.
//! The client of Keystone points at a closed port: what is answered was answered without it.
#![allow(
    clippy::disallowed_methods,
    reason = "tests start servers and clients beside them, wait, and read the real time"
)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot continue has failed"
)]
mod world;

use std::time::{Duration, Instant};
use world::{Authority, World, id};

/// A cluster of the configuration file.
const CONFIGURED: u128 = 1;
const LISTED: u128 = 2;
const OTHER: u128 = 3;
const BOUND: Option<u16> = Some(200);
const REFUSED: Option<u16> = Some(403);

#[tokio::test]
async fn attack_only_a_clusters_own_authority_admits_its_api_servers() {
    let (own, other) = (Authority::new("prod"), Authority::new("prod"));
    let world = World::start(CONFIGURED).await;
    world.publish(1, &[(LISTED, &own), (OTHER, &other)]).await;
    let operator = &world.operator;
    let uri = |cluster: u128| format!("portico:cluster:{}", id(cluster));
    let cases = [
        (
            "the operator's",
            operator.issue(Some(&uri(CONFIGURED))),
            CONFIGURED,
            BOUND,
        ),
        ("its own authority's", own.issue(None), LISTED, BOUND),
        ("the other's own", other.issue(None), OTHER, BOUND),
        ("another tenant's", own.issue(None), OTHER, REFUSED),
        (
            "one that names another",
            own.issue(Some(&uri(OTHER))),
            OTHER,
            REFUSED,
        ),
        // what a tenant writes into a certificate must not lead to a cluster of the operator's
        ("a tenant's", own.issue(None), CONFIGURED, REFUSED),
        (
            "a tenant's with the name",
            own.issue(Some(&uri(CONFIGURED))),
            CONFIGURED,
            REFUSED,
        ),
        // and the operator's authority does not stand in for the tenant's
        (
            "the operator's with the name",
            operator.issue(Some(&uri(LISTED))),
            LISTED,
            REFUSED,
        ),
        (
            "a stranger's",
            Authority::new("prod").issue(Some(&uri(LISTED))),
            LISTED,
            None,
        ),
        (
            "a tenant's, no such cluster",
            own.issue(Some(&uri(9))),
            9,
            REFUSED,
        ),
    ];
    for (what, identity, cluster, expected) in &cases {
        let found = world.review(identity, *cluster).await;
        assert_eq!(found, *expected, "{what} at {cluster}");
    }
    // an address without a cluster is for those whose certificate may name one
    let named = own.issue(Some(&uri(CONFIGURED)));
    assert_eq!(world.post(&named, "/webhook").await, REFUSED);
    let named = operator.issue(Some(&uri(CONFIGURED)));
    assert_eq!(world.post(&named, "/webhook").await, BOUND);
}

#[tokio::test]
async fn a_cluster_appears_and_disappears_while_the_webhook_runs() {
    let own = Authority::new("prod");
    let identity = own.issue(None);
    let world = World::start(CONFIGURED).await;
    world.publish(1, &[]).await;
    assert_eq!(world.review(&identity, LISTED).await, None);
    // the refused connection above asks for the newest list: no need to wait for the interval
    world.publish(2, &[(LISTED, &own)]).await;
    assert_eq!(world.review(&identity, LISTED).await, BOUND);
    let mut open = world.connect(&identity).await.unwrap();
    assert_eq!(world.review_on(&mut open, LISTED).await, BOUND);
    world.publish(3, &[]).await;
    assert_eq!(world.review_on(&mut open, LISTED).await, Some(404));
    assert_eq!(world.review(&identity, LISTED).await, None);
}

#[tokio::test]
async fn after_its_end_a_list_answers_503_and_the_configuration_file_serves_on() {
    let own = Authority::new("prod");
    let world = World::start(CONFIGURED).await;
    world
        .publish_for(Duration::from_secs(8), 1, &[(LISTED, &own)])
        .await;
    let identity = own.issue(None);
    assert_eq!(world.review(&identity, LISTED).await, BOUND);
    world.stop_publishing();
    let started = Instant::now();
    while world.review(&identity, LISTED).await == BOUND {
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert!(started.elapsed() < Duration::from_secs(20));
    }
    assert_eq!(world.review(&identity, LISTED).await, Some(503));
    let uri = format!("portico:cluster:{}", id(CONFIGURED));
    let configured = world.operator.issue(Some(&uri));
    assert_eq!(world.review(&configured, CONFIGURED).await, BOUND);
}

use super::*;
use crate::{
    kube::{Clusters, credential::KeystoneToken},
    shared_watch::WatchScope,
};
use jiff::SignedDuration;
use portico_assertion::PrivateKey;
use portico_clock::Clock;
use portico_domain::{cluster::ClusterRecord, panel::ResourceRef};
use uuid::Uuid;

fn scope(exclusive: Option<u64>) -> WatchScope {
    WatchScope {
        cluster: Uuid::nil(),
        resource: ResourceRef::core("pods"),
        namespace: Some("shop".to_owned()),
        exclusive,
    }
}

/// Makes an API that is never called.
async fn api() -> Api {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let directory = tempfile::tempdir().unwrap();
    let key = PrivateKey::generate();
    let file = directory.path().join("key.pub");
    key.public().write_new(&file).unwrap();
    let record: ClusterRecord = serde_json::from_value(serde_json::json!({
        "id": Uuid::nil(), "name": "c", "api_url": "https://127.0.0.1:1",
        "owner_project": "p", "sealing_key_file": file,
    }))
    .unwrap();
    let token = KeystoneToken {
        token: "t".into(),
        expires_at: Clock::system().now() + SignedDuration::from_hours(1),
    };
    let clusters = Clusters::new(vec![record], Clock::system());
    let snapshot = clusters.snapshot();
    let cluster = snapshot.get(Uuid::nil()).unwrap();
    clusters.api(cluster, &token).await.unwrap()
}

async fn confirmation(exclusive: Option<u64>) -> Confirmation {
    Confirmation::for_test(scope(exclusive), api().await, Instant::now())
}

fn lender(viewers: &Viewers, before: Option<u64>) -> Option<u64> {
    viewers
        .lender(before, &HashSet::new())
        .map(|lender| lender.id)
}

async fn join(viewers: &Viewers) -> u64 {
    viewers.join(confirmation(None).await, Arc::default())
}

#[tokio::test(start_paused = true)]
async fn a_viewer_reads_and_lends_for_sixty_seconds_after_its_last_confirmation() {
    let viewers = Viewers::new();
    let ada = join(&viewers).await;
    tokio::time::advance(Duration::from_secs(59)).await;
    assert!(viewers.is_confirmed(ada));
    assert_eq!(lender(&viewers, None), Some(ada));
    tokio::time::advance(Duration::from_secs(1)).await;
    assert!(!viewers.is_confirmed(ada));
    assert_eq!(lender(&viewers, Some(ada)), None);
    // it has not left: it waits for its next confirmation
    assert!(!viewers.is_empty());
    viewers.renew(ada, confirmation(None).await);
    assert!(viewers.is_confirmed(ada));
    assert_eq!(lender(&viewers, None), Some(ada));
}

#[tokio::test(start_paused = true)]
async fn a_confirmation_of_another_scope_renews_nothing() {
    let viewers = Viewers::new();
    let ada = join(&viewers).await;
    tokio::time::advance(Duration::from_secs(60)).await;
    viewers.renew(ada, confirmation(Some(1)).await);
    assert!(!viewers.is_confirmed(ada));
}

#[tokio::test(start_paused = true)]
async fn the_lender_stays_while_it_may_and_another_follows() {
    let viewers = Viewers::new();
    let ada = join(&viewers).await;
    tokio::time::advance(Duration::from_secs(10)).await;
    let vera = join(&viewers).await;
    assert_eq!(lender(&viewers, Some(ada)), Some(ada));
    viewers.cut(ada);
    assert_eq!(lender(&viewers, Some(ada)), Some(vera));
    assert!(!viewers.is_confirmed(ada));
    viewers.refuse(vera, KubeError::Unauthenticated);
    assert_eq!(lender(&viewers, Some(vera)), None);
    assert!(viewers.refused(vera).is_some());
}

#[tokio::test(start_paused = true)]
async fn a_viewer_that_leaves_a_shared_watch_lends_for_five_more_seconds() {
    let viewers = Viewers::new();
    let ada = join(&viewers).await;
    viewers.leave(ada);
    assert_eq!(lender(&viewers, Some(ada)), Some(ada));
    tokio::time::advance(Duration::from_secs(5)).await;
    assert_eq!(lender(&viewers, Some(ada)), None);
    assert!(viewers.is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_grace_period_does_not_prolong_a_confirmation() {
    let viewers = Viewers::new();
    let ada = join(&viewers).await;
    tokio::time::advance(Duration::from_secs(58)).await;
    viewers.leave(ada);
    tokio::time::advance(Duration::from_secs(2)).await;
    assert_eq!(lender(&viewers, Some(ada)), None);
}

#[tokio::test(start_paused = true)]
async fn a_viewer_that_leaves_an_exclusive_watch_or_is_cut_lends_no_longer() {
    let viewers = Viewers::new();
    let ada = viewers.join(confirmation(Some(1)).await, Arc::default());
    viewers.leave(ada);
    assert!(viewers.is_empty());
    let vera = join(&viewers).await;
    viewers.cut(vera);
    // what its drop does
    viewers.leave(vera);
    assert!(viewers.is_empty());
}

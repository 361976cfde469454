//! Cluster tokens around anything, and what their reviews say.
use jiff::{SignedDuration, Timestamp};
use portico_assertion::{PublicKey, cluster_token};
use portico_domain::cluster::ClusterRecord;
use portico_test_support::webhook::{ApiServer, Reply, V1, Webhook, cluster};
use secrecy::{ExposeSecret as _, SecretString};
use std::time::{Duration, Instant};
use uuid::Uuid;

/// The cluster that most tests are about.
pub const CLUSTER: Uuid = Uuid::from_u128(1);

/// A cluster token around a Keystone token of an hour.
pub fn seal(key: &PublicKey, cluster: Uuid, token: &SecretString) -> String {
    let now = Timestamp::now();
    seal_until(key, cluster, token, now + SignedDuration::from_hours(1))
}

/// The same around one that ends at `end`.
pub fn seal_until(key: &PublicKey, cluster: Uuid, token: &SecretString, end: Timestamp) -> String {
    let sealed = cluster_token::seal(key, cluster, token, end, Timestamp::now());
    sealed.unwrap().token.expose_secret().to_owned()
}

/// A webhook for the cluster of the project `p1`, with Keystone at this URL.
pub fn webhook_at(keystone_url: &str) -> Webhook {
    webhook_of(cluster(1, "p1", &[]), keystone_url)
}

pub fn webhook_of(record: ClusterRecord, keystone_url: &str) -> Webhook {
    Webhook::new(vec![record], keystone_url, Duration::from_secs(10))
}

/// The review of a cluster token around this text.
pub async fn review_of(webhook: &Webhook, inner: &str) -> Reply {
    let token = seal(webhook.current.public(), CLUSTER, &inner.into());
    webhook.api_server_of(CLUSTER).review(V1, &token).await
}

/// How long it takes until reviews say so; every answer on the way is a clear one.
pub async fn until(api_server: &ApiServer, token: &str, authenticated: bool) -> Duration {
    let started = Instant::now();
    loop {
        let reply = api_server.review(V1, token).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        if reply.is_authenticated() == authenticated {
            return started.elapsed();
        }
        let took = started.elapsed();
        assert!(took < Duration::from_secs(60), "still {}", !authenticated);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

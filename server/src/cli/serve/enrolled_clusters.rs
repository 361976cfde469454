//! Follows the enrolled clusters of the store, for the gateway and the panel: one number every few
//! seconds, and all records when it has changed.
use super::{Context, store};
use crate::config::enrolment::EnrolmentConfig;
use anyhow::Context as _;
use portico_assertion::PublicKey;
use portico_domain::enrolled_cluster::EnrolledCluster;
use portico_store::{AllEnrolledClusters, Store, StoreCause, StoreError};
use std::time::Duration;
use tokio::time::sleep;

const READ_INTERVAL: Duration = Duration::from_secs(3);

const CLUSTERS: &str = "portico_enrolled_clusters";
const SEQUENCE: &str = "portico_enrolled_clusters_sequence";
const REFUSED: &str = "portico_enrolled_clusters_refused";

/// Calls `replace` with the enrolled clusters and the key to which their tokens are sealed: once
/// before it returns, if the store answers, and after each change. Does nothing without
/// `[enrolment]`.
pub(super) async fn follow(
    context: &Context<'_>,
    replace: impl Fn(Vec<EnrolledCluster>, &PublicKey) + Send + 'static,
) -> anyhow::Result<()> {
    let Some(section) = &context.config.enrolment else {
        return Ok(());
    };
    let key = PublicKey::read(&section.sealing_key_file).context("enrolment.sealing_key_file")?;
    describe_metrics();
    let mut follower = Follower {
        store: store::open(context).await?,
        section: section.clone(),
        sequence: None,
        failing: None,
    };
    if let Some(clusters) = follower.changed().await {
        replace(clusters, &key);
    }
    context.lifecycle.spawn_background(async move {
        loop {
            sleep(READ_INTERVAL).await;
            if let Some(clusters) = follower.changed().await {
                replace(clusters, &key);
            }
        }
    });
    Ok(())
}

fn describe_metrics() {
    metrics::describe_gauge!(CLUSTERS, "Enrolled clusters in use.");
    metrics::describe_gauge!(
        SEQUENCE,
        "The sequence of the enrolled clusters in use, as in the store."
    );
    metrics::describe_gauge!(
        REFUSED,
        "Enrolled clusters that are not served, because their address is not in enrolment.api_networks."
    );
}

struct Follower {
    store: Store,
    section: EnrolmentConfig,
    /// The sequence of the records in use.
    sequence: Option<u64>,
    /// Why the last read failed, so that each cause is logged once.
    failing: Option<StoreCause>,
}

impl Follower {
    /// Returns the clusters to serve, if the records have changed since the last read. A failed read
    /// changes nothing.
    async fn changed(&mut self) -> Option<Vec<EnrolledCluster>> {
        match self.read().await {
            Ok(all) => {
                if self.failing.take().is_some() {
                    tracing::info!("the enrolled clusters can be read again");
                }
                all.map(|all| self.accept(all))
            }
            Err(error) => {
                let cause = error.cause();
                if self.failing.replace(cause) != Some(cause) {
                    let next_step = error.next_step();
                    tracing::error!(%error, next_step, "the enrolled clusters cannot be read, the last ones stay in use");
                }
                None
            }
        }
    }

    async fn read(&self) -> Result<Option<AllEnrolledClusters>, StoreError> {
        let clusters = self.store.enrolled_clusters();
        if let Some(known) = self.sequence
            && clusters.sequence().await? == known
        {
            return Ok(None);
        }
        clusters.all().await.map(Some)
    }

    /// Returns the clusters whose addresses the operator permits now: a network may have been
    /// removed since the enrolment.
    fn accept(&mut self, all: AllEnrolledClusters) -> Vec<EnrolledCluster> {
        let found = all.clusters.len();
        let is_permitted = |cluster: &EnrolledCluster| match self.section.permit(&cluster.api_url) {
            Ok(_) => true,
            Err(reason) => {
                tracing::error!(cluster_id = %cluster.id, cluster_name = cluster.name, %reason, "an enrolled cluster is not served");
                false
            }
        };
        let clusters: Vec<_> = all.clusters.into_iter().filter(is_permitted).collect();
        self.sequence = Some(all.sequence);
        let refused = found - clusters.len();
        metrics::gauge!(CLUSTERS).set(clusters.len() as f64);
        metrics::gauge!(REFUSED).set(refused as f64);
        metrics::gauge!(SEQUENCE).set(all.sequence as f64);
        tracing::info!(total = clusters.len(), "enrolled clusters read");
        clusters
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_clock::Clock;
    use portico_domain::enrolled_cluster::ClusterSource;
    use portico_store::KeyRing;
    use uuid::Uuid;

    fn cluster(id: u128, host: &str) -> EnrolledCluster {
        let pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        EnrolledCluster {
            id: Uuid::from_u128(id),
            name: format!("cluster-{id}"),
            owner_project: "acme".to_owned(),
            accepted_projects: Vec::new(),
            accepted_roles: Vec::new(),
            api_url: format!("https://{host}:6443"),
            ca: pem.to_owned(),
            client_ca: pem.to_owned(),
            api_audiences: vec!["https://kubernetes.default.svc".to_owned()],
            source: ClusterSource::Magnum,
        }
    }

    async fn follower(directory: &tempfile::TempDir) -> Follower {
        let path = directory.path().join("portico.db");
        let url = format!("sqlite://{}", path.display());
        let keys = KeyRing::random().unwrap();
        Follower {
            store: Store::connect(&url, 2, keys).await.unwrap(),
            section: EnrolmentConfig {
                sealing_key_file: "kube-auth.pub".into(),
                api_networks: vec!["192.0.2.0/24".parse().unwrap()],
                sources: Vec::new(),
                roles: None,
                region: None,
                interface: "public".to_owned(),
                webhook: None,
            },
            sequence: None,
            failing: None,
        }
    }

    fn ids(clusters: &[EnrolledCluster]) -> Vec<u128> {
        clusters.iter().map(|one| one.id.as_u128()).collect()
    }

    #[tokio::test]
    async fn all_records_are_read_again_after_a_change_only() {
        let directory = tempfile::tempdir().unwrap();
        let mut follower = follower(&directory).await;
        assert!(follower.changed().await.is_none(), "there is no table yet");
        follower
            .store
            .migrate(jiff::Timestamp::UNIX_EPOCH)
            .await
            .unwrap();
        assert_eq!(follower.changed().await, Some(Vec::new()));
        assert_eq!(follower.changed().await, None);
        let (store, now) = (follower.store.clone(), Clock::system().now());
        let one = cluster(1, "192.0.2.7");
        store.enrolled_clusters().put(&one, now).await.unwrap();
        assert_eq!(ids(&follower.changed().await.unwrap()), [1]);
        assert_eq!(follower.changed().await, None);
        let id = Uuid::from_u128(1);
        store.enrolled_clusters().remove(id).await.unwrap();
        assert_eq!(follower.changed().await, Some(Vec::new()));
    }

    #[tokio::test]
    async fn a_cluster_outside_of_the_networks_is_left_out_alone() {
        let directory = tempfile::tempdir().unwrap();
        let mut follower = follower(&directory).await;
        follower
            .store
            .migrate(jiff::Timestamp::UNIX_EPOCH)
            .await
            .unwrap();
        let (store, now) = (follower.store.clone(), Clock::system().now());
        for one in [cluster(1, "198.51.100.7"), cluster(2, "192.0.2.7")] {
            store.enrolled_clusters().put(&one, now).await.unwrap();
        }
        assert_eq!(ids(&follower.changed().await.unwrap()), [2]);
    }

    #[tokio::test]
    async fn a_store_that_fails_changes_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let mut follower = follower(&directory).await;
        follower
            .store
            .migrate(jiff::Timestamp::UNIX_EPOCH)
            .await
            .unwrap();
        assert!(follower.changed().await.is_some());
        follower.store.close().await;
        assert_eq!(follower.changed().await, None);
        assert!(follower.failing.is_some());
    }
}

//! All clusters at one moment: those of the configuration, and those that users enrolled.
use std::{collections::HashMap, sync::Arc};

use portico_assertion::PublicKey;
use portico_domain::enrolled_cluster::EnrolledCluster;
use tokio::sync::watch;
use uuid::Uuid;

use super::Cluster;

/// The current clusters, for all parts of the gateway.
#[derive(Debug)]
pub(crate) struct Clusters(watch::Sender<Arc<ClusterSnapshot>>);

/// The clusters at one moment. It never changes: a request uses one to its end.
#[derive(Debug, Default)]
pub(crate) struct ClusterSnapshot {
    /// Those of the configuration in its order, then the enrolled ones by name.
    all: Vec<Arc<Cluster>>,
    by_id: HashMap<Uuid, Arc<Cluster>>,
    /// The number of those of the configuration.
    configured: usize,
}

impl Clusters {
    /// Starts with the clusters of the configuration.
    pub fn new(configured: Vec<Cluster>) -> Self {
        let mut snapshot = ClusterSnapshot {
            configured: configured.len(),
            ..ClusterSnapshot::default()
        };
        for cluster in configured {
            snapshot.push(Arc::new(cluster));
        }
        Self(watch::Sender::new(Arc::new(snapshot)))
    }

    /// Replaces the enrolled clusters, whose tokens are sealed to this key. One that the
    /// configuration has too is taken from there.
    pub fn replace_enrolled(&self, mut enrolled: Vec<EnrolledCluster>, sealing_key: &PublicKey) {
        let current = self.snapshot();
        let mut next = ClusterSnapshot {
            configured: current.configured,
            ..ClusterSnapshot::default()
        };
        for cluster in &current.all[..current.configured] {
            next.push(Arc::clone(cluster));
        }
        enrolled.sort_by(|one, other| (&one.name, one.id).cmp(&(&other.name, other.id)));
        for cluster in enrolled {
            if next.get(cluster.id).is_none() {
                next.push(Arc::new(Cluster {
                    record: cluster.record(),
                    sealing_key: sealing_key.clone(),
                    ca: Some(cluster.ca),
                }));
            }
        }
        self.0.send_replace(Arc::new(next));
    }

    /// Returns the clusters as they are now.
    pub fn snapshot(&self) -> Arc<ClusterSnapshot> {
        Arc::clone(&self.0.borrow())
    }

    /// Returns a cluster as it is now.
    pub fn find(&self, id: Uuid) -> Option<Arc<Cluster>> {
        self.0.borrow().get(id).cloned()
    }
}

impl ClusterSnapshot {
    fn push(&mut self, cluster: Arc<Cluster>) {
        self.by_id.insert(cluster.record.id, Arc::clone(&cluster));
        self.all.push(cluster);
    }

    /// Returns all clusters, in order.
    pub fn all(&self) -> &[Arc<Cluster>] {
        &self.all
    }

    fn get(&self, id: Uuid) -> Option<&Arc<Cluster>> {
        self.by_id.get(&id)
    }
}

#[cfg(test)]
mod tests {
    use portico_assertion::PrivateKey;
    use portico_domain::enrolled_cluster::ClusterSource;
    use serde_json::json;

    use super::*;

    fn enrolled(id: u128, name: &str) -> EnrolledCluster {
        let pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        EnrolledCluster {
            id: Uuid::from_u128(id),
            name: name.to_owned(),
            owner_project: "p1".to_owned(),
            accepted_projects: Vec::new(),
            accepted_roles: Vec::new(),
            api_url: "https://192.0.2.7:6443".to_owned(),
            ca: pem.to_owned(),
            client_ca: pem.to_owned(),
            api_audiences: vec!["https://kubernetes.default.svc".to_owned()],
            source: ClusterSource::Magnum,
        }
    }

    #[test]
    fn enrolled_clusters_follow_those_of_the_configuration_which_have_precedence() {
        let key = PrivateKey::generate();
        let record = json!({
            "id": Uuid::from_u128(1), "name": "zeta", "owner_project": "p1",
            "api_url": "https://127.0.0.1:6443", "sealing_key_file": "unused",
        });
        let clusters = Clusters::new(vec![Cluster {
            record: serde_json::from_value(record).expect("record"),
            sealing_key: key.public().clone(),
            ca: None,
        }]);
        let before = clusters.snapshot();
        let all = vec![
            enrolled(3, "beta"),
            enrolled(1, "other"),
            enrolled(2, "alpha"),
        ];
        clusters.replace_enrolled(all, key.public());
        let names = |snapshot: &ClusterSnapshot| {
            let all = snapshot.all().iter();
            all.map(|one| one.record.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(names(&clusters.snapshot()), ["zeta", "alpha", "beta"]);
        assert_eq!(names(&before), ["zeta"]);
        let alpha = clusters.find(Uuid::from_u128(2)).expect("found");
        assert_eq!(alpha.record.api_url, "https://192.0.2.7:6443");
        assert!(alpha.ca.is_some());
        clusters.replace_enrolled(Vec::new(), key.public());
        assert_eq!(names(&clusters.snapshot()), ["zeta"]);
        assert!(clusters.find(Uuid::from_u128(2)).is_none());
    }
}

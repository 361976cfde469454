//! All clusters at one moment.
use super::Cluster;
use portico_assertion::PublicKey;
use portico_domain::{
    cluster::ClusterRecord, enrolled_cluster::EnrolledCluster, identity::Project,
};
use std::{collections::HashMap, sync::Arc};
use uuid::Uuid;

/// The clusters of the configuration and the enrolled ones, at one moment. It never changes: a
/// request uses one to its end.
#[derive(Debug, Default)]
pub struct ClusterSnapshot {
    /// Those of the configuration in its order, then the enrolled ones by name.
    order: Vec<Arc<Cluster>>,
    by_id: HashMap<Uuid, Arc<Cluster>>,
}

impl ClusterSnapshot {
    pub(super) fn new(clusters: impl IntoIterator<Item = Cluster>) -> Self {
        let mut snapshot = Self::default();
        for cluster in clusters {
            snapshot.push(Arc::new(cluster));
        }
        snapshot
    }

    fn push(&mut self, cluster: Arc<Cluster>) {
        self.by_id.insert(cluster.record().id, Arc::clone(&cluster));
        self.order.push(cluster);
    }

    /// Returns the next snapshot: the same clusters of the configuration, and these enrolled ones.
    /// An enrolled cluster that has not changed keeps its connection pool. One that the
    /// configuration has too is taken from there.
    pub(super) fn with_enrolled(
        &self,
        mut enrolled: Vec<EnrolledCluster>,
        sealing_key: &PublicKey,
    ) -> Self {
        let mut next = Self::default();
        for cluster in self.order.iter().filter(|one| !one.is_enrolled()) {
            next.push(Arc::clone(cluster));
        }
        enrolled.sort_by(|one, other| (&one.name, one.id).cmp(&(&other.name, other.id)));
        for cluster in enrolled {
            if next.by_id.contains_key(&cluster.id) {
                tracing::warn!(cluster_id = %cluster.id, cluster_name = cluster.name, "an enrolled cluster is also in the configuration, which has precedence");
                continue;
            }
            let known = self.by_id.get(&cluster.id);
            let same = known.filter(|known| known.is_made_from(&cluster, sealing_key));
            next.push(match same {
                Some(same) => Arc::clone(same),
                None => Arc::new(Cluster::enrolled(cluster, sealing_key.clone())),
            });
        }
        next
    }

    /// Returns the clusters that accept or belong to a project, in order.
    pub fn of_project<'a>(
        &'a self,
        project: &'a Project,
    ) -> impl Iterator<Item = &'a Arc<Cluster>> {
        let all = self.order.iter();
        all.filter(move |cluster| is_visible(cluster.record(), project))
    }

    /// Returns the records of the configuration, in its order, without a check of the project's
    /// access.
    pub fn configured(&self) -> impl Iterator<Item = &ClusterRecord> {
        let all = self.order.iter().filter(|one| !one.is_enrolled());
        all.map(|cluster| cluster.record())
    }

    /// Returns the records of the clusters that users enrolled from Magnum, in order, without a check of
    /// a project's access.
    pub fn of_magnum(&self) -> impl Iterator<Item = &ClusterRecord> {
        let all = self.order.iter().filter(|one| one.is_of_magnum());
        all.map(|cluster| cluster.record())
    }

    /// Returns a cluster, if the project may see it.
    pub fn find(&self, project: &Project, id: Uuid) -> Option<&Arc<Cluster>> {
        let known = self.by_id.get(&id);
        known.filter(|cluster| is_visible(cluster.record(), project))
    }

    /// Returns a cluster without a check of a project's access.
    pub fn get(&self, id: Uuid) -> Option<&Arc<Cluster>> {
        self.by_id.get(&id)
    }
}

fn is_visible(record: &ClusterRecord, project: &Project) -> bool {
    record.accepts_project(project) || record.owner_project == project.id
}

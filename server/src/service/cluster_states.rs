//! The states of a project's clusters, for the choice of a cluster on every page.
use super::{Services, overview};
use crate::{
    caller::Caller,
    kube::{Cluster, ClusterSnapshot},
};
use futures::StreamExt;
use portico_domain::panel::{ClusterCard, ClusterState, Health};
use std::time::Duration;
use uuid::Uuid;

/// Maximum time for one cluster. The choice shows a slower one as unreachable.
const STATE_TIMEOUT: Duration = Duration::from_secs(6);
/// Maximum number of clusters that are read at once for one request.
const MAX_CONCURRENT_CLUSTERS: usize = 16;

/// Returns the state of each wanted cluster of the caller's project, of all if none is named. A
/// cluster that the project does not have is left out.
pub async fn states(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    wanted: &[Uuid],
) -> Vec<ClusterState> {
    let Some(project) = caller.project() else {
        return Vec::new();
    };
    let looks: Vec<_> = clusters
        .of_project(project)
        .filter(|cluster| wanted.is_empty() || wanted.contains(&cluster.record().id))
        .map(|cluster| state(services, clusters, caller, cluster))
        .collect();
    futures::stream::iter(looks)
        .buffered(MAX_CONCURRENT_CLUSTERS)
        .collect()
        .await
}

async fn state(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: &Cluster,
) -> ClusterState {
    let record = cluster.record();
    let look = look_at(services, clusters, caller, cluster);
    let card = tokio::time::timeout(STATE_TIMEOUT, look)
        .await
        .unwrap_or_else(|_| {
            let seconds = STATE_TIMEOUT.as_secs();
            let why = format!("The API server did not respond within {seconds} seconds.");
            overview::closed_card(record, Health::Failed, why)
        });
    ClusterState {
        id: record.id,
        health: card.health,
        status: card.status,
    }
}

async fn look_at(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: &Cluster,
) -> ClusterCard {
    let record = cluster.record();
    let api = match services.api_among(clusters, caller, record.id).await {
        Ok((api, _)) => api,
        Err(error) => return overview::closed_card(record, Health::Unknown, error.message),
    };
    match overview::ready(&api).await {
        Ok(()) => overview::nodes_card(&api, record).await,
        Err(error) => overview::closed_card(record, Health::Failed, error.sentence()),
    }
}

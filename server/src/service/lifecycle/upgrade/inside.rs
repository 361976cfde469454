//! What runs in a cluster, as far as an upgrade depends on it. Read through Kubernetes, with the caller's own
//! rights; what they may not read is not checked.
use crate::{
    caller::Caller,
    kube::ClusterSnapshot,
    service::{Services, lifecycle::inside::UserApi},
};
use portico_cluster_operations::inside::{self, Inside};
use std::time::Duration;
use uuid::Uuid;

/// How long to wait for the API server: the other checks do not need it.
const PATIENCE: Duration = Duration::from_secs(8);

/// Returns what runs in a cluster that the caller may open; else why nothing was checked.
pub async fn read(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
) -> Inside {
    let reading = async {
        match UserApi::open(services, clusters, caller, cluster).await {
            Ok(api) => inside::read(&api).await,
            Err(reason) => Inside::not_checked(&reason),
        }
    };
    let read = tokio::time::timeout(PATIENCE, reading).await;
    read.unwrap_or_else(|_| Inside::not_checked("The API server did not respond in time."))
}

//! What the project uses of its quotas, and Magnum's own count of its clusters.
use super::{creation::quota_uses, error, viewer::Viewer};
use crate::{
    caller::Caller,
    service::{Services, error::ServiceError},
};
use jiff::Timestamp;
use portico_cluster_operations::{Clients, usages::usages};
use portico_domain::panel::lifecycle::{ClusterStats, ProjectUsage};
use portico_lifecycle::quota::Resource;

/// The quotas of the card, in their order.
const RESOURCES: [Resource; 4] = [
    Resource::Clusters,
    Resource::Instances,
    Resource::Cores,
    Resource::RamMib,
];

/// Returns what the caller's project uses. A service besides Magnum that does not answer leaves its quotas
/// unknown.
///
/// # Errors
/// Those of [`super::list()`].
pub async fn project_usage(
    services: &Services,
    caller: &Caller,
) -> Result<ProjectUsage, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    read(&access.clients, &viewer, services.clock.now()).await
}

async fn read(
    clients: &Clients,
    viewer: &Viewer,
    now: Timestamp,
) -> Result<ProjectUsage, ServiceError> {
    let (magnum, token) = (&clients.magnum, &viewer.token);
    let (clusters, stats) = tokio::join!(
        magnum.clusters(token),
        magnum.stats(token, Some(viewer.project_id())),
    );
    let clusters = clusters.map_err(|error| error::of_service(&error))?;
    let count = clusters.cut.is_none().then_some(clusters.items.len());
    let usages = usages(clients, token, count).await;
    let mut gaps = Vec::new();
    if let Some(cut) = clusters.cut {
        gaps.push(format!("The list of clusters is incomplete: {cut}."));
    }
    let stats = match stats {
        Ok(stats) => Some(ClusterStats {
            clusters: stats.clusters,
            nodes: stats.nodes,
        }),
        Err(error) => {
            gaps.push(format!(
                "Magnum's own count is not known. {}",
                error::message(&error)
            ));
            None
        }
    };
    Ok(ProjectUsage {
        quotas: quota_uses(&usages, &RESOURCES),
        stats,
        gaps,
        read_at: now.as_second(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::{
        changing_magnum::{Answer, ChangingMagnum, cluster, error},
        fixtures::NOW,
    };
    use super::*;
    use portico_domain::panel::lifecycle::QuotaUsage;
    use serde_json::json;

    async fn magnum(stats: Answer) -> ChangingMagnum {
        let clusters = vec![cluster("shop", "CREATE_COMPLETE")];
        ChangingMagnum::start(clusters, move |request, _| {
            (request.path == "stats").then(|| stats.clone())
        })
        .await
    }

    #[tokio::test]
    async fn the_project_is_counted_against_its_quotas_and_by_magnum() {
        let magnum = magnum((200, json!({"clusters": 1, "nodes": 2}))).await;
        let bob = magnum.viewer("bob", &["reader"]);
        let usage = read(&magnum.clients, &bob, NOW).await.unwrap();
        let resources: Vec<_> = usage
            .quotas
            .iter()
            .map(|one| one.resource.as_str())
            .collect();
        let expected = ["clusters", "instances", "cores", "MiB of RAM"];
        assert_eq!(resources, expected);
        let of_clusters = QuotaUsage {
            used: 1,
            limit: Some(3),
        };
        assert_eq!(usage.quotas[0].usage, Some(of_clusters));
        // the cloud has no Nova: not known, and not 0
        assert_eq!(usage.quotas[2].usage, None);
        let stats = usage.stats.unwrap();
        assert_eq!((stats.clusters, stats.nodes), (1, 2));
        assert!(usage.gaps.is_empty(), "{:?}", usage.gaps);
    }

    #[tokio::test]
    async fn a_count_that_magnum_refuses_is_a_gap() {
        let magnum = magnum((403, error("Policy doesn't allow stats:get_all."))).await;
        let bob = magnum.viewer("bob", &["reader"]);
        let usage = read(&magnum.clients, &bob, NOW).await.unwrap();
        assert_eq!(usage.stats, None);
        assert_eq!(usage.gaps.len(), 1);
        assert!(usage.gaps[0].ends_with('.'), "{}", usage.gaps[0]);
        assert!(usage.quotas[0].usage.is_some());
    }
}

//! Health, delete protection and quotas of clusters.
use crate::service::{lifecycle, panel::PanelService};
use app::{error::UiError, ports::ClusterCare};
use async_trait::async_trait;
use portico_domain::panel::lifecycle::ClusterHealth;
use uuid::Uuid;

#[async_trait]
impl ClusterCare for PanelService {
    async fn cluster_health(&self, cluster: Uuid) -> Result<ClusterHealth, UiError> {
        let (services, clusters, caller) = (&self.services, &self.clusters, &self.caller);
        self.ui(lifecycle::health(services, clusters, caller, cluster).await)
    }
}

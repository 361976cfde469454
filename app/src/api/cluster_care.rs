//! Health, delete protection and quotas of clusters that Magnum makes.
use super::{Json, PanelClient};
use crate::error::UiError;
use leptos::prelude::*;
use portico_domain::panel::lifecycle::ClusterHealth;
use uuid::Uuid;

/// Returns Magnum's report of a cluster's health, and what a request to its API server showed.
#[server(prefix = "/api", endpoint = "managed_clusters/health", input = Json, output = Json, client = PanelClient)]
pub async fn get_cluster_health(cluster: Uuid) -> Result<ClusterHealth, UiError> {
    super::answer(super::panel()?.cluster_health(cluster).await)
}

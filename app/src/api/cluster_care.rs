//! Health, delete protection and quotas of clusters that Magnum makes.
use super::{Json, PanelClient};
use crate::error::UiError;
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{ClusterHealth, DeleteProtection, ProjectUsage};
use uuid::Uuid;

/// Returns Magnum's report of a cluster's health, and what a request to its API server showed.
#[server(prefix = "/api", endpoint = "managed_clusters/health", input = Json, output = Json, client = PanelClient)]
pub async fn get_cluster_health(cluster: Uuid) -> Result<ClusterHealth, UiError> {
    super::answer(super::panel()?.cluster_health(cluster).await)
}

/// Returns whether Portico refuses to delete a cluster.
#[server(prefix = "/api", endpoint = "managed_clusters/protection", input = Json, output = Json, client = PanelClient)]
pub async fn get_delete_protection(cluster: Uuid) -> Result<DeleteProtection, UiError> {
    super::answer(super::panel()?.delete_protection(cluster).await)
}

/// Protects a cluster from deletion, or removes the protection; `typed` is then the cluster's name.
#[server(prefix = "/api", endpoint = "managed_clusters/set_protection", input = Json, output = Json, client = PanelClient)]
pub async fn set_delete_protection(
    cluster: Uuid,
    is_on: bool,
    typed: String,
    reason: Option<String>,
) -> Result<DeleteProtection, UiError> {
    let reason = reason.unwrap_or_default();
    super::answer(
        super::panel()?
            .set_delete_protection(cluster, is_on, typed, reason)
            .await,
    )
}

/// Returns what the project uses of its quotas, and Magnum's own count of its clusters.
#[server(prefix = "/api", endpoint = "managed_clusters/usage", output = Json, client = PanelClient)]
pub async fn get_project_usage() -> Result<ProjectUsage, UiError> {
    super::answer(super::panel()?.project_usage().await)
}

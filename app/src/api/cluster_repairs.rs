//! The ways out of failed, orphaned and interrupted states of clusters that Magnum makes.
use super::{Json, PanelClient};
use crate::error::UiError;
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{ChangeOutcome, Ownership, Settlement};
use uuid::Uuid;

/// Returns what would settle a cluster whose last change has failed.
#[server(prefix = "/api", endpoint = "managed_clusters/settlement", input = Json, output = Json, client = PanelClient)]
pub async fn get_settlement(cluster: Uuid) -> Result<Settlement, UiError> {
    super::answer(super::panel()?.settlement(cluster).await)
}

/// Requests the present size of a node group, if the last change of the cluster has failed.
#[server(prefix = "/api", endpoint = "managed_clusters/settle", input = Json, output = Json, client = PanelClient)]
pub async fn settle_cluster(cluster: Uuid, reason: String) -> Result<ChangeOutcome, UiError> {
    super::answer(super::panel()?.settle_cluster(cluster, reason).await)
}

/// Returns who owns a cluster, what depends on that, and whether the viewer may rotate the credential.
#[server(prefix = "/api", endpoint = "managed_clusters/ownership", input = Json, output = Json, client = PanelClient)]
pub async fn get_ownership(cluster: Uuid) -> Result<Ownership, UiError> {
    super::answer(super::panel()?.ownership(cluster).await)
}

/// Gives a cluster a new credential for the cloud, of the viewer; `typed` is the cluster's name.
#[server(prefix = "/api", endpoint = "managed_clusters/rotate_credential", input = Json, output = Json, client = PanelClient)]
pub async fn rotate_credential(
    cluster: Uuid,
    typed: String,
    reason: String,
) -> Result<ChangeOutcome, UiError> {
    super::answer(
        super::panel()?
            .rotate_credential(cluster, typed, reason)
            .await,
    )
}

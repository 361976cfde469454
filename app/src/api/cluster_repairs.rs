//! The ways out of failed, orphaned and interrupted states of clusters that Magnum makes.
use super::{Json, PanelClient};
use crate::error::UiError;
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{
    ChangeOutcome, ChangeQueue, NodeGroupChange, Ownership, SettledSize, Settlement,
};
use uuid::Uuid;

/// Returns what would settle a cluster whose last change has failed.
#[server(prefix = "/api", endpoint = "managed_clusters/settlement", input = Json, output = Json, client = PanelClient)]
pub async fn get_settlement(cluster: Uuid) -> Result<Settlement, UiError> {
    super::answer(super::panel()?.settlement(cluster).await)
}

/// Requests the present size of a node group, if the last change of the cluster has failed; `reviewed` is what
/// the viewer has seen of it.
#[server(prefix = "/api", endpoint = "managed_clusters/settle", input = Json, output = Json, client = PanelClient)]
pub async fn settle_cluster(
    cluster: Uuid,
    reviewed: SettledSize,
    reason: String,
) -> Result<ChangeOutcome, UiError> {
    super::answer(
        super::panel()?
            .settle_cluster(cluster, reviewed, reason)
            .await,
    )
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

/// Returns the change that Magnum carries out, and the change of a node group that waits.
#[server(prefix = "/api", endpoint = "managed_clusters/change_queue", input = Json, output = Json, client = PanelClient)]
pub async fn get_change_queue(cluster: Uuid) -> Result<ChangeQueue, UiError> {
    super::answer(super::panel()?.change_queue(cluster).await)
}

/// Queues a change of a node group behind the change that is running.
#[server(prefix = "/api", endpoint = "managed_clusters/queue_change", input = Json, output = Json, client = PanelClient)]
pub async fn queue_change(
    cluster: Uuid,
    change: NodeGroupChange,
    reason: String,
) -> Result<ChangeOutcome, UiError> {
    super::answer(super::panel()?.queue_change(cluster, change, reason).await)
}

/// Sends the next request of the change that waits, if it is the one with this ID.
#[server(prefix = "/api", endpoint = "managed_clusters/continue_change", input = Json, output = Json, client = PanelClient)]
pub async fn continue_change(cluster: Uuid, id: String) -> Result<ChangeOutcome, UiError> {
    super::answer(super::panel()?.continue_change(cluster, id).await)
}

/// Does not continue the change that waits, if it is the one with this ID; nothing is sent.
#[server(prefix = "/api", endpoint = "managed_clusters/discard_change", input = Json, output = Json, client = PanelClient)]
pub async fn discard_change(cluster: Uuid, id: String) -> Result<(), UiError> {
    super::answer(super::panel()?.discard_change(cluster, id).await)
}

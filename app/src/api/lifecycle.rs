//! Clusters that Magnum makes: list, creation, progress, deletion, enrolment, upgrade, certificates.
use super::{Json, PanelClient};
use crate::error::UiError;
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{
    ApiServerConfiguration, CertificateView, ChangeOutcome, ClusterCertificates, ClusterFile,
    ClusterJournal, CreationForm, CreationOptions, CreationOutcome, CreationReview,
    DeletionInventory, DeletionOptions, DeletionOutcome, DeletionRecord, EnrolmentOutcome,
    JournalFilter, Leftovers, ManagedClusters, NodeGroupChange, NodeGroupReview, NodeGroups,
    ProgressUpdate, UpgradeOptions, UpgradeSelection,
};
use uuid::Uuid;

/// Returns the clusters of the project.
#[server(prefix = "/api", endpoint = "managed_clusters/list", output = Json, client = PanelClient)]
pub async fn list_managed_clusters() -> Result<ManagedClusters, UiError> {
    super::answer(super::panel()?.managed_clusters().await)
}

/// Returns what the form for a new cluster offers.
#[server(prefix = "/api", endpoint = "managed_clusters/options", output = Json, client = PanelClient)]
pub async fn get_creation_options() -> Result<CreationOptions, UiError> {
    super::answer(super::panel()?.creation_options().await)
}

/// Reads a file into the form.
#[server(prefix = "/api", endpoint = "managed_clusters/read_file", input = Json, output = Json, client = PanelClient)]
pub async fn read_cluster_file(text: String) -> Result<ClusterFile, UiError> {
    super::answer(super::panel()?.read_cluster_file(text).await)
}

/// Returns what a creation would do.
#[server(prefix = "/api", endpoint = "managed_clusters/review", input = Json, output = Json, client = PanelClient)]
pub async fn review_creation(form: CreationForm) -> Result<CreationReview, UiError> {
    super::answer(super::panel()?.review_creation(form).await)
}

/// Creates a cluster once, however often it is called with the same attempt.
#[server(prefix = "/api", endpoint = "managed_clusters/create", input = Json, output = Json, client = PanelClient)]
pub async fn create_cluster(form: CreationForm, attempt: Uuid) -> Result<CreationOutcome, UiError> {
    super::answer(super::panel()?.create_cluster(form, attempt).await)
}

/// Sends the next step of the plan of a creation.
#[server(prefix = "/api", endpoint = "managed_clusters/continue", input = Json, output = Json, client = PanelClient)]
pub async fn continue_creation(cluster: Uuid) -> Result<(), UiError> {
    super::answer(super::panel()?.continue_creation(cluster).await)
}

/// Removes a creation whose outcome is not known from the list.
#[server(prefix = "/api", endpoint = "managed_clusters/dismiss", input = Json, output = Json, client = PanelClient)]
pub async fn dismiss_creation(attempt: Uuid) -> Result<(), UiError> {
    super::answer(super::panel()?.dismiss_creation(attempt).await)
}

/// Returns a cluster and its running operation, if it differs from the version that the page has.
#[server(prefix = "/api", endpoint = "managed_clusters/progress", input = Json, output = Json, client = PanelClient)]
pub async fn get_cluster_progress(
    cluster: Uuid,
    version: Option<String>,
) -> Result<ProgressUpdate, UiError> {
    super::answer(super::panel()?.cluster_progress(cluster, version).await)
}

/// Returns what a deletion would remove, and what would stay.
#[server(prefix = "/api", endpoint = "managed_clusters/inventory", input = Json, output = Json, client = PanelClient)]
pub async fn get_deletion_inventory(
    cluster: Uuid,
    options: DeletionOptions,
) -> Result<DeletionInventory, UiError> {
    super::answer(super::panel()?.deletion_inventory(cluster, options).await)
}

/// Deletes a cluster; `typed` is its name.
#[server(prefix = "/api", endpoint = "managed_clusters/delete", input = Json, output = Json, client = PanelClient)]
pub async fn delete_cluster(
    cluster: Uuid,
    typed: String,
    options: DeletionOptions,
    reason: Option<String>,
) -> Result<DeletionOutcome, UiError> {
    let reason = reason.unwrap_or_default();
    super::answer(
        super::panel()?
            .delete_cluster(cluster, typed, options, reason)
            .await,
    )
}

/// Returns what still exists of a cluster.
#[server(prefix = "/api", endpoint = "managed_clusters/leftovers", input = Json, output = Json, client = PanelClient)]
pub async fn get_leftovers(
    cluster: Uuid,
    record: Option<DeletionRecord>,
) -> Result<Leftovers, UiError> {
    super::answer(super::panel()?.leftovers(cluster, record).await)
}

/// Enrols a cluster, so that it can be used through Portico.
#[server(prefix = "/api", endpoint = "managed_clusters/enrol", input = Json, output = Json, client = PanelClient)]
pub async fn enrol_cluster(
    cluster: Uuid,
    reason: Option<String>,
) -> Result<EnrolmentOutcome, UiError> {
    let reason = reason.unwrap_or_default();
    super::answer(super::panel()?.enrol_cluster(cluster, reason).await)
}

/// Removes the record of an enrolled cluster that Magnum no longer has.
#[server(prefix = "/api", endpoint = "managed_clusters/remove_record", input = Json, output = Json, client = PanelClient)]
pub async fn remove_cluster_record(cluster: Uuid) -> Result<bool, UiError> {
    super::answer(super::panel()?.remove_cluster_record(cluster).await)
}

/// Returns what the API server of a cluster needs, line by line.
#[server(prefix = "/api", endpoint = "managed_clusters/configuration", input = Json, output = Json, client = PanelClient)]
pub async fn get_api_server_configuration(
    cluster: Uuid,
) -> Result<ApiServerConfiguration, UiError> {
    super::answer(super::panel()?.api_server_configuration(cluster).await)
}

/// Returns the entries of a cluster's journal before a sequence number that match a filter, the newest first.
#[server(prefix = "/api", endpoint = "managed_clusters/journal", input = Json, output = Json, client = PanelClient)]
pub async fn get_cluster_journal(
    cluster: Uuid,
    before: Option<i64>,
    filter: Option<JournalFilter>,
) -> Result<ClusterJournal, UiError> {
    let filter = filter.unwrap_or_default();
    super::answer(
        super::panel()?
            .cluster_journal(cluster, before, filter)
            .await,
    )
}

/// Returns what a cluster can be upgraded to; with a template, what the upgrade to it would do.
#[server(prefix = "/api", endpoint = "managed_clusters/upgrade_options", input = Json, output = Json, client = PanelClient)]
pub async fn get_upgrade_options(
    cluster: Uuid,
    template: Option<Uuid>,
    selection: Option<UpgradeSelection>,
) -> Result<UpgradeOptions, UiError> {
    let selection = selection.unwrap_or_default();
    super::answer(
        super::panel()?
            .upgrade_options(cluster, template, selection)
            .await,
    )
}

/// Upgrades a cluster, or what is selected of it, to a template; `typed` is the cluster's name, or empty for a
/// patch release.
#[server(prefix = "/api", endpoint = "managed_clusters/upgrade", input = Json, output = Json, client = PanelClient)]
pub async fn upgrade_cluster(
    cluster: Uuid,
    template: Uuid,
    selection: Option<UpgradeSelection>,
    typed: String,
    reason: Option<String>,
) -> Result<ChangeOutcome, UiError> {
    let selection = selection.unwrap_or_default();
    let reason = reason.unwrap_or_default();
    super::answer(
        super::panel()?
            .upgrade_cluster(cluster, template, selection, typed, reason)
            .await,
    )
}

/// Returns the certificate of a cluster's authority, and what the viewer may do with it.
#[server(prefix = "/api", endpoint = "managed_clusters/certificates", input = Json, output = Json, client = PanelClient)]
pub async fn get_cluster_certificates(cluster: Uuid) -> Result<ClusterCertificates, UiError> {
    super::answer(super::panel()?.cluster_certificates(cluster).await)
}

/// Has a certificate request in PEM signed by a cluster's authority.
#[server(prefix = "/api", endpoint = "managed_clusters/sign_certificate", input = Json, output = Json, client = PanelClient)]
pub async fn sign_certificate(
    cluster: Uuid,
    request: String,
    reason: Option<String>,
) -> Result<CertificateView, UiError> {
    let reason = reason.unwrap_or_default();
    super::answer(
        super::panel()?
            .sign_certificate(cluster, request, reason)
            .await,
    )
}

/// Replaces the authorities of a cluster; `typed` is its name.
#[server(prefix = "/api", endpoint = "managed_clusters/rotate_ca", input = Json, output = Json, client = PanelClient)]
pub async fn rotate_ca(
    cluster: Uuid,
    typed: String,
    reason: Option<String>,
) -> Result<ChangeOutcome, UiError> {
    let reason = reason.unwrap_or_default();
    super::answer(super::panel()?.rotate_ca(cluster, typed, reason).await)
}

/// Returns the node groups of a cluster, with what the viewer may do with each.
#[server(prefix = "/api", endpoint = "managed_clusters/node_groups", input = Json, output = Json, client = PanelClient)]
pub async fn get_node_groups(cluster: Uuid) -> Result<NodeGroups, UiError> {
    super::answer(super::panel()?.node_groups(cluster).await)
}

/// Returns what a change of a node group would do; changes nothing.
#[server(prefix = "/api", endpoint = "managed_clusters/review_node_group", input = Json, output = Json, client = PanelClient)]
pub async fn review_node_group(
    cluster: Uuid,
    change: NodeGroupChange,
) -> Result<NodeGroupReview, UiError> {
    super::answer(super::panel()?.review_node_group(cluster, change).await)
}

/// Sends the first step of a change of a node group.
#[server(prefix = "/api", endpoint = "managed_clusters/change_node_group", input = Json, output = Json, client = PanelClient)]
pub async fn change_node_group(
    cluster: Uuid,
    change: NodeGroupChange,
    reason: String,
) -> Result<ChangeOutcome, UiError> {
    super::answer(
        super::panel()?
            .change_node_group(cluster, change, reason)
            .await,
    )
}

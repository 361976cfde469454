//! Clusters that Magnum makes.
use crate::error::UiError;
use async_trait::async_trait;
use portico_domain::panel::lifecycle::{
    ApiServerConfiguration, CertificateView, ChangeOutcome, ClusterCertificates, ClusterFile,
    ClusterJournal, CreationForm, CreationOptions, CreationOutcome, CreationReview,
    DeletionInventory, DeletionOptions, DeletionOutcome, DeletionRecord, EnrolmentOutcome,
    JournalFilter, Leftovers, ManagedClusters, NodeGroupChange, NodeGroupReview, NodeGroups,
    ProgressUpdate, UpgradeOptions, UpgradeSelection,
};
use uuid::Uuid;

/// Clusters that Magnum makes. All calls use the viewer's own token in the project of the URL; a cluster
/// of another project is `NotFound`.
#[async_trait]
pub trait Lifecycle {
    /// Returns the clusters of the project.
    async fn managed_clusters(&self) -> Result<ManagedClusters, UiError>;
    /// Returns what the form for a new cluster offers.
    async fn creation_options(&self) -> Result<CreationOptions, UiError>;
    /// Reads a file of Portico (YAML or JSON) or the JSON of Magnum's request into the form.
    async fn read_cluster_file(&self, text: String) -> Result<ClusterFile, UiError>;
    /// Returns what a creation would do; changes nothing. Also for an unfinished form.
    async fn review_creation(&self, form: CreationForm) -> Result<CreationReview, UiError>;
    /// Creates a cluster once, however often it is called with the same attempt. The reason for the journal is an
    /// annotation of the form.
    async fn create_cluster(
        &self,
        form: CreationForm,
        attempt: Uuid,
    ) -> Result<CreationOutcome, UiError>;
    /// Sends the next step of the plan of a creation, such as a further node group.
    ///
    /// # Errors
    /// `Conflict` while no step is ready.
    async fn continue_creation(&self, cluster: Uuid) -> Result<(), UiError>;
    /// Removes a creation whose outcome is not known from the list; changes nothing in Magnum.
    ///
    /// # Errors
    /// `Conflict` while it is being sent.
    async fn dismiss_creation(&self, attempt: Uuid) -> Result<(), UiError>;
    /// Returns a cluster and its running operation if it differs from the version that the page has.
    async fn cluster_progress(
        &self,
        cluster: Uuid,
        version: Option<String>,
    ) -> Result<ProgressUpdate, UiError>;
    /// Returns what a deletion would remove, and what would stay.
    async fn deletion_inventory(
        &self,
        cluster: Uuid,
        options: DeletionOptions,
    ) -> Result<DeletionInventory, UiError>;
    /// Deletes a cluster; `typed` is its name. `reason` is for the journal; it may be empty.
    async fn delete_cluster(
        &self,
        cluster: Uuid,
        typed: String,
        options: DeletionOptions,
        reason: String,
    ) -> Result<DeletionOutcome, UiError>;
    /// Returns what still exists of a cluster. `record` is that of the deletion, if the page has it.
    async fn leftovers(
        &self,
        cluster: Uuid,
        record: Option<DeletionRecord>,
    ) -> Result<Leftovers, UiError>;
    /// Enrols a cluster, so that it can be used through Portico. `reason` is for the journal; it may be empty.
    async fn enrol_cluster(
        &self,
        cluster: Uuid,
        reason: String,
    ) -> Result<EnrolmentOutcome, UiError>;
    /// Removes the record of an enrolled cluster that Magnum no longer has; returns whether there was
    /// one.
    async fn remove_cluster_record(&self, cluster: Uuid) -> Result<bool, UiError>;
    /// Returns the node groups of a cluster, with what the viewer may do with each.
    async fn node_groups(&self, cluster: Uuid) -> Result<NodeGroups, UiError>;
    /// Returns what a change of a node group would do; changes nothing.
    async fn review_node_group(
        &self,
        cluster: Uuid,
        change: NodeGroupChange,
    ) -> Result<NodeGroupReview, UiError>;
    /// Sends the first step of a change of a node group. `reason` is for the journal; it may be empty.
    async fn change_node_group(
        &self,
        cluster: Uuid,
        change: NodeGroupChange,
        reason: String,
    ) -> Result<ChangeOutcome, UiError>;
    /// Returns the entries of a cluster's journal before a sequence number that match a filter, the newest first.
    async fn cluster_journal(
        &self,
        cluster: Uuid,
        before: Option<i64>,
        filter: JournalFilter,
    ) -> Result<ClusterJournal, UiError>;
    /// Returns what the API server of a cluster needs, line by line.
    async fn api_server_configuration(
        &self,
        cluster: Uuid,
    ) -> Result<ApiServerConfiguration, UiError>;
    /// Returns what a cluster can be upgraded to; with a template, what the upgrade to it would do. A single
    /// node group is upgraded to the present template.
    async fn upgrade_options(
        &self,
        cluster: Uuid,
        template: Option<Uuid>,
        selection: UpgradeSelection,
    ) -> Result<UpgradeOptions, UiError>;
    /// Upgrades a cluster, or what is selected of it, to a template; `typed` is the cluster's name, or empty for
    /// a patch release. `reason` is for the journal; it may be empty.
    async fn upgrade_cluster(
        &self,
        cluster: Uuid,
        template: Uuid,
        selection: UpgradeSelection,
        typed: String,
        reason: String,
    ) -> Result<ChangeOutcome, UiError>;
    /// Returns the certificate of a cluster's authority, and what the viewer may do with it.
    async fn cluster_certificates(&self, cluster: Uuid) -> Result<ClusterCertificates, UiError>;
    /// Has a certificate request in PEM signed by a cluster's authority. `reason` is for the journal; it may be
    /// empty.
    ///
    /// # Errors
    /// `Invalid` for another text, `NotPermitted` for other users than the creator of the cluster.
    async fn sign_certificate(
        &self,
        cluster: Uuid,
        request: String,
        reason: String,
    ) -> Result<CertificateView, UiError>;
    /// Replaces the authorities of a cluster; `typed` is its name. `reason` is for the journal; it may be empty.
    async fn rotate_ca(
        &self,
        cluster: Uuid,
        typed: String,
        reason: String,
    ) -> Result<ChangeOutcome, UiError>;
}

//! The interface between the pages and the server. The server crate implements [`Panel`] for one
//! request: the implementation holds the caller, so nothing here names one.
mod care;
mod lifecycle;
mod nodes;
mod repairs;
mod templates;

pub use care::ClusterCare;
pub use lifecycle::Lifecycle;
pub use nodes::NodeOperations;
pub use repairs::ClusterRepairs;
pub use templates::Templates;

use crate::error::UiError;
use async_trait::async_trait;
use portico_domain::panel::{
    AccessView, AlertsView, AppliedDocument, AuthenticationView, BoundName, BulkAction,
    BulkOutcome, BulkTarget, ChangeDone, ClusterOverview, ClusterState, CreationChoices,
    CreationKind, CreationProgress, DataValue, DeletionPlan, DrainOptions, DrainProgress, EditForm,
    EditText, EventRow, FieldEdit, FiguresView, GrantPreview, GrantRequest, LabelCount, Launchpad,
    ListQuery, NewObject, ObjectRef, ObjectView, PlannedDocument, PodList, ProgramsView, Reading,
    RebasedText, RegistryView, RelatedView, ResourceKind, ResourceRef, ResourceTable,
    RevokeRequest, RightAnswer, RightQuestion, RowRange, RowsUsage, SearchAnswer, Selection,
    SelfTest, SessionView, StateChange, TextDiff, UsageRow, UsageView, UserTest, UserTestRequest,
    VisibleNamespaces, WhatCanView, WhoCanView,
};
use std::sync::Arc;
use uuid::Uuid;

/// The panel of one signed-in user, for one request. Found in the Leptos context.
pub type PanelRef = Arc<dyn Panel>;

#[async_trait]
pub trait Panel:
    Objects
    + Manifests
    + Creation
    + Lifecycle
    + ClusterCare
    + ClusterRepairs
    + NodeOperations
    + Templates
    + Send
    + Sync
{
    /// Returns the session; makes no request.
    fn session(&self) -> SessionView;
    async fn launchpad(&self) -> Result<Launchpad, UiError>;
    /// Returns the page of a cluster; with `wait` it has everything that is read within several
    /// seconds, else what is there at once.
    async fn cluster(&self, cluster: Uuid, wait: bool) -> Result<ClusterOverview, UiError>;
    /// Returns the states of clusters of the project, within a few seconds and each by itself;
    /// of all of them if `clusters` is empty.
    async fn cluster_states(&self, clusters: Vec<Uuid>) -> Result<Vec<ClusterState>, UiError>;
    /// Returns every kind that can be listed, by discovery.
    async fn kinds(&self, cluster: Uuid) -> Result<Vec<ResourceKind>, UiError>;
    /// Returns the namespaces that a list of this kind can be narrowed to; `None` for a kind whose
    /// objects are in no namespace.
    async fn namespaces_for(
        &self,
        cluster: Uuid,
        resource: ResourceRef,
    ) -> Result<Option<Vec<String>>, UiError>;
    /// Returns the namespaces that the viewer may see.
    async fn visible_namespaces(&self, cluster: Uuid) -> Result<VisibleNamespaces, UiError>;
    /// Adds a namespace to those that the viewer sees although they may not list namespaces.
    ///
    /// # Errors
    /// `NotPermitted` without any right in it.
    async fn add_namespace(&self, cluster: Uuid, name: String) -> Result<(), UiError>;
    /// Returns one window of a list of any kind.
    async fn list(
        &self,
        cluster: Uuid,
        query: ListQuery,
        range: RowRange,
    ) -> Result<ResourceTable, UiError>;
    /// Returns the labels of a list's rows that complete `typed` (a key, or `key=` and a part of a
    /// value), the most frequent first.
    async fn label_suggestions(
        &self,
        cluster: Uuid,
        query: ListQuery,
        typed: String,
    ) -> Result<Vec<LabelCount>, UiError>;
    /// Returns every row that a query selects, up to [`MAX_SELECTED`].
    async fn select(&self, cluster: Uuid, query: ListQuery) -> Result<Selection, UiError>;
    /// Returns the first pods of a list by namespace and name, up to [`MAX_FOLLOWED_PODS`], and the number
    /// of all.
    async fn pods_of_list(&self, cluster: Uuid, query: ListQuery) -> Result<PodList, UiError>;
    /// Changes up to [`MAX_BULK_TARGETS`] objects of a kind; each has an outcome of its own.
    async fn change_many(
        &self,
        cluster: Uuid,
        resource: ResourceRef,
        action: BulkAction,
        targets: Vec<BulkTarget>,
    ) -> Result<Vec<BulkOutcome>, UiError>;
    /// Searches the names of objects of the common kinds, in all namespaces that the user may list.
    async fn search(&self, cluster: Uuid, text: String) -> Result<SearchAnswer, UiError>;
    /// Runs access reviews with the viewer's own token; returns one result per question, in order.
    async fn rights(
        &self,
        cluster: Uuid,
        questions: Vec<RightQuestion>,
    ) -> Result<Vec<RightAnswer>, UiError>;

    async fn access(&self, cluster: Uuid) -> Result<AccessView, UiError>;
    /// Returns who has a permission and who could grant it. `resource` is written as for kubectl:
    /// `pods/exec`, `deployments.apps`.
    async fn who_can(
        &self,
        cluster: Uuid,
        verb: String,
        resource: String,
        namespace: Option<String>,
    ) -> Result<WhoCanView, UiError>;
    /// Returns what a subject can do, and through which bindings.
    async fn what_can(&self, cluster: Uuid, subject: BoundName) -> Result<WhatCanView, UiError>;
    async fn preview_grant(
        &self,
        cluster: Uuid,
        grant: GrantRequest,
    ) -> Result<GrantPreview, UiError>;
    /// Grants a role; `typed` confirms a dangerous grant (the role's name).
    async fn grant(
        &self,
        cluster: Uuid,
        grant: GrantRequest,
        typed: String,
    ) -> Result<ChangeDone, UiError>;
    async fn revoke(&self, cluster: Uuid, revoke: RevokeRequest) -> Result<ChangeDone, UiError>;
    async fn undo(&self, cluster: Uuid, undo: String) -> Result<ChangeDone, UiError>;

    /// Returns how the cluster authenticates users. Asks the API server only for what no other
    /// source has.
    async fn authentication(&self, cluster: Uuid) -> Result<AuthenticationView, UiError>;
    async fn kube_auth_figures(&self, cluster: Uuid) -> Result<FiguresView, UiError>;
    /// Returns the programs that users may download for their own machines.
    ///
    /// # Errors
    /// `NotPermitted` without a role in the project.
    async fn programs(&self) -> Result<ProgramsView, UiError>;
    /// Sends a real request with a new cluster token; a failure is a result.
    async fn self_test(&self, cluster: Uuid) -> Result<SelfTest, UiError>;
    /// Runs access reviews for another user, with the viewer's own token.
    async fn user_test(&self, cluster: Uuid, request: UserTestRequest)
    -> Result<UserTest, UiError>;

    async fn registry(&self, app: String) -> Result<RegistryView, UiError>;
    async fn alerts(&self, app: String) -> Result<AlertsView, UiError>;
}

/// Single objects and their changes.
#[async_trait]
pub trait Objects {
    async fn object(&self, cluster: Uuid, object: ObjectRef) -> Result<ObjectView, UiError>;
    /// Returns the object as YAML, without managed fields and the values of Secrets.
    async fn yaml(&self, cluster: Uuid, object: ObjectRef) -> Result<String, UiError>;
    async fn events(&self, cluster: Uuid, object: ObjectRef) -> Result<Vec<EventRow>, UiError>;
    /// Deletes exactly the object with this UID.
    async fn delete(
        &self,
        cluster: Uuid,
        object: ObjectRef,
        uid: String,
    ) -> Result<ChangeDone, UiError>;
    /// Returns what the deletion of an object would do, and how it is confirmed.
    async fn plan_deletion(
        &self,
        cluster: Uuid,
        object: ObjectRef,
    ) -> Result<DeletionPlan, UiError>;
    async fn scale(
        &self,
        cluster: Uuid,
        object: ObjectRef,
        replicas: i64,
    ) -> Result<ChangeDone, UiError>;
    async fn restart(&self, cluster: Uuid, object: ObjectRef) -> Result<ChangeDone, UiError>;
    /// Pauses, suspends, cordons and the like, of exactly the object with this UID.
    async fn change_state(
        &self,
        cluster: Uuid,
        object: ObjectRef,
        uid: String,
        change: StateChange,
    ) -> Result<ChangeDone, UiError>;

    /// Returns what a drain would do with the pods of a node. Nothing is changed.
    async fn plan_drain(
        &self,
        cluster: Uuid,
        node: ObjectRef,
        options: DrainOptions,
    ) -> Result<DrainProgress, UiError>;
    /// Cordons exactly the node with this UID and evicts some of its pods. Repeated until the drain is
    /// done.
    async fn drain(
        &self,
        cluster: Uuid,
        node: ObjectRef,
        uid: String,
        options: DrainOptions,
    ) -> Result<DrainProgress, UiError>;

    /// Returns the pods, revisions and related objects of an object.
    async fn related(&self, cluster: Uuid, object: ObjectRef) -> Result<RelatedView, UiError>;
    /// Returns what a rollback to a revision would change in the pod template.
    async fn revision_diff(
        &self,
        cluster: Uuid,
        object: ObjectRef,
        revision: i64,
    ) -> Result<TextDiff, UiError>;
    async fn roll_back(
        &self,
        cluster: Uuid,
        object: ObjectRef,
        uid: String,
        revision: i64,
    ) -> Result<ChangeDone, UiError>;
    /// Returns the CPU and memory that a pod, a workload's pods, a namespace or a node uses.
    async fn usage(&self, cluster: Uuid, object: ObjectRef) -> Result<Reading<UsageView>, UiError>;
    /// Returns the CPU and memory that up to [`MAX_USAGE_ROWS`] rows of a list use.
    ///
    /// [`MAX_USAGE_ROWS`]: portico_domain::panel::MAX_USAGE_ROWS
    async fn rows_usage(
        &self,
        cluster: Uuid,
        resource: ResourceRef,
        rows: Vec<UsageRow>,
    ) -> Result<Reading<RowsUsage>, UiError>;
    /// Returns the values of a ConfigMap or a Secret; those of a Secret are audited.
    async fn values(&self, cluster: Uuid, object: ObjectRef) -> Result<Vec<DataValue>, UiError>;
}

/// Manifests that users write.
#[async_trait]
pub trait Manifests {
    /// Returns what applying the manifests would change; `namespace` is for those that name none.
    async fn plan_manifests(
        &self,
        cluster: Uuid,
        text: String,
        namespace: Option<String>,
    ) -> Result<Vec<PlannedDocument>, UiError>;
    /// Applies manifests; takes over the fields of other managers in the documents `take_over` only.
    async fn apply_manifests(
        &self,
        cluster: Uuid,
        text: String,
        namespace: Option<String>,
        take_over: Vec<usize>,
    ) -> Result<Vec<AppliedDocument>, UiError>;
    /// Returns an object as text to edit. That of a Secret holds its values, and is audited so.
    async fn edit_text(&self, cluster: Uuid, object: ObjectRef) -> Result<EditText, UiError>;
    /// Returns what saving an edit would change.
    async fn plan_edit(
        &self,
        cluster: Uuid,
        object: ObjectRef,
        edited: EditText,
    ) -> Result<PlannedDocument, UiError>;
    /// Saves an edit of exactly the version that it was made from.
    async fn save_edit(
        &self,
        cluster: Uuid,
        object: ObjectRef,
        edited: EditText,
    ) -> Result<ChangeDone, UiError>;
    /// Repeats an edit on the newest version of an object.
    async fn rebase_edit(
        &self,
        cluster: Uuid,
        object: ObjectRef,
        original: String,
        edited: String,
    ) -> Result<RebasedText, UiError>;
    /// Returns the fields of an object that a form offers. That of a Secret is audited as revealed.
    async fn edit_form(&self, cluster: Uuid, object: ObjectRef) -> Result<EditForm, UiError>;
    /// Returns the object as text with changed fields, to be checked and saved as an edit is.
    async fn form_text(
        &self,
        cluster: Uuid,
        object: ObjectRef,
        version: String,
        edits: Vec<FieldEdit>,
    ) -> Result<EditText, UiError>;
}

/// Forms that create objects.
#[async_trait]
pub trait Creation {
    /// Returns what the form for a kind offers, and why the viewer may not create it in `namespace`.
    async fn creation_choices(
        &self,
        cluster: Uuid,
        kind: CreationKind,
        namespace: Option<String>,
    ) -> Result<CreationChoices, UiError>;
    /// Returns the manifest of a form as YAML; makes no request.
    fn form_manifest(&self, new: &NewObject) -> Result<String, UiError>;
    /// Returns how far a created object is.
    async fn creation_progress(
        &self,
        cluster: Uuid,
        object: ObjectRef,
    ) -> Result<CreationProgress, UiError>;
}

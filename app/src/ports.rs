//! The interface between the pages and the server. The server crate implements [`Panel`] for one
//! request: the implementation holds the caller, so nothing here names one.
use crate::error::UiError;
use async_trait::async_trait;
use portico_domain::panel::{
    AccessView, AlertsView, AuthenticationView, ChangeDone, ClusterOverview, EventRow, FiguresView,
    GrantPreview, GrantRequest, Launchpad, ListQuery, ObjectRef, ObjectView, RegistryView,
    ResourceKind, ResourceRef, ResourceTable, RevokeRequest, RightAnswer, RightQuestion, SelfTest,
    SessionView, UserTest, UserTestRequest,
};
use std::sync::Arc;
use uuid::Uuid;

/// The panel of one signed-in user, for one request. Found in the Leptos context.
pub type PanelRef = Arc<dyn Panel>;

#[async_trait]
pub trait Panel: Send + Sync {
    /// Returns the session; makes no request.
    fn session(&self) -> SessionView;
    async fn launchpad(&self) -> Result<Launchpad, UiError>;
    async fn cluster(&self, cluster: Uuid) -> Result<ClusterOverview, UiError>;
    /// Returns every kind that can be listed, by discovery.
    async fn kinds(&self, cluster: Uuid) -> Result<Vec<ResourceKind>, UiError>;
    /// Returns the namespaces that a list of this kind can be narrowed to; `None` for a kind whose
    /// objects are in no namespace.
    async fn namespaces_for(
        &self,
        cluster: Uuid,
        resource: ResourceRef,
    ) -> Result<Option<Vec<String>>, UiError>;
    async fn list(&self, cluster: Uuid, query: ListQuery) -> Result<ResourceTable, UiError>;
    async fn object(&self, cluster: Uuid, object: ObjectRef) -> Result<ObjectView, UiError>;
    /// Returns the object as YAML, without managed fields; Secret values are left out unless
    /// `reveal` (audited) is requested by POST.
    async fn yaml(&self, cluster: Uuid, object: ObjectRef) -> Result<String, UiError>;
    async fn events(&self, cluster: Uuid, object: ObjectRef) -> Result<Vec<EventRow>, UiError>;
    /// Runs access reviews with the viewer's own token; returns one result per question, in order.
    async fn rights(
        &self,
        cluster: Uuid,
        questions: Vec<RightQuestion>,
    ) -> Result<Vec<RightAnswer>, UiError>;

    /// Deletes exactly the object with this UID.
    async fn delete(
        &self,
        cluster: Uuid,
        object: ObjectRef,
        uid: String,
    ) -> Result<ChangeDone, UiError>;
    async fn scale(
        &self,
        cluster: Uuid,
        object: ObjectRef,
        replicas: i64,
    ) -> Result<ChangeDone, UiError>;
    async fn restart(&self, cluster: Uuid, object: ObjectRef) -> Result<ChangeDone, UiError>;

    async fn access(&self, cluster: Uuid) -> Result<AccessView, UiError>;
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
    /// Sends a real request with a new cluster token; a failure is a result.
    async fn self_test(&self, cluster: Uuid) -> Result<SelfTest, UiError>;
    /// Runs access reviews for another user, with the viewer's own token.
    async fn user_test(&self, cluster: Uuid, request: UserTestRequest)
    -> Result<UserTest, UiError>;

    async fn registry(&self, app: String) -> Result<RegistryView, UiError>;
    async fn alerts(&self, app: String) -> Result<AlertsView, UiError>;
}

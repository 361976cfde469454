//! What the pages ask of the server. The server crate implements [`Panel`] for one request:
//! the implementation holds who is asking, so nothing here names a caller.
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

/// The panel of one signed-in person, for one request. Found in the Leptos context.
pub type PanelRef = Arc<dyn Panel>;

#[async_trait]
pub trait Panel: Send + Sync {
    /// Who is signed in; no calls to anywhere.
    fn session(&self) -> SessionView;
    async fn launchpad(&self) -> Result<Launchpad, UiError>;
    async fn cluster(&self, cluster: Uuid) -> Result<ClusterOverview, UiError>;
    /// Every kind that can be listed, by discovery.
    async fn kinds(&self, cluster: Uuid) -> Result<Vec<ResourceKind>, UiError>;
    /// The namespaces that a list of this kind can be narrowed to; `None` for a kind whose objects are
    /// in no namespace.
    async fn namespaces_for(
        &self,
        cluster: Uuid,
        resource: ResourceRef,
    ) -> Result<Option<Vec<String>>, UiError>;
    async fn list(&self, cluster: Uuid, query: ListQuery) -> Result<ResourceTable, UiError>;
    async fn object(&self, cluster: Uuid, object: ObjectRef) -> Result<ObjectView, UiError>;
    /// The object as YAML, without managed fields; Secret values are left out unless `reveal`
    /// (audited) is asked for by POST.
    async fn yaml(&self, cluster: Uuid, object: ObjectRef) -> Result<String, UiError>;
    async fn events(&self, cluster: Uuid, object: ObjectRef) -> Result<Vec<EventRow>, UiError>;
    /// Access reviews with the viewer's own token; one answer a question, in order.
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
    /// `typed` confirms a dangerous grant (the role's name).
    async fn grant(
        &self,
        cluster: Uuid,
        grant: GrantRequest,
        typed: String,
    ) -> Result<ChangeDone, UiError>;
    async fn revoke(&self, cluster: Uuid, revoke: RevokeRequest) -> Result<ChangeDone, UiError>;
    async fn undo(&self, cluster: Uuid, undo: String) -> Result<ChangeDone, UiError>;

    /// How the cluster identifies people. Asks the API server only for what it alone can say.
    async fn authentication(&self, cluster: Uuid) -> Result<AuthenticationView, UiError>;
    async fn kube_auth_figures(&self, cluster: Uuid) -> Result<FiguresView, UiError>;
    /// A real request with a new cluster token; a failure is a result.
    async fn self_test(&self, cluster: Uuid) -> Result<SelfTest, UiError>;
    /// Access reviews about somebody else, with the viewer's own token.
    async fn user_test(&self, cluster: Uuid, request: UserTestRequest)
    -> Result<UserTest, UiError>;

    async fn registry(&self, app: String) -> Result<RegistryView, UiError>;
    async fn alerts(&self, app: String) -> Result<AlertsView, UiError>;
}

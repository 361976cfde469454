//! Manifests that users write.
use super::{PanelService, audit};
use crate::service::manifest;
use app::{error::UiError, ports::Manifests};
use async_trait::async_trait;
use portico_domain::panel::{
    AppliedDocument, ChangeDone, EditForm, EditText, FieldEdit, ObjectRef, PlannedDocument,
    RebasedText, ResourceRef,
};
use uuid::Uuid;

#[async_trait]
impl Manifests for PanelService {
    async fn plan_manifests(
        &self,
        cluster: Uuid,
        text: String,
        namespace: Option<String>,
    ) -> Result<Vec<PlannedDocument>, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        self.ui(manifest::plan(&api, &text, namespace.as_deref()).await)
    }

    async fn apply_manifests(
        &self,
        cluster: Uuid,
        text: String,
        namespace: Option<String>,
        take_over: Vec<usize>,
    ) -> Result<Vec<AppliedDocument>, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        let namespace = namespace.as_deref();
        self.ui(manifest::apply(&self.caller, &api, &text, namespace, &take_over).await)
    }

    async fn edit_text(&self, cluster: Uuid, object: ObjectRef) -> Result<EditText, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        let answer = manifest::text(&api, &object).await;
        let is_secret = object.resource == ResourceRef::core("secrets");
        let action = if is_secret { "reveal" } else { "yaml" };
        self.audited(action, cluster, &audit::target(&object), answer)
    }

    async fn plan_edit(
        &self,
        cluster: Uuid,
        object: ObjectRef,
        edited: EditText,
    ) -> Result<PlannedDocument, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        self.ui(manifest::plan_edit(&api, &object, &edited).await)
    }

    async fn save_edit(
        &self,
        cluster: Uuid,
        object: ObjectRef,
        edited: EditText,
    ) -> Result<ChangeDone, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        let answer = manifest::save(&api, &object, &edited).await;
        if answer.is_ok() && object.resource.is_of_rbac() {
            api.rights_changed();
        }
        let answer = answer.map(|is_changed| ChangeDone {
            message: if is_changed {
                format!("{} was saved.", object.name)
            } else {
                format!("{} is unchanged.", object.name)
            },
            undo: None,
        });
        self.audited("edit", cluster, &audit::target(&object), answer)
    }

    async fn rebase_edit(
        &self,
        cluster: Uuid,
        object: ObjectRef,
        original: String,
        edited: String,
    ) -> Result<RebasedText, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        let answer = manifest::rebase(&api, &object, &original, &edited).await;
        let is_secret = object.resource == ResourceRef::core("secrets");
        let action = if is_secret { "reveal" } else { "yaml" };
        self.audited(action, cluster, &audit::target(&object), answer)
    }

    async fn edit_form(&self, cluster: Uuid, object: ObjectRef) -> Result<EditForm, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        let answer = manifest::form(&api, &object).await;
        if object.resource == ResourceRef::core("secrets") {
            return self.audited("reveal", cluster, &audit::target(&object), answer);
        }
        self.ui(answer)
    }

    async fn form_text(
        &self,
        cluster: Uuid,
        object: ObjectRef,
        version: String,
        edits: Vec<FieldEdit>,
    ) -> Result<EditText, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        self.ui(manifest::form_text(&api, &object, &version, &edits).await)
    }
}

//! Forms that create objects.
use super::PanelService;
use crate::service::creation;
use app::{error::UiError, ports::Creation};
use async_trait::async_trait;
use portico_domain::panel::{
    CreationChoices, CreationKind, CreationProgress, NewObject, ObjectRef,
};
use uuid::Uuid;

#[async_trait]
impl Creation for PanelService {
    async fn creation_choices(
        &self,
        cluster: Uuid,
        kind: CreationKind,
        namespace: Option<String>,
    ) -> Result<CreationChoices, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        let names = self.services.names(&self.caller);
        self.ui(creation::choices(&api, &names, kind, namespace).await)
    }

    fn form_manifest(&self, new: &NewObject) -> Result<String, UiError> {
        self.ui(creation::manifest(new))
    }

    async fn creation_progress(
        &self,
        cluster: Uuid,
        object: ObjectRef,
    ) -> Result<CreationProgress, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        let names = self.services.names(&self.caller);
        self.ui(creation::progress(&api, &names, &object).await)
    }
}

//! Single objects: reading them, and their changes.
use super::{PanelService, ServiceError, audit, changes};
use crate::service::{object, usage};
use app::{error::UiError, ports::Objects};
use async_trait::async_trait;
use portico_domain::panel::{
    ChangeDone, DataValue, DeletionPlan, DrainOptions, DrainProgress, EventRow, ObjectRef,
    ObjectView, Reading, RelatedView, ResourceRef, RowsUsage, StateChange, TextDiff, UsageRow,
    UsageView,
};
use uuid::Uuid;

#[async_trait]
impl Objects for PanelService {
    async fn object(&self, cluster: Uuid, object: ObjectRef) -> Result<ObjectView, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        self.ui(object::view(&api, &object).await)
    }

    async fn yaml(&self, cluster: Uuid, object: ObjectRef) -> Result<String, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        let answer = object::yaml(&api, &object).await;
        self.audited("yaml", cluster, &audit::target(&object), answer)
    }

    async fn events(&self, cluster: Uuid, object: ObjectRef) -> Result<Vec<EventRow>, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        self.ui(object::events(&api, &object).await)
    }

    async fn delete(
        &self,
        cluster: Uuid,
        object: ObjectRef,
        uid: String,
    ) -> Result<ChangeDone, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        let answer = if uid.is_empty() {
            Err(ServiceError::invalid("The object's UID is missing."))
        } else {
            changes::delete(&api, &object, &uid)
                .await
                .map_err(|error| match error {
                    crate::kube::KubeError::Conflict(_) => ServiceError::conflict(format!(
                        "Another {} has been made under this name meanwhile; it was not deleted.",
                        object.name
                    )),
                    other => other.into(),
                })
        };
        if answer.is_ok() && object.resource.is_of_rbac() {
            api.rights_changed();
        }
        let answer = answer.map(|()| ChangeDone {
            message: format!("{} is being deleted.", object.name),
            undo: None,
        });
        self.audited("delete", cluster, &audit::target(&object), answer)
    }

    async fn plan_deletion(
        &self,
        cluster: Uuid,
        object: ObjectRef,
    ) -> Result<DeletionPlan, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        let names = self.services.names(&self.caller);
        self.ui(object::related::plan_deletion(&api, &names, &object).await)
    }

    async fn scale(
        &self,
        cluster: Uuid,
        object: ObjectRef,
        replicas: i64,
    ) -> Result<ChangeDone, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        let answer = match object::confirm_replicas(replicas) {
            Ok(()) if object::scalable(&object.resource) => {
                changes::scale(&api, &object, None, replicas)
                    .await
                    .map_err(ServiceError::from)
            }
            Ok(()) => Err(ServiceError::invalid("This kind cannot be scaled.")),
            Err(error) => Err(error),
        };
        let answer = answer.map(|()| ChangeDone {
            message: format!("{} is being scaled to {replicas}.", object.name),
            undo: None,
        });
        let target = format!("{} to {replicas}", audit::target(&object));
        self.audited("scale", cluster, &target, answer)
    }

    async fn restart(&self, cluster: Uuid, object: ObjectRef) -> Result<ChangeDone, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        let answer = if object::restartable(&object.resource) {
            changes::restart(&api, &object, None)
                .await
                .map_err(ServiceError::from)
        } else {
            Err(ServiceError::invalid("This kind cannot be restarted."))
        };
        let answer = answer.map(|()| ChangeDone {
            message: format!("{} replaces its pods one after the other.", object.name),
            undo: None,
        });
        self.audited("restart", cluster, &audit::target(&object), answer)
    }

    async fn change_state(
        &self,
        cluster: Uuid,
        object: ObjectRef,
        uid: String,
        change: StateChange,
    ) -> Result<ChangeDone, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        let answer = object::state_change::change(&api, &object, &uid, change).await;
        let answer = answer.map(|message| ChangeDone {
            message,
            undo: None,
        });
        self.audited(change.as_str(), cluster, &audit::target(&object), answer)
    }

    async fn plan_drain(
        &self,
        cluster: Uuid,
        node: ObjectRef,
        options: DrainOptions,
    ) -> Result<DrainProgress, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        self.ui(object::drain::plan(&api, &node, options).await)
    }

    async fn drain(
        &self,
        cluster: Uuid,
        node: ObjectRef,
        uid: String,
        options: DrainOptions,
    ) -> Result<DrainProgress, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        self.ui(object::drain::step(&self.caller, &api, &node, &uid, options).await)
    }

    async fn related(&self, cluster: Uuid, object: ObjectRef) -> Result<RelatedView, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        let names = self.services.names(&self.caller);
        self.ui(object::related::view(&api, &names, &object).await)
    }

    async fn revision_diff(
        &self,
        cluster: Uuid,
        object: ObjectRef,
        revision: i64,
    ) -> Result<TextDiff, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        self.ui(object::roll_back::diff(&api, &object, revision).await)
    }

    async fn roll_back(
        &self,
        cluster: Uuid,
        object: ObjectRef,
        uid: String,
        revision: i64,
    ) -> Result<ChangeDone, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        let answer = object::roll_back::roll_back(&api, &object, &uid, revision).await;
        let answer = answer.map(|()| ChangeDone {
            message: format!(
                "{} is being rolled back to revision {revision}.",
                object.name
            ),
            undo: None,
        });
        let target = format!("{} to revision {revision}", audit::target(&object));
        self.audited("roll_back", cluster, &target, answer)
    }

    async fn usage(&self, cluster: Uuid, object: ObjectRef) -> Result<Reading<UsageView>, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        let prometheus = self.services.prometheus.as_ref();
        self.ui(usage::of_object(prometheus, &api, &object).await)
    }

    async fn rows_usage(
        &self,
        cluster: Uuid,
        resource: ResourceRef,
        rows: Vec<UsageRow>,
    ) -> Result<Reading<RowsUsage>, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        let prometheus = self.services.prometheus.as_ref();
        self.ui(usage::of_rows(prometheus, &api, &resource, &rows).await)
    }

    async fn values(&self, cluster: Uuid, object: ObjectRef) -> Result<Vec<DataValue>, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        let answer = object::values::of(&api, &object).await;
        if object.resource == ResourceRef::core("secrets") {
            return self.audited("reveal", cluster, &audit::target(&object), answer);
        }
        self.ui(answer)
    }
}

//! One object: reading it, and the changes that plain HTML forms can request too, whose arguments
//! are flat for that reason.
use super::{Json, PanelClient};
use crate::error::UiError;
use leptos::prelude::*;
use portico_domain::panel::{
    ChangeDone, DataValue, DeletionPlan, DrainOptions, DrainProgress, EventRow, ObjectRef,
    ObjectView, Reading, RelatedView, StateChange, TextDiff, UsageView,
};
use uuid::Uuid;

#[server(prefix = "/api", endpoint = "objects/get", input = Json, output = Json, client = PanelClient)]
pub async fn get_object(cluster: Uuid, object: ObjectRef) -> Result<ObjectView, UiError> {
    super::answer(super::panel()?.object(cluster, object).await)
}

#[server(prefix = "/api", endpoint = "objects/yaml", input = Json, output = Json, client = PanelClient)]
pub async fn get_yaml(cluster: Uuid, object: ObjectRef) -> Result<String, UiError> {
    super::answer(super::panel()?.yaml(cluster, object).await)
}

#[server(prefix = "/api", endpoint = "objects/events", input = Json, output = Json, client = PanelClient)]
pub async fn list_events(cluster: Uuid, object: ObjectRef) -> Result<Vec<EventRow>, UiError> {
    super::answer(super::panel()?.events(cluster, object).await)
}

/// Returns what the deletion of an object would do, and how it is confirmed. Nothing is changed.
#[server(prefix = "/api", endpoint = "objects/plan_deletion", input = Json, output = Json, client = PanelClient)]
pub async fn plan_deletion(cluster: Uuid, object: ObjectRef) -> Result<DeletionPlan, UiError> {
    super::answer(super::panel()?.plan_deletion(cluster, object).await)
}

/// Returns whether the name of an object has to be typed to delete it. The object is read only if its
/// kind does not decide that.
#[cfg(feature = "ssr")]
async fn needs_name(
    panel: &crate::ports::PanelRef,
    cluster: Uuid,
    object: &ObjectRef,
) -> Result<bool, UiError> {
    use portico_domain::panel::DeletionGrade;
    let [lowest, highest] =
        [DeletionGrade::lowest, DeletionGrade::highest].map(|grade| grade(&object.resource));
    if lowest == highest {
        return Ok(lowest == DeletionGrade::TypedName);
    }
    let plan = panel.plan_deletion(cluster, object.clone()).await?;
    Ok(plan.grade == DeletionGrade::TypedName)
}

/// Deletes exactly the object with this UID. `typed` is its name again, if the form requires it.
#[server(prefix = "/api", endpoint = "objects/delete", output = Json, client = PanelClient)]
pub async fn delete_object(
    cluster: Uuid,
    object: FlatObject,
    uid: String,
    #[server(default)] typed: String,
) -> Result<ChangeDone, UiError> {
    let panel = super::panel()?;
    let object = ObjectRef::from(object);
    if typed != object.name && super::answer(needs_name(&panel, cluster, &object).await)? {
        return super::answer(Err(UiError::new(
            crate::error::UiErrorKind::Invalid,
            "The name that you typed is not the name of what you want to delete.",
        )
        .next_step(format!("Type {} to confirm.", object.name))));
    }
    let done = super::answer(panel.delete(cluster, object.clone(), uid).await)?;
    if let Some(project) = panel.session().project {
        let list = crate::routes::list(&project.id, cluster, &object.resource);
        super::back_with_notice(&list, super::FormNotice::Delete);
    }
    Ok(done)
}

#[server(prefix = "/api", endpoint = "objects/scale", output = Json, client = PanelClient)]
pub async fn scale_object(
    cluster: Uuid,
    object: FlatObject,
    replicas: i64,
) -> Result<ChangeDone, UiError> {
    let panel = super::panel()?;
    let object = ObjectRef::from(object);
    let done = super::answer(panel.scale(cluster, object.clone(), replicas).await)?;
    if let Some(project) = panel.session().project {
        let page = crate::routes::object(&project.id, cluster, &object);
        super::back_with_notice(&page, super::FormNotice::Scale);
    }
    Ok(done)
}

#[server(prefix = "/api", endpoint = "objects/restart", output = Json, client = PanelClient)]
pub async fn restart_object(cluster: Uuid, object: FlatObject) -> Result<ChangeDone, UiError> {
    let panel = super::panel()?;
    let object = ObjectRef::from(object);
    let done = super::answer(panel.restart(cluster, object.clone()).await)?;
    if let Some(project) = panel.session().project {
        let page = crate::routes::object(&project.id, cluster, &object);
        super::back_with_notice(&page, super::FormNotice::Restart);
    }
    Ok(done)
}

/// Makes a change without arguments of exactly the object with this UID.
#[server(prefix = "/api", endpoint = "objects/state", output = Json, client = PanelClient)]
pub async fn change_state(
    cluster: Uuid,
    object: FlatObject,
    uid: String,
    change: StateChange,
) -> Result<ChangeDone, UiError> {
    let panel = super::panel()?;
    let object = ObjectRef::from(object);
    let done = panel.change_state(cluster, object.clone(), uid, change);
    let done = super::answer(done.await)?;
    if let Some(project) = panel.session().project {
        let page = crate::routes::object(&project.id, cluster, &object);
        super::back_with_notice(&page, super::FormNotice::Change);
    }
    Ok(done)
}

/// Returns what a drain would do with the pods of a node. Nothing is changed.
#[server(prefix = "/api", endpoint = "objects/plan_drain", input = Json, output = Json, client = PanelClient)]
pub async fn plan_drain(
    cluster: Uuid,
    node: ObjectRef,
    options: DrainOptions,
) -> Result<DrainProgress, UiError> {
    super::answer(super::panel()?.plan_drain(cluster, node, options).await)
}

/// Evicts some pods of exactly the node with this UID; repeated until the drain is done.
#[server(prefix = "/api", endpoint = "objects/drain", input = Json, output = Json, client = PanelClient)]
pub async fn drain_node(
    cluster: Uuid,
    node: ObjectRef,
    uid: String,
    options: DrainOptions,
) -> Result<DrainProgress, UiError> {
    super::answer(super::panel()?.drain(cluster, node, uid, options).await)
}

#[server(prefix = "/api", endpoint = "objects/related", input = Json, output = Json, client = PanelClient)]
pub async fn get_related(cluster: Uuid, object: ObjectRef) -> Result<RelatedView, UiError> {
    super::answer(super::panel()?.related(cluster, object).await)
}

#[server(prefix = "/api", endpoint = "objects/revision_diff", input = Json, output = Json, client = PanelClient)]
pub async fn get_revision_diff(
    cluster: Uuid,
    object: ObjectRef,
    revision: i64,
) -> Result<TextDiff, UiError> {
    super::answer(
        super::panel()?
            .revision_diff(cluster, object, revision)
            .await,
    )
}

/// Replaces the pod template of exactly the workload with this UID by that of a revision.
#[server(prefix = "/api", endpoint = "objects/roll_back", output = Json, client = PanelClient)]
pub async fn roll_back(
    cluster: Uuid,
    object: FlatObject,
    uid: String,
    revision: i64,
) -> Result<ChangeDone, UiError> {
    let panel = super::panel()?;
    let object = ObjectRef::from(object);
    let done = panel.roll_back(cluster, object.clone(), uid, revision);
    let done = super::answer(done.await)?;
    if let Some(project) = panel.session().project {
        let page = crate::routes::object(&project.id, cluster, &object);
        super::back_with_notice(&page, super::FormNotice::Change);
    }
    Ok(done)
}

/// Returns the CPU and memory that an object uses.
#[server(prefix = "/api", endpoint = "objects/usage", input = Json, output = Json, client = PanelClient)]
pub async fn get_usage(cluster: Uuid, object: ObjectRef) -> Result<Reading<UsageView>, UiError> {
    super::answer(super::panel()?.usage(cluster, object).await)
}

/// Returns the values of a ConfigMap or a Secret.
#[server(prefix = "/api", endpoint = "objects/values", input = Json, output = Json, client = PanelClient)]
pub async fn get_values(cluster: Uuid, object: ObjectRef) -> Result<Vec<DataValue>, UiError> {
    super::answer(super::panel()?.values(cluster, object).await)
}

/// An object in the fields of a form: `object[plural]` and so on; empty means none.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct FlatObject {
    #[serde(default)]
    pub group: String,
    pub version: String,
    pub plural: String,
    #[serde(default)]
    pub namespace: String,
    pub name: String,
}

impl From<ObjectRef> for FlatObject {
    fn from(object: ObjectRef) -> Self {
        Self {
            group: object.resource.group,
            version: object.resource.version,
            plural: object.resource.plural,
            namespace: object.namespace.unwrap_or_default(),
            name: object.name,
        }
    }
}

impl From<FlatObject> for ObjectRef {
    fn from(flat: FlatObject) -> Self {
        Self {
            resource: portico_domain::panel::ResourceRef {
                group: flat.group,
                version: flat.version,
                plural: flat.plural,
            },
            namespace: Some(flat.namespace).filter(|name| !name.is_empty()),
            name: flat.name,
        }
    }
}

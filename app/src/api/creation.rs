//! Forms that create objects; what they write is checked and applied as any manifest is.
use super::{Json, PanelClient};
use crate::error::UiError;
use leptos::prelude::*;
use portico_domain::panel::{
    CreationChoices, CreationKind, CreationProgress, NewObject, ObjectRef,
};
use uuid::Uuid;

/// Returns what a form offers, and why the viewer may not create the object.
#[server(prefix = "/api", endpoint = "creation/choices", input = Json, output = Json, client = PanelClient)]
pub async fn get_creation_choices(
    cluster: Uuid,
    kind: CreationKind,
    namespace: Option<String>,
) -> Result<CreationChoices, UiError> {
    let panel = super::panel()?;
    let answer = panel.creation_choices(cluster, kind, namespace);
    super::answer(answer.await)
}

/// Returns the manifest of a form as YAML. Asks no cluster.
#[server(prefix = "/api", endpoint = "creation/manifest", input = Json, output = Json, client = PanelClient)]
pub async fn write_manifest(new: NewObject) -> Result<String, UiError> {
    super::answer(super::panel()?.form_manifest(&new))
}

/// Returns how far a created object is.
#[server(prefix = "/api", endpoint = "creation/progress", input = Json, output = Json, client = PanelClient)]
pub async fn follow_creation(
    cluster: Uuid,
    object: ObjectRef,
) -> Result<CreationProgress, UiError> {
    super::answer(super::panel()?.creation_progress(cluster, object).await)
}

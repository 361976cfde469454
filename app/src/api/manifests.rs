//! Manifests that users write: checked against the cluster first, then applied or saved.
use super::{Json, PanelClient};
use crate::error::UiError;
use leptos::prelude::*;
use portico_domain::panel::{
    AppliedDocument, ChangeDone, EditForm, EditText, FieldEdit, ObjectRef, PlannedDocument,
    RebasedText,
};
use uuid::Uuid;

/// Returns what applying the manifests would change. Nothing is changed.
#[server(prefix = "/api", endpoint = "manifests/plan", input = Json, output = Json, client = PanelClient)]
pub async fn plan_manifests(
    cluster: Uuid,
    text: String,
    namespace: Option<String>,
) -> Result<Vec<PlannedDocument>, UiError> {
    let panel = super::panel()?;
    super::answer(panel.plan_manifests(cluster, text, namespace).await)
}

/// Applies manifests; takes over the fields of other managers in the documents `take_over` only.
#[server(prefix = "/api", endpoint = "manifests/apply", input = Json, output = Json, client = PanelClient)]
pub async fn apply_manifests(
    cluster: Uuid,
    text: String,
    namespace: Option<String>,
    take_over: Vec<usize>,
) -> Result<Vec<AppliedDocument>, UiError> {
    let panel = super::panel()?;
    let answer = panel.apply_manifests(cluster, text, namespace, take_over);
    super::answer(answer.await)
}

/// Returns an object as text to edit.
#[server(prefix = "/api", endpoint = "manifests/edit", input = Json, output = Json, client = PanelClient)]
pub async fn get_edit_text(cluster: Uuid, object: ObjectRef) -> Result<EditText, UiError> {
    super::answer(super::panel()?.edit_text(cluster, object).await)
}

/// Returns what saving an edit would change. Nothing is changed.
#[server(prefix = "/api", endpoint = "manifests/plan_edit", input = Json, output = Json, client = PanelClient)]
pub async fn plan_edit(
    cluster: Uuid,
    object: ObjectRef,
    edited: EditText,
) -> Result<PlannedDocument, UiError> {
    super::answer(super::panel()?.plan_edit(cluster, object, edited).await)
}

/// Saves an edit of exactly the version that it was made from.
#[server(prefix = "/api", endpoint = "manifests/save", input = Json, output = Json, client = PanelClient)]
pub async fn save_edit(
    cluster: Uuid,
    object: ObjectRef,
    edited: EditText,
) -> Result<ChangeDone, UiError> {
    super::answer(super::panel()?.save_edit(cluster, object, edited).await)
}

/// Repeats an edit on the newest version of an object.
#[server(prefix = "/api", endpoint = "manifests/rebase", input = Json, output = Json, client = PanelClient)]
pub async fn rebase_edit(
    cluster: Uuid,
    object: ObjectRef,
    original: String,
    edited: String,
) -> Result<RebasedText, UiError> {
    let panel = super::panel()?;
    super::answer(panel.rebase_edit(cluster, object, original, edited).await)
}

/// Returns the fields of an object that a form offers.
#[server(prefix = "/api", endpoint = "manifests/form", input = Json, output = Json, client = PanelClient)]
pub async fn get_edit_form(cluster: Uuid, object: ObjectRef) -> Result<EditForm, UiError> {
    super::answer(super::panel()?.edit_form(cluster, object).await)
}

/// Returns the object as text with changed fields, to be checked and saved as an edit is.
#[server(prefix = "/api", endpoint = "manifests/form_text", input = Json, output = Json, client = PanelClient)]
pub async fn get_form_text(
    cluster: Uuid,
    object: ObjectRef,
    version: String,
    edits: Vec<FieldEdit>,
) -> Result<EditText, UiError> {
    let panel = super::panel()?;
    let answer = panel.form_text(cluster, object, version, edits);
    super::answer(answer.await)
}

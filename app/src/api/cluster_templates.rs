//! Cluster templates of Magnum.
use super::{Json, PanelClient};
use crate::error::UiError;
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{
    ClusterTemplates, TemplateDetails, TemplateFlag, TemplateOutcome, TemplateValues,
};
use uuid::Uuid;

/// Returns the templates of the project, and public ones of others.
#[server(prefix = "/api", endpoint = "managed_clusters/templates", output = Json, client = PanelClient)]
pub async fn list_cluster_templates() -> Result<ClusterTemplates, UiError> {
    super::answer(super::panel()?.cluster_templates().await)
}

/// Returns a template with its labels, and with what the viewer may do.
#[server(prefix = "/api", endpoint = "managed_clusters/template", input = Json, output = Json, client = PanelClient)]
pub async fn get_cluster_template(template: Uuid) -> Result<TemplateDetails, UiError> {
    super::answer(super::panel()?.cluster_template(template).await)
}

/// Creates a private template with the values of another one, and with these.
#[server(prefix = "/api", endpoint = "managed_clusters/copy_template", input = Json, output = Json, client = PanelClient)]
pub async fn copy_template(
    template: Uuid,
    values: TemplateValues,
) -> Result<TemplateOutcome, UiError> {
    super::answer(super::panel()?.copy_template(template, values).await)
}

/// Publishes or hides a template, or undoes it.
#[server(prefix = "/api", endpoint = "managed_clusters/set_template_flag", input = Json, output = Json, client = PanelClient)]
pub async fn set_template_flag(
    template: Uuid,
    flag: TemplateFlag,
    is_on: bool,
) -> Result<TemplateOutcome, UiError> {
    super::answer(
        super::panel()?
            .set_template_flag(template, flag, is_on)
            .await,
    )
}

/// Deletes a template that no cluster uses; `typed` is its name.
#[server(prefix = "/api", endpoint = "managed_clusters/delete_template", input = Json, output = Json, client = PanelClient)]
pub async fn delete_template(template: Uuid, typed: String) -> Result<TemplateOutcome, UiError> {
    super::answer(super::panel()?.delete_template(template, typed).await)
}

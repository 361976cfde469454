use super::{Json, PanelClient};
use crate::error::UiError;
use leptos::prelude::*;
use portico_domain::panel::{ListQuery, ResourceRef, ResourceTable};
use uuid::Uuid;

/// Returns a list of any kind.
#[server(prefix = "/api", endpoint = "resources/list", input = Json, output = Json, client = PanelClient)]
pub async fn list_resources(cluster: Uuid, query: ListQuery) -> Result<ResourceTable, UiError> {
    super::answer(super::panel()?.list(cluster, query).await)
}

/// Returns the namespaces that a list of this kind can be narrowed to; `None` for a kind whose
/// objects are in no namespace.
#[server(prefix = "/api", endpoint = "resources/namespaces", input = Json, output = Json, client = PanelClient)]
pub async fn namespaces_for(
    cluster: Uuid,
    resource: ResourceRef,
) -> Result<Option<Vec<String>>, UiError> {
    super::answer(super::panel()?.namespaces_for(cluster, resource).await)
}

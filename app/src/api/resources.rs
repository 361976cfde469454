use super::{Json, PanelClient};
use crate::error::UiError;
use leptos::prelude::*;
use portico_domain::panel::{ListQuery, ResourceTable};
use uuid::Uuid;

/// A list of any kind.
#[server(prefix = "/api", endpoint = "resources/list", input = Json, output = Json, client = PanelClient)]
pub async fn list_resources(cluster: Uuid, query: ListQuery) -> Result<ResourceTable, UiError> {
    super::answer(super::panel()?.list(cluster, query).await)
}

use super::PanelClient;
use crate::error::UiError;
use leptos::prelude::*;
use leptos::server_fn::codec::Json;
use portico_domain::panel::{ListQuery, ResourceTable};
use uuid::Uuid;

/// A list of any kind.
#[server(prefix = "/api", endpoint = "resources/list", input = Json, client = PanelClient)]
pub async fn list_resources(cluster: Uuid, query: ListQuery) -> Result<ResourceTable, UiError> {
    super::answer(super::panel()?.list(cluster, query).await)
}

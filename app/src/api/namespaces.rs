use super::{Json, PanelClient};
use crate::error::UiError;
use leptos::prelude::*;
use portico_domain::panel::VisibleNamespaces;
use uuid::Uuid;

/// Returns the namespaces that the viewer may see.
#[server(prefix = "/api", endpoint = "namespaces/get", output = Json, client = PanelClient)]
pub async fn get_namespaces(cluster: Uuid) -> Result<VisibleNamespaces, UiError> {
    super::answer(super::panel()?.visible_namespaces(cluster).await)
}

/// Adds a namespace to those that the viewer sees although they may not list namespaces.
#[server(prefix = "/api", endpoint = "namespaces/add", input = Json, output = Json, client = PanelClient)]
pub async fn add_namespace(cluster: Uuid, name: String) -> Result<(), UiError> {
    super::answer(super::panel()?.add_namespace(cluster, name).await)
}

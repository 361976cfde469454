use super::{Json, PanelClient};
use crate::error::UiError;
use leptos::prelude::*;
use portico_domain::panel::{
    AccessView, BoundName, ChangeDone, GrantPreview, GrantRequest, RevokeRequest, WhatCanView,
    WhoCanView,
};
use uuid::Uuid;

#[server(prefix = "/api", endpoint = "access/get", output = Json, client = PanelClient)]
pub async fn get_access(cluster: Uuid) -> Result<AccessView, UiError> {
    super::answer(super::panel()?.access(cluster).await)
}

/// Returns who has a permission and who could grant it.
#[server(prefix = "/api", endpoint = "access/who_can", input = Json, output = Json, client = PanelClient)]
pub async fn who_can(
    cluster: Uuid,
    verb: String,
    resource: String,
    namespace: Option<String>,
) -> Result<WhoCanView, UiError> {
    let panel = super::panel()?;
    super::answer(panel.who_can(cluster, verb, resource, namespace).await)
}

/// Returns what a subject can do, and through which bindings.
#[server(prefix = "/api", endpoint = "access/what_can", input = Json, output = Json, client = PanelClient)]
pub async fn what_can(cluster: Uuid, subject: BoundName) -> Result<WhatCanView, UiError> {
    super::answer(super::panel()?.what_can(cluster, subject).await)
}

/// Returns what the grant would give; changes nothing.
#[server(prefix = "/api", endpoint = "access/preview", input = Json, output = Json, client = PanelClient)]
pub async fn preview_grant(cluster: Uuid, grant: GrantRequest) -> Result<GrantPreview, UiError> {
    super::answer(super::panel()?.preview_grant(cluster, grant).await)
}

#[server(prefix = "/api", endpoint = "access/grant", input = Json, output = Json, client = PanelClient)]
pub async fn save_grant(
    cluster: Uuid,
    grant: GrantRequest,
    typed: String,
) -> Result<ChangeDone, UiError> {
    super::answer(super::panel()?.grant(cluster, grant, typed).await)
}

#[server(prefix = "/api", endpoint = "access/revoke", input = Json, output = Json, client = PanelClient)]
pub async fn revoke_grant(cluster: Uuid, revoke: RevokeRequest) -> Result<ChangeDone, UiError> {
    super::answer(super::panel()?.revoke(cluster, revoke).await)
}

/// Undoes a change that is at most ten seconds old.
#[server(prefix = "/api", endpoint = "access/undo", input = Json, output = Json, client = PanelClient)]
pub async fn undo_change(cluster: Uuid, undo: String) -> Result<ChangeDone, UiError> {
    super::answer(super::panel()?.undo(cluster, undo).await)
}

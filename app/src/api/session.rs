use super::{Json, PanelClient};
use crate::error::UiError;
use leptos::prelude::*;
use portico_domain::panel::{Launchpad, SessionView};

/// Returns who is signed in.
#[server(prefix = "/api", endpoint = "session/get", output = Json, client = PanelClient)]
pub async fn get_session() -> Result<SessionView, UiError> {
    super::answer(super::panel().map(|panel| panel.session()))
}

/// Returns the first page of the project.
#[server(prefix = "/api", endpoint = "launchpad/get", output = Json, client = PanelClient)]
pub async fn get_launchpad() -> Result<Launchpad, UiError> {
    super::answer(super::panel()?.launchpad().await)
}

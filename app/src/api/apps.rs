use super::{Json, PanelClient};
use crate::error::UiError;
use leptos::prelude::*;
use portico_domain::panel::{AlertsView, RegistryView};

#[server(prefix = "/api", endpoint = "apps/registry", output = Json, client = PanelClient)]
pub async fn get_registry(app: String) -> Result<RegistryView, UiError> {
    super::answer(super::panel()?.registry(app).await)
}

#[server(prefix = "/api", endpoint = "apps/alerts", output = Json, client = PanelClient)]
pub async fn get_alerts(app: String) -> Result<AlertsView, UiError> {
    super::answer(super::panel()?.alerts(app).await)
}

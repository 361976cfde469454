//! How a cluster authenticates users. The tests are forms that work without scripts too: the next
//! page shows their result.
use super::{Json, PanelClient};
use crate::error::UiError;
use leptos::prelude::*;
use portico_domain::panel::{
    AuthenticationView, FiguresView, ProgramsView, SelfTest, UserTest, UserTestRequest,
};
use uuid::Uuid;

#[server(prefix = "/api", endpoint = "authentication/get", output = Json, client = PanelClient)]
pub async fn get_authentication(cluster: Uuid) -> Result<AuthenticationView, UiError> {
    super::answer(super::panel()?.authentication(cluster).await)
}

/// Returns kube-auth's metrics for the cluster, at most a few seconds old.
#[server(prefix = "/api", endpoint = "authentication/figures", output = Json, client = PanelClient)]
pub async fn get_kube_auth_figures(cluster: Uuid) -> Result<FiguresView, UiError> {
    super::answer(super::panel()?.kube_auth_figures(cluster).await)
}

/// Returns the programs to download, those for the viewer's machine first.
#[server(prefix = "/api", endpoint = "authentication/programs", output = Json, client = PanelClient)]
pub async fn get_programs() -> Result<ProgramsView, UiError> {
    super::answer(super::panel()?.programs().await)
}

/// Sends a real request of the viewer's.
#[server(prefix = "/api", endpoint = "authentication/test_self", output = Json, client = PanelClient)]
pub async fn test_self(cluster: Uuid) -> Result<SelfTest, UiError> {
    let panel = super::panel()?;
    let test = super::answer(panel.self_test(cluster).await)?;
    if let Some(project) = panel.session().project {
        super::back_to_part(
            &crate::routes::authentication(&project.id, cluster),
            "self-test",
        );
    }
    Ok(test)
}

/// Runs access reviews for another user. Invalid fields are a result too.
#[server(prefix = "/api", endpoint = "authentication/test_user", output = Json, client = PanelClient)]
pub async fn test_user(cluster: Uuid, request: UserTestRequest) -> Result<UserTest, UiError> {
    let panel = super::panel()?;
    let test = super::answer(panel.user_test(cluster, request).await)?;
    if let Some(project) = panel.session().project {
        super::back_to_part(
            &crate::routes::authentication(&project.id, cluster),
            "user-test",
        );
    }
    Ok(test)
}

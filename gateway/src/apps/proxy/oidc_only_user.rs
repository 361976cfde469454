//! Serves users of an OIDC provider who have no Keystone account: their apps, and why there are no
//! clusters. The panel is not asked, as it has no pages for a user without a project.
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;

use super::ReverseProxy;
use crate::{
    http::{access_log, error_response::Problem, interrupt::Interrupt},
    pages::providers::{OpenApp, oidc_only_user},
    request_context::Context,
    sessions::live::Caller,
};

impl ReverseProxy {
    /// Returns the main host's page for a session without Keystone.
    pub async fn oidc_only_user(
        &self,
        context: &Context,
        caller: &Caller,
    ) -> Result<Response, Interrupt> {
        let root = caller.live.root();
        let provider = root
            .provider
            .as_ref()
            .map(|provider| self.providers.name_of(&provider.id))
            .unwrap_or_default();
        access_log::rule("no_keystone");
        if !context.navigation {
            return Err(Problem::downstream(
                StatusCode::FORBIDDEN,
                "no_keystone",
                "Clusters need an account in the cloud",
                format!(
                    "You are signed in by {provider}, which opens apps. Clusters need a Keystone \
                     account."
                ),
            )
            .into());
        }
        let mut apps = Vec::new();
        for app in self.hosts.apps() {
            if self
                .authorization
                .access_to(app, caller, context.client)
                .await
                .is_some()
            {
                apps.push(OpenApp {
                    name: &app.config.name,
                    description: &app.config.description,
                    home: &app.home,
                });
            }
        }
        let may_change = self.providers.names_keystone();
        Ok(oidc_only_user(&root.user.name, &provider, &apps, may_change).into_response())
    }
}

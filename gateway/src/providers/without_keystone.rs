//! Somebody whom a provider vouches for and Keystone does not know: their apps, and why there are
//! no clusters. The panel is not asked: it has nothing for a person without a project.
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;

use crate::{
    access::line,
    guard::Stop,
    pages::providers::{OpenApp, without_keystone},
    problem::Problem,
    session::live::Caller,
    state::{Context, Gateway},
};

impl Gateway {
    /// What the main host shows to a session without Keystone.
    pub async fn without_keystone(
        &self,
        context: &Context,
        caller: &Caller,
    ) -> Result<Response, Stop> {
        let root = caller.live.root();
        let provider = root
            .provider
            .as_ref()
            .map(|provider| self.provider_name(&provider.id))
            .unwrap_or_default();
        line::rule("no_keystone");
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
            if self.access_to(app, caller, context.client).await.is_some() {
                apps.push(OpenApp {
                    name: &app.config.name,
                    description: &app.config.description,
                    home: &app.home,
                });
            }
        }
        let may_change = self
            .config
            .providers
            .iter()
            .any(|provider| provider.kind == crate::config::ProviderKind::Keystone);
        Ok(without_keystone(&root.user.name, &provider, &apps, may_change).into_response())
    }
}

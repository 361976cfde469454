//! Exchanges an identity that a provider has just confirmed for a Keystone token.
use http::StatusCode;
use portico_openstack::keystone::{self, IssuedToken};
use portico_store::Outcome;

use crate::{
    audit::Event,
    http::error_response::Problem,
    identity_providers::federation::{IssuedIdentity, NoToken},
    request_context::Context,
    sign_in::SignIn,
};

impl SignIn {
    /// Returns a Keystone token for a user whom a provider has just authenticated. Returns `None`
    /// where the provider has no federation, or Keystone maps the identity to no user: the user
    /// gets apps and no clusters, and a page explains why.
    pub async fn federate(
        &self,
        context: &Context,
        provider: &str,
        word: IssuedIdentity<'_>,
    ) -> Result<Option<IssuedToken>, Problem> {
        let Some(federation) = self.federations.get(provider) else {
            return Ok(None);
        };
        let error = match federation.token(word).await {
            Ok(issued) => return Ok(Some(issued)),
            Err(error) => error,
        };
        let name = word.identity.map(|identity| identity.name.as_str());
        let text = error.to_string();
        let event = Event::new("session.federate", Outcome::Failed)
            .name(name.unwrap_or_default())
            .target(provider)
            .reason(&text);
        self.audit.record(context, event).await;
        match error {
            NoToken::NotMapped(_) | NoToken::NoAttributes => Ok(None),
            NoToken::NotTrusted(_) => {
                tracing::error!(provider, %error, "a federation is not configured as Keystone's");
                Err(Problem::downstream(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "federation_refused",
                    "Keystone does not trust your provider",
                    format!(
                        "{} has confirmed who you are, but your cloud's Keystone does not trust \
                         it. Your cloud's administrators can correct this.",
                        self.providers.name_of(provider)
                    ),
                )
                .steps(["Other ways to sign in still work."])
                .leads_to("Sign in another way", "/oauth2/sign_in"))
            }
            NoToken::Unavailable(error) => {
                if matches!(error, keystone::Error::Unavailable(_)) {
                    self.sessions.set_keystone_answers(false);
                }
                Err(Problem::keystone_unavailable_by(&error))
            }
        }
    }
}

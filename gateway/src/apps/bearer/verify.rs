//! Verifies a bearer token: at Keystone, or with the keys of the provider that it names.
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use portico_clock::Clock;
use portico_openstack::keystone::{self, TokenDetails, TokenScope};
use portico_store::{Reserved, SessionProvider, ThrottleLimit};
use secrecy::{ExposeSecret as _, SecretString};

use super::{
    BearerAuthentication, Fault,
    extract::Token,
    verified_token_cache::{Bearer, Verification},
};
use crate::{
    config::KEYSTONE_BEARER,
    hosts::App,
    http::{error_response::Problem, interrupt::Interrupt},
    identity_providers::{OidcProvider, profile_of, user_of},
    metrics,
    request_context::Context,
};

/// The prefix of Portico's own cluster tokens, which only kube-auth accepts.
const CLUSTER_TOKEN_PREFIX: &str = "portico_";
/// Limits the refused tokens of one network, so that clients cannot load Keystone through Portico.
const REFUSAL_LIMIT: ThrottleLimit = ThrottleLimit::window(30, 60);

impl BearerAuthentication {
    /// Verifies a bearer token for an app.
    pub(super) async fn verify(
        &self,
        context: &Context,
        app: &App,
        token: &Token,
    ) -> Result<Verification, Interrupt> {
        let secret = &token.secret;
        if secret.expose_secret().starts_with(CLUSTER_TOKEN_PREFIX) {
            return Ok(Err(Fault::Invalid("it is for a cluster")));
        }
        let work = async {
            let subject = format!("bearer:{}", context.client.network());
            let throttle = self.store.throttle();
            let now = self.clock.now();
            // before Keystone is asked, so that concurrent requests count before they are
            // answered
            let reserved = throttle.reserve(&subject, REFUSAL_LIMIT, now).await;
            let place = match reserved.map_err(Problem::from)? {
                Reserved::Granted(place) => place,
                Reserved::RefusedUntil(until) => {
                    let seconds = until.as_second() - now.as_second();
                    return Ok(Err(Fault::Throttled(seconds.max(1))));
                }
            };
            let verification = self.ask(app, token).await;
            if !matches!(verification, Ok(Err(_))) {
                // accepted, or not decided
                let given_back = throttle.return_reservation(&place).await;
                given_back.map_err(Problem::from)?;
            }
            if matches!(verification, Ok(Ok(_))) {
                metrics::bearer_verification("verified");
            }
            verification
        };
        let verification = self
            .verified_tokens
            .verification::<Problem>(&app.config.id, secret, work)
            .await;
        verification.map_err(|problem| (*problem).clone().into())
    }

    async fn ask(&self, app: &App, token: &Token) -> Result<Verification, Problem> {
        let issuers = &app.config.bearer;
        if !token.keystone_only
            && let Some(issuer) = claimed_issuer(token.secret.expose_secret())
            && let Some(provider) = issuers
                .iter()
                .filter_map(|id| self.providers.get(id))
                .find(|provider| provider.client.issuer() == issuer)
        {
            return ask_provider(provider, &token.secret, &self.clock).await;
        }
        if issuers.iter().any(|issuer| issuer == KEYSTONE_BEARER) {
            return self.ask_keystone_about(&token.secret).await;
        }
        Ok(Err(Fault::Invalid("its issuer is not accepted here")))
    }

    async fn ask_keystone_about(&self, token: &SecretString) -> Result<Verification, Problem> {
        let details = match self.keystone.validate(token).await {
            Ok(details) => details,
            Err(error) if error.is_refusal() => {
                return Ok(Err(Fault::Invalid("Keystone does not accept it")));
            }
            Err(keystone::Error::Forbidden) => {
                return Ok(Err(Fault::Invalid("Keystone forbids its use here")));
            }
            Err(error) => return Err(Problem::keystone_unavailable_by(&error)),
        };
        if let Some(why) = unfit(&details) {
            return Ok(Err(Fault::Invalid(why)));
        }
        let bearer = Bearer::of_keystone(details, token.clone(), self.clock.now());
        let bearer = bearer.map_err(|error| {
            tracing::error!(%error, "the identity of a bearer token cannot be used");
            Problem::internal()
        })?;
        Ok(bearer.ok_or(Fault::Invalid("it belongs to no project")))
    }
}

/// Verifies a JWT with its provider's keys. Its groups count where a rule names the provider; it
/// carries no roles in projects.
async fn ask_provider(
    provider: &OidcProvider,
    token: &SecretString,
    clock: &Clock,
) -> Result<Verification, Problem> {
    let verified = match provider.client.verify_bearer(token).await {
        Ok(verified) => verified,
        Err(portico_oidc::Error::Token(fault)) => {
            tracing::debug!(provider = provider.config.id, reason = %fault, "a bearer was refused");
            return Ok(Err(Fault::Invalid(
                "it is not a valid access token for this audience",
            )));
        }
        Err(error) => return Err(Problem::provider(provider, &error)),
    };
    let identity = verified.identity;
    let of_provider = SessionProvider {
        id: provider.config.id.clone(),
        subject: identity.subject.clone(),
        sid: identity.session.clone(),
        profile: profile_of(&identity, false),
        expires_at: None,
    };
    let user = user_of(provider, &identity);
    let (methods, expires_at) = (identity.methods, verified.expires_at);
    Bearer::of_provider(user, methods, of_provider, expires_at, clock.now())
        .map(Ok)
        .map_err(|error| {
            tracing::error!(%error, "the identity of a bearer token cannot be used");
            Problem::internal()
        })
}

/// Returns why a valid Keystone token is not accepted as a bearer token: its rights are narrower
/// than what the app grants to its project and roles, or it acts for another user.
fn unfit(details: &TokenDetails) -> Option<&'static str> {
    let ruled = details
        .application_credential
        .as_ref()
        .is_some_and(|credential| credential.access_rules.is_some());
    if ruled {
        return Some("its application credential has access rules, which do not name this app");
    }
    if details.trust.is_some() || details.is_oauth {
        return Some("it acts on behalf of another user (a trust, or OAuth)");
    }
    (details.scope != TokenScope::Project).then_some("it belongs to no project")
}

/// Returns the issuer that a token claims, to select the keys to verify it with. Nothing else in it
/// is trusted.
fn claimed_issuer(token: &str) -> Option<String> {
    let mut parts = token.split('.');
    let (_, claims) = (parts.next()?, parts.next()?);
    parts.next()?;
    if parts.next().is_some() {
        return None;
    }
    let claims = URL_SAFE_NO_PAD.decode(claims).ok()?;
    let claims: serde_json::Value = serde_json::from_slice(&claims).ok()?;
    claims.get("iss")?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_jwt_claims_an_issuer() {
        let claims = URL_SAFE_NO_PAD.encode(r#"{"iss":"https://id.example.org"}"#);
        assert_eq!(
            claimed_issuer(&format!("e30.{claims}.c2ln")).as_deref(),
            Some("https://id.example.org")
        );
        for token in [
            "gAAAAABk-fernet".to_owned(),
            format!("e30.{claims}"),
            format!("e30.{claims}.a.b"),
            "a.b.c".to_owned(),
            format!("e30.{}.c", URL_SAFE_NO_PAD.encode("[]")),
        ] {
            assert_eq!(claimed_issuer(&token), None, "{token}");
        }
    }
}

//! Verifying a bearer: at Keystone, or by the keys of the provider that it names.
use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use jiff::Timestamp;
use portico_openstack::keystone::{self, TokenDetails, TokenScope};
use portico_store::{EndReason, Reserved, SessionProvider, ThrottleLimit};
use secrecy::{ExposeSecret as _, SecretString};

use super::{
    Fault,
    accepted::{ASK_AGAIN, Bearer, Verdict},
    presented::Token,
};
use crate::{
    config::KEYSTONE_BEARER,
    guard::Stop,
    hosts::App,
    meters,
    problem::Problem,
    providers::{
        OidcProvider,
        establish::{profile_of, user_of},
    },
    state::{Context, Gateway, Shared},
};

/// What our own cluster tokens begin with: they are for kube-auth alone.
const CLUSTER_TOKEN: &str = "portico_";
/// Tokens that one network may be refused with, so that Keystone cannot be made to work through this.
const REFUSALS: ThrottleLimit = ThrottleLimit::window(30, 60);

impl Gateway {
    /// What a bearer stands for at an app.
    pub(super) async fn verify(
        &self,
        context: &Context,
        app: &App,
        token: &Token,
    ) -> Result<Verdict, Stop> {
        let secret = &token.secret;
        if secret.expose_secret().starts_with(CLUSTER_TOKEN) {
            return Ok(Err(Fault::Invalid("it is for a cluster")));
        }
        let work = async {
            let subject = format!("bearer:{}", context.client.network());
            let throttle = self.store.throttle();
            let now = Timestamp::now();
            // ahead of the question, so that many at once count before they are answered
            let reserved = throttle.reserve(&subject, REFUSALS, now).await;
            let place = match reserved.map_err(Problem::from)? {
                Reserved::Granted(place) => place,
                Reserved::RefusedUntil(until) => {
                    let seconds = until.as_second() - now.as_second();
                    return Ok(Err(Fault::Throttled(seconds.max(1))));
                }
            };
            let verdict = self.ask(app, token).await;
            if !matches!(verdict, Ok(Err(_))) {
                // accepted, or undecided
                let given_back = throttle.give_back(&place).await;
                given_back.map_err(Problem::from)?;
            }
            if matches!(verdict, Ok(Ok(_))) {
                meters::api_caller("verified");
            }
            verdict
        };
        let verdict = self
            .api_callers
            .verdict::<Problem>(&app.config.id, secret, work)
            .await;
        verdict.map_err(|problem| (*problem).clone().into())
    }

    async fn ask(&self, app: &App, token: &Token) -> Result<Verdict, Problem> {
        let issuers = &app.config.bearer;
        if !token.keystone_only
            && let Some(issuer) = claimed_issuer(token.secret.expose_secret())
            && let Some(provider) = issuers
                .iter()
                .filter_map(|id| self.providers.get(id))
                .find(|provider| provider.client.issuer() == issuer)
        {
            return ask_provider(provider, &token.secret).await;
        }
        if issuers.iter().any(|issuer| issuer == KEYSTONE_BEARER) {
            return self.ask_keystone_about(&token.secret).await;
        }
        Ok(Err(Fault::Invalid(
            "it comes from nobody whose tokens are accepted here",
        )))
    }

    async fn ask_keystone_about(&self, token: &SecretString) -> Result<Verdict, Problem> {
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
        let bearer = Bearer::of_keystone(details, token.clone()).map_err(|error| {
            tracing::error!(%error, "a bearer could not be taken up");
            Problem::internal()
        })?;
        Ok(bearer.ok_or(Fault::Invalid("it belongs to no project")))
    }
}

/// A JWT of a provider, by its keys. Its groups count where a rule names the provider; of roles in
/// projects it says nothing.
async fn ask_provider(provider: &OidcProvider, token: &SecretString) -> Result<Verdict, Problem> {
    let verified = match provider.client.verify_bearer(token).await {
        Ok(verified) => verified,
        Err(portico_oidc::Error::Token(fault)) => {
            tracing::debug!(provider = provider.config.id, %fault, "a bearer was refused");
            return Ok(Err(Fault::Invalid(
                "it is not a valid access token for this audience",
            )));
        }
        Err(error) => return Err(provider.problem(&error)),
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
    Bearer::of_provider(user, identity.methods, of_provider, verified.expires_at)
        .map(Ok)
        .map_err(|error| {
            tracing::error!(%error, "a bearer could not be taken up");
            Problem::internal()
        })
}

/// Watches over what a bearer has open: when it ends, that ends. Keystone can take a token back,
/// and is asked again; a JWT is good until its end.
pub(crate) fn watch(gateway: Shared, bearer: Arc<Bearer>) {
    let live = Arc::clone(bearer.live());
    if live.connections.count() == 0 || !bearer.begins_watch() {
        return;
    }
    let token = bearer.keystone_token();
    tokio::spawn(async move {
        let bound = gateway.stale_bound();
        let mut confirmed = Timestamp::now();
        while live.connections.count() > 0 {
            let now = Timestamp::now();
            let unconfirmed = token.is_some() && now.duration_since(confirmed) > bound;
            if now >= bearer.expires_at || unconfirmed {
                live.connections.end(EndReason::Expired);
                break;
            }
            let wait = bearer.expires_at.duration_since(now).min(ASK_AGAIN);
            tokio::time::sleep(wait.try_into().unwrap_or_default()).await;
            let Some(token) = &token else { continue };
            match gateway.keystone.validate(token).await {
                Ok(_) => confirmed = Timestamp::now(),
                Err(error) if error.is_refusal() => {
                    live.connections.end(EndReason::RefusedByKeystone)
                }
                Err(_) => {}
            }
        }
        bearer.ends_watch();
    });
}

/// Why a good token of Keystone's is no bearer here: what it may do is narrower than what the
/// app would let its project and roles do, or it acts for somebody else.
fn unfit(details: &TokenDetails) -> Option<&'static str> {
    let ruled = details
        .application_credential
        .as_ref()
        .is_some_and(|credential| credential.access_rules.is_some());
    if ruled {
        return Some("its application credential has access rules, which do not name this app");
    }
    if details.trust.is_some() || details.is_oauth {
        return Some("it acts for somebody else (a trust, or OAuth)");
    }
    (details.scope != TokenScope::Project).then_some("it belongs to no project")
}

/// The issuer that a token claims, to know whose keys to try. Nothing else is believed of it.
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

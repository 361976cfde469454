//! `POST /oauth2/backchannel_logout` (OpenID Connect Back-Channel Logout 1.0): a provider reports
//! the end of one of its sessions, or of all sessions of a user.
use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use http::StatusCode;
use portico_oidc::{Error, LogoutToken};
use portico_store::{EndReason, Outcome};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

use crate::{
    audit::Event,
    authentication::extract::FormWithoutCsrf,
    http::{interrupt::Interrupt, security_headers::harden},
    identity_providers::OidcProvider,
    request_context::Context,
    sign_in::SignIn,
};

pub(crate) async fn post(
    State(sign_in): State<Arc<SignIn>>,
    FormWithoutCsrf(mut fields): FormWithoutCsrf,
) -> Result<Response, Interrupt> {
    let token = fields.secret("logout_token");
    let token = token.expose_secret();
    let issuer = unverified_issuer(token);
    let mut last = None;
    // several clients of one issuer may be configured: the audience selects one
    let meant = sign_in
        .providers
        .all()
        .iter()
        .filter(|provider| Some(provider.client.issuer()) == issuer.as_deref());
    for provider in meant {
        match provider.client.verify_logout_token(token).await {
            Ok(verified) => return sign_in.end_sessions(provider, &verified).await,
            Err(error) => last = Some(error),
        }
    }
    Ok(match last {
        Some(Error::Token(fault)) => {
            tracing::warn!(issuer, reason = %fault, "a logout token was refused");
            refused("the logout token was refused")
        }
        Some(error) => {
            // nothing was ended: the provider may retry
            tracing::warn!(issuer, %error, "a logout token could not be checked");
            answer(
                StatusCode::SERVICE_UNAVAILABLE,
                &json!({ "error": "temporarily_unavailable" }),
            )
        }
        None => refused("the logout token is from none of the providers"),
    })
}

impl SignIn {
    async fn end_sessions(
        &self,
        provider: &OidcProvider,
        token: &LogoutToken,
    ) -> Result<Response, Interrupt> {
        let id = &provider.config.id;
        let marks = self.store.logout_marks();
        if !marks.mark(id, &token.id, token.remember_until).await? {
            return Ok(refused("the logout token was used before"));
        }
        let sessions = self
            .store
            .sessions()
            .list_of_provider(
                id,
                token.subject.as_deref(),
                token.session.as_deref(),
                self.clock.now(),
            )
            .await?;
        for session in sessions {
            self.sessions
                .end_session(session.id, EndReason::EndedByProvider)
                .await?;
            let event = Event::new("session.end", Outcome::Succeeded)
                .session(&session)
                .target(id)
                .reason(EndReason::EndedByProvider.as_str());
            self.audit.record(&Context::internal(), event).await;
        }
        Ok(answer(StatusCode::OK, &json!({})))
    }
}

/// Returns the issuer that a token claims, only to select the keys that must verify it.
fn unverified_issuer(token: &str) -> Option<String> {
    let payload = token.split('.').nth(1)?;
    let claims: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).ok()?).ok()?;
    claims.get("iss")?.as_str().map(str::to_owned)
}

fn refused(why: &str) -> Response {
    answer(
        StatusCode::BAD_REQUEST,
        &json!({ "error": "invalid_request", "error_description": why }),
    )
}

fn answer(status: StatusCode, body: &Value) -> Response {
    let mut response = (status, Json(body)).into_response();
    harden(response.headers_mut());
    response
}

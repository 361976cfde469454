//! `POST /oauth2/token`: exchanges codes and refresh tokens for the tokens of a command line.
//! Cookies are not read.
use std::sync::Arc;

use axum::{
    Extension, Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use http::StatusCode;
use jiff::{SignedDuration, Timestamp};
use portico_store::{
    ChildKind, DevicePoll, EndReason, NewChild, Outcome, RefreshGrant, Rotation, Session,
    SessionKind,
};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::json;
use tokio::time::Instant;
use uuid::Uuid;

use super::{CLIENT_ID, ClientApi, pkce};
use crate::{
    audit::Event,
    authentication::extract::FormWithoutCsrf,
    http::{
        access_log, error_response::Problem, forms::Fields, interrupt::Interrupt,
        security_headers::harden,
    },
    metrics::{self, TokenOperation},
    request_context::Context,
};

const ACCESS_TOKEN_TTL: SignedDuration = SignedDuration::from_mins(10);
/// How long the old refresh token stays valid, for a client that never got the response with its
/// new one.
const ROTATION_GRACE: SignedDuration = SignedDuration::from_secs(30);

pub(crate) async fn post(
    State(client_api): State<Arc<ClientApi>>,
    Extension(context): Extension<Context>,
    FormWithoutCsrf(fields): FormWithoutCsrf,
) -> Result<Response, Interrupt> {
    if fields.get("client_id") != CLIENT_ID {
        return Ok(refused("invalid_client", "the client is unknown"));
    }
    match fields.get("grant_type") {
        "authorization_code" => client_api.redeem_code(&context, &fields).await,
        "urn:ietf:params:oauth:grant-type:device_code" => {
            client_api.redeem_device(&context, &fields).await
        }
        "refresh_token" => {
            let started = Instant::now();
            let answer = client_api.redeem_refresh(&context, &fields).await;
            let outcome = match &answer {
                Ok(answer) if answer.status().is_success() => metrics::Outcome::Succeeded,
                Ok(_) => metrics::Outcome::Refused,
                Err(_) => metrics::Outcome::Failed,
            };
            metrics::token(TokenOperation::Refresh, outcome, started);
            answer
        }
        _ => Ok(refused(
            "unsupported_grant_type",
            "this grant type is not offered",
        )),
    }
}

impl ClientApi {
    async fn redeem_code(&self, context: &Context, fields: &Fields) -> Result<Response, Interrupt> {
        let now = self.clock.now();
        let code = self
            .store
            .authorization_codes()
            .redeem(fields.get("code"), now)
            .await?;
        let Some(code) = code else {
            return Ok(refused(
                "invalid_grant",
                "the code is unknown, used or too old",
            ));
        };
        if code.redirect_uri != fields.get("redirect_uri") {
            return Ok(refused("invalid_grant", "the redirect address is another"));
        }
        if !pkce::fits(&code.code_challenge, fields.get("code_verifier")) {
            return Ok(refused("invalid_grant", "the code verifier does not match"));
        }
        self.start_command_line(context, code.session, code.client)
            .await
    }

    async fn redeem_device(
        &self,
        context: &Context,
        fields: &Fields,
    ) -> Result<Response, Interrupt> {
        let polled = self
            .store
            .device_codes()
            .poll(fields.get("device_code"), self.clock.now())
            .await?;
        match polled {
            DevicePoll::Pending => Ok(refused(
                "authorization_pending",
                "the request has not been approved yet",
            )),
            DevicePoll::SlowDown => Ok(refused("slow_down", "poll less often")),
            DevicePoll::Denied => Ok(refused("access_denied", "the request was refused")),
            DevicePoll::Expired => Ok(refused("expired_token", "the code is too old: start again")),
            DevicePoll::Approved { session, request } => {
                self.start_command_line(context, session, request.client)
                    .await
            }
        }
    }

    async fn start_command_line(
        &self,
        context: &Context,
        parent: Uuid,
        client: String,
    ) -> Result<Response, Interrupt> {
        let now = self.clock.now();
        let new = NewChild {
            parent,
            kind: ChildKind::CommandLine(client),
            user_agent: context.user_agent(),
            address: context.address_text(),
        };
        let Some((_, session)) = self.store.sessions().create_child(&new, now).await? else {
            return Ok(refused("invalid_grant", "the approving session has ended"));
        };
        metrics::session_started(session.kind);
        let refresh = self
            .store
            .access_tokens()
            .issue_refresh(session.id, session.absolute_expires_at, now)
            .await?;
        let event = Event::new("cli.sign_in", Outcome::Succeeded)
            .session(&session)
            .target(session.client.as_deref().unwrap_or_default());
        self.audit.record(context, event).await;
        self.tokens(&session, &refresh, now).await
    }

    async fn redeem_refresh(
        &self,
        context: &Context,
        fields: &Fields,
    ) -> Result<Response, Interrupt> {
        let now = self.clock.now();
        let rotation = self
            .store
            .access_tokens()
            .rotate(fields.get("refresh_token"), ROTATION_GRACE, now)
            .await?;
        let RefreshGrant {
            session,
            refresh_token,
        } = match rotation {
            Rotation::Rotated(grant) => grant,
            Rotation::Reused { session } => {
                self.end_reused(context, session).await?;
                return Ok(refused(
                    "invalid_grant",
                    "the refresh token was used before: the session has been ended",
                ));
            }
            Rotation::Unknown => {
                return Ok(refused(
                    "invalid_grant",
                    "the refresh token is unknown or too old",
                ));
            }
        };
        let session = self.store.sessions().get(session).await?;
        match session.filter(|session| session.is_live(now)) {
            Some(session) => self.tokens(&session, &refresh_token, now).await,
            None => Ok(refused("invalid_grant", "the session has ended")),
        }
    }

    async fn end_reused(&self, context: &Context, id: Uuid) -> Result<(), Problem> {
        let session = self.store.sessions().get(id).await?;
        let ended = self
            .store
            .sessions()
            .end(id, EndReason::TokenReuse, self.clock.now())
            .await?;
        metrics::sessions_ended(&ended, EndReason::TokenReuse);
        let mut event =
            Event::new("session.end", Outcome::Succeeded).reason(EndReason::TokenReuse.as_str());
        event.session = session.as_ref();
        self.audit.record(context, event).await;
        Ok(())
    }

    async fn tokens(
        &self,
        session: &Session,
        refresh: &SecretString,
        now: Timestamp,
    ) -> Result<Response, Interrupt> {
        debug_assert_eq!(session.kind, SessionKind::CommandLine);
        access_log::session(session);
        access_log::rule("command_line");
        let ends = session.absolute_expires_at.min(session.keystone_expires_at);
        let expires_at = (now + ACCESS_TOKEN_TTL).min(ends);
        let access = self
            .store
            .access_tokens()
            .issue(session.id, expires_at)
            .await?;
        let mut answer = Json(json!({
            "access_token": access.expose_secret(),
            "token_type": "Bearer",
            "expires_in": expires_at.as_second() - now.as_second(),
            "refresh_token": refresh.expose_secret(),
            "user": session.user.name,
            "domain": session.user.domain.name,
            "session_expires_at": ends.as_second(),
        }))
        .into_response();
        harden(answer.headers_mut());
        Ok(answer)
    }
}

/// Returns an error response in the form of RFC 6749 section 5.2.
pub(super) fn refused(code: &'static str, description: &'static str) -> Response {
    access_log::refused(code);
    let body = Json(json!({ "error": code, "error_description": description }));
    let mut answer = (StatusCode::BAD_REQUEST, body).into_response();
    harden(answer.headers_mut());
    answer
}

//! Authenticates the requests of command lines: by a bearer token, never by a cookie.
use std::sync::Arc;

use axum::{
    extract::{FromRef, FromRequestParts},
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, HeaderValue, header, request::Parts};
use portico_store::SessionKind;
use tokio::time::Instant;
use tracing::Instrument as _;

use super::ClientApi;
use crate::{
    authentication::extract,
    http::{access_log, error_response::Problem, interrupt::Interrupt},
    request_context::Context,
    sessions::live::Caller,
};

/// The user of a command line: the session of the request's bearer token, recently validated by
/// Keystone. Others get 401. Cookies are not read, so that no CSRF token is needed.
pub(crate) struct CommandLineCaller(pub Caller);

impl<S> FromRequestParts<S> for CommandLineCaller
where
    S: Send + Sync,
    Arc<ClientApi>: FromRef<S>,
{
    type Rejection = Interrupt;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Interrupt> {
        let client_api: Arc<ClientApi> = Arc::from_ref(state);
        let context = extract::context(parts)?;
        let caller = client_api.command_line(&context, &parts.headers).await?;
        Ok(Self(caller))
    }
}

impl ClientApi {
    async fn command_line(
        &self,
        context: &Context,
        headers: &HeaderMap,
    ) -> Result<Caller, Interrupt> {
        let Some(token) = bearer(headers) else {
            return Err(unauthorized("Bearer realm=\"portico\""));
        };
        let (now, began) = (self.clock.now(), Instant::now());
        let invalid = || unauthorized("Bearer realm=\"portico\", error=\"invalid_token\"");
        let session = self
            .store
            .access_tokens()
            .find_session(token, now)
            .instrument(tracing::debug_span!("session lookup"))
            .await?
            .filter(|session| session.kind == SessionKind::CommandLine)
            .ok_or_else(invalid)?;
        let caller = self
            .sessions
            .registry
            .caller(session, began)
            .await?
            .ok_or_else(invalid)?;
        self.authentication
            .ensure_valid(context, &caller)
            .await?
            .map_err(|_| invalid())?;
        access_log::caller(&caller);
        self.sessions.registry.note_use_of(&caller, now);
        Ok(caller)
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut lines = headers.get_all(header::AUTHORIZATION).iter();
    let line = lines.next()?.to_str().ok()?;
    if lines.next().is_some() {
        return None;
    }
    let (scheme, token) = line.split_once(' ')?;
    (scheme.eq_ignore_ascii_case("bearer") && token.len() == 43).then_some(token)
}

fn unauthorized(challenge: &'static str) -> Interrupt {
    access_log::refused("signed_out");
    let mut answer: Response = Problem::signed_out().json(&access_log::request_id());
    answer.headers_mut().insert(
        header::WWW_AUTHENTICATE,
        HeaderValue::from_static(challenge),
    );
    Interrupt::Answer(Box::new(answer.into_response()))
}

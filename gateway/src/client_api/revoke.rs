//! `POST /oauth2/revoke` (RFC 7009): ends the command line's session, whichever of its tokens is
//! sent.
use std::sync::Arc;

use axum::{
    Extension,
    extract::State,
    response::{IntoResponse as _, Response},
};
use http::StatusCode;
use portico_store::{EndReason, Outcome};
use secrecy::ExposeSecret as _;

use super::ClientApi;
use crate::{
    audit::Event,
    authentication::extract::FormWithoutCsrf,
    http::{access_log, interrupt::Interrupt, security_headers::harden},
    metrics,
    request_context::Context,
};

pub(crate) async fn post(
    State(client_api): State<Arc<ClientApi>>,
    Extension(context): Extension<Context>,
    FormWithoutCsrf(mut fields): FormWithoutCsrf,
) -> Result<Response, Interrupt> {
    let token = fields.secret("token");
    let tokens = client_api.store.access_tokens();
    if let Some(id) = tokens.session_of_any(token.expose_secret()).await? {
        let sessions = client_api.store.sessions();
        let session = sessions.get(id).await?;
        let ended = sessions
            .end(id, EndReason::SignedOut, client_api.clock.now())
            .await?;
        metrics::sessions_ended(&ended, EndReason::SignedOut);
        if let Some(session) = &session {
            access_log::session(session);
        }
        if !ended.is_empty() {
            let mut event = Event::new("cli.sign_out", Outcome::Succeeded);
            event.session = session.as_ref();
            client_api.audit.record(&context, event).await;
        }
    }
    // the response is the same for text that was never a token
    let mut answer = StatusCode::OK.into_response();
    harden(answer.headers_mut());
    Ok(answer)
}

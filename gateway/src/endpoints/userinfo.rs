//! `GET /oauth2/userinfo`: returns the user of the browser's session.
use std::sync::Arc;

use axum::{
    Extension, Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use http::HeaderMap;
use serde_json::json;

use crate::{
    authentication::Authentication,
    http::{error_response::Problem, interrupt::Interrupt, security_headers::harden},
    request_context::Context,
};

pub(crate) async fn get(
    State(authentication): State<Arc<Authentication>>,
    Extension(context): Extension<Context>,
    headers: HeaderMap,
) -> Result<Response, Interrupt> {
    let Ok(caller) = authentication.lookup(&headers, None).await? else {
        return Err(Problem::signed_out().into());
    };
    if authentication
        .ensure_valid(&context, &caller)
        .await?
        .is_err()
    {
        return Err(Problem::signed_out().into());
    }
    let root = caller.live.root();
    let stale = caller.live.is_stale() || !authentication.sessions.keystone_answers();
    let mut answer = Json(json!({
        "sub": root.user.id,
        "name": root.user.name,
        "domain": root.user.domain,
        "projects": root.projects,
        "auth_methods": root.auth_methods,
        "session_expires_at": root
            .absolute_expires_at
            .min(root.keystone_expires_at)
            .as_second(),
        "keystone": if stale { "stale" } else { "ok" },
    }))
    .into_response();
    harden(answer.headers_mut());
    Ok(answer)
}

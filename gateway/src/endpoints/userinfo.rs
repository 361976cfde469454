//! `GET /oauth2/userinfo`: returns the user of the browser's session.
use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use serde_json::json;

use crate::{
    authentication::{Authentication, extract::SignedInWithoutRedirect},
    http::security_headers::harden,
};

pub(crate) async fn get(
    State(authentication): State<Arc<Authentication>>,
    SignedInWithoutRedirect(caller): SignedInWithoutRedirect,
) -> Response {
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
    answer
}

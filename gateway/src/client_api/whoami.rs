//! `GET /api/v1/whoami`: returns the user, the projects and the expiry of a command line's session.
use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use serde_json::json;

use super::{ClientApi, bearer::CommandLineCaller};
use crate::http::security_headers::harden;

/// Returns whose session the bearer token belongs to. Cookies are not read.
///
/// The body has `user` (`id`, `name`, `domain`), `projects`, `session` (`id`, `expires_at` in
/// RFC 3339) and `keystone` (`ok`, or `stale` while Keystone does not respond). 401 without a valid
/// bearer token.
pub(crate) async fn get(
    State(client_api): State<Arc<ClientApi>>,
    CommandLineCaller(caller): CommandLineCaller,
) -> Response {
    let root = caller.live.root();
    let stale = caller.live.is_stale() || !client_api.sessions.keystone_answers();
    let mut answer = Json(json!({
        "user": { "id": root.user.id, "name": root.user.name, "domain": root.user.domain },
        "projects": root.projects,
        "session": {
            "id": caller.session.id,
            "expires_at": caller.session.expires_at().min(root.expires_at()),
        },
        "keystone": if stale { "stale" } else { "ok" },
    }))
    .into_response();
    harden(answer.headers_mut());
    answer
}

//! `GET /oauth2/userinfo`: returns the user of the browser's session.
use axum::{
    Extension, Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use http::HeaderMap;
use serde_json::json;

use crate::{
    authentication::Interrupt,
    error_response::Problem,
    pages::layout::harden,
    state::{Context, Shared},
};

pub(crate) async fn get(
    State(gateway): State<Shared>,
    Extension(context): Extension<Context>,
    headers: HeaderMap,
) -> Result<Response, Interrupt> {
    let Ok(caller) = gateway.lookup(&headers, None).await? else {
        return Err(Problem::signed_out().into());
    };
    if gateway.ensure_valid(&context, &caller).await?.is_err() {
        return Err(Problem::signed_out().into());
    }
    let root = caller.live.root();
    let stale = caller.live.is_stale() || !gateway.keystone_answers();
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

//! How much a call may send. What is larger is told at once, before anything of it is kept.
use app::error::{UiError, UiErrorKind};
use axum::{
    Json,
    body::{Body, HttpBody},
    extract::Request,
    http::StatusCode,
    middleware::Next,
    response::{IntoResponse, Response},
};
use http_body_util::Limited;

/// Bytes; the largest call, a page's rights questions, has some 20 kB.
const MAX_BODY: usize = 1024 * 1024;

/// Refuses bodies above the limit: by their length where it is known, else while they are read.
pub async fn require(request: Request, next: Next) -> Response {
    if !request.uri().path().starts_with("/api/") {
        return next.run(request).await;
    }
    if request.body().size_hint().lower() > MAX_BODY as u64 {
        return too_large().into_response();
    }
    next.run(request.map(|body| Body::new(Limited::new(body, MAX_BODY))))
        .await
}

fn too_large() -> (StatusCode, Json<UiError>) {
    let error = UiError::new(
        UiErrorKind::Invalid,
        "The request is too large: at most 1 MiB can be sent.",
    )
    .next_step("Send less at a time.");
    (StatusCode::PAYLOAD_TOO_LARGE, Json(error))
}

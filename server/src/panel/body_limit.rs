//! The limit on request bodies. Larger ones are refused at once, before any of the body is stored.
use app::error::{UiError, UiErrorKind};
use axum::{
    Json,
    body::{Body, HttpBody},
    extract::Request,
    http::StatusCode,
    middleware::Next,
    response::{IntoResponse, Response},
};
use http_body_util::{BodyExt, Limited};
use std::time::Duration;

/// Maximum size of a request body, in bytes; the largest call, a page's rights review, has some 20
/// kB.
const MAX_BODY_BYTES: usize = 1024 * 1024;
/// Maximum number of bytes read and discarded of a body that is too large. A client that still
/// sends when the connection closes may never read the response.
const MAX_DISCARDED_BYTES: usize = 64 * MAX_BODY_BYTES;
const DISCARD_TIMEOUT: Duration = Duration::from_secs(5);

/// Refuses bodies above the limit: by their length if it is known, else while they are read.
pub async fn require(request: Request, next: Next) -> Response {
    if !request.uri().path().starts_with("/api/") {
        return next.run(request).await;
    }
    if request.body().size_hint().lower() > MAX_BODY_BYTES as u64 {
        discard(request.into_body()).await;
        return too_large().into_response();
    }
    next.run(request.map(|body| Body::new(Limited::new(body, MAX_BODY_BYTES))))
        .await
}

async fn discard(body: Body) {
    let mut body = Limited::new(body, MAX_DISCARDED_BYTES);
    let all = async { while let Some(Ok(_)) = body.frame().await {} };
    // at either limit the connection is closed, as before
    let _ = tokio::time::timeout(DISCARD_TIMEOUT, all).await;
}

fn too_large() -> (StatusCode, Json<UiError>) {
    let error = UiError::new(
        UiErrorKind::Invalid,
        "The request is too large: at most 1 MiB can be sent.",
    )
    .next_step("Send less at a time.");
    (StatusCode::PAYLOAD_TOO_LARGE, Json(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::{Router, middleware::from_fn, routing::post};
    use futures::stream;
    use std::convert::Infallible;
    use tower::ServiceExt;

    async fn status(path: &str, body: Body) -> StatusCode {
        let read = |body: axum::body::Bytes| async move { body.len().to_string() };
        let router = Router::new()
            .route("/api/call", post(read))
            .route("/other", post(read))
            .layer(from_fn(require));
        let request = Request::post(path).body(body).expect("a request");
        router.oneshot(request).await.expect("an answer").status()
    }

    fn in_pieces(pieces: usize) -> Body {
        let piece = || Ok::<_, Infallible>(vec![b'x'; 64 * 1024]);
        Body::from_stream(stream::iter((0..pieces).map(move |_| piece())))
    }

    #[tokio::test]
    async fn a_call_within_the_limit_passes() {
        let body = Body::from(vec![b'x'; MAX_BODY_BYTES]);
        assert_eq!(status("/api/call", body).await, StatusCode::OK);
        assert_eq!(status("/api/call", in_pieces(16)).await, StatusCode::OK);
    }

    #[tokio::test]
    async fn a_call_above_the_limit_is_reported() {
        let body = Body::from(vec![b'x'; MAX_BODY_BYTES + 1]);
        let answered = status("/api/call", body).await;
        assert_eq!(answered, StatusCode::PAYLOAD_TOO_LARGE);
    }

    #[tokio::test]
    async fn a_call_of_unknown_length_is_cut_off() {
        assert_ne!(status("/api/call", in_pieces(17)).await, StatusCode::OK);
    }

    #[tokio::test]
    async fn what_is_not_a_call_has_no_limit_here() {
        assert_eq!(status("/other", in_pieces(17)).await, StatusCode::OK);
    }
}

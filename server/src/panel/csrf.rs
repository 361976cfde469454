//! CSRF protection: every change carries the token of the session's assertion, in a header from
//! scripts, in a form field without them.
use crate::caller::Caller;
use axum::{
    body::{Body, to_bytes},
    extract::Request,
    http::{Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use subtle::ConstantTimeEq;

const HEADER: &str = "x-csrf-token";
const FIELD: &str = "csrf_token";
/// Maximum size of a form, in bytes; its body is read only to find the token in it.
const MAX_FORM_BYTES: usize = 64 * 1024;

/// Refuses a POST under `/api/` without the token.
pub async fn require(request: Request, next: Next) -> Response {
    let safe = matches!(*request.method(), Method::GET | Method::HEAD);
    if safe || !request.uri().path().starts_with("/api/") {
        return next.run(request).await;
    }
    let Some(expected) = request
        .extensions()
        .get::<Caller>()
        .and_then(|caller| caller.csrf().map(str::to_owned))
    else {
        return refused();
    };
    if let Some(sent) = request.headers().get(HEADER) {
        return if matches(sent.as_bytes(), &expected) {
            next.run(request).await
        } else {
            refused()
        };
    }
    let is_form = request
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded"));
    if !is_form {
        return refused();
    }
    let (parts, body) = request.into_parts();
    let Ok(bytes) = to_bytes(body, MAX_FORM_BYTES).await else {
        return (StatusCode::PAYLOAD_TOO_LARGE, "The form is too large.\n").into_response();
    };
    let found = url::form_urlencoded::parse(&bytes)
        .find(|(name, _)| name == FIELD)
        .is_some_and(|(_, sent)| matches(sent.as_bytes(), &expected));
    if !found {
        return refused();
    }
    next.run(Request::from_parts(parts, Body::from(bytes)))
        .await
}

fn matches(sent: &[u8], expected: &str) -> bool {
    !expected.is_empty() && bool::from(sent.ct_eq(expected.as_bytes()))
}

fn refused() -> Response {
    (
        StatusCode::FORBIDDEN,
        "This form is too old or came from another site. Go back, reload the page and send it \
         again.\n",
    )
        .into_response()
}

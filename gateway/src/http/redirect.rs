//! Redirects, and cookies on responses.
use std::borrow::Cow;

use axum::response::{IntoResponse as _, Response};
use http::{HeaderValue, StatusCode, header};

use super::security_headers::harden;

/// Returns a redirect that turns every method into GET and that is not cached.
pub(crate) fn see_other(location: &str) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    let location: Cow<'_, str> = if location.is_ascii() {
        location.into()
    } else {
        "/".into()
    };
    if let Ok(location) = HeaderValue::try_from(location.as_ref()) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    harden(response.headers_mut());
    response
}

/// Adds a cookie to a response.
pub(crate) fn with_cookie(mut response: Response, cookie: Option<HeaderValue>) -> Response {
    if let Some(cookie) = cookie {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}

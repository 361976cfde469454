//! The HTTP status of an error that a server function returns.
use super::{UiError, UiErrorKind};
use axum::http::{StatusCode, header::ACCEPT, request::Parts};
use leptos::prelude::use_context;
use leptos_axum::ResponseOptions;

/// Sets the status of the response; a form that was sent without scripts is redirected instead.
pub fn set_status(error: &UiError) {
    if let (Some(parts), Some(response)) =
        (use_context::<Parts>(), use_context::<ResponseOptions>())
        && parts.uri.path().starts_with("/api/")
        && !accepts_html(&parts)
    {
        response.set_status(match error.kind {
            UiErrorKind::SignedOut => StatusCode::UNAUTHORIZED,
            UiErrorKind::NotPermitted => StatusCode::FORBIDDEN,
            UiErrorKind::NotFound => StatusCode::NOT_FOUND,
            UiErrorKind::Conflict => StatusCode::CONFLICT,
            UiErrorKind::Invalid => StatusCode::UNPROCESSABLE_ENTITY,
            UiErrorKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            UiErrorKind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        });
    }
}

/// Returns whether the request was sent by a form without scripts, which wants a page.
pub fn accepts_html(parts: &Parts) -> bool {
    parts
        .headers
        .get(ACCEPT)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.contains("text/html"))
}

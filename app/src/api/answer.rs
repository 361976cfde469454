//! Server side of every server function.
use super::notice::FormNotice;
use crate::{
    error::{UiError, UiErrorKind},
    ports::PanelRef,
};
use axum::http::{StatusCode, header::ACCEPT, request::Parts};
use leptos::prelude::use_context;
use leptos_axum::ResponseOptions;

/// Returns the panel of the user of the request.
pub fn panel() -> Result<PanelRef, UiError> {
    use_context::<PanelRef>().ok_or_else(|| {
        UiError::new(UiErrorKind::SignedOut, "Your session has ended.")
            .next_step("Sign in again; you then return to this page.")
    })
}

/// Sets the HTTP status of a refusal, so that programs and logs see it too. Pages that are being
/// rendered and plain forms (which are redirected) keep theirs.
pub fn answer<T>(result: Result<T, UiError>) -> Result<T, UiError> {
    if let Err(error) = &result {
        set_status(error);
    }
    result
}

/// Sets the status of a refusal, see [`answer`].
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

/// Redirects a form that was sent without scripts to `path`, which shows the outcome.
pub fn back_with_notice(path: &str, notice: FormNotice) {
    if use_context::<Parts>().is_some_and(|parts| accepts_html(&parts)) {
        leptos_axum::redirect(&format!("{path}?notice={}", notice.as_str()));
    }
}

/// Redirects a form that was sent without scripts to a part of `path`.
pub fn back_to_part(path: &str, part: &str) {
    if use_context::<Parts>().is_some_and(|parts| accepts_html(&parts)) {
        leptos_axum::redirect(&format!("{path}#{part}"));
    }
}

fn accepts_html(parts: &Parts) -> bool {
    parts
        .headers
        .get(ACCEPT)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.contains("text/html"))
}

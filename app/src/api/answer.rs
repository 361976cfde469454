//! Server side of every server function.
use super::notice::FormNotice;
use crate::error::status::{accepts_html, set_status};
use crate::{
    error::{UiError, UiErrorKind},
    ports::PanelRef,
};
use axum::http::request::Parts;
use leptos::prelude::use_context;

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

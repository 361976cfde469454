//! Errors for requests that are refused because of their content, their sender or their number.
use std::time::Duration;

use http::StatusCode;
use jiff::SignedDuration;
use portico_request::path::PathFault;

use super::Problem;
use crate::http::origin::OriginFault;

impl Problem {
    pub fn bad_path(fault: PathFault) -> Self {
        Self::downstream(
            StatusCode::BAD_REQUEST,
            "bad_path",
            "This address is ambiguous",
            format!("The request was refused: {fault}."),
        )
    }

    pub fn bad_request(detail: impl Into<String>) -> Self {
        Self::downstream(
            StatusCode::BAD_REQUEST,
            "bad_request",
            "Invalid request",
            detail,
        )
    }

    pub fn foreign_origin(fault: OriginFault) -> Self {
        Self::downstream(
            StatusCode::FORBIDDEN,
            "foreign_origin",
            "This request came from another page",
            format!("To keep other sites from acting in your name, it was refused: {fault}."),
        )
    }

    pub fn csrf() -> Self {
        Self::downstream(
            StatusCode::FORBIDDEN,
            "csrf",
            "This form is out of date",
            "It belongs to another session or an older page. Go back, reload the page and try again.",
        )
    }

    pub fn signed_out() -> Self {
        Self::downstream(
            StatusCode::UNAUTHORIZED,
            "signed_out",
            "You are not signed in",
            "Sign in and try again.",
        )
    }

    pub fn not_found() -> Self {
        Self::downstream(
            StatusCode::NOT_FOUND,
            "not_found",
            "There is nothing here",
            "Check the address.",
        )
    }

    /// Returns the problem for an app under a path that registers a service worker, which would
    /// intercept the whole host.
    pub fn service_worker(name: &str) -> Self {
        Self::downstream(
            StatusCode::FORBIDDEN,
            "service_worker",
            "Service worker refused",
            format!(
                "A service worker at this address would control more than {name}. Its script must \
                 be below the path of {name}."
            ),
        )
    }

    pub fn method_not_allowed() -> Self {
        Self::downstream(
            StatusCode::METHOD_NOT_ALLOWED,
            "method_not_allowed",
            "Method not allowed",
            "This address does not support the request's method.",
        )
    }

    /// Returns the problem for a user who sends `name` more requests than its limit.
    pub fn too_many_requests(name: &str, wait: Duration) -> Self {
        let seconds = u16::try_from(wait.as_secs() + 1).unwrap_or(u16::MAX);
        Self {
            retry_after: Some(seconds),
            ..Self::downstream(
                StatusCode::TOO_MANY_REQUESTS,
                "rate_limited",
                "Too many requests",
                format!(
                    "You sent more requests to {name} than its limit allows. Try again in \
                     {seconds} s; you are still signed in."
                ),
            )
        }
        .leads_to("Try again", "")
    }

    /// Returns the problem for too many attempts of a kind from one client.
    pub fn throttled(
        title: impl Into<String>,
        detail: impl std::fmt::Display,
        wait: SignedDuration,
    ) -> Self {
        let seconds = wait.as_secs().max(1);
        Self {
            retry_after: Some(u16::try_from(seconds).unwrap_or(u16::MAX)),
            ..Self::downstream(
                StatusCode::TOO_MANY_REQUESTS,
                "throttled",
                title,
                format!("{detail} Wait {seconds} seconds, then try again."),
            )
        }
    }
}

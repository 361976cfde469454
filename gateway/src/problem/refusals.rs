//! Requests that are refused because of what they are, who sends them or how many there are.
use std::time::Duration;

use http::StatusCode;
use jiff::SignedDuration;

use super::Problem;
use crate::{access::origin::OriginFault, proxy::path::PathFault};

/// The code of a session that its provider has ended.
pub(crate) const REFUSED_BY_PROVIDER: &str = "refused_by_provider";

impl Problem {
    pub fn bad_path(fault: PathFault) -> Self {
        Self::downstream(
            StatusCode::BAD_REQUEST,
            "bad_path",
            "This address cannot be read in one way only",
            format!("The request was refused: {fault}."),
        )
    }

    pub fn bad_request(detail: impl Into<String>) -> Self {
        Self::downstream(
            StatusCode::BAD_REQUEST,
            "bad_request",
            "This request does not make sense",
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

    /// An app under a path asks the browser for a service worker that would see all of the host.
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
            "This address answers other methods",
            "The request's method is not one that works here.",
        )
    }

    /// The session's provider does not vouch for it any more.
    pub fn refused_by_provider() -> Self {
        Self::downstream(
            StatusCode::UNAUTHORIZED,
            REFUSED_BY_PROVIDER,
            "You are not signed in",
            "The provider that you signed in with has not prolonged your session. Sign in again.",
        )
    }

    /// Somebody sends `name` more requests than they may.
    pub fn too_many_requests(name: &str, wait: Duration) -> Self {
        let seconds = u16::try_from(wait.as_secs() + 1).unwrap_or(u16::MAX);
        Self {
            retry_after: Some(seconds),
            ..Self::downstream(
                StatusCode::TOO_MANY_REQUESTS,
                "rate_limited",
                "Too many requests",
                format!(
                    "More requests for {name} came from you than it takes. Try again in \
                     {seconds} s; you are still signed in."
                ),
            )
        }
        .leads_to("Try again", "")
    }

    /// Too many attempts of a kind came from one client.
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

//! What went wrong with a request, and the one place where that becomes an answer.
use std::{sync::Arc, time::Duration};

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use jiff::SignedDuration;
use portico_openstack::keystone;
use portico_store::StoreError;
use serde_json::json;

use crate::{
    access::origin::OriginFault,
    pages::{layout::harden, problem},
    proxy::{forward::ForwardError, path::PathFault, rewrite::RewriteFault},
};

/// Where the cause lies; what people on call ask first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Downstream,
    Upstream,
    Internal,
}

/// The code of a session that its provider has ended.
pub(crate) const REFUSED_BY_PROVIDER: &str = "refused_by_provider";

/// A refusal or failure, in the words of whom it concerns.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub status: StatusCode,
    /// For programs.
    pub code: &'static str,
    pub title: String,
    pub detail: String,
    pub source: Source,
    /// In seconds.
    pub retry_after: Option<u16>,
    /// What the person can do, one step a line; the page lists them.
    pub steps: Vec<String>,
    /// The page's button, where it is not the way home.
    pub leads_to: Option<Box<Link>>,
    /// The rule of an app that refuses.
    pub rule: Option<Arc<str>>,
}

/// A button of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub label: &'static str,
    pub href: String,
}

impl Problem {
    fn new(
        status: StatusCode,
        code: &'static str,
        source: Source,
        title: impl Into<String>,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            status,
            code,
            title: title.into(),
            detail: detail.into(),
            source,
            retry_after: None,
            steps: Vec::new(),
            leads_to: None,
            rule: None,
        }
    }

    /// Says what can be done about it.
    pub fn steps<S: Into<String>>(mut self, steps: impl IntoIterator<Item = S>) -> Self {
        self.steps = steps.into_iter().map(Into::into).collect();
        self
    }

    /// Gives the page a button that leads elsewhere than home.
    pub fn leads_to(mut self, label: &'static str, href: impl Into<String>) -> Self {
        self.leads_to = Some(Box::new(Link {
            label,
            href: href.into(),
        }));
        self
    }

    pub fn downstream(
        status: StatusCode,
        code: &'static str,
        title: impl Into<String>,
        detail: impl Into<String>,
    ) -> Self {
        Self::new(status, code, Source::Downstream, title, detail)
    }

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

    /// Any failure of the store: no user is signed out by it.
    pub fn store_unavailable(error: &StoreError) -> Self {
        Self {
            retry_after: Some(2),
            ..Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "store_unavailable",
                Source::Internal,
                "Portico cannot reach its database",
                format!(
                    "It {}. Your session has not ended. Try again in a moment; if it lasts, tell \
                     your cloud's administrators.",
                    error.cause().for_users()
                ),
            )
        }
        .steps([
            "What your clusters run goes on, and so does kubectl for people who are signed in.",
            "Nothing that you had entered was changed. Reload this page to try again.",
        ])
        .leads_to("Try again", "")
    }

    /// A failure of Keystone's that is known.
    pub fn keystone_unavailable_by(error: &keystone::Error) -> Self {
        let mut problem = Self::keystone_unavailable();
        problem.detail = format!("Keystone {}. {}", error.for_users(), problem.detail);
        problem
    }

    pub fn keystone_unavailable() -> Self {
        Self {
            retry_after: Some(5),
            ..Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "keystone_unavailable",
                Source::Upstream,
                "Keystone does not answer",
                "Portico cannot check who may do what right now. You have not been signed out. Try again in a moment.",
            )
        }
        .steps([
            "What your clusters run goes on. Sessions go on for some minutes with the roles that \
             Keystone named last; nobody can sign in anew.",
            "If it lasts, tell your cloud's administrators: it is Keystone that does not answer.",
        ])
        .leads_to("Try again", "")
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

    /// A provider that people sign in with does not answer, or not as it should.
    pub fn provider_unavailable(name: &str, outage: bool) -> Self {
        let detail = if outage {
            format!("Nobody can sign in with {name} right now. Nobody is signed out by it.")
        } else {
            format!(
                "Portico and {name} do not understand each other. Portico's administrators find \
                 the reason in its log. Nobody is signed out by it."
            )
        };
        Self {
            retry_after: Some(5),
            ..Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "provider_unavailable",
                Source::Upstream,
                format!("{name} does not answer"),
                detail,
            )
        }
        .steps([
            format!("If it lasts, tell your administrators that {name} cannot be used."),
            "Other ways to sign in go on working.".to_owned(),
        ])
        .leads_to("Sign in another way", "/oauth2/sign_in")
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

    /// More requests wait for an answer than may.
    pub fn busy() -> Self {
        Self {
            retry_after: Some(1),
            ..Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "busy",
                Source::Internal,
                "Portico has too much to do",
                "Too many requests wait for an answer. Try again in a moment; you are still signed in.",
            )
        }
        .leads_to("Try again", "")
    }

    pub fn internal() -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            Source::Internal,
            "Portico made a mistake",
            "The administrators find the cause under the request ID below.",
        )
    }

    /// A request that did not come back from `name`.
    pub fn forwarding(name: &str, error: &ForwardError) -> Self {
        let upstream = |status, code, detail: String| {
            Self::new(
                status,
                code,
                Source::Upstream,
                format!("{name} does not answer"),
                detail,
            )
        };
        match error {
            ForwardError::TooLarge => Self::downstream(
                StatusCode::PAYLOAD_TOO_LARGE,
                "too_large",
                "This is too large",
                format!("The request is larger than what may be sent to {name}."),
            ),
            ForwardError::HeadersTooLarge => Self::downstream(
                StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
                "headers_too_large",
                "This request carries too much",
                "Its headers are larger than accepted. Deleting this site's cookies often helps.",
            ),
            ForwardError::BadUpgrade | ForwardError::Target(_) => {
                Self::bad_request(format!("It was refused: {error}."))
            }
            ForwardError::Rewrite(RewriteFault::Elsewhere) => Self::not_found(),
            ForwardError::Rewrite(RewriteFault::Path(fault)) => Self::bad_path(*fault),
            ForwardError::Rewrite(fault @ RewriteFault::Unfit) => {
                Self::bad_request(format!("It was refused: {fault}."))
            }
            ForwardError::ClientTimeout(_) => Self::downstream(
                StatusCode::REQUEST_TIMEOUT,
                "request_timeout",
                "This request came to a halt",
                "Nothing more of it has arrived for too long. Send it again.",
            ),
            ForwardError::NoSockets => Self::downstream(
                StatusCode::NOT_IMPLEMENTED,
                "no_websockets",
                "There are no WebSockets here",
                format!("{name} is spoken to in HTTP/2 only, which carries none here."),
            ),
            ForwardError::NoneHealthy => Self {
                retry_after: Some(5),
                ..upstream(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "upstream_unhealthy",
                    format!("No server of {name} works right now. You are still signed in."),
                )
            },
            ForwardError::SessionEnded => Self::signed_out(),
            ForwardError::Connect(_) => upstream(
                StatusCode::BAD_GATEWAY,
                "upstream_unreachable",
                format!("No connection to {name} can be made. You are still signed in."),
            ),
            ForwardError::AnswerTooLarge => upstream(
                StatusCode::BAD_GATEWAY,
                "upstream_broken",
                format!("{name} answered in a way that is not accepted. You are still signed in."),
            ),
            ForwardError::Broken(_) | ForwardError::UnaskedSwitch => upstream(
                StatusCode::BAD_GATEWAY,
                "upstream_broken",
                format!("{name} broke off in the middle. You are still signed in."),
            ),
            ForwardError::Timeout(after) => upstream(
                StatusCode::GATEWAY_TIMEOUT,
                "upstream_timeout",
                format!(
                    "{name} has said nothing for {} seconds. You are still signed in.",
                    after.as_secs()
                ),
            ),
        }
    }

    /// The answer: a page for somebody who opens one, JSON for everything else.
    pub fn respond(&self, navigation: bool, request_id: &str) -> Response {
        let mut response = if navigation {
            problem::page(self, request_id).into_response()
        } else {
            let mut body = json!({
                "error": self.code,
                "message": self.detail,
                "request_id": request_id,
            });
            if let Some(rule) = &self.rule {
                body["rule"] = json!(rule);
            }
            if !self.steps.is_empty() {
                body["steps"] = json!(self.steps);
            }
            let mut response = (self.status, axum::Json(body)).into_response();
            harden(response.headers_mut());
            response
        };
        if let Some(seconds) = self.retry_after {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// The dispatcher knows who asks, and turns this into a page or JSON.
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_openstack::keystone::error::Unavailable;

    #[test]
    fn finding_o3_an_outage_page_names_the_cause_in_words_for_users() {
        let error = StoreError::Uninitialised;
        let problem = Problem::store_unavailable(&error);
        assert!(
            problem.detail.contains("has come back empty"),
            "{}",
            problem.detail
        );
        assert!(problem.detail.contains("Your session has not ended"));
        let error = keystone::Error::Unavailable(Unavailable::Timeout);
        let problem = Problem::keystone_unavailable_by(&error);
        let detail = &problem.detail;
        assert!(
            detail.starts_with("Keystone did not answer in time."),
            "{detail}"
        );
        assert!(!detail.contains("keystone.url"), "{detail}");
    }
}

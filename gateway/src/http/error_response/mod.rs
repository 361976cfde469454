//! Errors of requests, and their conversion into responses.
mod conversions;
mod outages;
mod refusals;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde_json::json;

use super::{access_log, security_headers::harden};

/// Where the cause of an error lies, which is what on-call operators need first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Downstream,
    Upstream,
    Internal,
}

/// A refusal or failure, described for the user concerned.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub status: StatusCode,
    /// The error code, for programs.
    pub code: &'static str,
    pub title: String,
    pub detail: String,
    pub source: Source,
    /// In seconds.
    pub retry_after: Option<u16>,
    /// What the user can do, one step per line; the page lists them.
    pub steps: Vec<String>,
    /// The page's button, if it does not lead to the home page.
    pub leads_to: Option<Box<Link>>,
    /// The app's rule that refuses the request.
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

    /// Adds what the user can do.
    pub fn steps<S: Into<String>>(mut self, steps: impl IntoIterator<Item = S>) -> Self {
        self.steps = steps.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the page's button, if it does not lead to the home page.
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

    /// Returns the response for programs.
    pub fn json(&self, request_id: &str) -> Response {
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
        self.add_retry_after(&mut response);
        response
    }

    /// Adds `Retry-After` to a response, if the problem has one.
    pub fn add_retry_after(&self, response: &mut Response) {
        if let Some(seconds) = self.retry_after {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
    }
}

/// Renders the problem for programs, with the ID of the request that is being handled. The dispatcher
/// returns a page instead to a browser that opens one.
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let request_id = access_log::request_id();
        let mut response = self.json(&request_id);
        response.extensions_mut().insert(self);
        response
    }
}

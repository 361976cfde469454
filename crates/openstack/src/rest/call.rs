//! One call to a service: headers, limits, and which failures may have had an effect.
use super::answer::Answer;
use super::client::{RestClient, ScopedToken};
use super::error::{Effect, Error, ErrorKind};
use super::metrics;
use super::options::Authentication;
use super::service::Service;
use crate::http::{AUTH_TOKEN, secret_header};
use crate::keystone::error::Unavailable;
use futures::future::BoxFuture;
use portico_transport::TransportFault;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Method, StatusCode, Url};
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::time::Duration;
use tokio::time::Instant;
use tracing::Instrument as _;
use url::form_urlencoded::byte_serialize;

/// The header that asks for a microversion.
const API_VERSION: HeaderName = HeaderName::from_static("openstack-api-version");
/// The header with the reason of a change, form-encoded.
pub const REASON: HeaderName = HeaderName::from_static("portico-reason");
/// Maximum size of a response body, in bytes: a page of 500 entries of 4 KiB is half of it.
const MAX_BODY_BYTES: usize = 4 * 1024 * 1024;
/// Maximum size of a request body, in bytes: a cluster with labels has a few KiB.
const MAX_REQUEST_BYTES: usize = 64 * 1024;

/// A call.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// Its name in logs and metrics.
    pub operation: &'static str,
    pub method: Method,
    /// The path below the service's base.
    pub path: String,
    pub query: Vec<(&'static str, String)>,
    /// The value of `OpenStack-API-Version`, with the service's type.
    pub version: Option<String>,
    pub body: Option<Value>,
    /// Whether the service waits for another one before it answers.
    pub is_slow: bool,
}

impl Call {
    /// Returns a call without query, version and body.
    pub fn new(operation: &'static str, method: Method, path: impl Into<String>) -> Self {
        Self {
            operation,
            method,
            path: path.into(),
            query: Vec::new(),
            version: None,
            body: None,
            is_slow: false,
        }
    }

    /// Returns a call that reads.
    pub fn get(operation: &'static str, path: impl Into<String>) -> Self {
        Self::new(operation, Method::GET, path)
    }

    /// Returns the call with a JSON body.
    pub fn with_body(mut self, body: Value) -> Self {
        self.body = Some(body);
        self
    }

    /// Returns the call with one more argument in its query.
    pub fn with_query(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.query.push((name, value.into()));
        self
    }

    fn is_change(&self) -> bool {
        self.method != Method::GET
    }
}

impl RestClient {
    /// Sends a call to `service`, and interprets its answer.
    ///
    /// # Errors
    /// If there is no endpoint or no answer, and those of `understand`.
    pub(crate) async fn run<T>(
        &self,
        service: Service,
        token: &ScopedToken,
        call: Call,
        understand: impl FnOnce(&Answer) -> Result<T, ErrorKind>,
    ) -> Result<T, Error> {
        let base = self.base(service, call.operation, token)?;
        let mut url = base.clone();
        url.set_path(&format!("{}/{}", base.path(), call.path));
        self.run_at(service, url, Some(&token.token), call, understand)
            .await
    }

    /// Reads one object.
    ///
    /// # Errors
    /// As [`Self::run`], and [`ErrorKind::Malformed`] for unexpected content.
    pub(crate) async fn read<T: DeserializeOwned>(
        &self,
        service: Service,
        token: &ScopedToken,
        call: Call,
    ) -> Result<T, Error> {
        self.run(service, token, call, |answer| {
            answer.json(&[StatusCode::OK])
        })
        .await
    }

    /// Sends a call to a URL of `service`, with or without a token.
    ///
    /// # Errors
    /// If there is no answer, and those of `understand`.
    pub(crate) async fn run_at<T>(
        &self,
        service: Service,
        mut url: Url,
        token: Option<&SecretString>,
        call: Call,
        understand: impl FnOnce(&Answer) -> Result<T, ErrorKind>,
    ) -> Result<T, Error> {
        if !call.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&call.query);
        }
        let operation = call.operation;
        let started = Instant::now();
        let sent = self.exchange(service, url, token, &call).await;
        let (status, request_id, result) = match sent {
            Ok(answer) => {
                let status = Some(answer.status.as_u16());
                (status, answer.request_id.clone(), understand(&answer))
            }
            Err(kind) => (None, None, Err(kind)),
        };
        let result = result.map_err(|kind| Error {
            effect: effect(&call, &kind),
            kind: without_token(kind, token),
            request_id,
            status,
            ..Error::new(service, operation, ErrorKind::InvalidToken)
        });
        report(service, operation, started.elapsed(), result.as_ref().err());
        result
    }

    /// Sends a call. The future is an object, and so compiled here only: those of asynchronous functions are compiled again
    /// by each package that waits for them.
    fn exchange<'a>(
        &'a self,
        service: Service,
        url: Url,
        token: Option<&'a SecretString>,
        call: &'a Call,
    ) -> BoxFuture<'a, Result<Answer, ErrorKind>> {
        let span = tracing::debug_span!(
            "openstack",
            otel.kind = "client",
            peer.service = service.as_str(),
            operation = call.operation
        );
        Box::pin(self.send(service, url, token, call).instrument(span))
    }

    async fn send(
        &self,
        service: Service,
        url: Url,
        token: Option<&SecretString>,
        call: &Call,
    ) -> Result<Answer, ErrorKind> {
        let timeout = if call.is_slow || call.is_change() {
            self.options.change_timeout
        } else {
            self.options.timeout
        };
        let started = Instant::now();
        let slots = self.slots(service);
        let limited = |_| ErrorKind::Unavailable(Unavailable::Limited);
        let _slot = match slots {
            Some(slots) => {
                let waiting = tokio::time::timeout(timeout, slots.acquire());
                Some(waiting.await.map_err(limited)?)
            }
            None => None,
        };
        let left = |started: Instant| timeout.saturating_sub(started.elapsed());
        let result = self
            .send_once(url.clone(), token, call, left(started))
            .await;
        match result {
            // a reused connection that the server has just closed; what reads may be repeated
            Err(ErrorKind::Unavailable(Unavailable::Broken)) if !call.is_change() => {
                self.send_once(url, token, call, left(started)).await
            }
            result => result,
        }
    }

    async fn send_once(
        &self,
        url: Url,
        token: Option<&SecretString>,
        call: &Call,
        timeout: Duration,
    ) -> Result<Answer, ErrorKind> {
        let mut request = self
            .http
            .request(call.method.clone(), url)
            .timeout(timeout)
            .header(ACCEPT, "application/json");
        if let Some(token) = token {
            let value = secret_header(token).ok_or(ErrorKind::InvalidToken)?;
            request = match &self.options.authentication {
                Authentication::Keystone => request.header(AUTH_TOKEN, value),
                Authentication::Gateway { .. } => request.bearer_auth(token.expose_secret()),
            };
        }
        if let Authentication::Gateway {
            reason: Some(reason),
        } = &self.options.authentication
            && call.is_change()
        {
            // a header's value has no place for every character
            let reason: String = byte_serialize(reason.as_bytes()).collect();
            request = request.header(REASON, reason);
        }
        if let Some(version) = &call.version {
            let version = HeaderValue::from_str(version);
            let version = version.map_err(|_| ErrorKind::Malformed("a version"))?;
            request = request.header(API_VERSION, version);
        }
        if let Some(body) = &call.body {
            let invalid = |reason: &str| ErrorKind::Invalid(reason.to_owned());
            let body = serde_json::to_vec(body).map_err(|_| invalid("it is not JSON"))?;
            if body.len() > MAX_REQUEST_BYTES {
                return Err(invalid("it is longer than 64 KiB"));
            }
            request = request.header(CONTENT_TYPE, "application/json").body(body);
        }
        let mut response = request.send().await.map_err(|error| transport(&error))?;
        let (status, headers) = (response.status(), response.headers().clone());
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| transport(&error))? {
            if body.len() + chunk.len() > MAX_BODY_BYTES {
                return Err(ErrorKind::Malformed("it is longer than 4 MiB"));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Answer::new(status, &headers, body))
    }
}

/// Records a call, and logs its failure unless the service has refused it.
fn report(service: Service, operation: &'static str, took: Duration, error: Option<&Error>) {
    metrics::record(service, operation, took, error);
    if let Some(error) = error
        && !error.is_refusal()
    {
        let next_step = error.next_step();
        tracing::warn!(operation, %error, next_step, "call to an OpenStack service failed");
    }
}

fn transport(error: &reqwest::Error) -> ErrorKind {
    ErrorKind::Unavailable(if error.is_connect() {
        Unavailable::Connect(TransportFault::of(error))
    } else if error.is_timeout() {
        Unavailable::Timeout
    } else {
        Unavailable::Broken
    })
}

/// Returns whether a failed call may have changed something. Gateways answer 503 when they have
/// not passed a request on, and 502 or 504 when they have.
fn effect(call: &Call, kind: &ErrorKind) -> Effect {
    let is_unknown = match kind {
        ErrorKind::Unavailable(Unavailable::Timeout | Unavailable::Broken) => true,
        ErrorKind::Unavailable(Unavailable::Status(status)) => !matches!(status, 429 | 503),
        ErrorKind::Fault { .. } | ErrorKind::Malformed(_) => true,
        _ => false,
    };
    match call.is_change() && is_unknown {
        true => Effect::Unknown,
        false => Effect::None,
    }
}

/// Returns the error without the token, should the service's message quote it.
fn without_token(kind: ErrorKind, token: Option<&SecretString>) -> ErrorKind {
    let Some(token) = token.map(ExposeSecret::expose_secret) else {
        return kind;
    };
    let clean = |message: String| match message.contains(token) {
        true => message.replace(token, "[token]"),
        false => message,
    };
    match kind {
        ErrorKind::Forbidden(message) => ErrorKind::Forbidden(clean(message)),
        ErrorKind::QuotaExceeded(message) => ErrorKind::QuotaExceeded(clean(message)),
        ErrorKind::NotFound(message) => ErrorKind::NotFound(clean(message)),
        ErrorKind::Conflict(message) => ErrorKind::Conflict(clean(message)),
        ErrorKind::Invalid(message) => ErrorKind::Invalid(clean(message)),
        ErrorKind::Fault { status, message } => ErrorKind::Fault {
            status,
            message: clean(message),
        },
        other => other,
    }
}

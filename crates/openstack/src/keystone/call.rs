//! One call to Keystone: choice of endpoint, retries and time limits.
use super::answer::Answer;
use super::client::Client;
use super::endpoints::Endpoint;
use super::error::{Error, Unavailable};
use super::metrics;
use crate::http::{AUTH_TOKEN, secret_header};
use futures::future::BoxFuture;
use reqwest::header::{CONTENT_TYPE, DATE, HeaderMap, HeaderName, RETRY_AFTER};
use reqwest::{Method, StatusCode};
use secrecy::SecretString;
use serde_json::Value;
use std::borrow::Cow;
use std::time::Duration;
use tokio::time::Instant;
use tracing::Instrument as _;

pub(super) const SUBJECT_TOKEN: HeaderName = HeaderName::from_static("x-subject-token");
pub(super) const RECEIPT: HeaderName = HeaderName::from_static("openstack-auth-receipt");
/// Maximum size of a response body, in bytes. Responses without a catalogue are under 2 KiB; a user
/// with a thousand projects needs 500 KiB, and a project with five thousand role assignments less
/// than this.
const MAX_BODY_BYTES: usize = 4 * 1024 * 1024;
/// Maximum size of a request body, in bytes: Keystone limits a name to 255 characters, so a longer
/// body is a mistake or an attack.
const MAX_REQUEST_BYTES: usize = 64 * 1024;

/// A call.
pub(super) struct Call {
    /// Its name in logs and metrics.
    pub operation: &'static str,
    pub method: Method,
    /// The path below `/v3`.
    pub path: String,
    pub query: Option<Cow<'static, str>>,
    pub headers: HeaderMap,
    pub body: Option<Value>,
}

impl Client {
    pub(super) async fn run<T>(
        &self,
        call: Call,
        understand: impl FnOnce(Answer) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let operation = call.operation;
        let started = Instant::now();
        let result = self.answer_to(&call).await.and_then(understand);
        report(operation, started.elapsed(), result.as_ref().err());
        result
    }

    /// Sends a call. The future is an object, and so compiled here only: those of asynchronous functions are compiled again
    /// by each package that waits for them.
    fn answer_to<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Answer, Error>> {
        let operation = call.operation;
        let span = tracing::debug_span!("keystone", otel.kind = "client", operation);
        Box::pin(self.ask(call).instrument(span))
    }

    /// Returns the response of the first endpoint that responds; all of them within the timeout.
    async fn ask(&self, call: &Call) -> Result<Answer, Error> {
        let deadline = Instant::now() + self.timeout;
        let timeout = |_| Error::Unavailable(Unavailable::Timeout);
        let waiting = tokio::time::timeout(self.timeout, self.calls.acquire());
        let _under_way = waiting.await.map_err(timeout)?;
        let mut last = Err(Error::Unavailable(Unavailable::NotAsked));
        for (endpoint, behind) in self.endpoints.admitted() {
            let left = deadline.saturating_duration_since(Instant::now());
            // the remaining time is shared with the endpoints behind
            let share = left / u32::try_from(behind + 1).unwrap_or(u32::MAX);
            last = self.ask_one(endpoint, call, share).await;
            if behind == 0 || !worth_another(call, &last) {
                break;
            }
        }
        last
    }

    async fn ask_one(
        &self,
        endpoint: &Endpoint,
        call: &Call,
        timeout: Duration,
    ) -> Result<Answer, Error> {
        let result = self.send_with_retry(endpoint, call, timeout).await;
        match &result {
            Ok(answer) => {
                let failed = answer.outage();
                endpoint.learn(failed.as_ref().map_or(Ok(()), Err), answer.retry_after);
            }
            Err(error) => endpoint.learn(Err(error), None),
        }
        result
    }

    /// Sends a call, again if a reused connection turns out to be closed. That is harmless for all
    /// but `POST`, which could leave an unknown token.
    async fn send_with_retry(
        &self,
        endpoint: &Endpoint,
        call: &Call,
        timeout: Duration,
    ) -> Result<Answer, Error> {
        let started = Instant::now();
        match self.send(endpoint, call, timeout).await {
            Err(Error::Unavailable(Unavailable::Broken)) if call.is_repeatable() => {
                let left = timeout.saturating_sub(started.elapsed());
                self.send(endpoint, call, left).await
            }
            result => result,
        }
    }

    async fn send(
        &self,
        endpoint: &Endpoint,
        call: &Call,
        timeout: Duration,
    ) -> Result<Answer, Error> {
        let mut request = self
            .http
            .request(
                call.method.clone(),
                endpoint.url(&call.path, call.query.as_deref()),
            )
            .timeout(timeout)
            .headers(call.headers.clone());
        if let Some(body) = &call.body {
            let body = serde_json::to_vec(body).map_err(|_| Error::BadRequest)?;
            if body.len() > MAX_REQUEST_BYTES {
                return Err(Error::BadRequest);
            }
            request = request.header(CONTENT_TYPE, "application/json").body(body);
        }
        let asked = self.clock.now();
        let transport = |error: reqwest::Error| Error::from_transport(&error);
        let mut response = request.send().await.map_err(transport)?;
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(transport)? {
            if body.len() + chunk.len() > MAX_BODY_BYTES {
                return Err(Error::Malformed("answer too long"));
            }
            body.extend_from_slice(&chunk);
        }
        let secret = |name: &HeaderName| {
            let value = response.headers().get(name)?.to_str().ok()?;
            (!value.is_empty()).then(|| SecretString::from(value))
        };
        let date = response.headers().get(DATE);
        if let Some(date) = date.and_then(|value| value.to_str().ok()) {
            self.skew.learn(date, asked, self.clock.now());
        }
        let retry_after = response.headers().get(RETRY_AFTER);
        Ok(Answer {
            status: response.status(),
            retry_after: retry_after
                .and_then(|value| value.to_str().ok()?.parse().ok())
                .map(Duration::from_secs),
            subject_token: secret(&SUBJECT_TOKEN),
            receipt: secret(&RECEIPT),
            body,
        })
    }
}

/// Records a call, and logs its failure unless Keystone has refused it.
fn report(operation: &'static str, took: Duration, error: Option<&Error>) {
    metrics::record(operation, took, error);
    match error {
        // one line reports that it is gone; one for each of a thousand callers adds nothing
        None | Some(Error::Unavailable(Unavailable::NotAsked)) => {}
        Some(error) if !error.is_refusal() => {
            let next_step = error.next_step();
            tracing::warn!(operation, %error, next_step, "keystone call failed");
        }
        Some(_) => {}
    }
}

impl Call {
    fn is_repeatable(&self) -> bool {
        self.method != Method::POST
    }
}

/// Returns whether another endpoint may get the same call. A `POST` that may have created a token
/// is not sent again: the first one would remain unknown.
fn worth_another(call: &Call, result: &Result<Answer, Error>) -> bool {
    match result {
        Ok(answer) => {
            answer.outage().is_some()
                && (call.is_repeatable() || answer.status != StatusCode::GATEWAY_TIMEOUT)
        }
        Err(Error::Unavailable(Unavailable::Connect(_))) => true,
        Err(Error::Unavailable(_)) => call.is_repeatable(),
        Err(_) => false,
    }
}

/// Returns headers with the token as both requesting token and subject.
pub(super) fn own_token(token: &SecretString) -> Result<HeaderMap, Error> {
    let mut headers = asking_token(token)?;
    let value = secret_header(token).ok_or(Error::InvalidToken)?;
    headers.insert(SUBJECT_TOKEN, value);
    Ok(headers)
}

/// Returns headers with the requesting token.
pub(super) fn asking_token(token: &SecretString) -> Result<HeaderMap, Error> {
    let value = secret_header(token).ok_or(Error::InvalidToken)?;
    Ok(HeaderMap::from_iter([(AUTH_TOKEN, value)]))
}

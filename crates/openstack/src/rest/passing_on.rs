//! Calls of another client that are passed on to a service: with its limits and the token of the user,
//! and with whatever the service answers.
use super::answer::Answer;
use super::call::Call;
use super::client::{RestClient, ScopedToken};
use super::error::Error;
use super::fault;
use super::microversion::VersionRange;
use super::service::Service;
use reqwest::{Method, StatusCode};
use secrecy::ExposeSecret as _;
use serde_json::Value;

/// A call that was read from a request and checked. What is not here is not passed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassedCall {
    pub service: Service,
    /// Its name in logs and metrics.
    pub operation: &'static str,
    pub method: Method,
    pub path: PassedPath,
    pub query: Vec<(&'static str, String)>,
    /// The value of `OpenStack-API-Version`.
    pub version: Option<String>,
    pub body: Option<Value>,
}

/// Where a passed-on call goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PassedPath {
    /// The document with the versions of the API, which is read without a token.
    Versions,
    /// Below the base of the service.
    Api(String),
}

/// The answer of a service, whatever it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassedAnswer {
    pub status: StatusCode,
    pub request_id: Option<String>,
    /// The versions that the headers announce.
    pub versions: Option<VersionRange>,
    pub body: Vec<u8>,
    /// The text of an error in the service's own format.
    pub fault: Option<String>,
}

impl RestClient {
    /// Sends a call with the token of the user. A status of failure is an answer here.
    ///
    /// # Errors
    /// If there is no endpoint or no answer, or request or answer are longer than is permitted.
    pub async fn pass_on(
        &self,
        token: &ScopedToken,
        passed: PassedCall,
    ) -> Result<PassedAnswer, Error> {
        let (is_public, path) = match passed.path {
            PassedPath::Versions => (true, String::new()),
            PassedPath::Api(path) => (false, path),
        };
        let service = passed.service;
        let call = Call {
            operation: passed.operation,
            method: passed.method,
            path,
            query: passed.query,
            version: passed.version,
            body: passed.body,
            // which reads wait for a conductor is the client's to know
            is_slow: service == Service::Magnum && !is_public,
        };
        let secret = token.token.clone();
        let understand =
            move |answer: &Answer| Ok(PassedAnswer::of(answer).without(secret.expose_secret()));
        if !is_public {
            return self.run(service, token, call, understand).await;
        }
        let url = Service::versions(&self.base(service, call.operation, token)?);
        let token = self.token_of_public_call(token);
        self.run_at(service, url, token, call, understand).await
    }
}

impl PassedAnswer {
    /// Returns the answer without the token, which an error page of a service may quote.
    fn without(mut self, secret: &str) -> Self {
        let bytes = secret.as_bytes();
        let is_quoted =
            !bytes.is_empty() && self.body.windows(bytes.len()).any(|part| part == bytes);
        if is_quoted {
            let text = String::from_utf8_lossy(&self.body);
            self.body = text.replace(secret, "[token]").into_bytes();
        }
        self.fault = self.fault.map(|text| match secret {
            "" => text,
            secret => text.replace(secret, "[token]"),
        });
        self
    }

    fn of(answer: &Answer) -> Self {
        let is_failure = answer.status.is_client_error() || answer.status.is_server_error();
        let fault = is_failure.then(|| fault::read(&answer.body)).flatten();
        Self {
            status: answer.status,
            request_id: answer.request_id.clone(),
            versions: answer.versions,
            body: answer.body.clone(),
            fault: fault
                .map(|fault| fault.message)
                .filter(|text| !text.is_empty()),
        }
    }
}

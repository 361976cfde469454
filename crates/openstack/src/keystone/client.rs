//! The HTTP client.
use super::answer::Answer;
use super::endpoints::{Endpoint, Endpoints};
use super::error::{Error, Unavailable};
use super::login::{ApplicationCredential, Login, Scope};
use super::skew::Skew;
use super::token::{AuthOutcome, IssuedToken, Revoked, TokenDetails, Version};
use super::{metrics, wire};
use crate::config::{InvalidConfig, KeystoneConfig};
use jiff::Timestamp;
use portico_domain::identity::{Named, Project};
use reqwest::header::{CONTENT_TYPE, DATE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{Certificate, Method, StatusCode, redirect};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

const AUTH_TOKEN: HeaderName = HeaderName::from_static("x-auth-token");
const SUBJECT_TOKEN: HeaderName = HeaderName::from_static("x-subject-token");
const RECEIPT: HeaderName = HeaderName::from_static("openstack-auth-receipt");
/// Without it Keystone answers 404 for tokens with access rules, and nobody learns why.
const ACCESS_RULES: HeaderName = HeaderName::from_static("openstack-identity-access-rules");
/// Answers without a catalogue are under 2 KiB; a user with a thousand projects needs 500 KiB, and a
/// project with five thousand role assignments less than this.
const MAX_BODY: usize = 4 * 1024 * 1024;
/// A name longer than this is a mistake or an attack; Keystone's own limit is 255.
const MAX_REQUEST: usize = 64 * 1024;

/// Calls under way at once. More would wait inside Keystone instead of here, and while it hangs
/// each of them keeps a connection.
const MAX_CALLS: usize = 128;

/// A Keystone client; cheap to clone, holds no token.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    endpoints: Endpoints,
    timeout: Duration,
    calls: Arc<Semaphore>,
    skew: Skew,
}

/// Why a client cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error(transparent)]
    Config(#[from] InvalidConfig),
    #[error("{path}: {source}")]
    CaFile {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{path}: no certificate in PEM")]
    CaContent { path: PathBuf },
    #[error("HTTP client: {0}")]
    Http(#[from] reqwest::Error),
}

pub(super) struct Call {
    /// Its name in logs and metrics.
    pub operation: &'static str,
    pub method: Method,
    /// Below `/v3`.
    pub path: String,
    pub query: Option<Cow<'static, str>>,
    pub headers: HeaderMap,
    pub body: Option<Value>,
}

/// Without a catalogue, which has tens of KiB on a real cloud, and nothing here reads it.
const NO_CATALOG: Option<Cow<'static, str>> = Some(Cow::Borrowed("nocatalog"));

impl Client {
    /// A client for the configured Keystone; nothing is sent yet.
    ///
    /// # Errors
    /// When the section is invalid or the CA file cannot be used.
    pub fn new(config: &KeystoneConfig) -> Result<Self, BuildError> {
        let authorities = match &config.ca_file {
            Some(path) => {
                let pem = std::fs::read(path).map_err(|source| BuildError::CaFile {
                    path: path.clone(),
                    source,
                })?;
                let certificates = Certificate::from_pem_bundle(&pem)?;
                if certificates.is_empty() {
                    return Err(BuildError::CaContent { path: path.clone() });
                }
                certificates
            }
            None => Vec::new(),
        };
        Self::build(config, reqwest::Client::builder().no_proxy(), authorities)
    }

    /// A client on somebody's own machine: the proxies of its environment count, and the
    /// authority is what was pinned (PEM), not a file that may have changed since.
    ///
    /// # Errors
    /// When the section is invalid or the authority cannot be used.
    pub fn for_command_line(
        config: &KeystoneConfig,
        authority: Option<&str>,
    ) -> Result<Self, BuildError> {
        let authorities = match authority {
            Some(pem) => Certificate::from_pem_bundle(pem.as_bytes())?,
            None => Vec::new(),
        };
        if authority.is_some() && authorities.is_empty() {
            let path = "the pinned authority".into();
            return Err(BuildError::CaContent { path });
        }
        Self::build(config, reqwest::Client::builder(), authorities)
    }

    fn build(
        config: &KeystoneConfig,
        builder: reqwest::ClientBuilder,
        authorities: Vec<Certificate>,
    ) -> Result<Self, BuildError> {
        config.validate()?;
        metrics::describe();
        // fails when the process has installed one already, which is as good
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = builder
            .user_agent(concat!("portico/", env!("CARGO_PKG_VERSION")))
            // a redirect would carry the token to wherever it points
            .redirect(redirect::Policy::none())
            .timeout(config.timeout)
            .connect_timeout(config.timeout.min(Duration::from_secs(2)))
            // shorter than servers keep idle connections, so that few are found closed
            .pool_idle_timeout(Duration::from_secs(4));
        if !authorities.is_empty() {
            builder = builder.tls_built_in_root_certs(false);
        }
        for certificate in authorities {
            builder = builder.add_root_certificate(certificate);
        }
        Ok(Self {
            http: builder.build()?,
            endpoints: Endpoints::new(config),
            timeout: config.timeout,
            calls: Arc::new(Semaphore::new(MAX_CALLS)),
            skew: Skew::default(),
        })
    }

    /// Signs in, or takes one step of it.
    ///
    /// # Errors
    /// [`Error::InvalidCredentials`] when anything about them is wrong, a project without a role
    /// included; Keystone does not tell which.
    pub async fn authenticate(&self, login: &Login) -> Result<AuthOutcome, Error> {
        let mut headers = HeaderMap::new();
        if let Some(receipt) = &login.receipt {
            let receipt = secret_header(receipt).ok_or(Error::InvalidCredentials)?;
            headers.insert(RECEIPT, receipt);
        }
        let body = wire::login(login);
        let call = self.post_tokens("authenticate", headers, body);
        self.run(call, Answer::authenticated).await
    }

    /// A token for an application credential, in the project built into it.
    ///
    /// # Errors
    /// [`Error::InvalidCredentials`] when ID, name or secret are wrong, or it has expired.
    pub async fn authenticate_application_credential(
        &self,
        credential: &ApplicationCredential,
    ) -> Result<IssuedToken, Error> {
        let body = wire::application_credential(credential);
        let call = self.post_tokens("application_credential", HeaderMap::new(), body);
        self.run(call, |answer| answer.issued(Error::InvalidCredentials))
            .await
    }

    /// Another token of the same user, for another project; it ends when this one ends.
    ///
    /// # Errors
    /// [`Error::InvalidToken`] when the token is dead or the user has no role in the project;
    /// Keystone does not tell which.
    pub async fn rescope(
        &self,
        token: &SecretString,
        project_id: &str,
    ) -> Result<IssuedToken, Error> {
        self.exchange(token, &Scope::Project(project_id.to_owned()))
            .await
    }

    /// Another token of the same user, without a project.
    ///
    /// # Errors
    /// [`Error::InvalidToken`] when the token is dead.
    pub async fn unscope(&self, token: &SecretString) -> Result<IssuedToken, Error> {
        self.exchange(token, &Scope::Unscoped).await
    }

    /// Another token of the same user, for any scope; it ends when this one ends.
    ///
    /// # Errors
    /// [`Error::InvalidToken`] when the token is dead, or the user has no role there.
    pub async fn exchange(
        &self,
        token: &SecretString,
        scope: &Scope,
    ) -> Result<IssuedToken, Error> {
        let body = wire::rescope(token, scope);
        let call = self.post_tokens("rescope", HeaderMap::new(), body);
        self.run(call, |answer| answer.issued(Error::InvalidToken))
            .await
    }

    /// Asks about a token with that token itself, which Keystone lets everybody do.
    ///
    /// # Errors
    /// [`Error::InvalidToken`] when the token is dead.
    pub async fn validate(&self, token: &SecretString) -> Result<TokenDetails, Error> {
        let mut headers = own_token(token)?;
        headers.insert(ACCESS_RULES, HeaderValue::from_static("1.0"));
        let call = Call {
            operation: "validate",
            method: Method::GET,
            path: "auth/tokens".to_owned(),
            query: NO_CATALOG,
            headers,
            body: None,
        };
        self.run(call, |answer| answer.validated()).await
    }

    /// Asks about a token of somebody else's; `None` when Keystone does not accept it.
    ///
    /// # Errors
    /// [`Error::InvalidToken`] when the asking token is dead, [`Error::Forbidden`] when its user may
    /// not ask about others' (it takes the role `service`, or `reader` in the system).
    pub async fn validate_as(
        &self,
        own: &SecretString,
        subject: &SecretString,
    ) -> Result<Option<TokenDetails>, Error> {
        let Some(subject) = secret_header(subject) else {
            return Ok(None);
        };
        let mut headers = asking_token(own)?;
        headers.insert(SUBJECT_TOKEN, subject);
        headers.insert(ACCESS_RULES, HeaderValue::from_static("1.0"));
        let call = Call {
            operation: "validate",
            method: Method::GET,
            path: "auth/tokens".to_owned(),
            query: NO_CATALOG,
            headers,
            body: None,
        };
        self.run(call, |answer| answer.validated_by_another()).await
    }

    /// Ends a token, and with it those that were made from it.
    ///
    /// # Errors
    /// Only when Keystone cannot be asked or forbids it; a token that is dead already is no error.
    pub async fn revoke(&self, token: &SecretString) -> Result<Revoked, Error> {
        let call = Call {
            operation: "revoke",
            method: Method::DELETE,
            path: "auth/tokens".to_owned(),
            query: None,
            headers: own_token(token)?,
            body: None,
        };
        self.run(call, |answer| answer.revoked()).await
    }

    /// The enabled projects that the token's user has a role in, by name. Keystone lists domains
    /// by ID only: `home` (the user's) gets its name, any other shows its ID.
    ///
    /// # Errors
    /// [`Error::InvalidToken`] when the token is dead.
    pub async fn projects(
        &self,
        token: &SecretString,
        home: &Named,
    ) -> Result<Vec<Project>, Error> {
        let call = Call {
            operation: "projects",
            method: Method::GET,
            path: "auth/projects".to_owned(),
            query: None,
            headers: asking_token(token)?,
            body: None,
        };
        self.run(call, |answer| answer.projects(home)).await
    }

    /// The API's version: whether Keystone answers at all.
    ///
    /// # Errors
    /// When it does not, or something else does.
    pub async fn version(&self) -> Result<Version, Error> {
        let call = Call {
            operation: "version",
            method: Method::GET,
            path: String::new(),
            query: None,
            headers: HeaderMap::new(),
            body: None,
        };
        self.run(call, |answer| answer.version()).await
    }

    /// Keystone's clock now, or ours where that is later: a token that has ended by either has ended.
    pub fn latest_clock(&self) -> Timestamp {
        self.skew.latest(Timestamp::now())
    }

    pub(super) fn post_tokens(
        &self,
        operation: &'static str,
        headers: HeaderMap,
        body: Value,
    ) -> Call {
        Call {
            operation,
            method: Method::POST,
            path: "auth/tokens".to_owned(),
            query: NO_CATALOG,
            headers,
            body: Some(body),
        }
    }

    pub(super) async fn run<T>(
        &self,
        call: Call,
        understand: impl FnOnce(Answer) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let operation = call.operation;
        let started = Instant::now();
        let result = self.ask(&call).await.and_then(understand);
        metrics::record(operation, started.elapsed(), &result);
        match &result {
            // one line says that it is gone; one for each of a thousand askers says nothing more
            Err(Error::Unavailable(Unavailable::NotAsked)) => {}
            Err(error) if !error.is_refusal() => {
                tracing::warn!(operation, %error, "keystone call failed");
            }
            _ => {}
        }
        result
    }

    /// The answer of the first endpoint that has one; all of them within the timeout.
    async fn ask(&self, call: &Call) -> Result<Answer, Error> {
        let deadline = Instant::now() + self.timeout;
        let timeout = |_| Error::Unavailable(Unavailable::Timeout);
        let waiting = tokio::time::timeout(self.timeout, self.calls.acquire());
        let _under_way = waiting.await.map_err(timeout)?;
        let mut last = Err(Error::Unavailable(Unavailable::NotAsked));
        for (endpoint, behind) in self.endpoints.admitted() {
            let left = deadline.saturating_duration_since(Instant::now());
            // what is left is shared with those behind
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

    /// A kept connection may turn out closed just when it is used; asking again is harmless for
    /// all but `POST`, which would leave a token that nobody knows.
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
            if body.len() > MAX_REQUEST {
                return Err(Error::BadRequest);
            }
            request = request.header(CONTENT_TYPE, "application/json").body(body);
        }
        let asked = Timestamp::now();
        let transport = |error: reqwest::Error| Error::from_transport(&error);
        let mut response = request.send().await.map_err(transport)?;
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(transport)? {
            if body.len() + chunk.len() > MAX_BODY {
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
            self.skew.learn(date, asked, Timestamp::now());
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

impl Call {
    fn is_repeatable(&self) -> bool {
        self.method != Method::POST
    }
}

/// Whether another endpoint may be asked the same. A `POST` that may have made a token is not sent
/// again: nobody would know of the first one.
fn worth_another(call: &Call, result: &Result<Answer, Error>) -> bool {
    match result {
        Ok(answer) => {
            answer.outage().is_some()
                && (call.is_repeatable() || answer.status != StatusCode::GATEWAY_TIMEOUT)
        }
        Err(Error::Unavailable(Unavailable::Connect)) => true,
        Err(Error::Unavailable(_)) => call.is_repeatable(),
        Err(_) => false,
    }
}

/// The token as both asker and subject.
fn own_token(token: &SecretString) -> Result<HeaderMap, Error> {
    let mut headers = asking_token(token)?;
    let value = secret_header(token).ok_or(Error::InvalidToken)?;
    headers.insert(SUBJECT_TOKEN, value);
    Ok(headers)
}

/// The token as asker.
pub(super) fn asking_token(token: &SecretString) -> Result<HeaderMap, Error> {
    let value = secret_header(token).ok_or(Error::InvalidToken)?;
    Ok(HeaderMap::from_iter([(AUTH_TOKEN, value)]))
}

/// `None` for what Keystone never issues: empty, or with characters that no header may hold.
fn secret_header(secret: &SecretString) -> Option<HeaderValue> {
    let text = secret.expose_secret();
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return None;
    }
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

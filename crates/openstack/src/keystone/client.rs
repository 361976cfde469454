//! The HTTP client for Keystone.
use super::answer::Answer;
use super::call::{Call, RECEIPT, SUBJECT_TOKEN, asking_token, own_token};
use super::endpoints::Endpoints;
use super::error::Error;
use super::login::{ApplicationCredential, Login, Scope};
use super::skew::Skew;
use super::token::{AuthOutcome, IssuedToken, Revoked, TokenDetails, Version};
use super::{metrics, wire};
use crate::http::{self, AuthoritiesError, secret_header};
use crate::keystone::config::{InvalidConfig, KeystoneConfig};
use jiff::{SignedDuration, Timestamp};
use portico_clock::Clock;
use portico_domain::identity::{Named, Project};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Certificate, Method};
use secrecy::SecretString;
use serde_json::Value;
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// Without it Keystone answers 404 for tokens with access rules, without a reason.
const ACCESS_RULES: HeaderName = HeaderName::from_static("openstack-identity-access-rules");
/// Maximum number of concurrent calls. More would wait inside Keystone instead of here, and each
/// would hold a connection while Keystone hangs.
const MAX_CONCURRENT_CALLS: usize = 128;

/// A Keystone client; cheap to clone, holds no token.
#[derive(Clone, Debug)]
pub struct Client {
    pub(super) http: reqwest::Client,
    pub(super) endpoints: Endpoints,
    pub(super) timeout: Duration,
    pub(super) calls: Arc<Semaphore>,
    pub(super) skew: Skew,
    pub(super) clock: Clock,
}

/// The reason why a client cannot be built.
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

impl From<AuthoritiesError> for BuildError {
    fn from(error: AuthoritiesError) -> Self {
        match error {
            AuthoritiesError::Read { path, source } => Self::CaFile { path, source },
            AuthoritiesError::Empty { path } => Self::CaContent { path },
            AuthoritiesError::Pem(error) => Self::Http(error),
        }
    }
}

/// Requests no catalogue, which has tens of KiB on a real cloud; [`Client::catalog`] reads it.
const NO_CATALOG: Option<Cow<'static, str>> = Some(Cow::Borrowed("nocatalog"));

impl Client {
    /// Makes a client for the configured Keystone; sends no request yet. Keystone's clock is compared
    /// with the given one.
    ///
    /// # Errors
    /// If the section is invalid or the CA file cannot be used.
    pub fn new(config: &KeystoneConfig, clock: Clock) -> Result<Self, BuildError> {
        let authorities = match &config.ca_file {
            Some(path) => http::authorities_in(path)?,
            None => Vec::new(),
        };
        let builder = reqwest::Client::builder().no_proxy();
        Self::build(config, builder, authorities, clock)
    }

    /// Makes a client on a user's own machine: the proxies of its environment are used, and the
    /// authority is the pinned one (PEM), not a file that may have changed since.
    ///
    /// # Errors
    /// If the section is invalid or the authority cannot be used.
    pub fn for_command_line(
        config: &KeystoneConfig,
        authority: Option<&str>,
        clock: Clock,
    ) -> Result<Self, BuildError> {
        let authorities = match authority {
            Some(pem) => http::authorities_of(pem)?,
            None => Vec::new(),
        };
        Self::build(config, reqwest::Client::builder(), authorities, clock)
    }

    fn build(
        config: &KeystoneConfig,
        builder: reqwest::ClientBuilder,
        authorities: Vec<Certificate>,
        clock: Clock,
    ) -> Result<Self, BuildError> {
        config.validate()?;
        metrics::describe();
        Ok(Self {
            http: http::build(builder, authorities, config.timeout)?,
            endpoints: Endpoints::new(config),
            timeout: config.timeout,
            calls: Arc::new(Semaphore::new(MAX_CONCURRENT_CALLS)),
            skew: Skew::default(),
            clock,
        })
    }

    /// Signs in, or takes one step of it.
    ///
    /// # Errors
    /// [`Error::InvalidCredentials`] if anything about them is wrong, a project without a role
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

    /// Returns a token for an application credential, in the project built into it.
    ///
    /// # Errors
    /// [`Error::InvalidCredentials`] if ID, name or secret are wrong, or it has expired.
    pub async fn authenticate_application_credential(
        &self,
        credential: &ApplicationCredential,
    ) -> Result<IssuedToken, Error> {
        let body = wire::application_credential(credential);
        let call = self.post_tokens("application_credential", HeaderMap::new(), body);
        self.run(call, |answer| answer.issued(Error::InvalidCredentials))
            .await
    }

    /// Returns another token of the same user, for another project; it expires with this one.
    ///
    /// # Errors
    /// [`Error::InvalidToken`] if the token is invalid or the user has no role in the project;
    /// Keystone does not tell which.
    pub async fn rescope(
        &self,
        token: &SecretString,
        project_id: &str,
    ) -> Result<IssuedToken, Error> {
        self.exchange(token, &Scope::Project(project_id.to_owned()))
            .await
    }

    /// Returns another token of the same user, without a project.
    ///
    /// # Errors
    /// [`Error::InvalidToken`] if the token is invalid.
    pub async fn unscope(&self, token: &SecretString) -> Result<IssuedToken, Error> {
        self.exchange(token, &Scope::Unscoped).await
    }

    /// Returns another token of the same user, for any scope; it expires with this one.
    ///
    /// # Errors
    /// [`Error::InvalidToken`] if the token is invalid, or the user has no role there.
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

    /// Validates a token with that token itself, which Keystone allows every user.
    ///
    /// # Errors
    /// [`Error::InvalidToken`] if the token is invalid.
    pub async fn validate(&self, token: &SecretString) -> Result<TokenDetails, Error> {
        let call = validation(own_token(token)?);
        self.run(call, |answer| answer.validated()).await
    }

    /// Validates another user's token; `None` if Keystone does not accept it.
    ///
    /// # Errors
    /// [`Error::InvalidToken`] if the requesting token is invalid, [`Error::Forbidden`] if its user
    /// may not validate others' (it takes the role `service`, or `reader` in the system).
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
        let call = validation(headers);
        self.run(call, |answer| answer.validated_by_another()).await
    }

    /// Revokes a token, and with it those that were made from it.
    ///
    /// # Errors
    /// Only if Keystone cannot be reached or forbids it; a token that is already invalid is not an
    /// error.
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

    /// Returns the enabled projects in which the token's user has a role, by name. Keystone lists
    /// domains by ID only: `home` (the user's) gets its name, any other shows its ID.
    ///
    /// # Errors
    /// [`Error::InvalidToken`] if the token is invalid.
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

    /// Returns the API's version: checks whether Keystone responds at all.
    ///
    /// # Errors
    /// If it does not, or something else does.
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

    /// Returns Keystone's current time, or the local one if that is later: a token that has expired
    /// by either clock has expired.
    pub fn latest_clock(&self) -> Timestamp {
        self.skew.latest(self.clock.now())
    }

    /// Returns how far Keystone's clock is ahead of the local one (negative: behind), by its last
    /// response.
    pub fn clock_difference(&self) -> SignedDuration {
        self.skew.difference()
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
}

/// Returns `GET /auth/tokens`, about the token in the headers.
fn validation(mut headers: HeaderMap) -> Call {
    headers.insert(ACCESS_RULES, HeaderValue::from_static("1.0"));
    Call {
        operation: "validate",
        method: Method::GET,
        path: "auth/tokens".to_owned(),
        query: NO_CATALOG,
        headers,
        body: None,
    }
}

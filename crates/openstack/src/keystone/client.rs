//! The HTTP client.
use super::answer::Answer;
use super::error::{Error, Unavailable};
use super::login::{ApplicationCredential, Login, Scope};
use super::token::{AuthOutcome, IssuedToken, Revoked, TokenDetails, Version};
use super::{metrics, wire};
use crate::config::{InvalidConfig, KeystoneConfig};
use portico_domain::identity::{Named, Project};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Certificate, Method, Url, redirect};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const AUTH_TOKEN: HeaderName = HeaderName::from_static("x-auth-token");
const SUBJECT_TOKEN: HeaderName = HeaderName::from_static("x-subject-token");
const RECEIPT: HeaderName = HeaderName::from_static("openstack-auth-receipt");
/// Without it Keystone answers 404 for tokens with access rules, and nobody learns why.
const ACCESS_RULES: HeaderName = HeaderName::from_static("openstack-identity-access-rules");
/// Answers without a catalogue are under 2 KiB; a user with a thousand projects needs 500.
const MAX_BODY: usize = 1024 * 1024;
/// A name longer than this is a mistake or an attack; Keystone's own limit is 255.
const MAX_REQUEST: usize = 64 * 1024;

/// A Keystone client; cheap to clone, holds no token.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    base: Url,
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

struct Call {
    operation: &'static str,
    method: Method,
    url: Url,
    headers: HeaderMap,
    body: Option<Value>,
}

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
        let mut base = config.url.clone();
        let path = base.path().trim_end_matches('/').to_owned();
        base.set_path(&path);
        Ok(Self {
            http: builder.build()?,
            base,
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
            url: self.url("auth/tokens", true),
            headers,
            body: None,
        };
        self.run(call, |answer| answer.validated()).await
    }

    /// Ends a token, and with it those that were made from it.
    ///
    /// # Errors
    /// Only when Keystone cannot be asked or forbids it; a token that is dead already is no error.
    pub async fn revoke(&self, token: &SecretString) -> Result<Revoked, Error> {
        let call = Call {
            operation: "revoke",
            method: Method::DELETE,
            url: self.url("auth/tokens", false),
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
        let mut headers = own_token(token)?;
        headers.remove(SUBJECT_TOKEN);
        let call = Call {
            operation: "projects",
            method: Method::GET,
            url: self.url("auth/projects", false),
            headers,
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
            url: self.base.clone(),
            headers: HeaderMap::new(),
            body: None,
        };
        self.run(call, |answer| answer.version()).await
    }

    fn post_tokens(&self, operation: &'static str, headers: HeaderMap, body: Value) -> Call {
        Call {
            operation,
            method: Method::POST,
            url: self.url("auth/tokens", true),
            headers,
            body: Some(body),
        }
    }

    fn url(&self, path: &str, without_catalog: bool) -> Url {
        let mut url = self.base.clone();
        url.set_path(&format!("{}/{path}", self.base.path()));
        if without_catalog {
            // tens of KiB on a real cloud, and nothing here reads it
            url.set_query(Some("nocatalog"));
        }
        url
    }

    async fn run<T>(
        &self,
        call: Call,
        understand: impl FnOnce(Answer) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let operation = call.operation;
        let started = Instant::now();
        let result = self.send_with_retry(call).await.and_then(understand);
        metrics::record(operation, started.elapsed(), &result);
        if let Err(error) = &result
            && !error.is_refusal()
        {
            tracing::warn!(operation, %error, "keystone call failed");
        }
        result
    }

    /// A kept connection may turn out closed just when it is used; asking again is harmless for
    /// all but `POST`, which would leave a token that nobody knows.
    async fn send_with_retry(&self, call: Call) -> Result<Answer, Error> {
        let repeatable = call.method != Method::POST;
        match self.send(&call).await {
            Err(Error::Unavailable(Unavailable::Broken)) if repeatable => self.send(&call).await,
            result => result,
        }
    }

    async fn send(&self, call: &Call) -> Result<Answer, Error> {
        let mut request = self
            .http
            .request(call.method.clone(), call.url.clone())
            .headers(call.headers.clone());
        if let Some(body) = &call.body {
            let body = serde_json::to_vec(body).map_err(|_| Error::BadRequest)?;
            if body.len() > MAX_REQUEST {
                return Err(Error::BadRequest);
            }
            request = request.header(CONTENT_TYPE, "application/json").body(body);
        }
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
        Ok(Answer {
            status: response.status(),
            subject_token: secret(&SUBJECT_TOKEN),
            receipt: secret(&RECEIPT),
            body,
        })
    }
}

/// The token as both asker and subject.
fn own_token(token: &SecretString) -> Result<HeaderMap, Error> {
    let value = secret_header(token).ok_or(Error::InvalidToken)?;
    let mut headers = HeaderMap::new();
    headers.insert(AUTH_TOKEN, value.clone());
    headers.insert(SUBJECT_TOKEN, value);
    Ok(headers)
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

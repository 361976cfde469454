//! A document at an HTTP address that is fetched again and again, with `If-None-Match` (RFC 9110,
//! 13.1.2). Redirects are not followed.
use crate::root_cause;
use reqwest::header::{ETAG, HeaderValue, IF_NONE_MATCH};
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, StatusCode, Url};
use secrecy::{ExposeSecret as _, SecretString};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The reason why a client cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{} holds no usable certificate in PEM form", path.display())]
    Authority { path: PathBuf },
    #[error("the HTTP client cannot be set up: {0}")]
    Client(String),
}

/// The reason why there is no document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GetError {
    /// No response.
    #[error("no answer: {0}")]
    Transport(String),
    /// The response is neither 200 nor 304.
    #[error("the server answered {0}")]
    Status(u16),
    /// The body is larger than the caller accepts.
    #[error("larger than {0} bytes")]
    TooLarge(usize),
}

/// The result of one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fetched {
    /// 304: the same as with the last entity tag.
    Unchanged,
    Document {
        body: Vec<u8>,
        /// For the next request.
        etag: Option<String>,
    },
}

/// Returns whether requests to a URL are encrypted, or do not leave this machine: only then may they
/// have a token.
#[must_use]
pub fn is_private(url: &str) -> bool {
    let Ok(url) = Url::parse(url) else {
        return false;
    };
    match url.scheme() {
        "https" => true,
        "http" => url.host_str().is_some_and(is_loopback),
        _ => false,
    }
}

fn is_loopback(host: &str) -> bool {
    host == "localhost"
        || host.ends_with(".localhost")
        || host
            .trim_matches(['[', ']'])
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

/// Fetches one document.
#[derive(Clone, Debug)]
pub struct DocumentClient {
    http: Client,
    url: String,
    token: Option<SecretString>,
    max_bytes: usize,
}

impl DocumentClient {
    /// Returns a client for the document at `url` that trusts only `ca_file`, if one is given. One
    /// request takes at most `timeout`, and a document has at most `max_bytes`.
    ///
    /// # Errors
    /// If the file cannot be used.
    pub fn new(
        url: String,
        ca_file: Option<&Path>,
        max_bytes: usize,
        timeout: Duration,
    ) -> Result<Self, ClientError> {
        // the HTTP client needs one, also where no TLS is used
        crate::install_crypto_provider();
        let mut builder = Client::builder()
            .redirect(Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(timeout)
            .no_proxy();
        if let Some(path) = ca_file {
            let pem = std::fs::read(path).map_err(|source| ClientError::Unreadable {
                path: path.to_owned(),
                source,
            })?;
            let unusable = || ClientError::Authority {
                path: path.to_owned(),
            };
            let found = Certificate::from_pem_bundle(&pem).map_err(|_| unusable())?;
            if found.is_empty() {
                return Err(unusable());
            }
            builder = builder.tls_built_in_root_certs(false);
            for certificate in found {
                builder = builder.add_root_certificate(certificate);
            }
        }
        Ok(Self {
            http: builder
                .build()
                .map_err(|error| ClientError::Client(root_cause(&error)))?,
            url,
            token: None,
            max_bytes,
        })
    }

    /// Returns the client with a bearer token (RFC 6750) for its requests.
    #[must_use]
    pub fn with_token(self, token: SecretString) -> Self {
        Self {
            token: Some(token),
            ..self
        }
    }

    /// Fetches the document, unless it still has this entity tag.
    ///
    /// # Errors
    /// If there is no response, or none with a document of the accepted size.
    pub async fn get(&self, etag: Option<&str>) -> Result<Fetched, GetError> {
        let mut request = self.http.get(&self.url);
        if let Some(token) = &self.token {
            // marks the header as sensitive, so that it is not logged
            request = request.bearer_auth(token.expose_secret());
        }
        if let Some(etag) = etag.and_then(|etag| HeaderValue::from_str(etag).ok()) {
            request = request.header(IF_NONE_MATCH, etag);
        }
        let mut response = request.send().await.map_err(failed)?;
        match response.status() {
            StatusCode::OK => {}
            StatusCode::NOT_MODIFIED if etag.is_some() => return Ok(Fetched::Unchanged),
            other => return Err(GetError::Status(other.as_u16())),
        }
        let etag = response.headers().get(ETAG);
        let etag = etag.and_then(|etag| etag.to_str().ok()).map(str::to_owned);
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            if body.len() + chunk.len() > self.max_bytes {
                return Err(GetError::TooLarge(self.max_bytes));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Fetched::Document { body, etag })
    }
}

fn failed(error: reqwest::Error) -> GetError {
    let text = if error.is_timeout() {
        "no answer in time".to_owned()
    } else {
        root_cause(&error.without_url())
    };
    GetError::Transport(text)
}

//! A provider's metadata (OpenID Connect Discovery 1.0), read when first needed.
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde::Deserialize;
use tokio::sync::Mutex;
use url::Url;

use crate::{error::Error, http::Http};

/// How long the metadata is used: a provider may change its endpoints.
const METADATA_TTL: Duration = Duration::from_secs(3600);
/// Delay before the next request after a failure.
const RETRY_DELAY: Duration = Duration::from_secs(3);

/// The parts of a discovery document that are used.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Metadata {
    pub issuer: String,
    pub authorization_endpoint: Url,
    pub token_endpoint: Url,
    pub jwks_uri: Url,
    #[serde(default)]
    pub userinfo_endpoint: Option<Url>,
    #[serde(default)]
    pub end_session_endpoint: Option<Url>,
    #[serde(default)]
    pub revocation_endpoint: Option<Url>,
    #[serde(default)]
    pub token_endpoint_auth_methods_supported: Vec<String>,
    /// RFC 9207: whether every authorization response names its issuer.
    #[serde(default)]
    pub authorization_response_iss_parameter_supported: bool,
}

impl Metadata {
    fn check(mut self, issuer: &str, http: &Http) -> Result<Self, Error> {
        if self.issuer != issuer {
            return Err(Error::Unusable(format!(
                "its issuer is {:?}, not {issuer:?}: write issuer exactly as the provider does",
                self.issuer.chars().take(200).collect::<String>()
            )));
        }
        for (name, url) in [
            ("authorization_endpoint", &self.authorization_endpoint),
            ("token_endpoint", &self.token_endpoint),
            ("jwks_uri", &self.jwks_uri),
        ] {
            if !http.allows(url) {
                return Err(elsewhere(name, url));
            }
        }
        for (name, url) in [
            ("userinfo_endpoint", &mut self.userinfo_endpoint),
            ("end_session_endpoint", &mut self.end_session_endpoint),
            ("revocation_endpoint", &mut self.revocation_endpoint),
        ] {
            if let Some(given) = url
                && !http.allows(given)
            {
                tracing::warn!(issuer, "{}: it is not used", elsewhere(name, given));
                *url = None;
            }
        }
        Ok(self)
    }
}

fn elsewhere(name: &str, url: &Url) -> Error {
    Error::Unusable(format!(
        "{name} is at {}, which is not the issuer's host over HTTPS: add it to endpoint_hosts if \
         it belongs there",
        url.host_str().unwrap_or("no host")
    ))
}

#[derive(Debug, Default)]
struct State {
    known: Option<(Arc<Metadata>, Instant)>,
    failed: Option<(Error, Instant)>,
}

/// The metadata of one provider, shared by all users of it.
#[derive(Debug, Default)]
pub(crate) struct Discovery(Mutex<State>);

impl Discovery {
    /// Returns the metadata; sends a request at most every few seconds while the provider does not
    /// respond.
    pub async fn get(&self, issuer: &str, http: &Http) -> Result<Arc<Metadata>, Error> {
        let mut state = self.0.lock().await;
        if let Some((known, at)) = &state.known
            && at.elapsed() < METADATA_TTL
        {
            return Ok(Arc::clone(known));
        }
        if let Some((error, at)) = &state.failed
            && at.elapsed() < RETRY_DELAY
        {
            return match &state.known {
                // an old document is better than none
                Some((known, _)) => Ok(Arc::clone(known)),
                None => Err(error.clone()),
            };
        }
        match read(issuer, http).await {
            Ok(metadata) => {
                let metadata = Arc::new(metadata);
                *state = State {
                    known: Some((Arc::clone(&metadata), Instant::now())),
                    failed: None,
                };
                Ok(metadata)
            }
            Err(error) => {
                tracing::warn!(issuer, %error, "a provider could not be discovered");
                state.failed = Some((error.clone(), Instant::now()));
                match &state.known {
                    Some((known, _)) if error.is_outage() => Ok(Arc::clone(known)),
                    _ => Err(error),
                }
            }
        }
    }
}

async fn read(issuer: &str, http: &Http) -> Result<Metadata, Error> {
    let address = format!(
        "{}/.well-known/openid-configuration",
        issuer.trim_end_matches('/')
    );
    let url =
        Url::parse(&address).map_err(|_| Error::Unusable("issuer is not a URL".to_owned()))?;
    http.json::<Metadata>(&url).await?.check(issuer, http)
}

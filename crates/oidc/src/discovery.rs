//! Discovery of a provider (OpenID Connect Discovery 1.0, 4) when it is first needed, and again
//! from time to time.
use std::{sync::Arc, time::Duration};

use serde_json::{Map, Value};
use tokio::{sync::Mutex, time::Instant};
use url::Url;

use crate::{error::Error, http::Http, metadata::Metadata};

/// How long the metadata is used: a provider may change its endpoints.
const METADATA_TTL: Duration = Duration::from_secs(3600);
/// Delay before the next request after a failure.
const RETRY_DELAY: Duration = Duration::from_secs(3);

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
    let members: Map<String, Value> = http.json(&url).await?;
    Metadata::read(members, &url, issuer, http)
}

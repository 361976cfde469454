//! A provider's public keys (RFC 7517), fetched when a token names an unknown one.
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use jsonwebtoken::{
    DecodingKey,
    jwk::{AlgorithmParameters, EllipticCurve, Jwk, PublicKeyUse},
};
use serde::Deserialize;
use tokio::sync::Mutex;
use url::Url;

use crate::{
    error::{Error, TokenFault},
    http::Http,
    settings::Algorithm,
};

/// How long fetched keys are used: a withdrawn key must not be valid for long.
const KEYS_TTL: Duration = Duration::from_secs(900);
/// Maximum number of keys; further ones are ignored.
const MAX_KEYS: usize = 64;

#[derive(Debug, Default)]
struct State {
    keys: Arc<Vec<Jwk>>,
    fetched: Option<Instant>,
    tried: Option<Instant>,
}

/// The keys of one provider.
#[derive(Debug, Default)]
pub(crate) struct Keys(Mutex<State>);

/// The key set. Keys of other types may be in it: each is parsed separately.
#[derive(Deserialize)]
struct Document {
    keys: Vec<serde_json::Value>,
}

impl Keys {
    /// Returns the keys that may have made a signature. Fetches them if none of the known ones
    /// matches, at most once per `interval`; within it an unknown key is refused without a request.
    pub async fn candidates(
        &self,
        kid: Option<&str>,
        algorithm: Algorithm,
        url: &Url,
        http: &Http,
        interval: Duration,
    ) -> Result<Vec<DecodingKey>, Error> {
        let mut state = self.0.lock().await;
        let fresh = state.fetched.is_some_and(|at| at.elapsed() < KEYS_TTL);
        if fresh {
            let found = fitting(&state.keys, kid, algorithm);
            if !found.is_empty() {
                return Ok(found);
            }
        }
        if state.tried.is_some_and(|at| at.elapsed() < interval) {
            return Err(if fresh {
                TokenFault::UnknownKey.into()
            } else {
                Error::Unavailable("its keys could not be fetched".to_owned())
            });
        }
        state.tried = Some(Instant::now());
        let document: Document = http.json(url).await?;
        let keys: Vec<Jwk> = document
            .keys
            .into_iter()
            .take(MAX_KEYS)
            .filter_map(|key| serde_json::from_value(key).ok())
            .collect();
        state.keys = Arc::new(keys);
        state.fetched = Some(Instant::now());
        let found = fitting(&state.keys, kid, algorithm);
        if found.is_empty() {
            return Err(TokenFault::UnknownKey.into());
        }
        Ok(found)
    }
}

fn fitting(keys: &[Jwk], kid: Option<&str>, algorithm: Algorithm) -> Vec<DecodingKey> {
    keys.iter()
        .filter(|key| kid.is_none() || key.common.key_id.as_deref() == kid)
        .filter(|key| is_for(key, algorithm))
        .filter_map(|key| DecodingKey::from_jwk(key).ok())
        .collect()
}

/// Returns whether a key is for the algorithm, by its type and its own `alg` and `use`.
fn is_for(key: &Jwk, algorithm: Algorithm) -> bool {
    let kind = match (&key.algorithm, algorithm) {
        (AlgorithmParameters::EllipticCurve(curve), Algorithm::ES256) => {
            curve.curve == EllipticCurve::P256
        }
        (AlgorithmParameters::EllipticCurve(curve), Algorithm::ES384) => {
            curve.curve == EllipticCurve::P384
        }
        (AlgorithmParameters::OctetKeyPair(_), Algorithm::EdDSA) => true,
        (
            AlgorithmParameters::RSA(_),
            Algorithm::RS256
            | Algorithm::RS384
            | Algorithm::RS512
            | Algorithm::PS256
            | Algorithm::PS384
            | Algorithm::PS512,
        ) => true,
        _ => false,
    };
    let usage = key
        .common
        .public_key_use
        .as_ref()
        .is_none_or(|usage| *usage == PublicKeyUse::Signature);
    let named = key
        .common
        .key_algorithm
        .as_ref()
        .is_none_or(|named| format!("{named:?}") == format!("{algorithm:?}"));
    kind && usage && named
}

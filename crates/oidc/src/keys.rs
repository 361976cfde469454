//! A provider's public keys (RFC 7517), fetched when a token names an unknown one.
use std::{sync::Arc, time::Duration};

use ::http::{StatusCode, header};
use futures::{FutureExt as _, future::BoxFuture};
use jsonwebtoken::{
    DecodingKey,
    jwk::{AlgorithmParameters, EllipticCurve, Jwk, PublicKeyUse},
};
use openidconnect::{
    AsyncHttpClient, DiscoveryError, HttpRequest, HttpResponse, JsonWebKeySetUrl,
    core::{CoreJsonWebKey, CoreJsonWebKeySet},
};
use tokio::{sync::Mutex, time::Instant};

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

impl Keys {
    /// Returns the keys that may have made a signature. Fetches them if none of the known ones
    /// matches, at most once per `interval`; within it an unknown key is refused without a request.
    pub async fn candidates(
        &self,
        kid: Option<&str>,
        algorithm: Algorithm,
        url: &JsonWebKeySetUrl,
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
        // keys that the library cannot parse are not in its set
        let set = CoreJsonWebKeySet::fetch_async(url, &KeySetClient(http))
            .await
            .map_err(|error| failure(url, error))?;
        let keys: Vec<Jwk> = set.keys().iter().filter_map(jwk).take(MAX_KEYS).collect();
        state.keys = Arc::new(keys);
        state.fetched = Some(Instant::now());
        let found = fitting(&state.keys, kid, algorithm);
        if found.is_empty() {
            return Err(TokenFault::UnknownKey.into());
        }
        Ok(found)
    }
}

/// The HTTP client for key sets. Static file servers send them with any media type, so the body
/// alone decides.
struct KeySetClient<'h>(&'h Http);

impl<'c> AsyncHttpClient<'c> for KeySetClient<'_> {
    type Error = Error;
    type Future = BoxFuture<'c, Result<HttpResponse, Error>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        async move {
            let mut response = self.0.send(request).await?;
            if response.status().is_success() {
                *response.status_mut() = StatusCode::OK;
                response.headers_mut().remove(header::CONTENT_TYPE);
            }
            Ok(response)
        }
        .boxed()
    }
}

/// Returns the error without the response's body.
fn failure(url: &JsonWebKeySetUrl, error: DiscoveryError<Error>) -> Error {
    let path = url.url().path();
    match error {
        DiscoveryError::Request(error) => error,
        DiscoveryError::Response(status, _, _) => {
            Error::Unusable(format!("{path} answers {status}"))
        }
        DiscoveryError::Parse(error) => Error::Unusable(format!("{path}: {}", error.inner())),
        other => Error::Unusable(format!("{path}: {other}")),
    }
}

/// Returns a key as `jsonwebtoken` reads it, which verifies the signatures.
fn jwk(key: &CoreJsonWebKey) -> Option<Jwk> {
    serde_json::from_value(serde_json::to_value(key).ok()?).ok()
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

#[cfg(test)]
mod tests {
    use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
    use serde_json::{Value, json};

    use super::*;

    const ALL: [Algorithm; 9] = [
        Algorithm::RS256,
        Algorithm::RS384,
        Algorithm::RS512,
        Algorithm::PS256,
        Algorithm::PS384,
        Algorithm::PS512,
        Algorithm::ES256,
        Algorithm::ES384,
        Algorithm::EdDSA,
    ];

    fn read(keys: Value) -> Vec<Jwk> {
        let set: CoreJsonWebKeySet = serde_json::from_value(json!({ "keys": keys })).unwrap();
        set.keys().iter().filter_map(jwk).collect()
    }

    fn octets(length: usize) -> String {
        URL_SAFE_NO_PAD.encode(vec![7; length])
    }

    fn ed25519() -> Value {
        json!({ "kty": "OKP", "crv": "Ed25519", "x": octets(32), "kid": "k1" })
    }

    #[test]
    fn keys_of_every_type_reach_the_verifier() {
        let rsa = json!({ "kty": "RSA", "n": octets(256), "e": "AQAB" });
        let ec = |curve: &str, length: usize| {
            let coordinate = octets(length);
            json!({ "kty": "EC", "crv": curve, "x": coordinate, "y": coordinate })
        };
        let cases: [(Value, &[Algorithm]); 4] = [
            (rsa, &ALL[..6]),
            (ec("P-256", 32), &[Algorithm::ES256]),
            (ec("P-384", 48), &[Algorithm::ES384]),
            (ed25519(), &[Algorithm::EdDSA]),
        ];
        for (key, expected) in cases {
            let keys = read(json!([key]));
            for algorithm in ALL {
                assert_eq!(
                    !fitting(&keys, None, algorithm).is_empty(),
                    expected.contains(&algorithm),
                    "{key} {algorithm:?}"
                );
            }
        }
    }

    #[test]
    fn a_key_is_for_its_own_algorithm_use_and_id_only() {
        for (name, value, expected) in [
            ("alg", "EdDSA", 1),
            ("alg", "ES256", 0),
            ("use", "sig", 1),
            ("use", "enc", 0),
            ("kid", "k2", 0),
        ] {
            let mut key = ed25519();
            key[name] = json!(value);
            let keys = read(json!([key]));
            let found = fitting(&keys, Some("k1"), Algorithm::EdDSA);
            assert_eq!(found.len(), expected, "{name} {value}");
        }
    }

    #[test]
    fn keys_that_cannot_be_read_do_not_spoil_the_others() {
        let mut unknown = ed25519();
        unknown["alg"] = json!("ML-DSA-65");
        let keys = read(json!([
            7,
            { "kty": "unknown" },
            { "kty": "RSA" },
            { "kty": "OKP", "crv": "Ed448", "x": octets(57), "kid": "k1" },
            { "kty": "oct", "k": octets(32), "kid": "k1" },
            unknown,
            ed25519(),
        ]));
        for algorithm in ALL {
            let found = fitting(&keys, Some("k1"), algorithm).len();
            assert_eq!(found, usize::from(algorithm == Algorithm::EdDSA));
        }
    }
}

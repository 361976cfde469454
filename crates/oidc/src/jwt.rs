//! Verification of a signed JWT (RFC 7519, RFC 8725), used for every kind of token.
use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use jiff::Timestamp;
use jsonwebtoken::{DecodingKey, Validation};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    error::{Error, TokenFault},
    settings::Algorithm,
};

/// Maximum size of a token, in bytes; longer ones are refused unread.
const MAX_TOKEN_BYTES: usize = 64 << 10;
/// The latest valid time in seconds since the epoch: a day before the end of the year 9999, where
/// `Timestamp` ends.
const MAX_NUMERIC_DATE: f64 = 253_402_200_000.0;

/// The header, which is not verified yet.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    pub algorithm: Algorithm,
    pub kid: Option<String>,
    /// Lower case, without `application/`.
    pub typ: Option<String>,
}

#[derive(Deserialize)]
struct RawHeader {
    alg: String,
    #[serde(default)]
    kid: Option<String>,
    #[serde(default)]
    typ: Option<String>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

impl Header {
    /// Reads the header of a token. A key or certificate in it is never used: such a token is
    /// refused, and so is one with extensions that must be understood.
    pub fn read(token: &str, allowed: &[Algorithm]) -> Result<Self, TokenFault> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(TokenFault::TooLong);
        }
        let mut parts = token.split('.');
        let (Some(header), Some(_), Some(signature), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(TokenFault::NotAJwt);
        };
        let header = URL_SAFE_NO_PAD
            .decode(header)
            .map_err(|_| TokenFault::NotAJwt)?;
        let raw: RawHeader = serde_json::from_slice(&header).map_err(|_| TokenFault::NotAJwt)?;
        let algorithm = Algorithm::parse(&raw.alg)
            .filter(|algorithm| allowed.contains(algorithm))
            .ok_or(TokenFault::Algorithm)?;
        if signature.is_empty() {
            return Err(TokenFault::Signature);
        }
        let brought = ["jwk", "jku", "x5u", "x5c", "crit", "b64", "zip", "enc"];
        if brought.iter().any(|name| raw.other.contains_key(*name)) {
            return Err(TokenFault::Header);
        }
        Ok(Self {
            algorithm,
            kid: raw.kid,
            typ: raw.typ.map(|typ| {
                let typ = typ.to_ascii_lowercase();
                typ.strip_prefix("application/")
                    .map_or(typ.clone(), str::to_owned)
            }),
        })
    }

    /// Checks the type against the expected ones; `None` means a token without one.
    pub fn expect_type(&self, expected: &[Option<&str>]) -> Result<(), TokenFault> {
        if expected.contains(&self.typ.as_deref()) {
            Ok(())
        } else {
            Err(TokenFault::Type)
        }
    }
}

/// The claims of a token with a valid signature.
#[derive(Clone, Debug)]
pub(crate) struct Claims(pub Map<String, Value>);

impl Claims {
    /// Checks the signature with each key that may have made it.
    pub fn verify(token: &str, header: &Header, keys: &[DecodingKey]) -> Result<Self, Error> {
        let mut validation = Validation::new(signature_algorithm(header.algorithm));
        // only the signature: the claims are checked below, more strictly
        validation.required_spec_claims.clear();
        validation.validate_exp = false;
        validation.validate_nbf = false;
        validation.validate_aud = false;
        for key in keys {
            match jsonwebtoken::decode::<Map<String, Value>>(token, key, &validation) {
                Ok(data) => return Ok(Self(data.claims)),
                Err(error)
                    if matches!(
                        error.kind(),
                        jsonwebtoken::errors::ErrorKind::InvalidSignature
                    ) => {}
                Err(_) => return Err(TokenFault::NotAJwt.into()),
            }
        }
        Err(TokenFault::Signature.into())
    }

    /// Returns a claim that is a non-empty text.
    pub fn text(&self, name: &'static str) -> Result<&str, TokenFault> {
        self.optional_text(name)?.ok_or(TokenFault::Claim(name))
    }

    /// Returns a claim that is a text, if present; another type is an error.
    pub fn optional_text(&self, name: &'static str) -> Result<Option<&str>, TokenFault> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if !text.is_empty() => Ok(Some(text)),
            Some(_) => Err(TokenFault::Claim(name)),
        }
    }

    /// Returns a time, in whole or fractional seconds since 1970.
    pub fn time(&self, name: &'static str) -> Result<Option<Timestamp>, TokenFault> {
        let Some(value) = self.0.get(name) else {
            return Ok(None);
        };
        let seconds = value
            .as_f64()
            .filter(|seconds| (0.0..=MAX_NUMERIC_DATE).contains(seconds))
            .ok_or(TokenFault::Claim(name))?;
        #[allow(
            clippy::cast_possible_truncation,
            reason = "the range was checked, and a part of a second does not matter"
        )]
        let second = seconds as i64;
        Timestamp::from_second(second)
            .map(Some)
            .map_err(|_| TokenFault::Claim(name))
    }

    /// Checks `iss`.
    pub fn expect_issuer(&self, issuer: &str) -> Result<(), TokenFault> {
        if self.text("iss")? == issuer {
            Ok(())
        } else {
            Err(TokenFault::Issuer)
        }
    }

    /// Returns the audiences of the token.
    pub fn audiences(&self) -> Result<Vec<&str>, TokenFault> {
        match self.0.get("aud") {
            Some(Value::String(one)) => Ok(vec![one]),
            Some(Value::Array(several)) if !several.is_empty() => several
                .iter()
                .map(|one| one.as_str().ok_or(TokenFault::Claim("aud")))
                .collect(),
            _ => Err(TokenFault::Claim("aud")),
        }
    }

    /// Checks `exp`, which must be present, and `nbf` and `iat` if they are.
    pub fn expect_valid(&self, now: Timestamp, skew: Duration) -> Result<Timestamp, TokenFault> {
        let expires = self.time("exp")?.ok_or(TokenFault::Claim("exp"))?;
        // on this side of the comparison, since nothing may be added to the latest valid time
        if now - skew >= expires {
            return Err(TokenFault::Expired);
        }
        self.expect_begun(now, skew)?;
        Ok(expires)
    }

    /// Checks `nbf` and `iat`, if they are present.
    pub fn expect_begun(&self, now: Timestamp, skew: Duration) -> Result<(), TokenFault> {
        for name in ["nbf", "iat"] {
            if let Some(from) = self.time(name)?
                && from > now + skew
            {
                return Err(TokenFault::NotYet);
            }
        }
        Ok(())
    }
}

fn signature_algorithm(algorithm: Algorithm) -> jsonwebtoken::Algorithm {
    match algorithm {
        Algorithm::RS256 => jsonwebtoken::Algorithm::RS256,
        Algorithm::RS384 => jsonwebtoken::Algorithm::RS384,
        Algorithm::RS512 => jsonwebtoken::Algorithm::RS512,
        Algorithm::PS256 => jsonwebtoken::Algorithm::PS256,
        Algorithm::PS384 => jsonwebtoken::Algorithm::PS384,
        Algorithm::PS512 => jsonwebtoken::Algorithm::PS512,
        Algorithm::ES256 => jsonwebtoken::Algorithm::ES256,
        Algorithm::ES384 => jsonwebtoken::Algorithm::ES384,
        Algorithm::EdDSA => jsonwebtoken::Algorithm::EdDSA,
    }
}

//! Cluster tokens, which Kubernetes clusters receive from users: a Keystone token, sealed to
//! kube-auth.
//!
//! `portico_v1.<kid>.<base64url(encapsulated key || ciphertext)>`. Version, key ID and cluster are
//! in the associated data and inside, so a token taken from one cluster cannot be opened for
//! another.
use crate::keys::{PrivateKey, PublicKey};
use crate::sealing;
use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use uuid::Uuid;
use zeroize::Zeroizing;

/// The prefix of every cluster token.
pub const PREFIX: &str = "portico_v1.";
/// Maximum size of a cluster token, in bytes.
pub const MAX_TOKEN_BYTES: usize = 8 * 1024;
/// Maximum lifetime of a cluster token, in seconds.
pub const MAX_LIFETIME_SECONDS: i64 = 15 * 60;
/// How far the clocks of sealing and opening processes may differ.
pub const SKEW_SECONDS: i64 = 60;

const INFO: &[u8] = b"portico cluster token v1";
const VERSION: u32 = 1;

/// A cluster token and its expiry.
#[derive(Clone, Debug)]
pub struct SealedClusterToken {
    pub token: SecretString,
    pub expires_at: Timestamp,
}

/// The content of a cluster token. Only the Keystone token has any value, once Keystone has
/// confirmed it.
#[derive(Clone, Debug)]
pub struct Opened {
    pub keystone_token: SecretString,
    pub validity: Validity,
}

/// The validity of a cluster token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    pub issued_at: Timestamp,
    pub expires_at: Timestamp,
}

impl Validity {
    /// Returns whether it is valid now, allowing for clock skew.
    ///
    /// # Errors
    /// If it is not valid yet, or has expired.
    pub fn check(&self, now: Timestamp) -> Result<(), OpenError> {
        let now = now.as_second();
        if self.issued_at.as_second() > now + SKEW_SECONDS {
            return Err(OpenError::NotYetValid);
        }
        if self.expires_at.as_second() + SKEW_SECONDS <= now {
            return Err(OpenError::Expired);
        }
        Ok(())
    }
}

/// The reason why a token cannot be sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    #[error("the Keystone token has expired")]
    Expired,
    #[error("the Keystone token is too long to be sealed")]
    TooLong,
    #[error("the sealing key cannot be used")]
    Key,
}

/// The reason why a token is refused. None of the variants discloses its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    #[error("not a cluster token")]
    Shape,
    #[error("sealed to a key that is not known here")]
    UnknownKey,
    #[error("changed on the way, or sealed for another cluster")]
    Undecipherable,
    #[error("the content does not agree with its envelope")]
    Content,
    #[error("issued in the future")]
    NotYetValid,
    #[error("expired")]
    Expired,
    #[error("lives longer than a cluster token may")]
    LifetimeTooLong,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content<'a> {
    v: u32,
    #[serde(borrow)]
    kid: Cow<'a, str>,
    cluster: Uuid,
    iat: i64,
    exp: i64,
    #[serde(borrow)]
    token: Cow<'a, str>,
}

/// Seals a Keystone token for one cluster, for 15 minutes at most and never beyond the token's own
/// expiry.
///
/// # Errors
/// If the Keystone token has expired or is too long.
pub fn seal(
    key: &PublicKey,
    cluster: Uuid,
    keystone_token: &SecretString,
    keystone_expires_at: Timestamp,
    now: Timestamp,
) -> Result<SealedClusterToken, SealError> {
    let iat = now.as_second();
    let exp = keystone_expires_at
        .as_second()
        .min(iat + MAX_LIFETIME_SECONDS);
    if exp <= iat {
        return Err(SealError::Expired);
    }
    let content = Content {
        v: VERSION,
        kid: key.kid().into(),
        cluster,
        iat,
        exp,
        token: keystone_token.expose_secret().into(),
    };
    let plaintext = Zeroizing::new(serde_json::to_vec(&content).map_err(|_| SealError::Key)?);
    let sealed = sealing::seal(key, INFO, &associated_data(key.kid(), cluster), &plaintext)
        .ok_or(SealError::Key)?;
    let token = format!("{PREFIX}{}.{sealed}", key.kid());
    if token.len() > MAX_TOKEN_BYTES {
        return Err(SealError::TooLong);
    }
    Ok(SealedClusterToken {
        token: token.into(),
        expires_at: Timestamp::from_second(exp).map_err(|_| SealError::Expired)?,
    })
}

/// Opens a cluster token with the one of `keys` that it names, and checks cluster and times.
///
/// # Errors
/// If anything about the token is not as required.
pub fn open(
    keys: &[PrivateKey],
    cluster: Uuid,
    token: &str,
    now: Timestamp,
) -> Result<Opened, OpenError> {
    if token.len() > MAX_TOKEN_BYTES {
        return Err(OpenError::Shape);
    }
    let (kid, sealed) = token
        .strip_prefix(PREFIX)
        .and_then(|rest| rest.split_once('.'))
        .ok_or(OpenError::Shape)?;
    let key = keys
        .iter()
        .find(|key| key.kid() == kid)
        .ok_or(OpenError::UnknownKey)?;
    let plaintext = sealing::open(key, INFO, &associated_data(kid, cluster), sealed)
        .ok_or(OpenError::Undecipherable)?;
    let content: Content<'_> =
        serde_json::from_slice(&plaintext).map_err(|_| OpenError::Content)?;
    content.checked(kid, cluster, now)
}

impl Content<'_> {
    fn checked(&self, kid: &str, cluster: Uuid, now: Timestamp) -> Result<Opened, OpenError> {
        if self.v != VERSION || self.kid != kid || self.cluster != cluster || self.token.is_empty()
        {
            return Err(OpenError::Content);
        }
        let time = |seconds| Timestamp::from_second(seconds).map_err(|_| OpenError::Content);
        let (issued_at, expires_at) = (time(self.iat)?, time(self.exp)?);
        if self.exp <= self.iat {
            return Err(OpenError::Content);
        }
        if self.exp - self.iat > MAX_LIFETIME_SECONDS {
            return Err(OpenError::LifetimeTooLong);
        }
        let validity = Validity {
            issued_at,
            expires_at,
        };
        validity.check(now)?;
        Ok(Opened {
            keystone_token: self.token.as_ref().into(),
            validity,
        })
    }
}

fn associated_data(kid: &str, cluster: Uuid) -> Vec<u8> {
    format!("{PREFIX}{kid}.{cluster}").into_bytes()
}

#[cfg(test)]
mod tests;

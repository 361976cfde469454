//! The Keystone token that is sent to the panel beside an assertion (header `Portico-Token`).
//!
//! `<kid>.<base64url(encapsulated key || ciphertext)>`, sealed to the panel's key and bound to the
//! assertion's `jti`: neither has any value without the other, and both expire together.
use crate::keys::{PrivateKey, PublicKey};
use crate::sealing;
use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use zeroize::Zeroizing;

const INFO: &[u8] = b"portico panel token v1";

/// A Keystone token, opened.
#[derive(Clone, Debug)]
pub struct PanelToken {
    pub token: SecretString,
    /// When the Keystone token expires.
    pub expires_at: Timestamp,
}

/// The sealing key cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the panel's sealing key cannot be used")]
pub struct SealError;

/// The reason why the header is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    #[error("not a panel token")]
    Shape,
    #[error("sealed to a key that is not known here")]
    UnknownKey,
    #[error("changed on the way, or made for another assertion")]
    Undecipherable,
    #[error("expired")]
    Expired,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content<'a> {
    #[serde(borrow)]
    token: Cow<'a, str>,
    expires_at: i64,
}

/// Seals a project-scoped Keystone token for the assertion with this `jti`.
///
/// # Errors
/// If the key cannot be used.
pub fn seal_for_panel(
    key: &PublicKey,
    jti: &str,
    token: &SecretString,
    expires_at: Timestamp,
) -> Result<String, SealError> {
    let content = Content {
        token: token.expose_secret().into(),
        expires_at: expires_at.as_second(),
    };
    let plaintext = Zeroizing::new(serde_json::to_vec(&content).map_err(|_| SealError)?);
    let sealed = sealing::seal(key, INFO, jti.as_bytes(), &plaintext).ok_or(SealError)?;
    Ok(format!("{}.{sealed}", key.kid()))
}

/// Opens the header that came beside the (already verified) assertion with this `jti`.
///
/// # Errors
/// If it was made for another assertion or key, or the Keystone token has expired.
pub fn open(
    keys: &[PrivateKey],
    jti: &str,
    header: &str,
    now: Timestamp,
) -> Result<PanelToken, OpenError> {
    let (kid, sealed) = header.split_once('.').ok_or(OpenError::Shape)?;
    let key = keys
        .iter()
        .find(|key| key.kid() == kid)
        .ok_or(OpenError::UnknownKey)?;
    let plaintext =
        sealing::open(key, INFO, jti.as_bytes(), sealed).ok_or(OpenError::Undecipherable)?;
    let content: Content<'_> = serde_json::from_slice(&plaintext).map_err(|_| OpenError::Shape)?;
    let expires_at = Timestamp::from_second(content.expires_at).map_err(|_| OpenError::Shape)?;
    if expires_at <= now {
        return Err(OpenError::Expired);
    }
    Ok(PanelToken {
        token: content.token.as_ref().into(),
        expires_at,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_800_000_000;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    #[test]
    fn it_opens_only_beside_its_own_assertion() {
        let key = PrivateKey::generate();
        let header = seal_for_panel(key.public(), "jti-1", &"gAAAA".into(), at(NOW + 60)).unwrap();
        let keys = [key];
        let opened = open(&keys, "jti-1", &header, at(NOW)).unwrap();
        assert_eq!(opened.token.expose_secret(), "gAAAA");
        assert_eq!(opened.expires_at, at(NOW + 60));
        let other = open(&keys, "jti-2", &header, at(NOW)).unwrap_err();
        assert_eq!(other, OpenError::Undecipherable);
        let late = open(&keys, "jti-1", &header, at(NOW + 60)).unwrap_err();
        assert_eq!(late, OpenError::Expired);
    }

    #[test]
    fn a_cluster_token_is_not_a_panel_token_and_the_reverse() {
        let key = PrivateKey::generate();
        let cluster = uuid::Uuid::from_u128(1);
        let header = seal_for_panel(key.public(), "j", &"t".into(), at(NOW + 60)).unwrap();
        let keys = [key.clone()];
        let as_cluster = format!("{}{header}", crate::cluster_token::PREFIX);
        assert!(crate::cluster_token::open(&keys, cluster, &as_cluster, at(NOW)).is_err());
        let sealed =
            crate::cluster_token::seal(key.public(), cluster, &"t".into(), at(NOW + 60), at(NOW))
                .unwrap();
        let aad = format!("portico_v1.{}.{cluster}", key.kid());
        let inner = sealed.token.expose_secret();
        let inner = inner.strip_prefix(crate::cluster_token::PREFIX).unwrap();
        assert!(open(&keys, &aad, inner, at(NOW)).is_err());
    }

    #[test]
    fn hostile_headers_are_refused() {
        let key = PrivateKey::generate();
        let kid = key.kid().to_owned();
        let keys = [key];
        for (header, expected) in [
            (String::new(), OpenError::Shape),
            ("x".to_owned(), OpenError::Shape),
            ("0000000000000000.AAAA".to_owned(), OpenError::UnknownKey),
            (format!("{kid}."), OpenError::Undecipherable),
            (format!("{kid}.%%%"), OpenError::Undecipherable),
        ] {
            let opened = open(&keys, "j", &header, at(NOW));
            assert_eq!(opened.unwrap_err(), expected, "{header}");
        }
    }
}

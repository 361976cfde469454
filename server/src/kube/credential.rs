//! Cluster tokens: the caller's Keystone token sealed to kube-auth, one per session and cluster.
use super::KubeError;
use hmac::{Hmac, Mac};
use jiff::Timestamp;
use portico_assertion::{PublicKey, SealedClusterToken, cluster_token};
use portico_cache::Cache;
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;
use std::{sync::Arc, time::Duration};
use uuid::Uuid;

/// A user's token in cache keys: an HMAC under a key that never leaves the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SubjectKey([u8; 32]);

/// A Keystone token with its expiry.
#[derive(Clone, Debug)]
pub struct KeystoneToken {
    pub token: SecretString,
    pub expires_at: Timestamp,
}

/// Seals cluster tokens and caches them for two thirds of their lifetime.
pub struct ClusterTokens {
    hmac_key: [u8; 32],
    sealed: Cache<(Uuid, SubjectKey), Arc<CachedClusterToken>>,
}

struct CachedClusterToken {
    token: SealedClusterToken,
    renew_at: Timestamp,
}

impl Default for ClusterTokens {
    fn default() -> Self {
        Self {
            hmac_key: rand::random(),
            sealed: Cache::builder()
                .max_capacity(20_000)
                .time_to_live(Duration::from_secs(900))
                .build(),
        }
    }
}

impl ClusterTokens {
    /// Returns the cache key of a token.
    pub fn subject(&self, token: &SecretString) -> SubjectKey {
        // HMAC takes keys of any length
        let mut key = [0; 32];
        if let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.hmac_key) {
            mac.update(token.expose_secret().as_bytes());
            key.copy_from_slice(&mac.finalize().into_bytes());
        }
        SubjectKey(key)
    }

    /// Returns the bearer token for a cluster: the cached one while it is young, else a new one.
    pub async fn bearer(
        &self,
        cluster: Uuid,
        sealing_key: &PublicKey,
        keystone: &KeystoneToken,
        now: Timestamp,
    ) -> Result<SecretString, KubeError> {
        let slot = (cluster, self.subject(&keystone.token));
        if let Some(kept) = self.sealed.get(&slot).await
            && now < kept.renew_at
        {
            return Ok(kept.token.token.clone());
        }
        let token = fresh(cluster, sealing_key, keystone, now)?;
        let life = token.expires_at.as_second() - now.as_second();
        let renew_at = Timestamp::from_second(now.as_second() + life * 2 / 3).unwrap_or(now);
        let bearer = token.token.clone();
        self.sealed
            .insert(slot, Arc::new(CachedClusterToken { token, renew_at }))
            .await;
        Ok(bearer)
    }
}

/// Returns a cluster token that no API server has seen before.
pub fn fresh(
    cluster: Uuid,
    sealing_key: &PublicKey,
    keystone: &KeystoneToken,
    now: Timestamp,
) -> Result<SealedClusterToken, KubeError> {
    cluster_token::seal(
        sealing_key,
        cluster,
        &keystone.token,
        keystone.expires_at,
        now,
    )
    .map_err(|error| match error {
        cluster_token::SealError::Expired => KubeError::Unauthenticated,
        other => KubeError::Unconfigured(other.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_assertion::PrivateKey;

    const NOW: Timestamp = Timestamp::constant(1_800_000_000, 0);

    fn keystone(token: &str, seconds: i64) -> KeystoneToken {
        KeystoneToken {
            token: token.into(),
            expires_at: Timestamp::from_second(NOW.as_second() + seconds).unwrap(),
        }
    }

    #[tokio::test]
    async fn a_young_cluster_token_is_used_again_by_its_own_session_only() {
        let tokens = ClusterTokens::default();
        let key = PrivateKey::generate();
        let (one, two) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let ada = keystone("ada", 3600);
        let first = tokens.bearer(one, key.public(), &ada, NOW).await.unwrap();
        let again = tokens.bearer(one, key.public(), &ada, NOW).await.unwrap();
        let elsewhere = tokens.bearer(two, key.public(), &ada, NOW).await.unwrap();
        let vera = tokens
            .bearer(one, key.public(), &keystone("vera", 3600), NOW)
            .await
            .unwrap();
        assert_eq!(first.expose_secret(), again.expose_secret());
        assert_ne!(first.expose_secret(), elsewhere.expose_secret());
        assert_ne!(first.expose_secret(), vera.expose_secret());
    }

    #[tokio::test]
    async fn an_expired_keystone_token_gives_no_bearer() {
        let key = PrivateKey::generate();
        let gone = ClusterTokens::default()
            .bearer(Uuid::from_u128(1), key.public(), &keystone("old", -1), NOW)
            .await;
        assert!(matches!(gone, Err(KubeError::Unauthenticated)));
    }
}

//! Cleans up at a provider when a session has ended: revokes its tokens (RFC 7009), and offers the
//! browser the provider's own sign-out.
use futures::{StreamExt as _, stream};
use jiff::SignedDuration;
use portico_store::{EndedTokens, HeldTokens, Session, StoreError};
use uuid::Uuid;

use super::Sessions;

const MAX_CONCURRENT_REVOCATIONS: usize = 8;

impl Sessions {
    /// Revokes the tokens of a session that has just ended. Failed revocations are retried later.
    pub async fn revoke_of_provider(&self, root: Uuid) {
        match self.store.provider_tokens().find(root).await {
            Ok(Some(tokens)) => {
                self.revoke_held(EndedTokens {
                    tokens,
                    attempts: 0,
                })
                .await
            }
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "a provider's tokens wait for their revocation"),
        }
    }

    /// Revokes the provider tokens of ended sessions; called periodically.
    pub async fn revoke_ended_of_providers(&self) -> Result<(), StoreError> {
        let ended = self
            .store
            .provider_tokens()
            .ended(32, self.clock.now())
            .await?;
        stream::iter(ended)
            .for_each_concurrent(MAX_CONCURRENT_REVOCATIONS, |ended| self.revoke_held(ended))
            .await;
        Ok(())
    }

    async fn revoke_held(&self, ended: EndedTokens) {
        let held = &ended.tokens;
        let revoked = match self.providers.get(&held.provider) {
            Some(provider) => {
                // revoking the refresh token also revokes the access tokens issued for it
                let (token, hint) = match &held.refresh_token {
                    Some(token) => (token, "refresh_token"),
                    None => (&held.access_token, "access_token"),
                };
                provider.client.revoke(token, hint).await.map(drop)
            }
            None => Ok(()),
        };
        let tokens = self.store.provider_tokens();
        let written = match revoked {
            Ok(()) => tokens.forget(held.session).await,
            Err(error) => {
                tracing::warn!(provider = held.provider, %error, "a provider's tokens could not be revoked");
                let exponent = u32::try_from(ended.attempts.clamp(0, 10)).unwrap_or(10);
                let next = self.clock.now() + SignedDuration::from_secs(2_i64.pow(exponent));
                tokens.revocation_failed(held.session, next).await
            }
        };
        if let Err(error) = written {
            tracing::warn!(%error, "the outcome of a revocation could not be written down");
        }
    }

    /// Returns the tokens of a session's provider, for its sign-out.
    pub async fn held_of_provider(
        &self,
        session: &Session,
    ) -> Result<Option<HeldTokens>, StoreError> {
        if session.provider.is_none() {
            return Ok(None);
        }
        self.store.provider_tokens().find(session.root()).await
    }
}

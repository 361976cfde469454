//! Cleans up at a provider when a session has ended: revokes its tokens (RFC 7009), and offers the
//! browser the provider's own sign-out.
use futures::{StreamExt as _, stream};
use jiff::{SignedDuration, Timestamp};
use portico_store::{EndedTokens, HeldTokens, Session, StoreError};
use url::Url;
use uuid::Uuid;

use crate::state::Gateway;

const MAX_CONCURRENT_REVOCATIONS: usize = 8;

/// The provider's own sign-out, for the browser.
#[derive(Clone, Debug)]
pub(crate) struct Onward {
    /// The provider's name.
    pub name: String,
    pub url: Url,
}

impl Gateway {
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
            .ended(32, Timestamp::now())
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
                let next = Timestamp::now() + SignedDuration::from_secs(2_i64.pow(exponent));
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

    /// Returns the URL of the provider's own sign-out; `None` where it has none.
    pub async fn onward(&self, held: Option<&HeldTokens>) -> Option<Onward> {
        let held = held?;
        let provider = self.providers.get(&held.provider)?;
        let back = self.config.public_url.join("/oauth2/signed_out").ok()?;
        match provider
            .client
            .logout_url(held.id_token.as_ref(), &back)
            .await
        {
            Ok(url) => url.map(|url| Onward {
                name: provider.config.name.clone(),
                url,
            }),
            Err(error) => {
                tracing::warn!(
                    provider = held.provider,
                    %error,
                    "the session at the provider may still be active"
                );
                None
            }
        }
    }
}

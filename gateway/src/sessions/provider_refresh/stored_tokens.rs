//! What a refresh of a provider's tokens leaves in the store: new tokens, or those that another
//! replica has written meanwhile.
use std::{sync::Arc, time::Duration};

use portico_oidc::Refreshed;
use portico_store::{HeldTokens, ProviderProfile, RefreshedTokens, Session};
use tokio::time::Instant;

use super::LEASE_POLL_INTERVAL;
use crate::{
    identity_providers::{OidcProvider, federation::IssuedIdentity, profile_of},
    sessions::{Sessions, live::Live, validation::Validity},
};

/// How long a refused token is compared with the store: the previous holder of the lease may still
/// be writing.
const LATE_WRITE_TIMEOUT: Duration = Duration::from_secs(2);
/// Bounds the attempts to store new tokens.
const MAX_WRITE_ATTEMPTS: u32 = 8;

impl Sessions {
    /// Stores the tokens of a refresh. The old refresh token may be invalid by now, so this is
    /// retried.
    pub(super) async fn keep(
        &self,
        live: &Arc<Live>,
        provider: &OidcProvider,
        held: &HeldTokens,
        refreshed: Refreshed,
    ) -> Validity {
        let before = live.root();
        let keystone = before.has_keystone();
        let profile = refreshed
            .identity
            .as_ref()
            .map(|identity| profile_of(identity, keystone));
        let expires_at = refreshed.expires_at;
        let new = RefreshedTokens {
            refresh_token: refreshed.refresh_token,
            access_token: refreshed.access_token,
            id_token: refreshed.id_token,
            profile: profile.clone(),
            expires_at,
        };
        let tokens = self.store.provider_tokens();
        let mut pause = Duration::from_millis(100);
        for _ in 0..MAX_WRITE_ATTEMPTS {
            match tokens
                .replace(live.id, held.version, &new, self.clock.now())
                .await
            {
                Ok(written) => {
                    let rechecked = self.registry.recheck(live).await;
                    if !written
                        && live.connections.has_ended()
                        && let Some(token) = &new.refresh_token
                        && let Err(error) = provider.client.revoke(token, "refresh_token").await
                    {
                        // the session ended during the refresh
                        tracing::warn!(%error, "a token of an ended session could not be revoked");
                    }
                    return match rechecked {
                        Ok(()) if live.connections.has_ended() => Validity::Ended,
                        Ok(()) => {
                            reconnect_if_changed(live, &before, profile.as_ref());
                            let word = IssuedIdentity {
                                identity: refreshed.identity.as_ref(),
                                id_token: new.id_token.as_ref(),
                                access_token: &new.access_token,
                            };
                            self.renew_federated(live, word).await;
                            Validity::Good
                        }
                        Err(_) => Validity::Unknown,
                    };
                }
                Err(error) => {
                    tracing::error!(%error, session_id = %live.id, "refreshed tokens could not be stored yet");
                    tokio::time::sleep(pause).await;
                    pause *= 2;
                }
            }
        }
        Validity::Unknown
    }

    /// Returns the new validity if a refused token has been replaced by another replica meanwhile:
    /// then the refusal does not end the session.
    pub(super) async fn replaced_meanwhile(
        &self,
        live: &Arc<Live>,
        held: &HeldTokens,
    ) -> Option<Validity> {
        let until = Instant::now() + LATE_WRITE_TIMEOUT;
        loop {
            match self.store.provider_tokens().find(live.id).await {
                Ok(Some(now)) if now.version > held.version => {
                    return match self.registry.recheck(live).await {
                        Ok(()) if live.connections.has_ended() => Some(Validity::Ended),
                        Ok(()) => Some(Validity::Good),
                        Err(_) => Some(Validity::Unknown),
                    };
                }
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!(%error, "a refused refresh cannot be compared with the store");
                    return Some(Validity::Unknown);
                }
            }
            if Instant::now() >= until {
                return None;
            }
            tokio::time::sleep(LEASE_POLL_INTERVAL).await;
        }
    }
}

/// Closes streams that were opened with groups that the user no longer has, so that clients
/// reconnect.
fn reconnect_if_changed(live: &Live, before: &Session, now: Option<&ProviderProfile>) {
    let before = before.provider.as_ref().map(|provider| &provider.profile);
    if let (Some(before), Some(now)) = (before, now)
        && (before.groups != now.groups || before.roles != now.roles)
    {
        live.connections.renew();
    }
}

//! Renews a session's Keystone token before it ends, with a new identity from the provider.
use jiff::{SignedDuration, Timestamp};
use portico_store::{EndReason, Outcome};

use super::{Sessions, keystone_tokens::TokenError, live::Live};
use crate::{
    audit::Event,
    identity_providers::federation::{IssuedIdentity, NoToken},
    request_context::Context,
};

/// Bounds how often a session is renewed at Keystone, whether or not the last attempt succeeded.
const MIN_RENEWAL_INTERVAL_SECONDS: i64 = 60;
/// How long the old tokens stay valid after a renewal, for requests in flight.
const OLD_TOKEN_GRACE: SignedDuration = SignedDuration::from_secs(30);

impl Sessions {
    /// Returns whether a session depends on a federated token that ends soon, so that its provider
    /// should be asked now, even if the provider's own tokens last longer.
    pub fn federation_is_due(&self, live: &Live, now: Timestamp) -> bool {
        let root = live.root();
        let Some(provider) = root.provider.as_ref().filter(|_| root.has_keystone()) else {
            return false;
        };
        self.federations
            .get(&provider.id)
            .is_some_and(|federation| {
                let ahead = SignedDuration::try_from(federation.config.renew_ahead)
                    .unwrap_or(SignedDuration::ZERO);
                now >= root.keystone_expires_at - ahead
                    && live.may_federate(now, MIN_RENEWAL_INTERVAL_SECONDS)
            })
    }

    /// Renews the Keystone token of a session whose provider has just responded. If that fails for
    /// now, the session continues with its current token until that ends.
    pub async fn renew_federated(&self, live: &Live, word: IssuedIdentity<'_>) {
        let root = live.root();
        let Some(provider) = &root.provider else {
            return;
        };
        let Some(federation) = self.federations.get(&provider.id) else {
            return;
        };
        let now = self.clock.now();
        if !self.federation_is_due(live, now) {
            return;
        }
        live.federated(now);
        let issued = match federation.token(word).await {
            Ok(issued) => issued,
            Err(error @ NoToken::Unavailable(_)) => {
                tracing::warn!(%error, session_id = %live.id, "a federated session is not renewed yet");
                return;
            }
            Err(error @ NoToken::NoAttributes) => {
                // another attempt would have the same result: the session ends with its token
                tracing::warn!(%error, session_id = %live.id, "a federated session cannot be renewed");
                live.federated(now + SignedDuration::from_hours(24));
                return;
            }
            Err(error) => {
                let text = error.to_string();
                let event = Event::new("session.renew", Outcome::Denied)
                    .session(&root)
                    .reason(&text);
                self.audit.record(&Context::internal(), event).await;
                return;
            }
        };
        if issued.details.identity.user.id != root.user.id {
            self.revoke(&issued.token).await;
            let ended = self
                .end_session(live.id, EndReason::RefusedByProvider)
                .await;
            if let Err(error) = ended {
                tracing::error!(%error, "a session of another user now could not be ended");
            }
            let event = Event::new("session.end", Outcome::Succeeded)
                .session(&root)
                .reason("Keystone has another user for the provider's identity now");
            self.audit.record(&Context::internal(), event).await;
            return;
        }
        match self.take_federated(live, &issued).await {
            Ok(()) => {
                let event = Event::new("session.renew", Outcome::Succeeded).session(&root);
                self.audit.record(&Context::internal(), event).await;
            }
            Err(error) => {
                tracing::warn!(%error, session_id = %live.id, "a renewed token could not be kept");
            }
        }
    }

    /// Replaces the tokens of a session. The old ones stay valid briefly: other replicas learn of
    /// the new ones within a second, and requests may be in flight.
    async fn take_federated(
        &self,
        live: &Live,
        issued: &portico_openstack::keystone::IssuedToken,
    ) -> Result<(), TokenError> {
        let now = self.clock.now();
        let tokens = self.store.keystone_tokens();
        let old = tokens.list(live.id).await?;
        self.store_token(live.id, issued).await?;
        for token in old {
            tokens.revoke_later(token.id, now + OLD_TOKEN_GRACE).await?;
        }
        self.store
            .sessions()
            .set_keystone_expires(live.id, issued.details.expires_at, now)
            .await?;
        if let Some(root) = self.store.sessions().get(live.id).await? {
            live.set_root(std::sync::Arc::new(root));
        }
        self.registry.refresh(live.id);
        // streams were opened with the old token: clients reconnect with the new one
        live.connections.renew();
        Ok(())
    }
}

//! Refreshes the tokens of a provider's session before they expire, in the background.
//!
//! There is one refresh at a time: concurrent requests in a process share its outcome, and over
//! replicas the store's lease selects one. While the session is valid, no request waits for it.
//! Only a refusal by the provider ends a session, never an outage or an error on Portico's side.
mod stored_tokens;

use std::{sync::Arc, time::Duration};

use futures::{
    FutureExt as _,
    future::{BoxFuture, Shared},
};
use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use portico_oidc::{Error, Identity};
use portico_store::{EndReason, HeldTokens, Lease, Outcome, Session, StoreError};
use tokio::time::Instant;
use uuid::Uuid;

use super::{
    Sessions,
    live::Live,
    validation::{InvalidSession, Validity},
};
use crate::{audit::Event, identity_providers::OidcProvider, metrics, request_context::Context};

/// After a failed refresh, the provider is not called again for this session within this time.
const RETRY_DELAY: Duration = Duration::from_secs(5);
/// How often the store is read while another replica refreshes the session.
const LEASE_POLL_INTERVAL: Duration = Duration::from_millis(150);

/// A refresh in progress, shared by all requests that wait for its outcome.
type Running = Shared<BoxFuture<'static, Validity>>;

/// The state of a session's refreshes in memory.
#[derive(Default)]
pub(crate) struct Refreshing {
    running: Mutex<Option<Running>>,
    failed: Mutex<Option<Instant>>,
}

impl std::fmt::Debug for Refreshing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Refreshing").finish_non_exhaustive()
    }
}

impl Sessions {
    /// Ensures that a session's provider has confirmed it recently. Requests do not wait while the
    /// last confirmation is still valid.
    pub async fn ensure_refreshed(&self, live: &Arc<Live>) -> Result<(), InvalidSession> {
        let root = live.root();
        let Some(of_provider) = &root.provider else {
            return Ok(());
        };
        let Some(provider) = self.providers.get(&of_provider.id) else {
            // no provider confirms it any more
            self.end_for_provider(live, "its provider is not configured any more")
                .await?;
            return Err(InvalidSession::RefusedByProvider);
        };
        let Some(expires_at) = of_provider.expires_at else {
            return Ok(());
        };
        let now = self.clock.now();
        if !is_due(&root, provider, now) && !self.federation_is_due(live, now) {
            return Ok(());
        }
        let running = self.refresh_in_background(live);
        if now < expires_at {
            return Ok(());
        }
        match running.await {
            Validity::Good => Ok(()),
            Validity::Ended => Err(InvalidSession::RefusedByProvider),
            Validity::Unknown if now < expires_at + span(self.config.stale_for) => Ok(()),
            Validity::Unknown => {
                let name = provider.config.name.clone();
                Err(InvalidSession::ProviderUnavailable(name))
            }
        }
    }

    /// Refreshes a session that is due, unless a refresh is in progress already.
    pub fn refresh_in_background(&self, live: &Arc<Live>) -> Running {
        let mut running = live.refreshing.running.lock();
        if let Some(running) = running.as_ref()
            && running.peek().is_none()
        {
            return running.clone();
        }
        let failed = *live.refreshing.failed.lock();
        let Some(sessions) = self
            .me
            .upgrade()
            .filter(|_| failed.is_none_or(|at| at.elapsed() >= RETRY_DELAY))
        else {
            return std::future::ready(Validity::Unknown).boxed().shared();
        };
        let live = Arc::clone(live);
        let session = Arc::clone(&live);
        // a task of its own: a request whose client disconnects must not lose a rotated token
        #[allow(
            clippy::disallowed_methods,
            reason = "awaited; it continues when the request has ended"
        )]
        let task = tokio::spawn(async move { sessions.refresh(&session).await });
        let outcome = async move {
            let validity = task.await.unwrap_or(Validity::Unknown);
            *live.refreshing.failed.lock() = (validity == Validity::Unknown).then(Instant::now);
            validity
        };
        let started = outcome.boxed().shared();
        // the outcome is recorded even when no request waits for it
        #[allow(clippy::disallowed_methods, reason = "it only polls the task above")]
        tokio::spawn(started.clone());
        *running = Some(started.clone());
        started
    }

    /// Returns whether a session's provider should be asked about it now.
    pub fn refresh_is_due(&self, live: &Live, now: Timestamp) -> bool {
        let root = live.root();
        let Some(of_provider) = &root.provider else {
            return false;
        };
        self.providers
            .get(&of_provider.id)
            .is_some_and(|provider| is_due(&root, provider, now))
            || (of_provider.expires_at.is_some() && self.federation_is_due(live, now))
    }

    async fn refresh(&self, live: &Arc<Live>) -> Validity {
        let root = live.root();
        let Some(provider) = root
            .provider
            .as_ref()
            .and_then(|of_provider| self.providers.get(&of_provider.id))
            .cloned()
        else {
            return Validity::Unknown;
        };
        let validity = self.refresh_alone(live, &provider).await;
        let outcome = match validity {
            Validity::Good => "succeeded",
            Validity::Ended => "ended",
            Validity::Unknown => "unavailable",
        };
        metrics::refresh(&provider.config.id, outcome);
        validity
    }

    /// Takes the lease and refreshes the session, or waits for the current holder.
    async fn refresh_alone(&self, live: &Arc<Live>, provider: &Arc<OidcProvider>) -> Validity {
        let holder = Uuid::new_v4();
        // discovery, tokens, keys and userinfo, each with its timeout
        let life = span(provider.config.timeout) * 4 + SignedDuration::from_secs(2);
        let patience = Instant::now() + provider.config.timeout * 5;
        loop {
            let tokens = self.store.provider_tokens();
            let lease = tokens.lease(live.id, holder, life, self.clock.now()).await;
            let held = match lease {
                Ok(Lease::Yours(held)) => Some(held),
                // gone: returned a moment ago, or the session has ended
                Ok(Lease::Taken { .. } | Lease::Gone) => None,
                Err(error) => {
                    tracing::warn!(%error, "a refresh has to wait for the store");
                    return Validity::Unknown;
                }
            };
            // another replica may have refreshed or ended it since this one last read it
            let seen = self.look_again(live, provider).await;
            match (held, seen) {
                (Some(held), None) => {
                    return self.refresh_held(live, provider, &held, holder).await;
                }
                (Some(_), Some(validity)) => {
                    self.release_lease(live.id, holder).await;
                    return validity;
                }
                (None, Some(validity)) => return validity,
                (None, None) => {
                    if Instant::now() >= patience {
                        return Validity::Unknown;
                    }
                    tokio::time::sleep(LEASE_POLL_INTERVAL).await;
                }
            }
        }
    }

    /// Returns the session's validity according to the store; `None`: it must be refreshed.
    async fn look_again(&self, live: &Arc<Live>, provider: &OidcProvider) -> Option<Validity> {
        if let Err(error) = self.registry.recheck(live).await {
            tracing::warn!(%error, "a refresh has to wait for the store");
            return Some(Validity::Unknown);
        }
        if live.connections.has_ended() {
            return Some(Validity::Ended);
        }
        let now = self.clock.now();
        let due = is_due(&live.root(), provider, now) || self.federation_is_due(live, now);
        (!due).then_some(Validity::Good)
    }

    async fn refresh_held(
        &self,
        live: &Arc<Live>,
        provider: &OidcProvider,
        held: &HeldTokens,
        holder: Uuid,
    ) -> Validity {
        let Some(refresh_token) = &held.refresh_token else {
            self.release_lease(live.id, holder).await;
            return Validity::Unknown;
        };
        let root = live.root();
        let known = identity_of(&root, provider);
        match provider.client.refresh(refresh_token, &known).await {
            Ok(refreshed) => self.keep(live, provider, held, refreshed).await,
            Err(Error::InvalidGrant) => {
                if let Some(validity) = self.replaced_meanwhile(live, held).await {
                    return validity;
                }
                self.release_lease(live.id, holder).await;
                self.ended(live, "the provider did not renew it").await
            }
            Err(error @ (Error::OtherSubject | Error::OtherIssuer | Error::Token(_))) => {
                self.release_lease(live.id, holder).await;
                self.ended(live, &error.to_string()).await
            }
            // not a statement about the user: a provider that is down, or an invalid client
            // secret
            Err(error @ (Error::Unavailable(_) | Error::Unusable(_) | Error::Client(_))) => {
                tracing::warn!(
                    provider = provider.config.id, session_id = %live.id, %error,
                    "a session could not be refreshed"
                );
                self.release_lease(live.id, holder).await;
                Validity::Unknown
            }
        }
    }

    async fn release_lease(&self, session: Uuid, holder: Uuid) {
        let released = self.store.provider_tokens().release(session, holder).await;
        if let Err(error) = released {
            tracing::debug!(%error, "a lease could not be given back: it runs out by itself");
        }
    }

    async fn ended(&self, live: &Arc<Live>, reason: &str) -> Validity {
        match self.end_for_provider(live, reason).await {
            Ok(()) => Validity::Ended,
            Err(error) => {
                tracing::error!(%error, session_id = %live.id, "a session that its provider refused could not be ended");
                Validity::Unknown
            }
        }
    }

    async fn end_for_provider(&self, live: &Arc<Live>, reason: &str) -> Result<(), StoreError> {
        let root = live.root();
        self.end_session(live.id, EndReason::RefusedByProvider)
            .await?;
        let event = Event::new("session.end", Outcome::Succeeded)
            .session(&root)
            .reason(reason);
        self.audit.record(&Context::internal(), event).await;
        Ok(())
    }
}

fn is_due(root: &Session, provider: &OidcProvider, now: Timestamp) -> bool {
    let expires_at = root.provider.as_ref().and_then(|known| known.expires_at);
    expires_at.is_some_and(|expires_at| now >= expires_at - span(provider.config.refresh_ahead))
}

/// Returns the session's user as an identity of the provider.
fn identity_of(root: &Session, provider: &OidcProvider) -> Identity {
    let known = root.provider.as_ref();
    Identity {
        issuer: provider.client.issuer().to_owned(),
        subject: known.map(|known| known.subject.clone()).unwrap_or_default(),
        session: known.and_then(|known| known.sid.clone()),
        name: root.user.name.clone(),
        display_name: known.and_then(|known| known.profile.display_name.clone()),
        email: None,
        groups: Vec::new(),
        roles: Vec::new(),
        methods: Vec::new(),
        authenticated_at: None,
    }
}

fn span(duration: Duration) -> SignedDuration {
    SignedDuration::try_from(duration).unwrap_or(SignedDuration::from_hours(24))
}

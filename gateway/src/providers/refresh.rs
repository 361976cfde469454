//! Keeping a provider's session true: its tokens are refreshed ahead of expiry, in the background.
//!
//! One refresh at a time: within the process whoever comes meanwhile shares the outcome, over
//! replicas the store's lease decides. As long as the session is good, nobody waits for it. Only
//! the provider's own word ends a session, never an outage and never a trouble of ours with it.
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use futures::{
    FutureExt as _,
    future::{BoxFuture, Shared},
};
use jiff::{SignedDuration, Timestamp};
use portico_oidc::{Error, Identity, Refreshed};
use portico_store::{
    EndReason, HeldTokens, Lease, Outcome, ProviderProfile, RefreshedTokens, Session,
};
use uuid::Uuid;

use super::{OidcProvider, establish::profile_of};
use crate::{
    audit::Event,
    federation::FreshWord,
    meters,
    problem::Problem,
    session::{live::Live, lock::Lock, validate::Standing},
    state::{Context, Gateway},
};

/// After a failure the provider is not asked again for this session within this time.
const ASK_AGAIN: Duration = Duration::from_secs(5);
/// How often another replica's refresh is looked at.
const LOOK: Duration = Duration::from_millis(150);
/// How long a refused token is compared with what the store holds: who had the lease before us may
/// still be writing.
const LATE_WRITER: Duration = Duration::from_secs(2);
/// How often new tokens are tried to be written.
const WRITES: u32 = 8;

/// A refresh under way, shared by everybody who wants its outcome.
type Running = Shared<BoxFuture<'static, Standing>>;

/// What a session in memory knows of its refreshes.
#[derive(Default)]
pub(crate) struct Refreshing {
    running: Lock<Option<Running>>,
    failed: Lock<Option<Instant>>,
}

impl std::fmt::Debug for Refreshing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Refreshing").finish_non_exhaustive()
    }
}

impl Gateway {
    /// Makes sure that a session's provider has vouched for it lately. Nobody waits while the last
    /// word is still good.
    pub async fn ensure_refreshed(&self, live: &Arc<Live>) -> Result<(), Problem> {
        let root = live.root();
        let Some(of_provider) = &root.provider else {
            return Ok(());
        };
        let Some(provider) = self.providers.get(&of_provider.id) else {
            // nobody vouches for it any more
            self.end_for_provider(live, "its provider is not configured any more")
                .await?;
            return Err(Problem::refused_by_provider());
        };
        let Some(expires_at) = of_provider.expires_at else {
            return Ok(());
        };
        let now = Timestamp::now();
        if !is_due(&root, provider, now) && !self.federation_is_due(live, now) {
            return Ok(());
        }
        let running = self.refresh_in_background(live);
        if now < expires_at {
            return Ok(());
        }
        match running.await {
            Standing::Good => Ok(()),
            Standing::Ended => Err(Problem::refused_by_provider()),
            Standing::Unknown if now < expires_at + span(self.config.session.stale_for) => Ok(()),
            Standing::Unknown => Err(Problem::provider_unavailable(&provider.config.name, true)),
        }
    }

    /// Refreshes a session that is due, unless it is being refreshed already.
    pub fn refresh_in_background(&self, live: &Arc<Live>) -> Running {
        let mut running = live.refreshing.running.lock();
        if let Some(running) = running.as_ref()
            && running.peek().is_none()
        {
            return running.clone();
        }
        let failed = *live.refreshing.failed.lock();
        let Some(gateway) = self
            .me
            .upgrade()
            .filter(|_| failed.is_none_or(|at| at.elapsed() >= ASK_AGAIN))
        else {
            return std::future::ready(Standing::Unknown).boxed().shared();
        };
        let live = Arc::clone(live);
        let session = Arc::clone(&live);
        // a task of its own: a request that goes away must not lose a token that was rotated
        let task = tokio::spawn(async move { gateway.refresh(&session).await });
        let outcome = async move {
            let standing = task.await.unwrap_or(Standing::Unknown);
            *live.refreshing.failed.lock() = (standing == Standing::Unknown).then(Instant::now);
            standing
        };
        let started = outcome.boxed().shared();
        // the outcome is noted even when nobody waits for it
        tokio::spawn(started.clone());
        *running = Some(started.clone());
        started
    }

    /// Whether a session's provider should be asked about it now.
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

    async fn refresh(&self, live: &Arc<Live>) -> Standing {
        let root = live.root();
        let Some(provider) = root
            .provider
            .as_ref()
            .and_then(|of_provider| self.providers.get(&of_provider.id))
            .cloned()
        else {
            return Standing::Unknown;
        };
        let standing = self.refresh_alone(live, &provider).await;
        let outcome = match standing {
            Standing::Good => "succeeded",
            Standing::Ended => "ended",
            Standing::Unknown => "unavailable",
        };
        meters::refresh(&provider.config.id, outcome);
        standing
    }

    /// Takes the lease and refreshes, or waits for whoever has it.
    async fn refresh_alone(&self, live: &Arc<Live>, provider: &Arc<OidcProvider>) -> Standing {
        let holder = Uuid::new_v4();
        // discovery, tokens, keys and userinfo, each within its time
        let life = span(provider.config.timeout) * 4 + SignedDuration::from_secs(2);
        let patience = Instant::now() + provider.config.timeout * 5;
        loop {
            let tokens = self.store.provider_tokens();
            let lease = tokens.lease(live.id, holder, life, Timestamp::now()).await;
            let held = match lease {
                Ok(Lease::Yours(held)) => Some(held),
                // gone: given back a moment ago, or the session has ended
                Ok(Lease::Taken { .. } | Lease::Gone) => None,
                Err(error) => {
                    tracing::warn!(%error, "a refresh has to wait for the store");
                    return Standing::Unknown;
                }
            };
            // another replica may have refreshed, or ended it, since this one looked last
            let seen = self.look_again(live, provider).await;
            match (held, seen) {
                (Some(held), None) => {
                    return self.refresh_held(live, provider, &held, holder).await;
                }
                (Some(_), Some(standing)) => {
                    self.give_back(live.id, holder).await;
                    return standing;
                }
                (None, Some(standing)) => return standing,
                (None, None) => {
                    if Instant::now() >= patience {
                        return Standing::Unknown;
                    }
                    tokio::time::sleep(LOOK).await;
                }
            }
        }
    }

    /// How the session stands according to the store; `None`: it must be refreshed.
    async fn look_again(&self, live: &Arc<Live>, provider: &OidcProvider) -> Option<Standing> {
        if let Err(error) = self.registry.recheck(live).await {
            tracing::warn!(%error, "a refresh has to wait for the store");
            return Some(Standing::Unknown);
        }
        if live.connections.has_ended() {
            return Some(Standing::Ended);
        }
        let now = Timestamp::now();
        let due = is_due(&live.root(), provider, now) || self.federation_is_due(live, now);
        (!due).then_some(Standing::Good)
    }

    async fn refresh_held(
        &self,
        live: &Arc<Live>,
        provider: &OidcProvider,
        held: &HeldTokens,
        holder: Uuid,
    ) -> Standing {
        let Some(refresh_token) = &held.refresh_token else {
            self.give_back(live.id, holder).await;
            return Standing::Unknown;
        };
        let root = live.root();
        let known = identity_of(&root, provider);
        match provider.client.refresh(refresh_token, &known).await {
            Ok(refreshed) => self.keep(live, provider, held, refreshed).await,
            Err(Error::InvalidGrant) => {
                if let Some(standing) = self.replaced_meanwhile(live, held).await {
                    return standing;
                }
                self.give_back(live.id, holder).await;
                self.ended(live, "the provider does not prolong it").await
            }
            Err(error @ (Error::OtherSubject | Error::OtherIssuer | Error::Token(_))) => {
                self.give_back(live.id, holder).await;
                self.ended(live, &error.to_string()).await
            }
            // no word about the person: a provider that is down, or a secret of ours that is wrong
            Err(error @ (Error::Unavailable(_) | Error::Unusable(_) | Error::Client(_))) => {
                tracing::warn!(
                    provider = provider.config.id, session = %live.id, %error,
                    "a session could not be refreshed"
                );
                self.give_back(live.id, holder).await;
                Standing::Unknown
            }
        }
    }

    /// Writes what the provider gave. The old refresh token may be worthless by now, so this is
    /// tried again and again.
    async fn keep(
        &self,
        live: &Arc<Live>,
        provider: &OidcProvider,
        held: &HeldTokens,
        refreshed: Refreshed,
    ) -> Standing {
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
        for _ in 0..WRITES {
            match tokens
                .replace(live.id, held.version, &new, Timestamp::now())
                .await
            {
                Ok(written) => {
                    let rechecked = self.registry.recheck(live).await;
                    if !written
                        && live.connections.has_ended()
                        && let Some(token) = &new.refresh_token
                        && let Err(error) = provider.client.revoke(token, "refresh_token").await
                    {
                        // the session ended while its tokens were on their way
                        tracing::warn!(%error, "a token of an ended session could not be revoked");
                    }
                    return match rechecked {
                        Ok(()) if live.connections.has_ended() => Standing::Ended,
                        Ok(()) => {
                            reconnect_if_changed(live, &before, profile.as_ref());
                            let word = FreshWord {
                                identity: refreshed.identity.as_ref(),
                                id_token: new.id_token.as_ref(),
                                access_token: &new.access_token,
                            };
                            self.renew_federated(live, word).await;
                            Standing::Good
                        }
                        Err(_) => Standing::Unknown,
                    };
                }
                Err(error) => {
                    tracing::error!(%error, session = %live.id, "refreshed tokens could not be stored yet");
                    tokio::time::sleep(pause).await;
                    pause *= 2;
                }
            }
        }
        Standing::Unknown
    }

    /// A refused token that somebody else has replaced by now is no sign-out.
    async fn replaced_meanwhile(&self, live: &Arc<Live>, held: &HeldTokens) -> Option<Standing> {
        let until = Instant::now() + LATE_WRITER;
        loop {
            match self.store.provider_tokens().find(live.id).await {
                Ok(Some(now)) if now.version > held.version => {
                    return match self.registry.recheck(live).await {
                        Ok(()) if live.connections.has_ended() => Some(Standing::Ended),
                        Ok(()) => Some(Standing::Good),
                        Err(_) => Some(Standing::Unknown),
                    };
                }
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!(%error, "a refused refresh cannot be compared with the store");
                    return Some(Standing::Unknown);
                }
            }
            if Instant::now() >= until {
                return None;
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    async fn give_back(&self, session: Uuid, holder: Uuid) {
        let released = self.store.provider_tokens().release(session, holder).await;
        if let Err(error) = released {
            tracing::debug!(%error, "a lease could not be given back: it runs out by itself");
        }
    }

    async fn ended(&self, live: &Arc<Live>, reason: &str) -> Standing {
        match self.end_for_provider(live, reason).await {
            Ok(()) => Standing::Ended,
            Err(_) => Standing::Unknown,
        }
    }

    async fn end_for_provider(&self, live: &Arc<Live>, reason: &str) -> Result<(), Problem> {
        let root = live.root();
        self.end_session(live.id, EndReason::RefusedByProvider)
            .await?;
        let event = Event::new("session.end", Outcome::Succeeded)
            .session(&root)
            .reason(reason);
        self.audit(&Context::internal(), event).await;
        Ok(())
    }
}

/// Streams that were opened with groups that are gone must ask anew.
fn reconnect_if_changed(live: &Live, before: &Session, now: Option<&ProviderProfile>) {
    let before = before.provider.as_ref().map(|provider| &provider.profile);
    if let (Some(before), Some(now)) = (before, now)
        && (before.groups != now.groups || before.roles != now.roles)
    {
        live.connections.renew();
    }
}

fn is_due(root: &Session, provider: &OidcProvider, now: Timestamp) -> bool {
    let expires_at = root.provider.as_ref().and_then(|known| known.expires_at);
    expires_at.is_some_and(|expires_at| now >= expires_at - span(provider.config.refresh_ahead))
}

/// Who the session's user is to the provider.
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

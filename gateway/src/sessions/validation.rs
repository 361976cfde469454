//! Validates sessions in use at Keystone, once per interval.
use std::{sync::Arc, time::Duration};

use jiff::SignedDuration;
use portico_openstack::keystone;
use portico_store::{ChangeKind, EndReason, Outcome, StoreError};
use uuid::Uuid;

use super::{
    Sessions,
    keystone_tokens::{TokenError, bound_to},
    live::{Live, ProjectToken},
};
use crate::{audit::Event, metrics, request_context::Context};

/// The result of validating a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Validity {
    Good,
    Ended,
    /// Keystone does not respond.
    Unknown,
}

/// Why a session cannot be used for a request.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InvalidSession {
    #[error("Keystone no longer accepts the session")]
    RefusedByKeystone,
    #[error("the provider no longer confirms the session")]
    RefusedByProvider,
    /// With the provider's display name.
    #[error("{0} does not respond")]
    ProviderUnavailable(String),
    #[error("Keystone does not respond")]
    KeystoneUnavailable,
    #[error(transparent)]
    Token(#[from] TokenError),
}

impl From<StoreError> for InvalidSession {
    fn from(error: StoreError) -> Self {
        Self::Token(error.into())
    }
}

/// The result of validating a project token.
enum Renewed {
    AsBefore,
    OtherRoles,
    Dead,
    Unknown,
}

impl Sessions {
    /// Ensures that Keystone has validated the session recently. While Keystone does not respond,
    /// the session continues with its last known roles for a limited time.
    pub async fn ensure_valid(
        &self,
        live: &Arc<Live>,
        context: &Context,
    ) -> Result<(), InvalidSession> {
        self.ensure_refreshed(live).await?;
        let root = live.root();
        if !root.has_keystone() {
            return Ok(());
        }
        let age = self.clock.now().duration_since(root.keystone_checked_at);
        drop(root);
        if age <= span(self.config.validate_every) {
            return Ok(());
        }
        // the background task validates stale sessions: requests do not wait for it
        let validity = if live.is_stale() || !self.keystone_answers() {
            Validity::Unknown
        } else {
            Box::pin(self.validate(live, Some(context))).await?
        };
        match validity {
            Validity::Good => Ok(()),
            Validity::Ended => Err(InvalidSession::RefusedByKeystone),
            Validity::Unknown if age <= self.stale_bound() => Ok(()),
            Validity::Unknown => Err(InvalidSession::KeystoneUnavailable),
        }
    }

    /// Returns how long roles may be used that Keystone has not confirmed.
    pub fn stale_bound(&self) -> SignedDuration {
        span(self.config.stale_for) + span(self.config.validate_every)
    }

    /// Validates the session and its project tokens at Keystone; updates roles and projects.
    pub async fn validate(
        &self,
        live: &Arc<Live>,
        context: Option<&Context>,
    ) -> Result<Validity, TokenError> {
        let before = live.root().keystone_checked_at;
        let _validating = live.validating.lock().await;
        // another request validated it while this one waited
        if live.root().keystone_checked_at > before {
            return Ok(Validity::Good);
        }
        if live.connections.has_ended() {
            return Ok(Validity::Ended);
        }
        let now = self.clock.now();
        match self.store.sessions().get(live.id).await? {
            Some(root) if root.is_live(now) => live.set_root(Arc::new(root)),
            // ended or expired: the first process to notice reports it
            _ => {
                self.registry.recheck(live).await?;
                return Ok(Validity::Ended);
            }
        }
        // another replica validated it meanwhile, and has reported the changes
        if live.root().keystone_checked_at > before {
            live.set_stale(false);
            return Ok(Validity::Good);
        }
        let tokens = self.store.keystone_tokens();
        let speaking = match self.root_token(live, now).await? {
            Some(own) => Some(own.token),
            None => match self.staying_token(live.id).await {
                Ok(token) => token,
                Err(TokenError::Keystone(_)) => return self.unconfirmed(live, context).await,
                Err(error) => return Err(error),
            },
        };
        let Some(speaking) = speaking else {
            self.end_refused(live, context).await?;
            return Ok(Validity::Ended);
        };
        match self.keystone.validate(&speaking).await {
            Ok(_) => {}
            Err(error) if error.is_refusal() => {
                self.end_refused(live, context).await?;
                return Ok(Validity::Ended);
            }
            Err(_) => return self.unconfirmed(live, context).await,
        }
        // all of them, not only those in memory here: other replicas depend on it
        let mut changed = None;
        for stored in tokens.usable(live.id, now).await? {
            let Some(token) = ProjectToken::of(stored) else {
                continue;
            };
            match self.renew_roles(live, &token).await? {
                Renewed::AsBefore => {}
                Renewed::OtherRoles => changed = changed.or(Some(ChangeKind::Changed)),
                Renewed::Dead => changed = Some(ChangeKind::Renewed),
                Renewed::Unknown => return self.unconfirmed(live, context).await,
            }
        }
        if let Some(kind) = changed {
            let changes = self.store.changes();
            changes.announce(live.id, kind, self.clock.now()).await?;
        }
        let stays = self.store.session_credentials().of_session(live.id, now);
        let root = live.root();
        // a session that stays signed in is for one project, whatever others there are
        if stays.await?.is_none() && bound_to(&root).is_none() {
            match self.keystone.projects(&speaking, &root.user.domain).await {
                Ok(projects) if projects != root.projects => {
                    self.store
                        .sessions()
                        .set_projects(live.id, &projects, now)
                        .await?;
                }
                Ok(_) => {}
                Err(_) => return self.unconfirmed(live, context).await,
            }
        }
        self.store
            .sessions()
            .set_keystone_checked(live.id, now)
            .await?;
        live.set_stale(false);
        metrics::validation(metrics::Outcome::Succeeded);
        if let Some(root) = self.store.sessions().get(live.id).await? {
            live.set_root(Arc::new(root));
        }
        Ok(Validity::Good)
    }

    /// Records that the session continues with its last known roles, once in the audit log.
    async fn unconfirmed(
        &self,
        live: &Live,
        context: Option<&Context>,
    ) -> Result<Validity, TokenError> {
        if !live.is_stale() {
            let root = live.root();
            let event = Event::new("session.stale", Outcome::Failed)
                .session(&root)
                .reason("Keystone does not answer");
            let internal = Context::internal();
            self.audit.record(context.unwrap_or(&internal), event).await;
        }
        live.set_stale(true);
        metrics::validation(metrics::Outcome::Failed);
        Ok(Validity::Unknown)
    }

    /// Updates the roles of a project token from Keystone.
    async fn renew_roles(&self, live: &Live, token: &ProjectToken) -> Result<Renewed, TokenError> {
        match self.keystone.validate(&token.token).await {
            Ok(details) if details.identity.roles != token.roles => {
                let roles = details.identity.roles;
                self.store
                    .keystone_tokens()
                    .set_roles(token.id, &roles)
                    .await?;
                live.projects.lock().remove(&token.project.id);
                live.signed.lock().clear();
                Ok(Renewed::OtherRoles)
            }
            Err(keystone::Error::InvalidToken) => {
                live.projects.lock().remove(&token.project.id);
                live.cluster_tokens
                    .lock()
                    .retain(|key, _| key.project != token.project.id);
                live.signed.lock().clear();
                self.store.keystone_tokens().forget(token.id).await?;
                // clients must reconnect, and then learn why they are refused
                live.connections.renew();
                Ok(Renewed::Dead)
            }
            Ok(_) => Ok(Renewed::AsBefore),
            Err(_) => Ok(Renewed::Unknown),
        }
    }

    /// Ends a session that Keystone no longer accepts.
    pub async fn refuse(&self, root: Uuid) -> Result<(), TokenError> {
        match self.store.sessions().get(root).await? {
            Some(session) => {
                let live = Live::new(Arc::new(session));
                self.end_refused(&live, None).await
            }
            None => Ok(()),
        }
    }

    async fn end_refused(&self, live: &Live, context: Option<&Context>) -> Result<(), TokenError> {
        let root = live.root();
        let reason = EndReason::RefusedByKeystone;
        let ended = self
            .store
            .sessions()
            .end(live.id, reason, self.clock.now())
            .await?;
        metrics::sessions_ended(&ended, reason);
        metrics::validation(metrics::Outcome::Refused);
        self.registry.end(live.id, reason);
        if ended.is_empty() {
            // another request or replica was faster
            return Ok(());
        }
        let event = Event::new("session.end", Outcome::Succeeded)
            .session(&root)
            .reason(reason.as_str());
        let internal = Context::internal();
        self.audit.record(context.unwrap_or(&internal), event).await;
        Ok(())
    }
}

fn span(duration: Duration) -> SignedDuration {
    SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX)
}

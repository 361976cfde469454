//! Staying signed in: a session that outlives its token with an application credential of its own.
//!
//! The credential is restricted, expires, and is for one project. It is only used to fetch a token
//! shortly before the last one ends, and never as a bearer token; its secret is destroyed with the
//! session. Deleting it takes a token of the user's own: if none is valid any more, the credential
//! is left over, and deleted when the user signs in again.
use std::{sync::Arc, time::Duration};

use futures::{StreamExt as _, stream};
use jiff::SignedDuration;
use portico_openstack::keystone::{
    self, ApplicationCredential, IssuedToken, application_credentials::NewApplicationCredential,
};
use portico_store::{NewSessionCredential, Outcome, SessionCredential, StoreError};
use secrecy::SecretString;
use uuid::Uuid;

use super::{
    Sessions,
    keystone_tokens::TokenError,
    live::{Caller, Live},
};
use crate::{audit::Event, metrics, request_context::Context};

/// How long before a token expires the next one is fetched.
const RENEW_AHEAD: SignedDuration = SignedDuration::from_mins(5);
/// How long one replica may take to fetch a token before another one tries.
const CLAIM_TTL: SignedDuration = SignedDuration::from_secs(15);
/// How long a sign-in waits until the leftover credentials of earlier sessions are deleted.
const CLEANUP_TIMEOUT: Duration = Duration::from_secs(3);
const MAX_CONCURRENT_FETCHES: usize = 4;

/// Returns the credential's name at Keystone.
pub(crate) fn name(session: Uuid) -> String {
    format!("portico-session-{session}")
}

/// Why a session cannot stay signed in.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StayError {
    #[error("gateway.session.stay_signed_in is off")]
    NotOffered,
    #[error("the user has no role in the project")]
    NoRole,
    /// Keystone lets the user create no application credentials.
    #[error("Keystone refuses to create an application credential")]
    Refused,
    #[error(transparent)]
    Token(#[from] TokenError),
}

impl From<StoreError> for StayError {
    fn from(error: StoreError) -> Self {
        Self::Token(error.into())
    }
}

impl Sessions {
    /// Lets the caller's session continue after its tokens have ended, in one project.
    pub async fn stay(
        &self,
        context: &Context,
        caller: &Caller,
        project_id: &str,
    ) -> Result<(), StayError> {
        let Some(longest) = self.config.stays() else {
            return Err(StayError::NotOffered);
        };
        let (root, now) = (caller.live.root(), self.clock.now());
        let credentials = self.store.session_credentials();
        if credentials.of_session(root.id, now).await?.is_some() {
            return Ok(());
        }
        let Some(token) = self.project_token(&caller.live, project_id).await? else {
            return Err(StayError::NoRole);
        };
        let expires_at = (now + longest).min(root.absolute_expires_at);
        let name = name(root.id);
        let new = NewApplicationCredential {
            user_id: &root.user.id,
            name: &name,
            description: "Created by Portico for a user who chose to stay signed in. Portico \
                          deletes it when the session ends; deleting it ends the session.",
            expires_at,
        };
        let made = self
            .keystone
            .create_application_credential(&token.token, &new)
            .await
            .map_err(refused)?;
        let new = NewSessionCredential {
            session: root.id,
            user_id: root.user.id.clone(),
            project: token.project.clone(),
            credential_id: made.id.clone(),
            name,
            secret: made.secret,
            expires_at,
        };
        let stored = credentials.store(&new, now).await;
        if !matches!(stored, Ok(true)) {
            // the credential must not outlive a session that could not be changed
            let deleted = self
                .keystone
                .delete_application_credential(&token.token, &root.user.id, &made.id)
                .await;
            if let Err(error) = deleted {
                tracing::warn!(%error, credential_id = made.id, "a credential is left over");
            }
            return Err(match stored {
                Err(error) => error.into(),
                Ok(_) => TokenError::SessionEnded.into(),
            });
        }
        self.drop_other_projects(&caller.live, project_id).await?;
        let event = Event::new("session.stay", Outcome::Succeeded)
            .session(&caller.session)
            .project(Some(project_id))
            .target(&new.name);
        self.audit.record(context, event).await;
        Ok(())
    }

    /// Drops the session's tokens for other projects, as it is for one project from now on.
    async fn drop_other_projects(
        &self,
        live: &Arc<Live>,
        project_id: &str,
    ) -> Result<(), StayError> {
        let (now, tokens) = (self.clock.now(), self.store.keystone_tokens());
        for token in tokens.usable(live.id, now).await? {
            if token.project.is_some_and(|other| other.id != project_id) {
                tokens.revoke_later(token.id, now).await?;
            }
        }
        live.forget_tokens();
        self.registry.refresh(live.id);
        self.registry.recheck(live).await?;
        Ok(())
    }

    /// Fetches tokens for sessions whose last one ends soon; called periodically.
    pub async fn fetch_due(&self) {
        if self.config.stays().is_none() {
            return;
        }
        let now = self.clock.now();
        let credentials = self.store.session_credentials();
        let due = match credentials.due(now + RENEW_AHEAD, now).await {
            Ok(due) => due,
            Err(error) => {
                tracing::warn!(%error, "the sessions that stay signed in cannot be read");
                return;
            }
        };
        stream::iter(due)
            .for_each_concurrent(MAX_CONCURRENT_FETCHES, |credential| async move {
                let claimed = self
                    .store
                    .session_credentials()
                    .claim(credential.id, now + CLAIM_TTL, now)
                    .await;
                match claimed {
                    Ok(true) => {
                        // the call itself logs errors; the next run retries
                        let _ = self.fetch(&credential, credential.session).await;
                    }
                    Ok(false) => {}
                    Err(error) => tracing::warn!(%error, "a credential cannot be claimed"),
                }
            })
            .await;
    }

    /// Fetches a token with the session's credential, and stores it for `holder` (the session or
    /// one of its command lines).
    ///
    /// # Errors
    ///
    /// [`TokenError::SessionEnded`] when Keystone no longer accepts the credential: the user, the
    /// role or the credential itself has been deleted, and the session ends with it.
    pub async fn fetch(
        &self,
        credential: &SessionCredential,
        holder: Uuid,
    ) -> Result<IssuedToken, TokenError> {
        let (Some(secret), Some(_)) = (&credential.secret, self.config.stays()) else {
            return Err(TokenError::SessionEnded);
        };
        let login = ApplicationCredential::Id {
            id: credential.credential_id.clone(),
            secret: secret.clone(),
        };
        let issued = self
            .keystone
            .authenticate_application_credential(&login)
            .await;
        metrics::stay_fetched(match &issued {
            Ok(_) => metrics::Outcome::Succeeded,
            Err(error) if error.is_refusal() => metrics::Outcome::Refused,
            Err(_) => metrics::Outcome::Failed,
        });
        let issued = match issued {
            Ok(issued) if issued.details.identity.user.id == credential.user_id => issued,
            Ok(issued) => {
                self.revoke(&issued.token).await;
                return Err(TokenError::SessionEnded);
            }
            Err(error) if error.is_refusal() || error == keystone::Error::Forbidden => {
                self.refuse(credential.session).await?;
                return Err(TokenError::SessionEnded);
            }
            Err(error) => return Err(TokenError::Keystone(error)),
        };
        self.store_token(holder, &issued).await?;
        if holder == credential.session {
            self.store
                .session_credentials()
                .fetched(credential, &issued.details.methods, self.clock.now())
                .await?;
            if let Some(live) = self.registry.known(credential.session) {
                // the new one is used from now on, not only after the old one has ended
                live.forget_tokens();
            }
        }
        Ok(issued)
    }

    /// Returns the current token of a session that stays signed in, once its first one has ended.
    pub async fn staying_token(&self, root: Uuid) -> Result<Option<SecretString>, TokenError> {
        let (now, credentials) = (self.clock.now(), self.store.session_credentials());
        let Some(credential) = credentials.of_session(root, now).await? else {
            return Ok(None);
        };
        let tokens = self.store.keystone_tokens();
        let project = Some(credential.project_id.as_str());
        if let Some(stored) = tokens.find(root, project, now).await? {
            return Ok(Some(stored.token));
        }
        match self.fetch(&credential, root).await {
            Ok(issued) => Ok(Some(issued.token)),
            Err(TokenError::SessionEnded) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Deletes the credentials of an ended session with a token of its user. Returns false when
    /// Keystone does not respond: the token is still needed.
    pub async fn delete_credentials(&self, root: Uuid, token: &SecretString) -> bool {
        match self.store.session_credentials().left_of_session(root).await {
            Ok(left) => self.delete_all(left, token).await,
            Err(error) => {
                tracing::warn!(%error, "the credentials of an ended session cannot be read");
                false
            }
        }
    }

    /// Deletes the credentials that ended sessions of a user have left over, after they have signed
    /// in again.
    pub async fn delete_left_over(&self, user_id: &str, token: &SecretString) {
        let left = match self.store.session_credentials().left_of_user(user_id).await {
            Ok(left) => left,
            Err(error) => {
                tracing::warn!(%error, "credentials that are left over cannot be read");
                return;
            }
        };
        let deleted = tokio::time::timeout(CLEANUP_TIMEOUT, self.delete_all(left, token)).await;
        if deleted != Ok(true) {
            tracing::info!(user_id, "credentials are still left over");
        }
    }

    async fn delete_all(&self, left: Vec<SessionCredential>, token: &SecretString) -> bool {
        let mut answered = true;
        for credential in left {
            let deleted = self
                .keystone
                .delete_application_credential(
                    token,
                    &credential.user_id,
                    &credential.credential_id,
                )
                .await;
            match deleted {
                Ok(()) => {
                    let forgotten = self.store.session_credentials().forget(credential.id).await;
                    if let Err(error) = forgotten {
                        tracing::warn!(%error, "a deleted credential is still listed");
                    }
                }
                // this token is not sufficient: that of the next sign-in will be
                Err(error) if error.is_refusal() || error == keystone::Error::Forbidden => {
                    let credential_id = &*credential.credential_id;
                    tracing::info!(%error, credential_id, "a credential is left over");
                }
                Err(_) => answered = false,
            }
        }
        answered
    }
}

fn refused(error: keystone::Error) -> StayError {
    if error.is_refusal() || error == keystone::Error::Forbidden {
        StayError::Refused
    } else {
        TokenError::Keystone(error).into()
    }
}

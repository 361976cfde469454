//! Keystone tokens of sessions: one for each project, issued when it is first needed and stored
//! before it is used.
use std::{collections::HashSet, sync::Arc, time::Duration};

use jiff::Timestamp;
use portico_domain::{access::RoleInProject, identity::Project};
use portico_openstack::keystone::{self, IssuedToken};
use portico_store::{
    KeystoneToken, NewKeystoneToken, Session, SessionCredential, StoreError, Stored,
};
use secrecy::SecretString;
use tokio::time::Instant;
use uuid::Uuid;

use super::{
    Sessions,
    live::{Caller, Live, ProjectToken},
};
use crate::metrics::{self, TokenOperation};

/// How long a refusal is remembered: Keystone does not report whether the role or the whole session
/// is gone, so it is not asked with every request.
const REFUSAL_TTL: Duration = Duration::from_secs(10);

/// A Keystone token that was issued for a command line alone.
pub(crate) struct OwnToken {
    pub token: SecretString,
    pub expires_at: Timestamp,
}

/// Keystone's name of the method whose tokens are for one project and cannot be exchanged.
const BOUND_METHOD: &str = "application_credential";

/// Returns the project that a session is bound to, because its token is an application
/// credential's.
pub(crate) fn bound_to(root: &Session) -> Option<&Project> {
    // an OIDC provider has names of its own for methods
    let bound = root.provider.is_none()
        && root
            .auth_methods
            .iter()
            .any(|method| method == BOUND_METHOD);
    root.projects.first().filter(|_| bound)
}

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TokenError {
    #[error("the session has ended")]
    SessionEnded,
    #[error("the session's token cannot be exchanged for another")]
    Bound,
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Keystone(keystone::Error),
}

impl Sessions {
    /// Returns the session's token for a project; `None` when the user has no role there.
    pub async fn project_token(
        &self,
        live: &Live,
        project_id: &str,
    ) -> Result<Option<Arc<ProjectToken>>, TokenError> {
        if !live.root().has_keystone() {
            return Ok(None);
        }
        if let Some(token) = usable(live, project_id, self.clock.now()) {
            return Ok(Some(token));
        }
        let Some(project) = live.project(project_id) else {
            return Ok(None);
        };
        let _issuing = live.issuing.lock().await;
        if let Some(token) = usable(live, project_id, self.clock.now()) {
            return Ok(Some(token));
        }
        let started = Instant::now();
        // boxed, as this rare case must not make every request's future large
        let token = Box::pin(self.obtain(live, project)).await;
        metrics::token(
            TokenOperation::Project,
            metrics::Outcome::of(&token),
            started,
        );
        token
    }

    /// Returns a token from the store, or a new one from Keystone.
    async fn obtain(
        &self,
        live: &Live,
        project: Project,
    ) -> Result<Option<Arc<ProjectToken>>, TokenError> {
        let project_id = project.id.clone();
        let project_id = project_id.as_str();
        let now = self.clock.now();
        let tokens = self.store.keystone_tokens();
        if let Some(stored) = tokens.find(live.id, Some(project_id), now).await? {
            let token = ProjectToken {
                id: stored.id,
                token: stored.token,
                project: stored.project.unwrap_or(project),
                roles: stored.roles,
                expires_at: stored.expires_at,
            };
            return Ok(Some(keep(live, token)));
        }
        let refused_lately = live
            .refused
            .lock()
            .get(project_id)
            .is_some_and(|asked| asked.elapsed() < REFUSAL_TTL);
        if refused_lately {
            return Ok(None);
        }
        let unscoped = match bound_to(&live.root()) {
            Some(_) => None,
            None => tokens.find(live.id, None, now).await?,
        };
        let Some(unscoped) = unscoped else {
            return self.project_token_of_stay(live, project_id).await;
        };
        match self.keystone.rescope(&unscoped.token, project_id).await {
            Ok(issued) => {
                let id = self.store_token(live.id, &issued).await?;
                let project = issued.details.identity.project.unwrap_or(project);
                let token = ProjectToken {
                    id,
                    token: issued.token,
                    project,
                    roles: issued.details.identity.roles,
                    expires_at: issued.details.expires_at,
                };
                Ok(Some(keep(live, token)))
            }
            Err(error) if error.is_refusal() || error == keystone::Error::Forbidden => {
                live.refused
                    .lock()
                    .insert(project_id.to_owned(), Instant::now());
                Ok(None)
            }
            Err(error) => Err(TokenError::Keystone(error)),
        }
    }

    /// Returns the project token of a session that stays signed in and has no valid one left.
    async fn project_token_of_stay(
        &self,
        live: &Live,
        project_id: &str,
    ) -> Result<Option<Arc<ProjectToken>>, TokenError> {
        let credential = self.credential_for(live.id, project_id).await?;
        self.fetch(&credential, live.id).await?;
        let (now, tokens) = (self.clock.now(), self.store.keystone_tokens());
        let stored = tokens.find(live.id, Some(project_id), now).await?;
        Ok(stored
            .and_then(ProjectToken::of)
            .map(|token| keep(live, token)))
    }

    async fn credential_for(
        &self,
        root: Uuid,
        project_id: &str,
    ) -> Result<SessionCredential, TokenError> {
        let credentials = self.store.session_credentials();
        credentials
            .of_session(root, self.clock.now())
            .await?
            .filter(|credential| credential.project_id == project_id)
            .ok_or(TokenError::SessionEnded)
    }

    /// Returns a command line's own token, which ends with it and not only with the browser session
    /// that approved it; `None` when the user has no role in the project.
    pub async fn own_token(
        &self,
        caller: &Caller,
        project_id: &str,
    ) -> Result<Option<OwnToken>, TokenError> {
        if !caller.live.root().has_keystone() {
            return Ok(None);
        }
        if bound_to(&caller.live.root()).is_some() {
            let credentials = self.store.session_credentials();
            let stays = credentials.of_session(caller.live.id, self.clock.now());
            if stays.await?.is_none() {
                return Err(TokenError::Bound);
            }
        }
        let _issuing = caller.live.issuing.lock().await;
        let started = Instant::now();
        let token = self.obtain_own(caller, project_id).await;
        metrics::token(
            TokenOperation::CommandLine,
            metrics::Outcome::of(&token),
            started,
        );
        token
    }

    async fn obtain_own(
        &self,
        caller: &Caller,
        project_id: &str,
    ) -> Result<Option<OwnToken>, TokenError> {
        let now = self.clock.now();
        let tokens = self.store.keystone_tokens();
        if let Some(stored) = tokens
            .find(caller.session.id, Some(project_id), now)
            .await?
        {
            return Ok(Some(OwnToken {
                token: stored.token,
                expires_at: stored.expires_at,
            }));
        }
        let Some(unscoped) = tokens.find(caller.live.id, None, now).await? else {
            let credential = self.credential_for(caller.live.id, project_id).await?;
            let issued = self.fetch(&credential, caller.session.id).await?;
            return Ok(Some(OwnToken {
                token: issued.token,
                expires_at: issued.details.expires_at,
            }));
        };
        match self.keystone.rescope(&unscoped.token, project_id).await {
            Ok(issued) => {
                self.store_token(caller.session.id, &issued).await?;
                Ok(Some(OwnToken {
                    token: issued.token,
                    expires_at: issued.details.expires_at,
                }))
            }
            Err(error) if error.is_refusal() || error == keystone::Error::Forbidden => Ok(None),
            Err(error) => Err(TokenError::Keystone(error)),
        }
    }

    /// Returns the token that the session depends on: the unscoped one, or that of the project that
    /// it is bound to.
    pub async fn root_token(
        &self,
        live: &Live,
        now: Timestamp,
    ) -> Result<Option<KeystoneToken>, StoreError> {
        let root = live.root();
        let project = bound_to(&root).map(|project| project.id.as_str());
        self.store
            .keystone_tokens()
            .find(live.id, project, now)
            .await
    }

    /// Stores a token that Keystone has just issued. If that fails, or the session has ended
    /// meanwhile, the token is revoked and must not be used.
    pub async fn store_token(
        &self,
        session: Uuid,
        issued: &IssuedToken,
    ) -> Result<Uuid, TokenError> {
        let details = &issued.details;
        let new = NewKeystoneToken {
            session,
            project: details.identity.project.clone(),
            roles: details.identity.roles.clone(),
            token: issued.token.clone(),
            audit_id: details.audit_ids.first().cloned().unwrap_or_default(),
            expires_at: details.expires_at,
        };
        match self
            .store
            .keystone_tokens()
            .store(&new, self.clock.now())
            .await
        {
            Ok(Stored::Usable(id)) => Ok(id),
            Ok(Stored::SessionEnded(id)) => {
                if self.revoke(&issued.token).await
                    && let Err(error) = self.store.keystone_tokens().forget(id).await
                {
                    tracing::warn!(%error, "a revoked token could not be forgotten");
                }
                Err(TokenError::SessionEnded)
            }
            Err(error) => {
                self.revoke(&issued.token).await;
                Err(error.into())
            }
        }
    }

    /// Revokes a token; returns whether Keystone did so.
    pub async fn revoke(&self, token: &SecretString) -> bool {
        match self.keystone.revoke(token).await {
            Ok(_) => true,
            Err(error) => {
                tracing::warn!(%error, "a Keystone token could not be revoked");
                false
            }
        }
    }

    /// Returns a token of the session that a rule matches; `None` when no rule does.
    pub async fn fitting(
        &self,
        rules: &[RoleInProject],
        live: &Live,
    ) -> Result<Option<Arc<ProjectToken>>, TokenError> {
        let root = live.root();
        let mut tried = HashSet::new();
        for rule in rules {
            if !tried.insert(rule.project.as_str()) {
                continue;
            }
            let Some(token) = self.project_token(live, &rule.project).await? else {
                continue;
            };
            let identity = token.identity(&root);
            if rules.iter().any(|rule| rule.holds(&identity)) {
                return Ok(Some(token));
            }
        }
        Ok(None)
    }
}

fn usable(live: &Live, project_id: &str, now: Timestamp) -> Option<Arc<ProjectToken>> {
    let token = live.projects.lock().get(project_id).cloned()?;
    (token.expires_at > now).then_some(token)
}

fn keep(live: &Live, token: ProjectToken) -> Arc<ProjectToken> {
    let token = Arc::new(token);
    live.refused.lock().remove(&token.project.id);
    live.projects
        .lock()
        .insert(token.project.id.clone(), Arc::clone(&token));
    token
}

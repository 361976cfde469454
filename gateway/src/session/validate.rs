//! Asking Keystone whether a session still stands: once an interval while it is in use.
use std::{sync::Arc, time::Duration};

use jiff::{SignedDuration, Timestamp};
use portico_openstack::keystone;
use portico_store::{EndReason, Outcome};

use super::{
    live::{Live, ProjectToken},
    tokens::{TokenError, bound_to},
};
use crate::{
    audit::Event,
    meters,
    problem::Problem,
    state::{Context, Gateway},
};

/// What Keystone said about a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    Good,
    Ended,
    /// Keystone cannot say.
    Unknown,
}

impl Gateway {
    /// Makes sure that Keystone has confirmed the session lately. While it does not answer, the
    /// session lives on with its last roles for a while.
    pub async fn ensure_standing(
        &self,
        live: &Arc<Live>,
        context: &Context,
    ) -> Result<(), Problem> {
        self.ensure_refreshed(live).await?;
        let now = Timestamp::now();
        if !live.root().has_keystone() {
            return Ok(());
        }
        let age = now.duration_since(live.root().keystone_checked_at);
        if age <= span(self.config.session.validate_every) {
            return Ok(());
        }
        // the background task asks for stale sessions: people do not wait for it
        let standing = if live.is_stale() || !self.keystone_answers() {
            Standing::Unknown
        } else {
            self.validate(live, Some(context))
                .await
                .map_err(Problem::from)?
        };
        match standing {
            Standing::Good => Ok(()),
            Standing::Ended => Err(Problem::signed_out()),
            Standing::Unknown if age <= self.stale_bound() => Ok(()),
            Standing::Unknown => Err(Problem::keystone_unavailable()),
        }
    }

    /// How long roles may be used that Keystone has not confirmed.
    pub fn stale_bound(&self) -> SignedDuration {
        span(self.config.session.stale_for) + span(self.config.session.validate_every)
    }

    /// Asks Keystone about the session and its project tokens; takes over roles and projects.
    pub async fn validate(
        &self,
        live: &Arc<Live>,
        context: Option<&Context>,
    ) -> Result<Standing, TokenError> {
        let before = live.root().keystone_checked_at;
        let _validating = live.validating.lock().await;
        // somebody else asked while we waited
        if live.root().keystone_checked_at > before {
            return Ok(Standing::Good);
        }
        if live.connections.has_ended() {
            return Ok(Standing::Ended);
        }
        let now = Timestamp::now();
        let Some(own) = self.root_token(live, now).await? else {
            self.end_refused(live, context).await?;
            return Ok(Standing::Ended);
        };
        match self.keystone.validate(&own.token).await {
            Ok(_) => {}
            Err(error) if error.is_refusal() => {
                self.end_refused(live, context).await?;
                return Ok(Standing::Ended);
            }
            Err(_) => return self.cannot_say(live, context).await,
        }
        let cached: Vec<Arc<ProjectToken>> = live.projects.lock().values().cloned().collect();
        for token in cached {
            if !self.renew_roles(live, &token).await? {
                return self.cannot_say(live, context).await;
            }
        }
        let root = live.root();
        if bound_to(&root).is_none() {
            match self.keystone.projects(&own.token, &root.user.domain).await {
                Ok(projects) if projects != root.projects => {
                    self.store
                        .sessions()
                        .set_projects(live.id, &projects)
                        .await?;
                }
                Ok(_) => {}
                Err(_) => return self.cannot_say(live, context).await,
            }
        }
        self.store
            .sessions()
            .set_keystone_checked(live.id, now)
            .await?;
        live.set_stale(false);
        meters::validation(meters::Outcome::Succeeded);
        if let Some(root) = self.store.sessions().get(live.id).await? {
            live.set_root(Arc::new(root));
        }
        Ok(Standing::Good)
    }

    /// Notes that the session lives on with its last roles, once in the audit log.
    async fn cannot_say(
        &self,
        live: &Live,
        context: Option<&Context>,
    ) -> Result<Standing, TokenError> {
        if !live.is_stale() {
            let root = live.root();
            let event = Event::new("session.stale", Outcome::Failed)
                .session(&root)
                .reason("Keystone does not answer");
            let internal = Context::internal();
            self.audit(context.unwrap_or(&internal), event).await;
        }
        live.set_stale(true);
        meters::validation(meters::Outcome::Failed);
        Ok(Standing::Unknown)
    }

    /// Takes over what Keystone says about a project token; false when it cannot say.
    async fn renew_roles(&self, live: &Live, token: &ProjectToken) -> Result<bool, TokenError> {
        match self.keystone.validate(&token.token).await {
            Ok(details) if details.identity.roles != token.roles => {
                let roles = details.identity.roles;
                self.store
                    .keystone_tokens()
                    .set_roles(token.id, &roles)
                    .await?;
                let renewed = ProjectToken {
                    roles,
                    ..token.clone()
                };
                live.projects
                    .lock()
                    .insert(token.project.id.clone(), Arc::new(renewed));
                live.signed.lock().clear();
            }
            Err(keystone::Error::InvalidToken) => {
                live.projects.lock().remove(&token.project.id);
                live.cluster_tokens
                    .lock()
                    .retain(|key, _| key.project != token.project.id);
                live.signed.lock().clear();
                self.store.keystone_tokens().forget(token.id).await?;
                // what was opened with it must ask anew, and learn why it may not
                live.connections.renew();
            }
            Ok(_) => {}
            Err(_) => return Ok(false),
        }
        Ok(true)
    }

    async fn end_refused(&self, live: &Live, context: Option<&Context>) -> Result<(), TokenError> {
        let root = live.root();
        let reason = EndReason::RefusedByKeystone;
        let ended = self
            .store
            .sessions()
            .end(live.id, reason, Timestamp::now())
            .await?;
        meters::sessions_ended(&ended, reason);
        meters::validation(meters::Outcome::Refused);
        self.registry.end(live.id, reason);
        let event = Event::new("session.end", Outcome::Succeeded)
            .session(&root)
            .reason(reason.as_str());
        let internal = Context::internal();
        self.audit(context.unwrap_or(&internal), event).await;
        Ok(())
    }
}

fn span(duration: Duration) -> SignedDuration {
    SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX)
}

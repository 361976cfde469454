//! Establishes a session from a Keystone token: the last step of every sign-in method.
use axum::response::Response;
use http::HeaderMap;
use jiff::{SignedDuration, Timestamp};
use portico_domain::identity::Project;
use portico_openstack::keystone::{IssuedToken, TokenScope};
use portico_store::{EndReason, NewSession, Outcome, Session};

use crate::{
    access::{access_log, return_path::ReturnPath},
    audit::Event,
    authentication::{Interrupt, see_other, with_cookie},
    error_response::Problem,
    metrics,
    session::cookie::Purpose,
    state::{Context, Gateway},
};

impl Gateway {
    /// Creates a session with a new ID, ends the previous one of this browser, and redirects to the
    /// return path.
    pub async fn establish(
        &self,
        context: &Context,
        headers: &HeaderMap,
        issued: IssuedToken,
        return_path: &ReturnPath,
    ) -> Result<Response, Interrupt> {
        let now = Some(Timestamp::now());
        self.establish_with(context, headers, issued, None, now, return_path)
            .await
    }

    /// Establishes a session like [`Self::establish`], with a token of the user's that shall end
    /// with the session, and with the time of their authentication, where that is known.
    pub async fn establish_with(
        &self,
        context: &Context,
        headers: &HeaderMap,
        issued: IssuedToken,
        brought: Option<&IssuedToken>,
        authenticated_at: Option<Timestamp>,
        return_path: &ReturnPath,
    ) -> Result<Response, Interrupt> {
        if let Ok(old) = self.lookup(headers, None).await? {
            self.end_session(old.live.id, EndReason::Replaced).await?;
        }
        let now = Timestamp::now();
        let details = &issued.details;
        if details.expires_at <= now {
            self.revoke(&issued.token).await;
            return Err(self.born_expired(details.expires_at, now).into());
        }
        let user = details.identity.user.clone();
        // a token for one project opens no other project
        let only = match details.scope {
            TokenScope::Project => details.identity.project.clone(),
            _ => None,
        };
        let sessions = self.store.sessions();
        let new = NewSession {
            last_project: sessions.last_project_of_user(&user.id).await?,
            user,
            projects: only.iter().cloned().collect(),
            auth_methods: details.methods.clone(),
            user_agent: context.user_agent(),
            address: context.address_text(),
            idle_expires_at: now + span(self.config.session.idle),
            absolute_expires_at: now + span(self.config.session.absolute),
            keystone_expires_at: details.expires_at,
            authenticated_at,
        };
        // the row is stored before the token is first used, so that sign-out finds the token
        // even if this fails later
        let (secret, session) = match sessions.create(&new, now).await {
            Ok(created) => created,
            Err(error) => {
                self.revoke(&issued.token).await;
                return Err(error.into());
            }
        };
        metrics::session_started(session.kind);
        self.store_token(session.id, &issued).await?;
        if let Some(brought) = brought {
            self.store_token(session.id, brought).await?;
        }
        let projects = match only {
            Some(project) => vec![project],
            None => self.projects_of_new(&session, &issued).await?,
        };
        self.delete_left_over(&session.user.id, &issued.token).await;
        metrics::sign_in(metrics::KEYSTONE, "succeeded");
        access_log::session(&session);
        access_log::rule("signed_in");
        let event = Event::new("session.sign_in", Outcome::Succeeded).session(&session);
        self.audit(context, event).await;

        let leads_to = if projects.len() > 1 && !return_path.leads_somewhere() {
            ReturnPath::choice_of_project()
        } else {
            return_path.clone()
        };
        let leads_to = self
            .by_way_of_failed_attempts(&session, headers, leads_to, now)
            .await;
        let answer = see_other(&self.arriving_at(&leads_to, now));
        let known = self.remember_browser(headers, &session.user);
        let answer = with_cookie(answer, known);
        let answer = with_cookie(answer, self.forget_own_attempts(headers));
        let answer = with_cookie(answer, self.count_round(headers, now));
        let answer = with_cookie(answer, self.cookies.set(Purpose::Session, &secret));
        Ok(with_cookie(answer, self.cookies.clear(Purpose::Flow)))
    }

    async fn projects_of_new(
        &self,
        session: &Session,
        issued: &IssuedToken,
    ) -> Result<Vec<Project>, Interrupt> {
        let listed = self
            .keystone
            .projects(&issued.token, &session.user.domain)
            .await;
        match listed {
            Ok(projects) => {
                self.store
                    .sessions()
                    .set_projects(session.id, &projects)
                    .await?;
                Ok(projects)
            }
            Err(error) => {
                tracing::warn!(%error, "the projects of a new session are unknown");
                self.end_session(session.id, EndReason::RefusedByKeystone)
                    .await?;
                Err(Problem::keystone_unavailable_by(&error).into())
            }
        }
    }
}

pub(crate) fn span(duration: std::time::Duration) -> SignedDuration {
    SignedDuration::try_from(duration).unwrap_or(SignedDuration::from_hours(24))
}

//! Establishes a session from a Keystone token: the last step of every sign-in method.
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use jiff::{SignedDuration, Timestamp};
use portico_domain::identity::Project;
use portico_openstack::keystone::{IssuedToken, TokenScope};
use portico_store::{EndReason, NewSession, Outcome, Session};

use super::SignIn;
use crate::{
    audit::Event,
    http::{
        access_log,
        cookies::Purpose,
        error_response::Problem,
        interrupt::Interrupt,
        redirect::{see_other, with_cookie},
        return_path::ReturnPath,
    },
    metrics,
    request_context::Context,
};

impl SignIn {
    /// Creates a session with a new ID, ends the previous one of this browser, and redirects to the
    /// return path.
    pub async fn establish(
        &self,
        context: &Context,
        headers: &HeaderMap,
        issued: IssuedToken,
        return_path: &ReturnPath,
    ) -> Result<Response, Interrupt> {
        let now = Some(self.clock.now());
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
        if let Ok(old) = self.authentication.lookup(headers, None).await? {
            self.sessions
                .end_session(old.live.id, EndReason::Replaced)
                .await?;
        }
        let now = self.clock.now();
        let details = &issued.details;
        if details.expires_at <= now {
            self.sessions.revoke(&issued.token).await;
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
            idle_expires_at: now + span(self.session.idle),
            absolute_expires_at: now + span(self.session.absolute),
            keystone_expires_at: details.expires_at,
            authenticated_at,
        };
        // the row is stored before the token is first used, so that sign-out finds the token
        // even if this fails later
        let (secret, session) = match sessions.create(&new, now).await {
            Ok(created) => created,
            Err(error) => {
                self.sessions.revoke(&issued.token).await;
                return Err(error.into());
            }
        };
        metrics::session_started(session.kind);
        self.sessions.store_token(session.id, &issued).await?;
        if let Some(brought) = brought {
            self.sessions.store_token(session.id, brought).await?;
        }
        let projects = match only {
            Some(project) => vec![project],
            None => self.projects_of_new(&session, &issued, now).await?,
        };
        self.sessions
            .delete_left_over(&session.user.id, &issued.token)
            .await;
        metrics::sign_in(metrics::KEYSTONE, "succeeded");
        access_log::session(&session);
        access_log::rule("signed_in");
        let event = Event::new("session.sign_in", Outcome::Succeeded).session(&session);
        self.audit.record(context, event).await;

        let leads_to = if projects.len() > 1 && !return_path.leads_somewhere() {
            ReturnPath::choice_of_project()
        } else {
            return_path.clone()
        };
        let leads_to = self
            .attempts
            .by_way_of_failed_attempts(&session, headers, leads_to, now)
            .await;
        let answer = see_other(&self.authentication.with_sign_in_mark(&leads_to, now));
        let known = self.attempts.remember_browser(headers, &session.user);
        let answer = with_cookie(answer, known);
        let answer = with_cookie(answer, self.attempts.forget_own_attempts(headers));
        let answer = with_cookie(answer, self.authentication.count_redirect(headers, now));
        let answer = with_cookie(answer, self.cookies.set(Purpose::Session, &secret));
        Ok(with_cookie(answer, self.cookies.clear(Purpose::Flow)))
    }

    async fn projects_of_new(
        &self,
        session: &Session,
        issued: &IssuedToken,
        now: Timestamp,
    ) -> Result<Vec<Project>, Interrupt> {
        let listed = self
            .keystone
            .projects(&issued.token, &session.user.domain)
            .await;
        match listed {
            Ok(projects) => {
                self.store
                    .sessions()
                    .set_projects(session.id, &projects, now)
                    .await?;
                Ok(projects)
            }
            Err(error) => {
                tracing::warn!(%error, "the projects of a new session are unknown");
                self.sessions
                    .end_session(session.id, EndReason::RefusedByKeystone)
                    .await?;
                Err(Problem::keystone_unavailable_by(&error).into())
            }
        }
    }

    /// Returns the problem for a token that, by this machine's clock, had expired when Keystone
    /// issued it.
    fn born_expired(&self, expires_at: Timestamp, now: Timestamp) -> Problem {
        let difference = self.keystone.clock_difference();
        let ago = now.duration_since(expires_at).as_secs().max(0);
        let measured = if difference.is_zero() {
            "Both clocks seem to agree, so its tokens may be issued for too short a time".to_owned()
        } else {
            let (side, seconds) = if difference.is_negative() {
                ("behind", -difference.as_secs())
            } else {
                ("ahead of", difference.as_secs())
            };
            format!("Keystone's clock is {seconds} seconds {side} Portico's")
        };
        tracing::error!(
            expired_seconds_ago = ago,
            clock_difference = difference.as_secs(),
            "Keystone issues tokens that have expired"
        );
        Problem::downstream(
            StatusCode::SERVICE_UNAVAILABLE,
            "born_expired",
            "Your session would end before it begins",
            format!(
                "Your password is right, but the token that Keystone issued expired {ago} seconds \
                 ago by Portico's clock. {measured}."
            ),
        )
        .steps(["Tell your cloud's administrators: both machines need the right time (NTP)."])
        .leads_to("Sign in again", "/oauth2/sign_in")
    }
}

pub(crate) fn span(duration: std::time::Duration) -> SignedDuration {
    SignedDuration::try_from(duration).unwrap_or(SignedDuration::from_hours(24))
}

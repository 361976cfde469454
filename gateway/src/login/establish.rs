//! From a Keystone token to a session: the end of every way to sign in.
use axum::response::Response;
use http::HeaderMap;
use jiff::{SignedDuration, Timestamp};
use portico_openstack::keystone::IssuedToken;
use portico_store::{EndReason, NewSession, Outcome};

use crate::{
    access::{line, return_path::ReturnPath},
    audit::Event,
    guard::{Stop, see_other, with_cookie},
    meters,
    problem::Problem,
    session::cookie::Purpose,
    state::{Context, Gateway},
};

impl Gateway {
    /// Makes a session with a new ID, ends the one that this browser had, and leads on.
    pub async fn establish(
        &self,
        context: &Context,
        headers: &HeaderMap,
        issued: IssuedToken,
        return_path: &ReturnPath,
    ) -> Result<Response, Stop> {
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
        let sessions = self.store.sessions();
        let new = NewSession {
            last_project: sessions.last_project_of_user(&user.id).await?,
            user,
            projects: Vec::new(),
            auth_methods: details.methods.clone(),
            user_agent: context.user_agent.clone(),
            address: context.address_text(),
            idle_expires_at: now + span(self.config.session.idle),
            absolute_expires_at: now + span(self.config.session.absolute),
            keystone_expires_at: details.expires_at,
        };
        // the row comes before the first use of the token, so that whatever happens now leaves
        // nothing behind that sign-out would not find
        let (secret, session) = match sessions.create(&new, now).await {
            Ok(created) => created,
            Err(error) => {
                self.revoke(&issued.token).await;
                return Err(error.into());
            }
        };
        meters::session_started(session.kind);
        self.store_token(session.id, &issued).await?;
        let projects = match self
            .keystone
            .projects(&issued.token, &session.user.domain)
            .await
        {
            Ok(projects) => projects,
            Err(error) => {
                tracing::warn!(%error, "the projects of a new session are unknown");
                self.end_session(session.id, EndReason::RefusedByKeystone)
                    .await?;
                return Err(Problem::keystone_unavailable().into());
            }
        };
        sessions.set_projects(session.id, &projects).await?;
        meters::sign_in(meters::KEYSTONE, "succeeded");
        line::session(&session);
        line::rule("signed_in");
        let event = Event::new("session.sign_in", Outcome::Succeeded).session(&session);
        self.audit(context, event).await;

        let answer = if projects.len() > 1 && !return_path.leads_somewhere() {
            see_other(&self.arriving_at(&ReturnPath::choice_of_project(), now))
        } else {
            see_other(&self.arriving_at(return_path, now))
        };
        let answer = with_cookie(answer, self.count_round(headers, now));
        let answer = with_cookie(answer, self.cookies.set(Purpose::Session, &secret));
        Ok(with_cookie(answer, self.cookies.clear(Purpose::Flow)))
    }
}

pub(super) fn span(duration: std::time::Duration) -> SignedDuration {
    SignedDuration::try_from(duration).unwrap_or(SignedDuration::from_hours(24))
}

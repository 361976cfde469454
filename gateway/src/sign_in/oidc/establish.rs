//! Establishes a session from a provider's tokens: always a new one.
use axum::response::Response;
use http::HeaderMap;
use portico_oidc::Tokens;
use portico_openstack::keystone::IssuedToken;
use portico_store::{EndReason, NewProviderTokens, NewSession, Outcome, SessionProvider};

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
    identity_providers::{OidcProvider, authenticated_at, profile_of, user_of},
    metrics,
    request_context::Context,
    sign_in::{SignIn, establish::span},
};

impl SignIn {
    /// Creates a session with a new ID for a user of a provider, ends the previous one of this
    /// browser, and redirects to the return path. With a Keystone token (from federation) the
    /// session is that Keystone user's; without one, it gives access to apps by group and to no
    /// clusters.
    pub async fn establish_of_provider(
        &self,
        context: &Context,
        headers: &HeaderMap,
        provider: &OidcProvider,
        tokens: Tokens,
        keystone: Option<IssuedToken>,
        return_path: &ReturnPath,
    ) -> Result<Response, Interrupt> {
        if let Ok(old) = self.authentication.lookup(headers, None).await? {
            self.sessions
                .end_session(old.live.id, EndReason::Replaced)
                .await?;
        }
        let now = self.clock.now();
        let mut absolute = now + span(self.session.absolute);
        if tokens.refresh_token.is_none() {
            // the provider cannot be asked about the session meanwhile
            absolute = absolute.min(now + span(provider.config.unrefreshed));
        }
        let identity = &tokens.identity;
        let user = match &keystone {
            Some(issued) => issued.details.identity.user.clone(),
            None => user_of(provider, identity),
        };
        let sessions = self.store.sessions();
        let new = NewSession {
            last_project: sessions.last_project_of_user(&user.id).await?,
            user,
            projects: Vec::new(),
            auth_methods: identity.methods.clone(),
            user_agent: context.user_agent(),
            address: context.address_text(),
            idle_expires_at: now + span(self.session.idle),
            absolute_expires_at: absolute,
            keystone_expires_at: keystone
                .as_ref()
                .map_or(absolute, |issued| issued.details.expires_at),
            authenticated_at: Some(authenticated_at(identity, now)),
        };
        let of_provider = SessionProvider {
            id: provider.config.id.clone(),
            subject: identity.subject.clone(),
            sid: identity.session.clone(),
            profile: profile_of(identity, keystone.is_some()),
            expires_at: tokens.refresh_token.as_ref().map(|_| tokens.expires_at),
        };
        let (secret, session) = sessions.create_of_provider(&new, of_provider, now).await?;
        metrics::session_started(session.kind);
        let held = NewProviderTokens {
            session: session.id,
            provider: provider.config.id.clone(),
            refresh_token: tokens.refresh_token.clone(),
            access_token: tokens.access_token.clone(),
            id_token: Some(tokens.id_token.clone()),
        };
        if let Err(error) = self.store.provider_tokens().store(&held, now).await {
            self.sessions
                .end_session(session.id, EndReason::RefusedByProvider)
                .await?;
            return Err(error.into());
        }
        let mut several = false;
        if let Some(issued) = &keystone {
            self.sessions.store_token(session.id, issued).await?;
            let projects = match self
                .keystone
                .projects(&issued.token, &session.user.domain)
                .await
            {
                Ok(projects) => projects,
                Err(error) => {
                    tracing::warn!(%error, "the projects of a new session are unknown");
                    self.sessions
                        .end_session(session.id, EndReason::RefusedByKeystone)
                        .await?;
                    return Err(Problem::keystone_unavailable_by(&error).into());
                }
            };
            sessions.set_projects(session.id, &projects, now).await?;
            several = projects.len() > 1;
        }
        metrics::sign_in(&provider.config.id, "succeeded");
        access_log::session(&session);
        access_log::rule("signed_in");
        let event = Event::new("session.sign_in", Outcome::Succeeded)
            .session(&session)
            .target(&provider.config.id);
        self.audit.record(context, event).await;

        let answer = if several && !return_path.leads_somewhere() {
            see_other(
                &self
                    .authentication
                    .with_sign_in_mark(&ReturnPath::choice_of_project(), now),
            )
        } else {
            see_other(&self.authentication.with_sign_in_mark(return_path, now))
        };
        let answer = with_cookie(answer, self.authentication.count_redirect(headers, now));
        let answer = with_cookie(answer, self.cookies.set(Purpose::Session, &secret));
        Ok(with_cookie(answer, self.cookies.clear(Purpose::Flow)))
    }
}

//! Establishes a session from a provider's tokens: always a new one.
use axum::response::Response;
use http::HeaderMap;
use jiff::Timestamp;
use portico_domain::identity::{Named, User};
use portico_oidc::{Identity, Tokens};
use portico_openstack::keystone::IssuedToken;
use portico_store::{
    EndReason, NewProviderTokens, NewSession, Outcome, ProviderProfile, SessionProvider,
};
use sha2::{Digest as _, Sha256};

use super::OidcProvider;
use crate::{
    access::{access_log, return_path::ReturnPath},
    audit::Event,
    authentication::{Interrupt, see_other, with_cookie},
    error_response::Problem,
    login::establish::span,
    metrics,
    session::cookie::Purpose,
    state::{Context, Gateway},
};

impl Gateway {
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
        if let Ok(old) = self.lookup(headers, None).await? {
            self.end_session(old.live.id, EndReason::Replaced).await?;
        }
        let now = Timestamp::now();
        let mut absolute = now + span(self.config.session.absolute);
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
            idle_expires_at: now + span(self.config.session.idle),
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
            self.end_session(session.id, EndReason::RefusedByProvider)
                .await?;
            return Err(error.into());
        }
        let mut several = false;
        if let Some(issued) = &keystone {
            self.store_token(session.id, issued).await?;
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
                    return Err(Problem::keystone_unavailable_by(&error).into());
                }
            };
            sessions.set_projects(session.id, &projects).await?;
            several = projects.len() > 1;
        }
        metrics::sign_in(&provider.config.id, "succeeded");
        access_log::session(&session);
        access_log::rule("signed_in");
        let event = Event::new("session.sign_in", Outcome::Succeeded)
            .session(&session)
            .target(&provider.config.id);
        self.audit(context, event).await;

        let answer = if several && !return_path.leads_somewhere() {
            see_other(&self.arriving_at(&ReturnPath::choice_of_project(), now))
        } else {
            see_other(&self.arriving_at(return_path, now))
        };
        let answer = with_cookie(answer, self.count_round(headers, now));
        let answer = with_cookie(answer, self.cookies.set(Purpose::Session, &secret));
        Ok(with_cookie(answer, self.cookies.clear(Purpose::Flow)))
    }
}

/// Returns the account of a user whom only the provider knows. The ID is derived from issuer and
/// subject, so that no other provider's subject and no Keystone user can have it; never from an
/// e-mail address.
pub(crate) fn user_of(provider: &OidcProvider, identity: &Identity) -> User {
    let digest = Sha256::new()
        .chain_update(identity.issuer.as_bytes())
        .chain_update([0])
        .chain_update(identity.subject.as_bytes())
        .finalize();
    let hex: String = digest
        .iter()
        .take(20)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    User {
        id: format!("oidc-{hex}"),
        name: identity.name.clone(),
        domain: Named {
            id: format!("oidc-{}", provider.config.id),
            name: provider.config.name.clone(),
        },
    }
}

/// Returns when a user authenticated at their provider: the time in the ID token, or now.
pub(crate) fn authenticated_at(identity: &Identity, now: Timestamp) -> Timestamp {
    identity.authenticated_at.map_or(now, |at| at.min(now))
}

/// Returns the attributes of an identity that are stored, besides the user.
pub(crate) fn profile_of(identity: &Identity, keystone: bool) -> ProviderProfile {
    ProviderProfile {
        email: identity.email.as_ref().map(|email| email.address.clone()),
        email_verified: identity.email.as_ref().is_some_and(|email| email.verified),
        display_name: identity.display_name.clone(),
        groups: identity.groups.clone(),
        roles: identity.roles.clone(),
        keystone,
    }
}

//! Continues a session after its user has authenticated at the provider again.
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use portico_oidc::Tokens;
use portico_openstack::keystone::IssuedToken;
use portico_store::{Outcome, RefreshedTokens, Session};

use crate::{
    audit::Event,
    http::{
        cookies::Purpose,
        error_response::Problem,
        interrupt::Interrupt,
        redirect::{see_other, with_cookie},
        return_path::ReturnPath,
    },
    identity_providers::{OidcProvider, authenticated_at, profile_of},
    request_context::Context,
    sign_in::SignIn,
};

impl SignIn {
    /// Continues the browser's session with the provider's new tokens, if they are for the same
    /// user. If it has ended meanwhile, a new session is established.
    pub async fn go_on_of_provider(
        &self,
        context: &Context,
        headers: &HeaderMap,
        provider: &OidcProvider,
        tokens: Tokens,
        keystone: Option<IssuedToken>,
        return_path: &ReturnPath,
    ) -> Result<Response, Interrupt> {
        let Ok(caller) = self.authentication.lookup(headers, None).await? else {
            return self
                .establish_of_provider(context, headers, provider, tokens, keystone, return_path)
                .await;
        };
        let root = caller.live.root();
        if !is_same(&root, provider, &tokens, keystone.as_ref()) {
            self.hand_back(provider, &tokens).await;
            if let Some(issued) = &keystone {
                self.sessions.revoke(&issued.token).await;
            }
            return Err(Problem::downstream(
                StatusCode::FORBIDDEN,
                "refused",
                "We could not verify that it is you",
                format!(
                    "{} signed in a different account from this session's. Only the session's own \
                     account can continue it.",
                    provider.config.name
                ),
            )
            .into());
        }
        let now = self.clock.now();
        let held = self.store.provider_tokens();
        if let Some(before) = held.find(root.id).await? {
            let new = RefreshedTokens {
                refresh_token: tokens.refresh_token.clone(),
                access_token: tokens.access_token.clone(),
                id_token: Some(tokens.id_token.clone()),
                profile: Some(profile_of(&tokens.identity, keystone.is_some())),
                expires_at: tokens.expires_at,
            };
            if !held.replace(root.id, before.version, &new, now).await? {
                // a concurrent refresh was faster, and its tokens are as good
                self.hand_back(provider, &tokens).await;
            }
        }
        let methods = tokens.identity.methods.clone();
        let proved = authenticated_at(&tokens.identity, now);
        let secret = self
            .replace_tokens(&caller, keystone.as_ref(), methods, Some(proved))
            .await?;
        let event = Event::new("session.reauthenticate", Outcome::Succeeded)
            .session(&caller.session)
            .target(&provider.config.id);
        self.audit.record(context, event).await;
        let cookie = self.cookies.set(Purpose::Session, &secret);
        Ok(with_cookie(see_other(return_path.as_str()), cookie))
    }

    /// Revokes the tokens that a provider issued for a sign-in that was not completed.
    pub async fn hand_back(&self, provider: &OidcProvider, tokens: &Tokens) {
        if let Some(token) = &tokens.refresh_token
            && let Err(error) = provider.client.revoke(token, "refresh_token").await
        {
            tracing::warn!(%error, "a refresh token of no use could not be revoked");
        }
    }
}

fn is_same(
    root: &Session,
    provider: &OidcProvider,
    tokens: &Tokens,
    keystone: Option<&IssuedToken>,
) -> bool {
    let same_subject = root.provider.as_ref().is_some_and(|known| {
        known.id == provider.config.id && known.subject == tokens.identity.subject
    });
    let same_account = match keystone {
        Some(issued) => issued.details.identity.user.id == root.user.id,
        None => !root.has_keystone(),
    };
    same_subject && same_account
}

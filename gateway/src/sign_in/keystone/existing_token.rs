//! `POST /oauth2/sign_in/token`: sign-in with an existing Keystone token.
//!
//! The user's token is exchanged at once for one of Portico's own with the same expiry. Portico's
//! token is revoked at sign-out, the user's only if the user asks for it. When the user's token is
//! revoked, Keystone revokes the exchanged one with it, and the session ends too.
use std::sync::Arc;

use axum::{Extension, extract::State, response::Response};
use http::HeaderMap;
use portico_openstack::keystone::{self, IssuedToken, TokenDetails};
use secrecy::{ExposeSecret as _, SecretString};

use super::{attempt::Failed, password::Form};
use crate::{
    authentication::extract::FormWithoutCsrf,
    browser_state::BrowserState,
    config::KeystoneMethod,
    http::{interrupt::Interrupt, return_path::ReturnPath},
    pages::sign_in_methods::Attempted,
    request_context::Context,
    sign_in::{SignIn, attempts::limits::SignInMethod, wording::failure_or_refused},
};

/// Bounds a token, in bytes; Keystone's web server accepts none that is longer.
const MAX_TOKEN_BYTES: usize = 8 * 1024;

/// The user's token, and Portico's own that it was exchanged for.
pub(crate) struct ExchangedToken {
    pub own: IssuedToken,
    pub existing: IssuedToken,
}

pub(crate) async fn token(
    State(sign_in): State<Arc<SignIn>>,
    Extension(context): Extension<Context>,
    browser: BrowserState,
    headers: HeaderMap,
    FormWithoutCsrf(mut fields): FormWithoutCsrf,
) -> Result<Response, Interrupt> {
    let token = fields.secret("token");
    let return_path = ReturnPath::from_query(fields.optional("rd"));
    sign_in.offered(KeystoneMethod::Token, &return_path)?;
    let attempted = Attempted::Token;
    if let Some(form) = sign_in
        .not_our_form(&headers, &browser, &fields, &return_path)
        .await?
    {
        let form = Form { attempted, ..form };
        return Ok(sign_in.sign_in_page(&headers, &browser, form).await?);
    }
    match sign_in.try_token(&context, &headers, &token).await {
        Ok(ExchangedToken { own, existing }) => {
            let ends_too = (fields.get("end_token") == "1").then_some(&existing);
            sign_in
                // the age of an existing token is unknown
                .establish_with(&context, &headers, own, ends_too, None, &return_path)
                .await
        }
        Err(failed) => {
            let retry_after = failed.retry_after();
            let (text, status) = failure_or_refused(failed, TOKEN_REFUSED)?;
            let form = Form {
                retry_after,
                attempted,
                ..Form::new(return_path)
            };
            let form = form.failed(text, status);
            Ok(sign_in.sign_in_page(&headers, &browser, form).await?)
        }
    }
}

const TOKEN_REFUSED: &str = "Keystone does not accept this token: it has ended, or is not complete. Get a new one with \
     openstack token issue, and paste all of it.";

impl SignIn {
    /// Tries a user's existing token, and exchanges it for one of Portico's own.
    pub(crate) async fn try_token(
        &self,
        context: &Context,
        headers: &HeaderMap,
        token: &SecretString,
    ) -> Result<ExchangedToken, Failed> {
        let pasted = token.expose_secret().trim();
        if pasted.is_empty() || pasted.len() > MAX_TOKEN_BYTES {
            return Err(Failed::Refused);
        }
        let token = SecretString::from(pasted.to_owned());
        // a token cannot be counted by account, as its owner is unknown: it is counted by
        // network
        let attempt = self
            .attempts
            .begin_attempt(context, headers, SignInMethod::Token, &[])
            .await?;
        match self.exchange_token(token).await {
            Err(Failed::Refused) => Err(self.attempts.refuse_attempt(context, attempt).await?),
            Ok(existing) => {
                self.attempts.succeeded(attempt).await?;
                Ok(existing)
            }
            // valid at Keystone, or not decided
            Err(other) => {
                self.attempts.undecided(attempt).await?;
                Err(other)
            }
        }
    }

    async fn exchange_token(&self, token: SecretString) -> Result<ExchangedToken, Failed> {
        let failed = |error: keystone::Error| self.not_asked_or_refused(&error);
        let details = self.keystone.validate(&token).await.map_err(failed)?;
        if let Some(why) = unfit(&details) {
            return Err(Failed::Unfit(why));
        }
        let own = match self.keystone.unscope(&token).await {
            Ok(own) => own,
            Err(keystone::Error::Forbidden) => {
                return Err(Failed::Unfit(
                    "Your Keystone does not exchange tokens that belong to a project. Use an \
                     unscoped one: openstack --os-project-name '' token issue.",
                ));
            }
            Err(error) => return Err(failed(error)),
        };
        if own.details.identity.user.id != details.identity.user.id {
            self.sessions.revoke(&own.token).await;
            return Err(Failed::Refused);
        }
        let existing = IssuedToken { token, details };
        Ok(ExchangedToken { own, existing })
    }
}

/// Returns why a valid token cannot become a session.
fn unfit(details: &TokenDetails) -> Option<&'static str> {
    if details.application_credential.is_some() {
        return Some(
            "This token was made with an application credential and cannot be exchanged for one of \
             Portico's. Sign in with the credential itself.",
        );
    }
    if details.trust.is_some() || details.is_oauth {
        return Some(
            "This token acts on behalf of another user (a trust, or OAuth). Use one that you got \
             with your own account.",
        );
    }
    None
}

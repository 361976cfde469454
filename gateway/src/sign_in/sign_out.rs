//! `GET` and `POST /oauth2/sign_out`: asks for confirmation, and ends the session.
use std::sync::Arc;

use axum::{
    Extension,
    extract::State,
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, HeaderName, HeaderValue};
use portico_store::{EndReason, HeldTokens, Outcome};
use secrecy::ExposeSecret as _;

use super::SignIn;
use crate::{
    audit::Event,
    authentication::extract::SessionForm,
    http::{
        cookies::Purpose,
        interrupt::Interrupt,
        redirect::{see_other, with_cookie},
    },
    pages::sign_out::{Onward, confirm, everywhere, signed_out},
    request_context::Context,
};

const REFRESH: HeaderName = HeaderName::from_static("refresh");
const CLEAR_SITE_DATA: HeaderName = HeaderName::from_static("clear-site-data");

impl SignIn {
    /// Returns the URL of the provider's own sign-out; `None` where it has none.
    pub async fn onward(&self, held: Option<&HeldTokens>) -> Option<Onward> {
        let held = held?;
        let provider = self.providers.get(&held.provider)?;
        let back = self.public_url.join("/oauth2/signed_out").ok()?;
        match provider
            .client
            .logout_url(held.id_token.as_ref(), &back)
            .await
        {
            Ok(url) => url.map(|url| Onward {
                name: provider.config.name.clone(),
                url,
            }),
            Err(error) => {
                tracing::warn!(
                    provider = held.provider,
                    %error,
                    "the session at the provider may still be active"
                );
                None
            }
        }
    }
}

pub(crate) async fn get(
    State(sign_in): State<Arc<SignIn>>,
    headers: HeaderMap,
) -> Result<Response, Interrupt> {
    Ok(match sign_in.authentication.lookup(&headers, None).await? {
        Ok(caller) => confirm(
            &caller.session.user.name,
            caller.session.csrf.expose_secret(),
        )
        .into_response(),
        Err(_) => signed_out(None, None).into_response(),
    })
}

pub(crate) async fn post(
    State(sign_in): State<Arc<SignIn>>,
    Extension(context): Extension<Context>,
    form: SessionForm,
) -> Result<Response, Interrupt> {
    let mut onward = None;
    let ended = match form.caller {
        Ok(caller) => {
            // the provider's own sign-out needs its ID token
            let held = sign_in.sessions.held_of_provider(&caller.session).await?;
            let ended = sign_in
                .sessions
                .end_session(caller.live.id, EndReason::SignedOut)
                .await?;
            let reason = format!("{} tokens revoked, {} pending", ended.tokens, ended.pending);
            let event = Event::new("session.sign_out", Outcome::Succeeded)
                .session(&caller.session)
                .reason(&reason);
            sign_in.audit.record(&context, event).await;
            onward = sign_in.onward(held.as_ref()).await;
            Some(ended)
        }
        Err(_) => None,
    };
    let mut answer = signed_out(ended, onward.as_ref()).into_response();
    if let Some(onward) = &onward
        && let Ok(target) = HeaderValue::try_from(format!("0; url={}", onward.url))
    {
        // not a redirect: the response to a form must not redirect to another origin
        answer.headers_mut().insert(REFRESH, target);
    }
    answer
        .headers_mut()
        .insert(CLEAR_SITE_DATA, HeaderValue::from_static("\"cache\""));
    let answer = with_cookie(answer, sign_in.cookies.clear(Purpose::Redirects));
    Ok(with_cookie(answer, sign_in.cookies.clear(Purpose::Session)))
}

/// `GET /oauth2/signed_out`: where a provider sends the browser after its own sign-out.
pub(crate) async fn done(
    State(sign_in): State<Arc<SignIn>>,
    headers: HeaderMap,
) -> Result<Response, Interrupt> {
    Ok(match sign_in.authentication.lookup(&headers, None).await? {
        // the user has signed in again meanwhile
        Ok(_) => see_other("/"),
        Err(_) => everywhere().into_response(),
    })
}

/// `GET /oauth2/sign_out` on an app's host: redirects to the main host, whose session is to be
/// ended.
pub(crate) async fn on_main_host(State(sign_in): State<Arc<SignIn>>) -> Response {
    see_other(&format!("{}/oauth2/sign_out", sign_in.hosts.main()))
}

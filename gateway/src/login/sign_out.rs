//! `GET` and `POST /oauth2/sign_out`: asks for confirmation, and ends the session.
use axum::{
    Extension,
    extract::State,
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, HeaderName, HeaderValue};
use portico_store::{EndReason, Outcome};
use secrecy::ExposeSecret as _;

use crate::{
    audit::Event,
    authentication::{Interrupt, see_other, with_cookie},
    extract::SessionForm,
    pages::sign_out::{confirm, everywhere, signed_out},
    session::cookie::Purpose,
    state::{Context, Shared},
};

const REFRESH: HeaderName = HeaderName::from_static("refresh");
const CLEAR_SITE_DATA: HeaderName = HeaderName::from_static("clear-site-data");

pub(crate) async fn get(
    State(gateway): State<Shared>,
    headers: HeaderMap,
) -> Result<Response, Interrupt> {
    Ok(match gateway.lookup(&headers, None).await? {
        Ok(caller) => confirm(
            &caller.session.user.name,
            caller.session.csrf.expose_secret(),
        )
        .into_response(),
        Err(_) => signed_out(None, None).into_response(),
    })
}

pub(crate) async fn post(
    State(gateway): State<Shared>,
    Extension(context): Extension<Context>,
    form: SessionForm,
) -> Result<Response, Interrupt> {
    let mut onward = None;
    let ended = match form.caller {
        Ok(caller) => {
            // the provider's own sign-out needs its ID token
            let held = gateway.held_of_provider(&caller.session).await?;
            let ended = gateway
                .end_session(caller.live.id, EndReason::SignedOut)
                .await?;
            let reason = format!("{} tokens revoked, {} pending", ended.tokens, ended.pending);
            let event = Event::new("session.sign_out", Outcome::Succeeded)
                .session(&caller.session)
                .reason(&reason);
            gateway.audit(&context, event).await;
            onward = gateway.onward(held.as_ref()).await;
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
    let answer = with_cookie(answer, gateway.cookies.clear(Purpose::Rounds));
    Ok(with_cookie(answer, gateway.cookies.clear(Purpose::Session)))
}

/// `GET /oauth2/signed_out`: where a provider sends the browser after its own sign-out.
pub(crate) async fn done(
    State(gateway): State<Shared>,
    headers: HeaderMap,
) -> Result<Response, Interrupt> {
    Ok(match gateway.lookup(&headers, None).await? {
        // the user has signed in again meanwhile
        Ok(_) => see_other("/"),
        Err(_) => everywhere().into_response(),
    })
}

/// `GET /oauth2/sign_out` on an app's host: redirects to the main host, whose session is to be
/// ended.
pub(crate) async fn on_main_host(State(gateway): State<Shared>) -> Response {
    see_other(&format!("{}/oauth2/sign_out", gateway.hosts.main()))
}

//! Hands a session over from the main host to an app's host.
//!
//! The app's host sets a nonce cookie and redirects the browser to the main host (`begin`); the
//! main host checks session and rules and returns a form that posts a one-time code back (`offer`);
//! the app's host exchanges code and nonce for a child session (`accept`).
pub(crate) mod accept;
pub(crate) mod offer;

use std::sync::Arc;

use axum::body::Body;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use http::{HeaderMap, Method, Request};
use portico_clock::Clock;
use portico_store::Store;
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};

use super::{authorization::Authorization, proxy::routes::here};
use crate::{
    audit::AuditLog,
    authentication::Authentication,
    hosts::{App, Hosts},
    http::{
        access_log,
        cookies::{Cookies, Purpose, random_secret},
        error_response::Problem,
        interrupt::Interrupt,
        redirect::{see_other, with_cookie},
        return_path::ReturnPath,
    },
    request_context::Context,
};

/// Lifetime of the nonce cookie; the user may have to sign in within this time.
const NONCE_SECONDS: u32 = 900;

/// Hands sessions over to the hosts of apps.
#[derive(Debug)]
pub(crate) struct Handovers {
    pub cookies: Cookies,
    pub store: Store,
    pub clock: Clock,
    pub hosts: Arc<Hosts>,
    pub authentication: Arc<Authentication>,
    pub authorization: Arc<Authorization>,
    pub audit: AuditLog,
}

/// Redirects a user without a session on the app's host to the main host.
pub(crate) fn begin(
    handovers: &Handovers,
    context: &Context,
    app: &App,
    request: &Request<Body>,
) -> Interrupt {
    let path = ReturnPath::parse(&here(request));
    begin_for(
        handovers,
        context,
        app,
        request.method(),
        request.headers(),
        &path,
    )
}

/// Starts a hand-over for another request than the current one: it returns to `path`.
pub(crate) fn begin_for(
    handovers: &Handovers,
    context: &Context,
    app: &App,
    method: &Method,
    headers: &HeaderMap,
    path: &ReturnPath,
) -> Interrupt {
    if !context.navigation || !matches!(*method, Method::GET | Method::HEAD) {
        return Problem::signed_out().into();
    }
    if handovers
        .authentication
        .is_redirect_loop(headers, handovers.clock.now())
    {
        return handovers.authentication.app_loop(app);
    }
    // a second tab must not invalidate the hand-over of the first
    let known = handovers.cookies.read(headers, Purpose::Handover);
    let nonce = match known.map_or_else(random_secret, Ok) {
        Ok(nonce) => nonce,
        Err(error) => {
            tracing::error!(%error, "no nonce for a hand-over");
            return Problem::internal().into();
        }
    };
    access_log::rule("no_session");
    let query = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("app", &app.config.id)
        .append_pair("nonce", &commitment(&nonce))
        .append_pair("rd", path.as_str())
        .finish();
    let answer = see_other(&format!(
        "{}/oauth2/handover?{query}",
        handovers.hosts.main()
    ));
    let cookie = handovers
        .cookies
        .set_for(Purpose::Handover, &nonce, NONCE_SECONDS);
    Interrupt::Answer(Box::new(with_cookie(answer, cookie)))
}

/// Returns the public commitment to a nonce: it is sent in a URL, the nonce itself never is.
fn commitment(nonce: &SecretString) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(nonce.expose_secret()))
}

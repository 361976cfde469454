//! Forward auth: another proxy (nginx, Traefik, Envoy, HAProxy, Caddy) serves an app and asks here,
//! for each request, who the user is and whether the request is permitted.
//!
//! | endpoint | clients | responses |
//! |---|---|---|
//! | `/oauth2/auth` | nginx `auth_request`, every proxy that only reads the status | 202, 401, 403; 503 when no decision is possible |
//! | `/oauth2/auth/redirect` | proxies that forward Portico's response to the browser (Traefik, Caddy, HAProxy) | 200, or the response for the browser: 303 to sign-in, 401, a 403 page, 503 |
//! | `/oauth2/ext_authz/…` | Envoy, which appends the path of the request | the same |
//! | `/oauth2/sign_in`, `/oauth2/start` on an app's host | error pages of the proxy in front | 303 to sign-in and back, 401 for programs |
//! | `/oauth2/open` | the main host's sign-in, on the way to an app | 303 to the app |
//!
//! The description of the request (`forwarded_request`) is accepted from `gateway.trusted_proxies`
//! only. An app has a session cookie of its own, so the proxy in front forwards `/oauth2/` of the
//! app's host to Portico.
mod answer;
pub(crate) mod auth;
mod authorize;
pub(crate) mod redirect;
pub(crate) mod sign_in;

use std::sync::Arc;

use portico_clock::Clock;

use super::{
    authorization::Authorization, bearer::BearerAuthentication, handover::Handovers,
    identity::UpstreamIdentity,
};
use crate::{
    authentication::Authentication,
    hosts::{App, Hosts},
    http::error_response::Problem,
};

/// Decides the authorization requests of other proxies.
#[derive(Debug)]
pub(crate) struct ForwardAuth {
    pub clock: Clock,
    pub hosts: Arc<Hosts>,
    pub authentication: Arc<Authentication>,
    pub authorization: Arc<Authorization>,
    pub bearer_authentication: Arc<BearerAuthentication>,
    pub upstream_identity: Arc<UpstreamIdentity>,
    pub handovers: Arc<Handovers>,
}

/// Returns the problem for a request to an app's host that another proxy should have served.
pub(crate) fn served_by_other_proxy(app: &App) -> Problem {
    let name = &app.config.name;
    Problem::downstream(
        http::StatusCode::MISDIRECTED_REQUEST,
        "served_elsewhere",
        format!("{name} is not served here"),
        format!("Another proxy serves {name}, and only asks Portico for authorization."),
    )
    .steps([
        "If you are setting this up: the proxy passes nothing but /oauth2/ on to Portico; the rest goes to the app itself.",
    ])
}

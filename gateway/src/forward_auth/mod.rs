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
mod destination;
mod forwarded_request;
pub(crate) mod redirect;
pub(crate) mod sign_in;

use http::{Method, Request};

use crate::{
    error_response::Problem,
    hosts::{App, Site},
    own_paths::{AUTH, AUTH_REDIRECT, EXT_AUTHZ, SIGN_IN, START},
    state::Gateway,
};

pub(crate) use destination::split as split_destination;
use forwarded_request::ForwardedRequest;

/// Returns whether other proxies ask for a decision at this path. These endpoints check the origin
/// of the request that they are asked about, not of the authorization request.
pub(crate) fn decides(path: &str) -> bool {
    path == AUTH || path == AUTH_REDIRECT || path.starts_with(EXT_AUTHZ)
}

fn begins_sign_in(path: &str) -> bool {
    path == SIGN_IN || path == START
}

impl Gateway {
    /// Returns the site of a request: that of its `Host`, or, for an authorization request of a
    /// trusted proxy under Portico's own or an internal name, the one that it asks about.
    pub fn site_of<B>(&self, request: &Request<B>) -> Option<Site> {
        let site = self.hosts.resolve(request.uri(), request.headers());
        let path = request.uri().path();
        let may_be_another = match &site {
            // the proxy sends the app's own name, which no header overrides
            Some(Site::App(_)) => false,
            Some(Site::Main) => decides(path),
            None => decides(path) || begins_sign_in(path),
        };
        if !may_be_another || !self.is_of_a_trusted_proxy(request) {
            return site;
        }
        let forwarded = ForwardedRequest::of(request.headers()).ok();
        let named = forwarded.and_then(|forwarded| self.hosts.named(forwarded.host.as_deref()?));
        named.or(site)
    }

    /// Returns the method of the user's request: for an authorization request of a trusted proxy,
    /// the one that the proxy forwards.
    pub fn method_of<B>(&self, request: &Request<B>) -> Method {
        let path = request.uri().path();
        let forwarded = (decides(path) || begins_sign_in(path))
            .then(|| {
                self.is_of_a_trusted_proxy(request)
                    .then(|| ForwardedRequest::of(request.headers()).ok())
            })
            .flatten()
            .flatten();
        let method = forwarded.and_then(|forwarded| forwarded.method);
        method.unwrap_or_else(|| request.method().clone())
    }
}

/// Returns the problem for a request to an app's host that another proxy should have served.
pub(crate) fn served_elsewhere(app: &App) -> Problem {
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

//! Forward auth: another proxy (nginx, Traefik, Envoy, HAProxy, Caddy) serves an app and asks here,
//! for each request, who it is and whether they may.
//!
//! | endpoint | for whom | answers |
//! |---|---|---|
//! | `/oauth2/auth` | nginx `auth_request`, everybody who only wants the status | 202, 401, 403; 503 when it cannot be decided |
//! | `/oauth2/auth/redirect` | who passes our answer on to the browser (Traefik, Caddy, HAProxy) | 200, or what the browser shall see: 303 to sign-in, 401, a 403 page, 503 |
//! | `/oauth2/ext_authz/…` | Envoy, which appends the path that it asks about | the same |
//! | `/oauth2/sign_in`, `/oauth2/start` on an app's host | error pages of the proxy in front | 303 towards sign-in and back, 401 for programs |
//! | `/oauth2/open` | the main host's sign-in, on the way to an app | 303 to the app |
//!
//! What is asked about (`told`) is believed from `gateway.trusted_proxies` only. An app has a
//! session cookie of its own, so the proxy in front passes `/oauth2/` of the app's host on to here.
mod answer;
pub(crate) mod auth;
mod destination;
mod judge;
pub(crate) mod redirect;
pub(crate) mod sign_in;
mod told;

use http::{Method, Request};

use crate::{
    hosts::{App, Site},
    problem::Problem,
    state::Gateway,
};

pub(crate) use destination::split as split_destination;
use told::Told;

const AUTH: &str = "/oauth2/auth";
const REDIRECT: &str = "/oauth2/auth/redirect";
const EXT_AUTHZ: &str = "/oauth2/ext_authz/";
const SIGN_IN: [&str; 2] = ["/oauth2/sign_in", "/oauth2/start"];

/// Whether a path is one where another proxy asks for a decision. These check the origin of the
/// request that they are asked about, not of the question.
pub(crate) fn decides(path: &str) -> bool {
    path == AUTH || path == REDIRECT || path.starts_with(EXT_AUTHZ)
}

/// Whether the way to sign-in begins with this request to an app's host. It may come in place of a
/// page, from wherever the page was asked from, and changes nothing.
pub(crate) fn begins_sign_in(method: &Method, path: &str) -> bool {
    SIGN_IN.contains(&path) && matches!(*method, Method::GET | Method::HEAD)
}

impl Gateway {
    /// The site of a request: of its `Host`, or, for a question of a trusted proxy that asks us
    /// under our own or an internal name, the one that it asks about.
    pub fn site_of<B>(&self, request: &Request<B>) -> Option<Site> {
        let site = self.hosts.resolve(request.uri(), request.headers());
        let path = request.uri().path();
        let may_be_another = match &site {
            // the proxy has kept the app's own name: nothing can change that
            Some(Site::App(_)) => false,
            Some(Site::Main) => decides(path),
            None => decides(path) || SIGN_IN.contains(&path),
        };
        if !may_be_another || !self.is_of_a_trusted_proxy(request) {
            return site;
        }
        let told = Told::of(request.headers()).ok();
        let named = told.and_then(|told| self.hosts.named(told.host.as_deref()?));
        named.or(site)
    }

    /// The method of the request that somebody has made: for a question of a trusted proxy, as that
    /// proxy tells it.
    pub fn method_of<B>(&self, request: &Request<B>) -> Method {
        let path = request.uri().path();
        let told = (decides(path) || SIGN_IN.contains(&path))
            .then(|| {
                self.is_of_a_trusted_proxy(request)
                    .then(|| Told::of(request.headers()).ok())
            })
            .flatten()
            .flatten();
        let method = told.and_then(|told| told.method);
        method.unwrap_or_else(|| request.method().clone())
    }
}

/// What an app's host answers where another proxy should have.
pub(crate) fn served_elsewhere(app: &App) -> Problem {
    let name = &app.config.name;
    Problem::downstream(
        http::StatusCode::MISDIRECTED_REQUEST,
        "served_elsewhere",
        format!("{name} is not served here"),
        format!("Another proxy serves {name}, and only asks Portico who may see it."),
    )
    .steps([
        "If you are setting this up: the proxy passes nothing but /oauth2/ on to Portico; the rest goes to the app itself.",
    ])
}

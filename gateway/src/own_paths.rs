//! The paths that the gateway serves itself: one table for its routes, the origin check, the route
//! label of metrics and the names that no app can take.
use std::sync::LazyLock;

use http::Method;

/// An endpoint of the gateway. `router` has a handler for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    // on every host
    Auth,
    AuthRedirect,
    ExtAuthz,
    ExtAuthzPath,
    Static,
    // on the main host
    SignIn,
    SignInWithApplicationCredential,
    SignInWithToken,
    WebSso,
    WebSsoStart,
    WebSsoFinish,
    ProviderStart,
    ProviderCallback,
    BackchannelLogout,
    SignedOut,
    Totp,
    FailedAttempts,
    Project,
    Reauthenticate,
    SignOut,
    Audit,
    Sessions,
    EndSessions,
    SavedForm,
    DiscardSavedForm,
    DemoPassword,
    OfferHandover,
    Open,
    UserInfo,
    Authorize,
    Device,
    DeviceDecision,
    Token,
    Revoke,
    Ping,
    Ready,
    Jwks,
    ClusterKeys,
    ClusterList,
    WhoAmI,
    Clusters,
    ClusterToken,
    SealingKey,
    CloudApi,
    // on the hosts of apps
    AcceptHandover,
    AppSignIn,
    AppStart,
    AppSignOut,
}

impl Endpoint {
    /// Returns whether its handler knows the browser's state. Every other request neither reads nor
    /// writes one.
    pub fn has_browser_state(self) -> bool {
        matches!(
            self,
            Self::SignIn
                | Self::SignInWithApplicationCredential
                | Self::SignInWithToken
                | Self::WebSsoStart
                | Self::WebSsoFinish
                | Self::ProviderStart
                | Self::ProviderCallback
                | Self::Totp
                | Self::SavedForm
                | Self::DiscardSavedForm
        )
    }
}

/// The hosts that serve a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum On {
    Every,
    Main,
    Apps,
}

/// Which requests are handled without the check of their origin ([`crate::http::origin`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Checked,
    /// The endpoint reads no cookie, or checks the origin in a way of its own.
    Unchecked,
    /// The same for `POST` only.
    UncheckedPost,
    /// The same for `GET` and `HEAD` only.
    UncheckedRead,
}

/// A path that the gateway serves itself.
#[derive(Debug)]
pub(crate) struct OwnPath {
    pub endpoint: Endpoint,
    /// As in [`axum::Router::route`].
    pub pattern: &'static str,
    on: On,
    origin: Origin,
}

const fn own(endpoint: Endpoint, on: On, pattern: &'static str, origin: Origin) -> OwnPath {
    OwnPath {
        endpoint,
        pattern,
        on,
        origin,
    }
}

/// The folder of the gateway's own paths, on every host.
pub(crate) const OAUTH2: &str = "/oauth2";

/// Where other proxies ask for a decision, and where they send users to sign in.
pub(crate) const AUTH: &str = "/oauth2/auth";
pub(crate) const AUTH_REDIRECT: &str = "/oauth2/auth/redirect";
pub(crate) const EXT_AUTHZ: &str = "/oauth2/ext_authz/";
pub(crate) const SIGN_IN: &str = "/oauth2/sign_in";
pub(crate) const START: &str = "/oauth2/start";

/// First segments of paths of the main host that the panel serves.
const PANEL_SEGMENTS: [&str; 6] = [
    "projects",
    "apps",
    "api",
    "pkg",
    "favicon.svg",
    "robots.txt",
];

#[rustfmt::skip]
static OWN_PATHS: [OwnPath; 48] = {
    use {Endpoint as E, On as O, Origin::{Checked, Unchecked, UncheckedPost, UncheckedRead}};
    [
        own(E::Auth, O::Every, AUTH, Unchecked),
        own(E::AuthRedirect, O::Every, AUTH_REDIRECT, Unchecked),
        own(E::ExtAuthz, O::Every, EXT_AUTHZ, Unchecked),
        own(E::ExtAuthzPath, O::Every, "/oauth2/ext_authz/{*path}", Unchecked),
        own(E::Static, O::Every, "/oauth2/static/{file}", Unchecked),
        own(E::SignIn, O::Main, SIGN_IN, Checked),
        own(E::SignInWithApplicationCredential, O::Main, "/oauth2/sign_in/application_credential", Checked),
        own(E::SignInWithToken, O::Main, "/oauth2/sign_in/token", Checked),
        own(E::WebSso, O::Main, "/oauth2/websso", UncheckedPost),
        own(E::WebSsoStart, O::Main, "/oauth2/websso/start", Checked),
        own(E::WebSsoFinish, O::Main, "/oauth2/websso/finish", Checked),
        own(E::ProviderStart, O::Main, START, Checked),
        own(E::ProviderCallback, O::Main, "/oauth2/callback/{provider}", Checked),
        own(E::BackchannelLogout, O::Main, "/oauth2/backchannel_logout", Unchecked),
        own(E::SignedOut, O::Main, "/oauth2/signed_out", Checked),
        own(E::Totp, O::Main, "/oauth2/totp", Checked),
        own(E::FailedAttempts, O::Main, "/oauth2/failed_attempts", Checked),
        own(E::Project, O::Main, "/oauth2/project", Checked),
        own(E::Reauthenticate, O::Main, "/oauth2/reauthenticate", Checked),
        own(E::SignOut, O::Main, "/oauth2/sign_out", Checked),
        own(E::Audit, O::Main, "/oauth2/audit", Checked),
        own(E::Sessions, O::Main, "/oauth2/sessions", Checked),
        own(E::EndSessions, O::Main, "/oauth2/sessions/end", Checked),
        own(E::SavedForm, O::Main, "/oauth2/saved_form", Checked),
        own(E::DiscardSavedForm, O::Main, "/oauth2/saved_form/discard", Checked),
        own(E::DemoPassword, O::Main, "/oauth2/demo/password", Checked),
        own(E::OfferHandover, O::Main, "/oauth2/handover", Checked),
        own(E::Open, O::Main, "/oauth2/open", Checked),
        own(E::UserInfo, O::Main, "/oauth2/userinfo", Checked),
        own(E::Authorize, O::Main, "/oauth2/authorize", Checked),
        own(E::Device, O::Main, "/oauth2/device", UncheckedPost),
        own(E::DeviceDecision, O::Main, "/oauth2/device/decision", Checked),
        own(E::Token, O::Main, "/oauth2/token", Unchecked),
        own(E::Revoke, O::Main, "/oauth2/revoke", Unchecked),
        own(E::Ping, O::Main, "/ping", Unchecked),
        own(E::Ready, O::Main, "/ready", Unchecked),
        own(E::Jwks, O::Main, "/.well-known/jwks.json", Unchecked),
        own(E::ClusterKeys, O::Main, "/.well-known/portico-cluster-keys", Unchecked),
        own(E::ClusterList, O::Main, portico_assertion::cluster_list::PATH, Unchecked),
        own(E::WhoAmI, O::Main, "/api/v1/whoami", Unchecked),
        own(E::Clusters, O::Main, "/api/v1/clusters", Unchecked),
        own(E::ClusterToken, O::Main, "/api/v1/clusters/{id}/token", Unchecked),
        own(E::SealingKey, O::Main, "/api/v1/clusters/{id}/sealing-key", Unchecked),
        own(E::CloudApi, O::Main, "/projects/{project}/cloud/{*path}", Unchecked),
        own(E::AcceptHandover, O::Apps, "/oauth2/handover", UncheckedPost),
        own(E::AppSignIn, O::Apps, SIGN_IN, UncheckedRead),
        own(E::AppStart, O::Apps, START, UncheckedRead),
        own(E::AppSignOut, O::Apps, "/oauth2/sign_out", Checked),
    ]
};

/// The kind of host that a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostKind {
    Main,
    App,
}

type Matcher = matchit::Router<&'static OwnPath>;

static MAIN: LazyLock<Matcher> = LazyLock::new(|| matcher(HostKind::Main));
static APP: LazyLock<Matcher> = LazyLock::new(|| matcher(HostKind::App));

fn matcher(host: HostKind) -> Matcher {
    let mut matcher = Matcher::new();
    for own in of(host) {
        // axum reads the same patterns with the same library, and a test finds each
        if let Err(error) = matcher.insert(own.pattern, own) {
            tracing::error!(%error, pattern = own.pattern, "a path of the gateway is not usable");
        }
    }
    matcher
}

/// Returns the paths of a kind of host.
pub(crate) fn of(host: HostKind) -> impl Iterator<Item = &'static OwnPath> {
    OWN_PATHS.iter().filter(move |own| match own.on {
        On::Every => true,
        On::Main => host == HostKind::Main,
        On::Apps => host == HostKind::App,
    })
}

/// Returns the path of the table that a request is for.
pub(crate) fn find(host: HostKind, path: &str) -> Option<&'static OwnPath> {
    let matcher = match host {
        HostKind::Main => &MAIN,
        // the app's own requests, which are most
        HostKind::App if !is_under_oauth2(path) => return None,
        HostKind::App => &APP,
    };
    matcher.at(path).ok().map(|found| *found.value)
}

/// Returns whether a path is in the gateway's own folder, on any host.
pub(crate) fn is_under_oauth2(path: &str) -> bool {
    path.strip_prefix(OAUTH2)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns whether the panel or the gateway serves paths of the main host that begin with this
/// segment, in any case.
pub(crate) fn is_reserved_segment(segment: &str) -> bool {
    let first = |own: &'static OwnPath| own.pattern.split('/').nth(1);
    of(HostKind::Main)
        .filter_map(first)
        .chain(PANEL_SEGMENTS)
        .any(|taken| taken.eq_ignore_ascii_case(segment))
}

impl OwnPath {
    /// Returns whether load balancers ask there, which are answered even when the gateway is busy.
    pub fn is_for_load_balancers(&self) -> bool {
        matches!(self.endpoint, Endpoint::Ping | Endpoint::Ready)
    }

    /// Returns whether a request is handled without the check of its origin.
    pub fn skips_origin_check(&self, method: &Method) -> bool {
        match self.origin {
            Origin::Checked => false,
            Origin::Unchecked => true,
            Origin::UncheckedPost => *method == Method::POST,
            Origin::UncheckedRead => matches!(*method, Method::GET | Method::HEAD),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_of_the_table_is_found_on_its_hosts() {
        for host in [HostKind::Main, HostKind::App] {
            for own in of(host) {
                let path = own
                    .pattern
                    .replace("{*path}", "a/b")
                    .replace(['{', '}'], "");
                let found = find(host, &path).map(|found| found.endpoint);
                assert_eq!(found, Some(own.endpoint), "{host:?} {path}");
            }
        }
    }

    #[test]
    fn only_whole_paths_are_our_own() {
        for path in [
            "/",
            "/pings",
            "/ready/x",
            "/oauth2",
            "/oauth2/unknown",
            "/.well-known/unknown",
            "/api/v1/clusters/a/pods",
            "/api/v1/clusters/a/b/token",
            "/projects/p/cloud",
            "/projects/p/cloud/",
            "/projects/p/q/cloud/compute/v2.1/limits",
            "/projects/p/clouds/compute",
        ] {
            assert!(find(HostKind::Main, path).is_none(), "{path}");
        }
        assert!(find(HostKind::App, "/ping").is_none());
        assert!(find(HostKind::App, "/oauth2/token").is_none());
    }

    #[test]
    fn endpoints_that_read_a_cookie_check_the_origin() {
        let unchecked = |host, path, method: Method| {
            find(host, path).is_some_and(|own| own.skips_origin_check(&method))
        };
        for path in [
            "/oauth2/sign_out",
            "/oauth2/sessions/end",
            "/oauth2/device/decision",
        ] {
            assert!(!unchecked(HostKind::Main, path, Method::POST), "{path}");
        }
        assert!(unchecked(HostKind::Main, "/oauth2/device", Method::POST));
        assert!(!unchecked(HostKind::Main, "/oauth2/device", Method::GET));
        assert!(unchecked(HostKind::App, "/oauth2/sign_in", Method::GET));
        assert!(!unchecked(HostKind::App, "/oauth2/sign_in", Method::POST));
        assert!(!unchecked(HostKind::Main, "/oauth2/sign_in", Method::GET));
    }
}

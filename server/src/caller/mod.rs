//! The authenticated caller of a request. A [`Caller`] is made from a verified assertion only.
pub mod audit;

use crate::kube::credential::KeystoneToken;
use audit::Reports;
use axum::{
    extract::{FromRequestParts, Request, State},
    http::{HeaderMap, StatusCode, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
};
use jiff::Timestamp;
use portico_assertion::{
    Claims, PrivateKey, Verifier,
    claims::{AppAccess, KeystoneState},
    panel_token,
};
use portico_clock::Clock;
use portico_domain::{
    cluster::ClusterRecord,
    identity::{Identity, Project},
    panel::{Platform, SessionView},
};
use std::{collections::BTreeSet, net::IpAddr, sync::Arc};
use url::Url;

const AUDIENCE: &str = "panel";
const ASSERTION: &str = "portico-assertion";
const TOKEN: &str = "portico-token";
const REQUEST_ID: &str = "x-request-id";

/// A signed-in user, for one request or stream. The token is not kept any longer.
#[derive(Clone)]
pub struct Caller {
    claims: Arc<Claims>,
    identity: Arc<Identity>,
    token: Option<KeystoneToken>,
    request_id: Arc<str>,
    platform: Platform,
    address: Option<IpAddr>,
    reports: Reports,
}

/// Verifies the gateway's assertions.
#[derive(Clone)]
pub struct Gatekeeper {
    verifier: Arc<Verifier>,
    keys: Arc<Vec<PrivateKey>>,
    issuer: Arc<str>,
    clock: Clock,
}

impl Gatekeeper {
    pub fn new(verifier: Verifier, keys: Vec<PrivateKey>, public_url: &Url, clock: Clock) -> Self {
        Self {
            verifier: Arc::new(verifier),
            keys: Arc::new(keys),
            issuer: origin(public_url).into(),
            clock,
        }
    }

    /// Returns the caller that the headers prove; `None` without a valid assertion.
    pub fn admit(&self, headers: &HeaderMap) -> Option<Caller> {
        let now = self.clock.now();
        let assertion = headers.get(ASSERTION)?.to_str().ok()?;
        let claims = self
            .verifier
            .verify(assertion, AUDIENCE, &self.issuer, now)
            .inspect_err(|reason| tracing::warn!(%reason, "assertion refused"))
            .ok()?;
        let token = match headers.get(TOKEN) {
            None => None,
            Some(sealed) => {
                let opened = panel_token::open(&self.keys, &claims.jti, sealed.to_str().ok()?, now)
                    .inspect_err(|reason| tracing::warn!(%reason, "panel token refused"))
                    .ok()?;
                Some(KeystoneToken {
                    token: opened.token,
                    expires_at: opened.expires_at,
                })
            }
        };
        let request_id = headers
            .get(REQUEST_ID)
            .and_then(|id| id.to_str().ok())
            .map_or_else(|| uuid::Uuid::new_v4().to_string(), str::to_owned);
        let user_agent = headers.get(header::USER_AGENT);
        let user_agent = user_agent
            .and_then(|agent| agent.to_str().ok())
            .unwrap_or_default();
        Some(Caller {
            identity: Arc::new(claims.identity()),
            claims: Arc::new(claims),
            token,
            request_id: request_id.into(),
            platform: Platform::of_user_agent(user_agent),
            address: client_address(headers),
            reports: Reports::default(),
        })
    }
}

/// Reads the client's address. The gateway has resolved the hops of trusted proxies, and has replaced the
/// header by the one address.
fn client_address(headers: &HeaderMap) -> Option<IpAddr> {
    let text = headers.get("x-forwarded-for")?.to_str().ok()?;
    let address: IpAddr = text.parse().ok()?;
    Some(address.to_canonical())
}

impl Caller {
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    pub fn claims(&self) -> &Claims {
        &self.claims
    }

    pub fn request_id(&self) -> &str {
        &self.request_id
    }

    /// Returns the platform of the caller's machine, as the browser names it.
    pub fn platform(&self) -> Platform {
        self.platform
    }

    /// Returns the address from which the request comes, as the gateway has found it; `None`: not known.
    /// It is for display: no right depends on it.
    pub fn address(&self) -> Option<IpAddr> {
        self.address
    }

    /// Returns the request's reports for the audit log.
    pub(super) fn reports(&self) -> &Reports {
        &self.reports
    }

    /// Returns the project-scoped Keystone token; `None` without a role in the URL's project.
    pub fn token(&self) -> Option<&KeystoneToken> {
        self.token.as_ref()
    }

    /// Returns the project of the URL, if the user has a role in it.
    pub fn project(&self) -> Option<&Project> {
        self.identity.project.as_ref()
    }

    /// Returns how far an app of the URL's project is open to the user; `None` if it is not. The
    /// gateway has evaluated the app's rules.
    pub fn app(&self, id: &str) -> Option<AppAccess> {
        self.claims.apps.get(id).copied()
    }

    /// Returns the namespaces of a cluster in which the user may have rights: those that the gateway
    /// knows, and the one that the sync creates for the project of the URL.
    pub fn namespace_candidates(&self, cluster: &ClusterRecord) -> BTreeSet<String> {
        let format = &cluster.namespace_format;
        let of_project = self
            .project()
            .and_then(|project| format.name_of(&project.id, &project.name, &project.domain.id));
        let known = self.claims.namespaces.get(&cluster.id);
        let known = known.into_iter().flatten().cloned();
        known.chain(of_project).collect()
    }

    /// Returns the public reference of the session.
    pub fn session_id(&self) -> &str {
        &self.claims.sid
    }

    /// Returns the CSRF token that every change must carry.
    pub fn csrf(&self) -> Option<&str> {
        self.claims.csrf.as_deref()
    }

    /// Returns the session data in the frame of every page.
    pub fn session(&self, now: Timestamp) -> SessionView {
        let claims = &self.claims;
        SessionView {
            user_name: claims.name.clone(),
            domain: claims.domain.clone(),
            user_id: claims.sub.clone(),
            project: claims.project.clone(),
            roles: claims.roles.clone(),
            projects: claims.projects.clone(),
            clusters: Vec::new(),
            csrf_token: claims.csrf.clone().unwrap_or_default(),
            session_expires_at: claims.session_expires_at,
            now: now.as_second(),
            keystone_reachable: claims.keystone == KeystoneState::Ok,
            auth_methods: claims.auth_methods.clone(),
        }
    }
}

/// The response to a request without a gateway's assertion.
pub const GATEWAY_ONLY: &str = "This page is reached through the gateway only.\n";

/// Refuses requests without a valid assertion. The response does not sign the user out: that is up
/// to the gateway.
pub async fn require(
    State(gatekeeper): State<Gatekeeper>,
    mut request: Request,
    next: Next,
) -> Response {
    match gatekeeper.admit(request.headers()) {
        Some(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        None => (StatusCode::UNAUTHORIZED, GATEWAY_ONLY).into_response(),
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = StatusCode;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        parts
            .extensions
            .get::<Self>()
            .cloned()
            .ok_or(StatusCode::UNAUTHORIZED)
    }
}

/// Returns `scheme://host[:port]`, as browsers write an origin.
pub fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clients_address_is_the_one_that_the_gateway_found() {
        let of = |text: &'static str| {
            let value = axum::http::HeaderValue::from_static(text);
            client_address(&HeaderMap::from_iter([(
                "x-forwarded-for".parse().unwrap(),
                value,
            )]))
        };
        assert_eq!(of("198.51.100.7"), "198.51.100.7".parse().ok());
        assert_eq!(of("::ffff:198.51.100.7"), "198.51.100.7".parse().ok());
        for unknown in ["unknown", "198.51.100.7, 192.0.2.1", ""] {
            assert_eq!(of(unknown), None, "{unknown}");
        }
        assert_eq!(client_address(&HeaderMap::new()), None);
    }
}

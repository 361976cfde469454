//! Passes the user's identity to an app, as configured in `[apps.identity]`: Portico's own
//! assertion, plain headers, a token with configurable claims, the app's own credentials, or a
//! cluster token.
//!
//! The headers are computed once for a session and an app and cached with the session, like the
//! assertion. Requests without a signed-in user carry no identity, and clients cannot send headers
//! with these names (`named`).
mod cluster;
mod credential;
mod escape;
mod headers;
mod identity_attributes;
mod jwt;
mod refusal;
mod roles;

use std::sync::Arc;

use foldhash::HashMap;
use http::{HeaderName, HeaderValue};
use portico_clock::Clock;
use portico_runtime::metrics::{KEY_CHANGES, KEYS_UNUSABLE};
use tokio::time::Instant;
use uuid::Uuid;

use super::{
    authorization::Key,
    identity::{
        credential::Credential, headers::Header, identity_attributes::IdentityAttributes, jwt::Jwt,
        refusal::Refusal, roles::Roles,
    },
};
use crate::{
    audit::AuditLog,
    build_error::BuildError,
    clusters::{Cluster, tokens::ClusterTokens},
    config::{AppConfig, ConfigError, Fact, IdentityConfig, IdentityKind, header_name},
    hosts::{App, Hosts},
    http::error_response::Problem,
    sessions::{
        Sessions,
        assertion::{AssertionError, Assertions, REUSE_TTL, Signed, SignedHeaders},
        keystone_tokens::TokenError,
        live::{Caller, ProjectToken},
    },
};

/// Headers and their values, in the order in which they are added.
pub(crate) type IdentityHeaders = Vec<(HeaderName, HeaderValue)>;

/// Passes the identity of users to apps.
#[derive(Debug)]
pub(crate) struct UpstreamIdentity {
    pub clock: Clock,
    /// How identity is passed to each app.
    pub identities: Arc<Identities>,
    pub hosts: Arc<Hosts>,
    pub sessions: Arc<Sessions>,
    pub assertions: Arc<Assertions>,
    pub cluster_tokens: Arc<ClusterTokens>,
    pub audit: AuditLog,
}

/// The identity configuration of each app, by the app's ID.
#[derive(Debug)]
pub(crate) struct Identities {
    by_app: HashMap<String, AppIdentity>,
    nothing: Arc<[HeaderName]>,
}

/// The identity configuration of one app.
#[derive(Debug)]
struct AppIdentity {
    kind: Kind,
    headers: Vec<Header>,
    roles: Roles,
    /// Headers that clients may not send to the app, `apps.upstream.remove_headers` included.
    named: Arc<[HeaderName]>,
}

#[derive(Debug)]
enum Kind {
    Assertion,
    None,
    Headers,
    Jwt(Jwt),
    Basic {
        user: Option<Fact>,
        credential: Credential,
    },
    Bearer(Credential),
    Cluster(Uuid),
}

impl Identities {
    /// Reads the files with the apps' credentials.
    pub fn build(apps: &[AppConfig], clusters: &[Cluster]) -> Result<Self, BuildError> {
        let by_app = apps
            .iter()
            .map(|app| {
                let identity = AppIdentity::build(app, clusters)?;
                Ok((app.id.clone(), identity))
            })
            .collect::<Result<_, BuildError>>()?;
        Ok(Self {
            by_app,
            nothing: Arc::from([]),
        })
    }

    /// Returns the headers that carry identity to an app, which are removed from clients' requests.
    pub fn named(&self, app: &str) -> Arc<[HeaderName]> {
        let known = self.by_app.get(app);
        Arc::clone(known.map_or(&self.nothing, |identity| &identity.named))
    }

    /// Returns whether an app has a credential in a file.
    pub fn has_files(&self) -> bool {
        self.credentials().next().is_some()
    }

    fn credentials(&self) -> impl Iterator<Item = (&String, &Credential)> {
        let all = self.by_app.iter();
        all.filter_map(|(app, identity)| Some((app, identity.credential()?)))
    }

    /// Reads credentials again whose files have changed. Invalid files change nothing. Blocks.
    pub fn read_again(&self) {
        let mut failing = false;
        for (app, credential) in self.credentials() {
            match credential.read_again(app) {
                Ok(true) => {
                    ::metrics::counter!(KEY_CHANGES, "keys" => "apps").increment(1);
                    tracing::info!(upstream = app, "an app's credential was read again");
                }
                Ok(false) => {}
                Err(()) => failing = true,
            }
        }
        let unusable = if failing { 1.0 } else { 0.0 };
        ::metrics::gauge!(KEYS_UNUSABLE, "keys" => "apps").set(unusable);
    }
}

impl AppIdentity {
    fn build(app: &AppConfig, clusters: &[Cluster]) -> Result<Self, BuildError> {
        let config = &app.identity;
        let wrong = |fault| ConfigError::AppIdentity(app.id.clone(), fault);
        let kind = match config.kind {
            IdentityKind::Assertion => Kind::Assertion,
            IdentityKind::None => Kind::None,
            IdentityKind::Headers => Kind::Headers,
            IdentityKind::Jwt => Kind::Jwt(Jwt::new(config).map_err(wrong)?),
            IdentityKind::Basic => Kind::Basic {
                user: config.user,
                credential: Credential::read(app)?,
            },
            IdentityKind::Bearer => Kind::Bearer(Credential::read(app)?),
            IdentityKind::Cluster => {
                let named = config.cluster.as_deref().unwrap_or_default();
                Kind::Cluster(cluster::find(clusters, named).map_err(wrong)?)
            }
        };
        let headers: Vec<Header> = config
            .headers
            .iter()
            .map(|(name, from)| Header::new(name, from))
            .collect::<Result<_, _>>()
            .map_err(wrong)?;
        let mut named = names(config, &headers).map_err(wrong)?;
        // the configuration has been validated
        named.extend(app.upstream.removed_headers().unwrap_or_default());
        Ok(Self {
            named: named.into(),
            kind,
            headers,
            roles: Roles::new(config),
        })
    }

    fn credential(&self) -> Option<&Credential> {
        match &self.kind {
            Kind::Basic { credential, .. } | Kind::Bearer(credential) => Some(credential),
            _ => None,
        }
    }

    /// Returns the revision of the credential's files, to recognize values made with an earlier
    /// one.
    fn reading(&self) -> u64 {
        self.credential().map_or(0, Credential::reading)
    }

    fn is_empty(&self) -> bool {
        matches!(self.kind, Kind::None)
    }
}

/// Returns the headers of an app's identity, besides those that clients may not send to any app.
fn names(
    config: &IdentityConfig,
    headers: &[Header],
) -> Result<Vec<HeaderName>, crate::config::IdentityFault> {
    let mut names: Vec<HeaderName> = headers.iter().map(|header| header.name.clone()).collect();
    if config.kind == IdentityKind::Jwt {
        names.push(match config.jwt_header() {
            name if name.eq_ignore_ascii_case("authorization") => http::header::AUTHORIZATION,
            name => header_name(name)?,
        });
    }
    Ok(names)
}

impl UpstreamIdentity {
    /// Returns the identity headers for an app: none without a signed-in user. `key` is what gave
    /// access to the app; its project and roles are passed on. Where a rule permits every client
    /// there is no key, and a user whose identity cannot be passed on is treated as not signed in.
    pub async fn identity(
        &self,
        app: &App,
        caller: Option<&Caller>,
        key: Option<&Key>,
    ) -> Result<SignedHeaders, Problem> {
        let id = &app.config.id;
        let (Some(caller), Some(identity)) = (caller, self.identities.by_app.get(id)) else {
            return Ok(SignedHeaders::default());
        };
        if identity.is_empty() {
            return Ok(SignedHeaders::default());
        }
        let token = key.and_then(Key::token);
        let session = caller.session.id;
        let project = token.map(|token| token.project.id.as_str());
        let kept = caller.live.signed.lock().get(session, id, project);
        if let Some(kept) = kept.filter(|kept| kept.is_good(identity.reading())) {
            return Ok(kept.headers());
        }
        let signed = match Box::pin(self.tell(app, identity, caller, token)).await {
            Ok(signed) => Arc::new(signed),
            Err(Stopped::Problem(problem)) => return Err(*problem),
            Err(Stopped::Refused(_)) if key.is_none() => return Ok(SignedHeaders::default()),
            Err(Stopped::Refused(refusal)) => {
                return Err(Box::pin(self.refuse_identity(app, caller, &refusal)).await);
            }
        };
        let headers = signed.headers();
        caller
            .live
            .signed
            .lock()
            .insert(session, id, project, signed);
        Ok(headers)
    }

    async fn tell(
        &self,
        app: &App,
        identity: &AppIdentity,
        caller: &Caller,
        token: Option<&ProjectToken>,
    ) -> Result<Signed, Stopped> {
        // a file read meanwhile must not count as the one that this was made with
        let reading = identity.reading();
        let root = caller.live.root();
        let role = self.app_role(&identity.roles, &caller.live).await?;
        let attributes = IdentityAttributes {
            session: &root,
            token,
            role,
        };
        let mut until = Instant::now() + REUSE_TTL;
        let mut headers = match &identity.kind {
            Kind::None | Kind::Headers => Vec::new(),
            Kind::Assertion => {
                let signed = self.assertions.sign(caller, &app.config.id, token)?;
                signed.headers().to_vec()
            }
            Kind::Jwt(jwt) => vec![self.signed_token(jwt, app, &attributes)?],
            Kind::Basic { user, credential } => vec![credential.basic(*user, &attributes)?],
            Kind::Bearer(credential) => vec![credential.bearer()?],
            Kind::Cluster(cluster) => {
                let (bearer, good_until) =
                    self.cluster_bearer(app, caller, *cluster, token).await?;
                until = good_until;
                vec![bearer]
            }
        };
        for header in &identity.headers {
            header.add(&attributes, &mut headers)?;
        }
        Ok(Signed::new(headers, until, reading))
    }
}

/// Why a user's identity cannot be passed to an app.
#[derive(Debug)]
enum Stopped {
    Refused(Refusal),
    Problem(Box<Problem>),
}

impl From<Refusal> for Stopped {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Problem> for Stopped {
    fn from(problem: Problem) -> Self {
        Self::Problem(Box::new(problem))
    }
}

impl From<AssertionError> for Stopped {
    fn from(error: AssertionError) -> Self {
        Problem::from(error).into()
    }
}

impl From<TokenError> for Stopped {
    fn from(error: TokenError) -> Self {
        Problem::from(error).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn build(identity: Value) -> Result<Identities, BuildError> {
        let app = json!({
            "id": "grafana", "name": "Grafana", "project": "p", "url": "http://127.0.0.1:1",
            "identity": identity,
        });
        Identities::build(&[serde_json::from_value(app).expect("app")], &[])
    }

    #[test]
    fn an_identity_that_cannot_be_passed_on_stops_the_start() {
        for identity in [
            json!({ "kind": "bearer", "token_file": "/nowhere/token" }),
            json!({ "kind": "basic", "user": "user", "password_file": "/nowhere/password" }),
            json!({ "kind": "cluster", "cluster": "elsewhere" }),
        ] {
            assert!(build(identity.clone()).is_err(), "{identity}");
        }
        assert!(build(json!({ "kind": "none" })).is_ok(), "the control case");
    }

    #[test]
    fn no_client_can_send_an_apps_identity_headers() {
        let names = |identity: Value| {
            let named = build(identity).expect("built").named("grafana");
            named.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let headers = json!({ "X-WEBAUTH-USER": "user", "My-Role": { "text": "x" } });
        let headers = names(json!({ "kind": "headers", "headers": headers }));
        assert_eq!(headers, ["my-role", "x-webauth-user"]);
        assert_eq!(names(json!({ "kind": "jwt" })), ["x-jwt-assertion"]);
        let bearer = json!({ "kind": "jwt", "header": "authorization" });
        assert_eq!(names(bearer), ["authorization"]);
        assert!(build(json!({})).expect("built").named("another").is_empty());
    }
}

//! Signs the identity that upstreams get; a signature is reused for half its lifetime.
use std::{sync::Arc, time::Duration};

use http::{HeaderName, HeaderValue, header::InvalidHeaderValue};
use portico_assertion::{
    PublicKey,
    claims::{
        Claims, KeystoneState, MAX_LIFETIME_SECONDS, Namespaces, OpenApps, SignError,
        fitting_groups,
    },
    panel_token::{self, SealError},
};
use portico_clock::Clock;
use portico_store::Session;
use secrecy::ExposeSecret as _;
use tokio::time::Instant;
use uuid::Uuid;

use super::{
    keystone_health::KeystoneHealth,
    live::{Caller, ProjectToken},
    signing::Signing,
};
use crate::config::PANEL_ID;

const PORTICO_ASSERTION: HeaderName = HeaderName::from_static("portico-assertion");
const PORTICO_TOKEN: HeaderName = HeaderName::from_static("portico-token");
/// How long a signed assertion is reused: half its lifetime, so that the upstream gets at least as
/// much.
pub(crate) const REUSE_TTL: Duration = Duration::from_secs(30);

/// What only the panel's assertion has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ForPanel {
    /// The apps that the user may open.
    pub apps: OpenApps,
    /// Namespaces in which the user may have rights.
    pub namespaces: Arc<Namespaces>,
}

/// Identity headers, shared by the requests that carry them.
pub(crate) type SignedHeaders = Arc<[(HeaderName, HeaderValue)]>;

/// Signed identity headers, cached with the session.
#[derive(Debug)]
pub(crate) struct Signed {
    headers: SignedHeaders,
    until: Instant,
    /// The revision of the app's credential that they were made with; see [`crate::apps::identity`].
    reading: u64,
    /// What they have for the panel.
    for_panel: ForPanel,
}

impl Signed {
    pub fn new(headers: Vec<(HeaderName, HeaderValue)>, until: Instant, reading: u64) -> Self {
        Self {
            headers: headers.into(),
            until,
            reading,
            for_panel: ForPanel::default(),
        }
    }

    pub fn headers(&self) -> SignedHeaders {
        Arc::clone(&self.headers)
    }

    /// Returns whether they may be used now, with this revision of the credential.
    pub fn is_good(&self, reading: u64) -> bool {
        self.reading == reading && Instant::now() < self.until
    }
}

/// The signed identity headers of a root session: by the session in them, the root or a child, and
/// then by their audience and project, of which each session has few.
#[derive(Debug, Default)]
pub(crate) struct SignedCache(foldhash::HashMap<Uuid, Vec<CachedSigned>>);

#[derive(Debug)]
struct CachedSigned {
    audience: String,
    project: Option<String>,
    signed: Arc<Signed>,
}

impl CachedSigned {
    fn is_for(&self, audience: &str, project: Option<&str>) -> bool {
        self.audience == audience && self.project.as_deref() == project
    }
}

impl SignedCache {
    pub fn get(&self, session: Uuid, audience: &str, project: Option<&str>) -> Option<Arc<Signed>> {
        let mut of_session = self.0.get(&session)?.iter();
        let found = of_session.find(|one| one.is_for(audience, project))?;
        Some(Arc::clone(&found.signed))
    }

    /// Stores headers in place of earlier ones.
    pub fn insert(
        &mut self,
        session: Uuid,
        audience: &str,
        project: Option<&str>,
        signed: Arc<Signed>,
    ) {
        let of_session = self.0.entry(session).or_default();
        let mut earlier = of_session.iter_mut();
        match earlier.find(|one| one.is_for(audience, project)) {
            Some(one) => one.signed = signed,
            None => of_session.push(CachedSigned {
                audience: audience.to_owned(),
                project: project.map(str::to_owned),
                signed,
            }),
        }
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// Why a user's identity could not be signed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AssertionError {
    #[error("the assertion could not be signed: {0}")]
    Sign(#[from] SignError),
    #[error("the token could not be sealed for the panel: {0}")]
    Seal(#[from] SealError),
    #[error(transparent)]
    Header(#[from] InvalidHeaderValue),
}

/// Signs the identity of users for upstreams.
#[derive(Debug)]
pub(crate) struct Assertions {
    pub clock: Clock,
    pub signing: Arc<Signing>,
    pub panel_key: PublicKey,
    /// The origin of the main host.
    pub issuer: Arc<str>,
    pub keystone_health: Arc<KeystoneHealth>,
}

impl Assertions {
    /// Returns the identity headers for the panel, and for no other upstream: they include the
    /// Keystone token, the list of projects and the CSRF token.
    pub fn identity_headers(
        &self,
        caller: &Caller,
        audience: &str,
        token: Option<&ProjectToken>,
        for_panel: ForPanel,
    ) -> Result<SignedHeaders, AssertionError> {
        let session = caller.session.id;
        let project = token.map(|token| token.project.id.as_str());
        let signed = caller.live.signed.lock().get(session, audience, project);
        if let Some(signed) = signed
            && signed.is_good(0)
            && signed.for_panel == for_panel
        {
            return Ok(signed.headers());
        }
        let signed = self.sign_with(caller, audience, token, for_panel)?;
        let headers = signed.headers();
        let mut cache = caller.live.signed.lock();
        cache.insert(session, audience, project, Arc::new(signed));
        Ok(headers)
    }

    /// Signs Portico's own assertion for an upstream; an app gets fewer claims than the panel.
    pub fn sign(
        &self,
        caller: &Caller,
        audience: &str,
        token: Option<&ProjectToken>,
    ) -> Result<Signed, AssertionError> {
        self.sign_with(caller, audience, token, ForPanel::default())
    }

    fn sign_with(
        &self,
        caller: &Caller,
        audience: &str,
        token: Option<&ProjectToken>,
        more: ForPanel,
    ) -> Result<Signed, AssertionError> {
        let root = caller.live.root();
        let now = self.clock.now().as_second();
        let jti = Uuid::new_v4().to_string();
        let for_panel = audience == PANEL_ID;
        let stale = caller.live.is_stale() || !self.keystone_health.answers();
        let (groups, groups_omitted) = root
            .provider
            .as_ref()
            .map(|provider| fitting_groups(&provider.profile.groups))
            .unwrap_or_default();
        let claims = Claims {
            iss: self.issuer.to_string(),
            aud: audience.to_owned(),
            iat: now,
            exp: now + MAX_LIFETIME_SECONDS,
            jti: jti.clone(),
            sid: caller.session.id.to_string(),
            sub: root.user.id.clone(),
            name: root.user.name.clone(),
            domain: root.user.domain.clone(),
            project: token.map(|token| token.project.clone()),
            roles: token.map(|token| token.roles.clone()).unwrap_or_default(),
            projects: if for_panel {
                root.projects.clone()
            } else {
                Vec::new()
            },
            apps: more.apps.clone(),
            namespaces: Namespaces::clone(&more.namespaces),
            csrf: for_panel.then(|| caller.session.csrf.expose_secret().to_owned()),
            session_expires_at: root
                .absolute_expires_at
                .min(root.keystone_expires_at)
                .as_second(),
            auth_methods: auth_methods(&root),
            email: root
                .provider
                .as_ref()
                .filter(|provider| provider.profile.email_verified)
                .and_then(|provider| provider.profile.email.clone()),
            groups,
            groups_omitted,
            keystone: if stale {
                KeystoneState::Stale
            } else {
                KeystoneState::Ok
            },
            next_project: if for_panel {
                caller.live.home_project().map(|project| project.id)
            } else {
                None
            },
        };
        let assertion = self.signing.now().sign(&claims)?;
        let token = match token {
            Some(token) if for_panel => Some(panel_token::seal_for_panel(
                &self.panel_key,
                &jti,
                &token.token,
                token.expires_at,
            )?),
            _ => None,
        };
        let mut headers = vec![(PORTICO_ASSERTION, header(&assertion)?)];
        if let Some(token) = &token {
            headers.push((PORTICO_TOKEN, header(token)?));
        }
        let mut signed = Signed::new(headers, Instant::now() + REUSE_TTL, 0);
        signed.for_panel = more;
        Ok(signed)
    }
}

/// Returns how the user signed in. An OIDC provider's names of methods (RFC 8176) could be mistaken
/// for Keystone's.
fn auth_methods(root: &Session) -> Vec<String> {
    match &root.provider {
        None => root.auth_methods.clone(),
        Some(_) => std::iter::once("oidc".to_owned())
            .chain(root.auth_methods.iter().map(|amr| format!("amr:{amr}")))
            .collect(),
    }
}

fn header(text: &str) -> Result<HeaderValue, AssertionError> {
    let mut value = HeaderValue::from_str(text)?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signed(reading: u64) -> Arc<Signed> {
        let until = Instant::now() + REUSE_TTL;
        Arc::new(Signed::new(Vec::new(), until, reading))
    }

    #[test]
    fn signed_headers_are_found_by_session_audience_and_project() {
        let mut cache = SignedCache::default();
        let [one, other] = [1, 2].map(Uuid::from_u128);
        cache.insert(one, "grafana", Some("p"), signed(1));
        cache.insert(one, "grafana", None, signed(2));
        cache.insert(one, "prometheus", None, signed(3));
        cache.insert(other, "grafana", None, signed(4));
        cache.insert(one, "grafana", None, signed(5));
        for (session, audience, project, expected) in [
            (one, "grafana", Some("p"), Some(1)),
            (one, "grafana", None, Some(5)),
            (one, "prometheus", None, Some(3)),
            (one, "prometheus", Some("p"), None),
            (other, "grafana", None, Some(4)),
            (other, "grafana", Some("p"), None),
        ] {
            let found = cache.get(session, audience, project);
            let reading = found.map(|signed| signed.reading);
            assert_eq!(reading, expected, "{session} {audience} {project:?}");
        }
        cache.clear();
        assert!(cache.get(one, "prometheus", None).is_none());
    }
}

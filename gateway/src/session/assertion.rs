//! The signed identity that upstreams get, signed once for half its life.
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use http::{HeaderName, HeaderValue};
use jiff::Timestamp;
use portico_assertion::{
    claims::{Claims, KeystoneState, MAX_LIFETIME_SECONDS, OpenApps, fitting_groups},
    panel_token,
};
use portico_store::Session;
use secrecy::ExposeSecret as _;
use uuid::Uuid;

use super::live::{Caller, ProjectToken};
use crate::{problem::Problem, state::Gateway};

const PORTICO_ASSERTION: HeaderName = HeaderName::from_static("portico-assertion");
const PORTICO_TOKEN: HeaderName = HeaderName::from_static("portico-token");
/// The panel as the audience of assertions.
pub(crate) const PANEL: &str = "panel";
/// Half the life of an assertion: what is handed out is good for at least as long again.
pub(crate) const USED_FOR: Duration = Duration::from_secs(30);

/// Headers that say who is asking, kept with the session for a while.
#[derive(Debug)]
pub(crate) struct Signed {
    headers: Vec<(HeaderName, HeaderValue)>,
    until: Instant,
    /// Which reading of the app's credential they were made with; see [`crate::identity`].
    reading: u64,
    /// The apps that they name as open.
    apps: OpenApps,
}

impl Signed {
    pub fn new(headers: Vec<(HeaderName, HeaderValue)>, until: Instant, reading: u64) -> Self {
        Self {
            headers,
            until,
            reading,
            apps: OpenApps::new(),
        }
    }

    pub fn headers(&self) -> Vec<(HeaderName, HeaderValue)> {
        self.headers.clone()
    }

    /// Whether they may be used now, with the credential of this reading.
    pub fn is_good(&self, reading: u64) -> bool {
        self.reading == reading && Instant::now() < self.until
    }
}

impl Gateway {
    /// The identity headers for the panel, and no other upstream's: the Keystone token, the list of
    /// projects and the CSRF token are among them.
    pub fn identity_headers(
        &self,
        caller: &Caller,
        audience: &str,
        token: Option<&ProjectToken>,
        apps: OpenApps,
    ) -> Result<Vec<(HeaderName, HeaderValue)>, Problem> {
        let key = (
            audience.to_owned(),
            caller.session.id,
            token.map(|token| token.project.id.clone()),
        );
        let signed = caller.live.signed.lock().get(&key).cloned();
        if let Some(signed) = signed
            && signed.is_good(0)
            && signed.apps == apps
        {
            return Ok(signed.headers());
        }
        let signed = self.sign_naming(caller, audience, token, apps)?;
        let headers = signed.headers();
        caller.live.signed.lock().insert(key, Arc::new(signed));
        Ok(headers)
    }

    /// Portico's own assertion for an upstream; an app is told less than the panel.
    pub fn sign(
        &self,
        caller: &Caller,
        audience: &str,
        token: Option<&ProjectToken>,
    ) -> Result<Signed, Problem> {
        self.sign_naming(caller, audience, token, OpenApps::new())
    }

    fn sign_naming(
        &self,
        caller: &Caller,
        audience: &str,
        token: Option<&ProjectToken>,
        apps: OpenApps,
    ) -> Result<Signed, Problem> {
        let root = caller.live.root();
        let now = Timestamp::now().as_second();
        let jti = Uuid::new_v4().to_string();
        let for_panel = audience == PANEL;
        let stale = caller.live.is_stale() || !self.keystone_answers();
        let (groups, groups_omitted) = root
            .provider
            .as_ref()
            .map(|provider| fitting_groups(&provider.profile.groups))
            .unwrap_or_default();
        let claims = Claims {
            iss: self.hosts.main().to_string(),
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
            apps,
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
                Self::home_project(&caller.live).map(|project| project.id)
            } else {
                None
            },
        };
        let assertion = self.signing.now().sign(&claims).map_err(|error| {
            tracing::error!(%error, "an assertion could not be signed");
            Problem::internal()
        })?;
        let token = match token {
            Some(token) if for_panel => Some(
                panel_token::seal_for_panel(&self.panel_key, &jti, &token.token, token.expires_at)
                    .map_err(|error| {
                        tracing::error!(%error, "a token could not be sealed for the panel");
                        Problem::internal()
                    })?,
            ),
            _ => None,
        };
        let mut headers = vec![(PORTICO_ASSERTION, header(&assertion)?)];
        if let Some(token) = &token {
            headers.push((PORTICO_TOKEN, header(token)?));
        }
        let mut signed = Signed::new(headers, Instant::now() + USED_FOR, 0);
        signed.apps = claims.apps;
        Ok(signed)
    }
}

/// How the user signed in. What an OIDC provider calls its methods (RFC 8176) could be taken for
/// Keystone's words.
fn auth_methods(root: &Session) -> Vec<String> {
    match &root.provider {
        None => root.auth_methods.clone(),
        Some(_) => std::iter::once("oidc".to_owned())
            .chain(root.auth_methods.iter().map(|amr| format!("amr:{amr}")))
            .collect(),
    }
}

fn header(text: &str) -> Result<HeaderValue, Problem> {
    let mut value = HeaderValue::from_str(text).map_err(|_| Problem::internal())?;
    value.set_sensitive(true);
    Ok(value)
}

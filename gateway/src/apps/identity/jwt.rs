//! Passes identity in a signed token with the claims that an app reads, as Grafana's `[auth.jwt]`
//! does.
use http::{HeaderName, HeaderValue, header};
use portico_assertion::claims::MAX_LIFETIME_SECONDS;
use serde_json::{Map, Value as Json, json};
use uuid::Uuid;

use super::{
    UpstreamIdentity,
    identity_attributes::{IdentityAttributes, Value},
    refusal::Refusal,
};
use crate::{
    config::{Fact, IdentityConfig, IdentityFault, header_name},
    hosts::App,
    http::error_response::Problem,
};

/// The claims of a token unless the configuration sets others.
const DEFAULT_CLAIMS: [(&str, Fact); 8] = [
    ("sub", Fact::UserId),
    ("login", Fact::User),
    ("preferred_username", Fact::User),
    ("name", Fact::DisplayName),
    ("email", Fact::Email),
    ("groups", Fact::Groups),
    ("roles", Fact::Roles),
    ("role", Fact::Role),
];

/// The header and the claims of the token.
#[derive(Debug)]
pub(super) struct Jwt {
    header: HeaderName,
    claims: Vec<(String, Fact)>,
}

impl Jwt {
    pub fn new(config: &IdentityConfig) -> Result<Self, IdentityFault> {
        let header = match config.jwt_header() {
            name if name.eq_ignore_ascii_case("authorization") => header::AUTHORIZATION,
            name => header_name(name)?,
        };
        let claims = if config.claims.is_empty() {
            let usual = DEFAULT_CLAIMS.iter();
            usual
                .map(|(name, fact)| ((*name).to_owned(), *fact))
                .collect()
        } else {
            let chosen = config.claims.iter();
            chosen.map(|(name, fact)| (name.clone(), *fact)).collect()
        };
        Ok(Self { header, claims })
    }

    /// Returns the claims about the user; unknown attributes are left out.
    fn claims(&self, attributes: &IdentityAttributes<'_>) -> Map<String, Json> {
        let mut claims = Map::new();
        for (name, fact) in &self.claims {
            let value = attributes.get(*fact);
            let claim = match &value {
                Value::Many(entries) => Some(json!(entries)),
                _ => value.text().map(Json::from),
            };
            if let Some(claim) = claim {
                claims.insert(name.clone(), claim);
            }
        }
        claims
    }
}

impl UpstreamIdentity {
    /// Returns the header with a token for the app, signed with the key of the assertions.
    pub(super) fn signed_token(
        &self,
        jwt: &Jwt,
        app: &App,
        attributes: &IdentityAttributes<'_>,
    ) -> Result<(HeaderName, HeaderValue), super::Stopped> {
        let now = self.clock.now().as_second();
        let mut claims = jwt.claims(attributes);
        for (name, value) in [
            ("iss", json!(self.hosts.main().as_ref())),
            ("aud", json!(app.config.id)),
            ("iat", json!(now)),
            ("nbf", json!(now)),
            ("exp", json!(now + MAX_LIFETIME_SECONDS)),
            ("jti", json!(Uuid::new_v4().to_string())),
        ] {
            claims.insert(name.to_owned(), value);
        }
        let token = self
            .assertions
            .signing
            .now()
            .sign_map(&claims)
            .map_err(|error| {
                tracing::error!(%error, "a token for an app could not be signed");
                Problem::internal()
            })?;
        let text = if jwt.header == header::AUTHORIZATION {
            format!("Bearer {token}")
        } else {
            token
        };
        let mut value = HeaderValue::try_from(text).map_err(|_| Refusal::Unwritable)?;
        value.set_sensitive(true);
        Ok((jwt.header.clone(), value))
    }
}

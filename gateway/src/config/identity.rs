//! `[apps.identity]`: how the user's identity is passed to an app.
mod fault;
mod header;

use std::{collections::BTreeMap, path::PathBuf};

use portico_domain::access::Rule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use fault::IdentityFault;
pub(crate) use header::header_name;
use header::is_claim_name;
pub use header::{Content, HeaderFrom};

/// Bounds the number of `headers` and of `claims` of one app, to keep requests small.
const MAX_ENTRIES: usize = 32;
/// The default header for a signed token.
const DEFAULT_JWT_HEADER: &str = "X-JWT-Assertion";

/// `[apps.identity]`: how the user's identity is passed to the app. Headers named here are removed
/// from clients' requests, and requests without a signed-in user carry no identity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct IdentityConfig {
    /// How identity is passed: `assertion` in Portico's own signed header (`Portico-Assertion`),
    /// `none` not at all, `headers` in the headers of `headers`, `jwt` in a signed token with
    /// configurable claims, `basic` as a user name and a password, `bearer` as a fixed token,
    /// `cluster` as the user's own token for one of the clusters.
    pub kind: IdentityKind,
    /// Headers and where their values come from: `"X-WEBAUTH-USER" = "user"`, or a table with
    /// `value` or `text`, and for lists `separator`, `lines` and `only`; `required` refuses users
    /// for whom the value is unknown. Can be combined with every kind but `none` and `cluster`.
    pub headers: BTreeMap<String, HeaderFrom>,
    /// `jwt`: the header of the token, `X-JWT-Assertion` by default; in `Authorization` it is sent
    /// as a bearer token.
    pub header: Option<String>,
    /// `jwt`: claims and where their values come from. Default: `sub` (user ID), `login`,
    /// `preferred_username`, `name`, `email`, `groups`, `roles` and, with `roles` below, `role`.
    /// Portico always sets issuer, audience and times itself.
    pub claims: BTreeMap<String, Fact>,
    /// The app's own roles, the highest first: a user gets the first one that they hold. It is the
    /// value of headers and claims with the source `role`.
    pub roles: Vec<AppRole>,
    /// The role of users who hold none of `roles`. Without it, they are refused.
    pub default_role: Option<String>,
    /// `basic`: the user name.
    pub user: Option<Fact>,
    /// `basic`: file with one user name for all users, instead of `user`.
    #[schemars(extend("x-portico-takes-effect" = "file"))]
    pub user_file: Option<PathBuf>,
    /// `basic`: file with the password, the same for all users. Read again when it changes.
    #[schemars(extend("x-portico-takes-effect" = "file"))]
    pub password_file: Option<PathBuf>,
    /// `bearer`: file with the token, the same for all users. Read again when it changes.
    #[schemars(extend("x-portico-takes-effect" = "file"))]
    pub token_file: Option<PathBuf>,
    /// `cluster`: the ID or name of an entry of `clusters`.
    pub cluster: Option<String>,
}

/// How the user's identity is passed to an app.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum IdentityKind {
    /// `Portico-Assertion`, signed (RFC 7519); keys at `/.well-known/jwks.json`.
    #[default]
    Assertion,
    /// No identity.
    None,
    /// Plain headers.
    Headers,
    /// A signed token with configurable claims (RFC 7519).
    Jwt,
    /// `Authorization: Basic` (RFC 7617).
    Basic,
    /// `Authorization: Bearer` (RFC 6750) with a fixed token.
    Bearer,
    /// `Authorization: Bearer` with the user's own cluster token.
    Cluster,
}

/// An attribute of the signed-in user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// `<user name>@<domain name>`, unique to each account.
    User,
    /// The user name alone, which another user may have in another domain.
    UserName,
    /// The user's ID, which is never reused for another user.
    UserId,
    /// The e-mail address, where a provider has verified it.
    Email,
    /// The display name.
    DisplayName,
    /// ID of the project whose role gave access to the app.
    ProjectId,
    /// Name of that project.
    ProjectName,
    /// Names of the roles in that project.
    Roles,
    /// IDs of the roles in that project.
    RoleIds,
    /// The groups that the provider names.
    Groups,
    /// One of the app's own roles (`roles`).
    Role,
}

impl Fact {
    /// Returns whether there can be several values.
    pub fn is_list(self) -> bool {
        matches!(self, Self::Roles | Self::RoleIds | Self::Groups)
    }

    /// Returns the attribute's name for users.
    pub(crate) fn in_words(self) -> &'static str {
        match self {
            Self::User | Self::UserName => "user name",
            Self::UserId => "user ID",
            Self::Email => "verified e-mail address",
            Self::DisplayName => "display name",
            Self::ProjectId | Self::ProjectName => "project",
            Self::Roles | Self::RoleIds => "roles",
            Self::Groups => "groups",
            Self::Role => "role",
        }
    }
}

/// `[[apps.identity.roles]]`: one of the app's own roles, and its holders.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AppRole {
    /// The role's name in the app.
    pub value: String,
    /// Who holds the role: holders of a role in a project, or members of a group of an OIDC
    /// provider.
    #[serde(rename = "for")]
    pub holders: Vec<Rule>,
}

impl IdentityConfig {
    /// Returns the name of the header with the signed token.
    pub(crate) fn jwt_header(&self) -> &str {
        self.header.as_deref().unwrap_or(DEFAULT_JWT_HEADER)
    }

    /// Returns every rule about the holders of the app's roles.
    pub(crate) fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.roles.iter().flat_map(|role| &role.holders)
    }

    /// Checks what serde cannot.
    pub(crate) fn validate(&self) -> Result<(), IdentityFault> {
        self.validate_kind()?;
        self.validate_headers()?;
        self.validate_claims()?;
        self.validate_roles()
    }

    /// Checks that each setting belongs to the kind, and that each kind has the settings it needs.
    fn validate_kind(&self) -> Result<(), IdentityFault> {
        use IdentityKind::{Assertion, Basic, Bearer, Cluster, Headers, Jwt};
        let kind = self.kind;
        for (setting, given, kinds) in [
            (
                "headers",
                !self.headers.is_empty(),
                &[Assertion, Headers, Jwt, Basic, Bearer][..],
            ),
            ("header", self.header.is_some(), &[Jwt]),
            ("claims", !self.claims.is_empty(), &[Jwt]),
            ("user", self.user.is_some(), &[Basic]),
            ("user_file", self.user_file.is_some(), &[Basic]),
            ("password_file", self.password_file.is_some(), &[Basic]),
            ("token_file", self.token_file.is_some(), &[Bearer]),
            ("cluster", self.cluster.is_some(), &[Cluster]),
        ] {
            if given && !kinds.contains(&kind) {
                return Err(IdentityFault::NotOfKind { setting, kind });
            }
        }
        let missing = match kind {
            Headers if self.headers.is_empty() => Some("headers"),
            Basic if self.user.is_none() && self.user_file.is_none() => Some("user or user_file"),
            Basic if self.password_file.is_none() => Some("password_file"),
            Bearer if self.token_file.is_none() => Some("token_file"),
            Cluster if self.cluster.is_none() => Some("cluster"),
            _ => None,
        };
        if let Some(setting) = missing {
            return Err(IdentityFault::Missing { setting, kind });
        }
        if self.user.is_some() && self.user_file.is_some() {
            return Err(IdentityFault::TwoUsers);
        }
        if self.user.is_some_and(Fact::is_list) {
            return Err(IdentityFault::ListAsUser);
        }
        Ok(())
    }

    fn validate_headers(&self) -> Result<(), IdentityFault> {
        if self.headers.len() > MAX_ENTRIES {
            return Err(IdentityFault::TooMany("headers"));
        }
        let mut seen = Vec::new();
        if self.kind == IdentityKind::Jwt {
            let name = self.jwt_header();
            if !name.eq_ignore_ascii_case("authorization") {
                seen.push(header_name(name)?);
            }
        }
        for (name, from) in &self.headers {
            let parsed = header_name(name)?;
            if seen.contains(&parsed) {
                return Err(IdentityFault::HeaderTwice(name.clone()));
            }
            seen.push(parsed);
            from.validate(name)?;
        }
        Ok(())
    }

    fn validate_claims(&self) -> Result<(), IdentityFault> {
        if self.claims.len() > MAX_ENTRIES {
            return Err(IdentityFault::TooMany("claims"));
        }
        for name in self.claims.keys() {
            if !is_claim_name(name) {
                return Err(IdentityFault::ClaimName(name.clone()));
            }
        }
        Ok(())
    }

    fn validate_roles(&self) -> Result<(), IdentityFault> {
        let passes_role = self.passes_role();
        if passes_role && self.roles.is_empty() && self.default_role.is_none() {
            return Err(IdentityFault::NoRoles);
        }
        if !passes_role && (!self.roles.is_empty() || self.default_role.is_some()) {
            return Err(IdentityFault::UnusedRoles);
        }
        let values = self.roles.iter().map(|role| &role.value);
        for value in values.chain(&self.default_role) {
            if value.is_empty() {
                return Err(IdentityFault::EmptyRole);
            }
        }
        for role in &self.roles {
            if role.holders.is_empty() || role.holders.iter().any(super::app::is_incomplete_rule) {
                return Err(IdentityFault::RoleWithoutHolders(role.value.clone()));
            }
        }
        Ok(())
    }

    /// Returns whether any header or claim carries the app's own role.
    fn passes_role(&self) -> bool {
        let is_role = |content: &Content| *content == Content::Fact(Fact::Role);
        // a token with the default claims carries it whenever the app has roles
        let by_default = self.kind == IdentityKind::Jwt && self.claims.is_empty();
        (by_default && !self.roles.is_empty())
            || self.headers.values().any(|from| is_role(&from.content))
            || self.claims.values().any(|fact| *fact == Fact::Role)
            || self.user == Some(Fact::Role)
    }
}

#[cfg(test)]
mod tests;

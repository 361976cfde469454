//! `[apps.identity]`: how an app is told who is asking.
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

/// More than any app asks for; keeps requests small.
const MOST: usize = 32;
/// Where a signed token stands unless told otherwise.
const JWT_HEADER: &str = "X-JWT-Assertion";

/// `[apps.identity]`: how the app is told who is asking. Whatever is named here is removed from
/// what clients send, and nobody is told anything about somebody who is not signed in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct IdentityConfig {
    /// What the app is told: `assertion` is Portico's own signed header (`Portico-Assertion`),
    /// `none` nothing, `headers` the headers of `headers`, `jwt` a signed token with claims of your
    /// choice, `basic` a user name and a password, `bearer` a fixed token, `cluster` the user's own
    /// token for one of the clusters.
    pub kind: IdentityKind,
    /// Headers and where their values come from, `"X-WEBAUTH-USER" = "user"` or a table with
    /// `value` or `text`, and for lists `separator`, `lines` and `only`; `required` refuses people
    /// of whom it is not known. Beside every kind but `none` and `cluster`.
    pub headers: BTreeMap<String, HeaderFrom>,
    /// `jwt`: the header of the token (`X-JWT-Assertion` unless told otherwise); in `Authorization`
    /// it is a bearer.
    pub header: Option<String>,
    /// `jwt`: claims and where their values come from. Without any: `sub` (user ID), `login`,
    /// `preferred_username`, `name`, `email`, `groups`, `roles` and, with `roles` below, `role`.
    /// Issuer, audience and times are Portico's to say.
    pub claims: BTreeMap<String, Fact>,
    /// The roles that the app itself has, the highest first: somebody is told about as the first one
    /// that is for them. Goes where a header or claim has the value `role`.
    pub roles: Vec<AppRole>,
    /// What somebody is who has none of `roles`. Without: they are refused.
    pub role_otherwise: Option<String>,
    /// `basic`: the user name.
    pub user: Option<Fact>,
    /// `basic`: holds a user name for everybody, in place of `user`.
    #[schemars(extend("x-portico-takes-effect" = "file"))]
    pub user_file: Option<PathBuf>,
    /// `basic`: holds the password, the same for everybody. Read again when it changes.
    #[schemars(extend("x-portico-takes-effect" = "file"))]
    pub password_file: Option<PathBuf>,
    /// `bearer`: holds the token, the same for everybody. Read again when it changes.
    #[schemars(extend("x-portico-takes-effect" = "file"))]
    pub token_file: Option<PathBuf>,
    /// `cluster`: ID or name of an entry of `clusters`.
    pub cluster: Option<String>,
}

/// How an app is told who is asking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum IdentityKind {
    /// `Portico-Assertion`, signed (RFC 7519); keys at `/.well-known/jwks.json`.
    #[default]
    Assertion,
    /// Nothing.
    None,
    /// Plain headers.
    Headers,
    /// A signed token with chosen claims (RFC 7519).
    Jwt,
    /// `Authorization: Basic` (RFC 7617).
    Basic,
    /// `Authorization: Bearer` (RFC 6750) with a fixed token.
    Bearer,
    /// `Authorization: Bearer` with the user's own cluster token.
    Cluster,
}

/// Something that is known about who is asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// `<user name>@<domain name>`: another one for every account.
    User,
    /// The user name alone; in another domain somebody else may have it.
    UserName,
    /// The user's ID: never another person's.
    UserId,
    /// The e-mail address, where a provider has verified it.
    Email,
    /// The name that people read.
    DisplayName,
    /// ID of the project whose role opened the app.
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
    /// Whether there may be several values.
    pub fn is_list(self) -> bool {
        matches!(self, Self::Roles | Self::RoleIds | Self::Groups)
    }

    /// For people.
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

/// `[[apps.identity.roles]]`: one of the app's own roles, and who has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AppRole {
    /// The role as the app calls it.
    pub value: String,
    /// Who has it: by a role in a project, or by a group of an OIDC provider.
    #[serde(rename = "for")]
    pub holders: Vec<Rule>,
}

impl IdentityConfig {
    /// The name of the header with the signed token.
    pub(crate) fn jwt_header(&self) -> &str {
        self.header.as_deref().unwrap_or(JWT_HEADER)
    }

    /// Every rule about who has which of the app's roles.
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

    /// Each setting goes with its kind and each kind has its settings.
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
        if self.headers.len() > MOST {
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
        if self.claims.len() > MOST {
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
        let told = self.tells_role();
        if told && self.roles.is_empty() && self.role_otherwise.is_none() {
            return Err(IdentityFault::NoRoles);
        }
        if !told && (!self.roles.is_empty() || self.role_otherwise.is_some()) {
            return Err(IdentityFault::UntoldRoles);
        }
        let values = self.roles.iter().map(|role| &role.value);
        for value in values.chain(&self.role_otherwise) {
            if value.is_empty() {
                return Err(IdentityFault::EmptyRole);
            }
        }
        for role in &self.roles {
            if role.holders.is_empty() || role.holders.iter().any(super::app::is_incomplete_rule) {
                return Err(IdentityFault::RoleOfNobody(role.value.clone()));
            }
        }
        Ok(())
    }

    /// Whether any header or claim tells the app's own role.
    fn tells_role(&self) -> bool {
        let is_role = |content: &Content| *content == Content::Fact(Fact::Role);
        // a token without chosen claims tells it whenever there is one
        let by_default = self.kind == IdentityKind::Jwt && self.claims.is_empty();
        (by_default && !self.roles.is_empty())
            || self.headers.values().any(|from| is_role(&from.content))
            || self.claims.values().any(|fact| *fact == Fact::Role)
            || self.user == Some(Fact::Role)
    }
}

#[cfg(test)]
mod tests;

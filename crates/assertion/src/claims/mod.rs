//! The user's identity, signed by the gateway for one upstream (header `Portico-Assertion`).
//!
//! A JWT with EdDSA (RFC 8037) and no other algorithm. An upstream verifies it with the keys at
//! `/.well-known/jwks.json` and must check that `aud` is its own ID.
mod signer;
mod verifier;

use portico_domain::identity::{Identity, Named, Project, User};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use uuid::Uuid;

pub use signer::{SignError, Signer};
pub use verifier::{InvalidKeys, Refused, Verifier};

/// The longest lifetime of an assertion.
pub const MAX_LIFETIME_SECONDS: i64 = 60;
/// Maximum size of the groups, in bytes: they are part of a header, which upstreams limit.
pub const MAX_GROUPS_BYTES: usize = 4096;
/// Maximum size of the namespaces, in bytes.
pub const MAX_NAMESPACES_BYTES: usize = 2048;
/// How far the clocks of gateway and upstream may differ.
pub const SKEW_SECONDS: i64 = 10;

/// The content of an assertion. Times are seconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// The gateway's public URL.
    pub iss: String,
    /// The upstream that the assertion is for; `panel` for the panel.
    pub aud: String,
    pub iat: i64,
    /// At most [`MAX_LIFETIME_SECONDS`] after `iat`.
    pub exp: i64,
    /// Unique; the panel token is bound to it.
    pub jti: String,
    /// Public reference of the session; it grants nothing.
    pub sid: String,
    /// The Keystone user's ID.
    pub sub: String,
    /// The Keystone user's name.
    pub name: String,
    /// The domain that owns the user.
    pub domain: Named,
    /// The project that the request is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<Project>,
    /// Roles in `project`.
    #[serde(default)]
    pub roles: Vec<Named>,
    /// Every project the user has a role in; for the panel only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub projects: Vec<Project>,
    /// The apps of `project` that the user may open, by their ID; for the panel only.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub apps: OpenApps,
    /// Namespaces in which the user may have rights, by the cluster's ID, up to
    /// [`MAX_NAMESPACES_BYTES`]; for the panel only, which confirms each with the API server.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub namespaces: Namespaces,
    /// The CSRF token that every change must carry; for the panel only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub csrf: Option<String>,
    pub session_expires_at: i64,
    /// How the user signed in, in Keystone's words (`password`, `totp`, …); for an OIDC provider
    /// `oidc`, and its own words (RFC 8176) as `amr:<word>`.
    #[serde(default)]
    pub auth_methods: Vec<String>,
    /// The e-mail address, if the OIDC provider behind the session has verified it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// The groups from the OIDC provider behind the session, up to [`MAX_GROUPS_BYTES`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// Number of groups that did not fit into `groups`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub groups_omitted: usize,
    pub keystone: KeystoneState,
    /// The project to redirect to if the URL names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_project: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Returns the groups that fit into an assertion, in their order, and the number of those that do
/// not.
pub fn fitting_groups(groups: &[String]) -> (Vec<String>, usize) {
    let mut left = MAX_GROUPS_BYTES;
    let fitting: Vec<String> = groups
        .iter()
        .map_while(|group| {
            left = left.checked_sub(group.len() + 3)?;
            Some(group.clone())
        })
        .collect();
    let omitted = groups.len() - fitting.len();
    (fitting, omitted)
}

/// Names of namespaces by the cluster's ID.
pub type Namespaces = BTreeMap<Uuid, Vec<String>>;

/// Returns the namespaces that fit into an assertion, in their order.
pub fn fitting_namespaces(all: impl IntoIterator<Item = (Uuid, String)>) -> Namespaces {
    // the hyphenated ID with its quotes, colon, brackets and comma
    const CLUSTER_BYTES: usize = 42;
    let mut left = MAX_NAMESPACES_BYTES;
    let mut fitting = Namespaces::new();
    for (cluster, name) in all {
        let of_cluster = if fitting.contains_key(&cluster) {
            0
        } else {
            CLUSTER_BYTES
        };
        let Some(rest) = left.checked_sub(name.len() + 3 + of_cluster) else {
            break;
        };
        left = rest;
        fitting.entry(cluster).or_default().push(name);
    }
    fitting
}

/// Apps by their ID, and how far the user may open them.
pub type OpenApps = BTreeMap<String, AppAccess>;

/// How far a user may open an app: its first page, or what the panel reads from it for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AppAccess {
    /// The whole app.
    Open,
    /// Its first page; its rules differ by path, so others may be closed.
    InPart,
    /// After the user has authenticated again.
    SignInAgain,
    /// Not known, because Keystone does not respond.
    Unknown,
}

/// Whether the roles in an assertion are up to date.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeystoneState {
    /// Keystone confirmed them within the normal interval.
    #[default]
    Ok,
    /// Keystone does not respond; these are the last known roles.
    Stale,
}

impl Claims {
    /// Returns the account and its roles in the request's project.
    pub fn identity(&self) -> Identity {
        Identity {
            user: User {
                id: self.sub.clone(),
                name: self.name.clone(),
                domain: self.domain.clone(),
            },
            project: self.project.clone(),
            roles: self.roles.clone(),
        }
    }
}

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;

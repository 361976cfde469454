//! The `[[tests]]` of a rules file: expected decisions, checked before the file is used.
use std::{net::IpAddr, time::Duration};

use portico_domain::access::RoleInProject;
use serde::Deserialize;

/// A request and its expected decision.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CaseConfig {
    /// The name of the test.
    pub name: String,
    /// Method and path: `POST /api/v2/silences`.
    pub request: String,
    /// The user; without it, no user is signed in.
    #[serde(default)]
    pub user: Option<UserOfCase>,
    /// The client's address.
    #[serde(default)]
    pub address: Option<IpAddr>,
    pub expect: Expected,
    /// The rule that is expected to decide.
    #[serde(default)]
    pub rule: Option<String>,
}

/// The user of a test.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct UserOfCase {
    pub user_id: String,
    pub user: String,
    pub domain: String,
    pub roles: Vec<RoleInProject>,
    pub groups: Vec<GroupText>,
    /// How long ago the user signed in; without it: just now.
    #[serde(with = "humantime_serde::option")]
    pub signed_in_ago: Option<Duration>,
    pub factors: Vec<String>,
}

/// A group of a provider, as written in the file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GroupText {
    pub group: String,
    pub provider: String,
}

/// The expected decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Expected {
    /// The user has access.
    Open,
    /// A rule permits every client.
    Public,
    /// No user is signed in: redirected to sign-in.
    SignIn,
    /// The user must confirm their identity.
    SignInAgain,
    Refused,
    /// No rule decides: `apps.allow` does.
    AllowList,
    /// The path is ambiguous.
    BadRequest,
}

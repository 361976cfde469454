//! The `[[tests]]` of a rules file: expected decisions, checked before the file is used.
use std::{net::IpAddr, time::Duration};

use http::Method;
use portico_domain::access::{GroupOfProvider, RoleInProject};
use serde::Deserialize;

use super::policy::{Asking, Outcome, Policy, Subject};

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

impl CaseConfig {
    /// Returns why the test fails; `None` if it passes.
    pub fn fails(&self, policy: &Policy) -> Option<String> {
        let (method, path) = match self.request.split_once(' ') {
            Some((method, path)) => (method, path.trim()),
            None => return Some("request: write method and path, such as GET /x".to_owned()),
        };
        let Ok(method) = Method::from_bytes(method.as_bytes()) else {
            return Some(format!("request: {method:?} is not a method"));
        };
        let subject = self.user.as_ref().map(|user| user.subject(policy));
        let outcome = policy.decide(&Asking {
            method: &method,
            path,
            client: self.address,
            person: subject.as_ref(),
        });
        let as_expected = match (self.expect, &outcome) {
            (Expected::Open, Outcome::Open { .. })
            | (Expected::Public, Outcome::Public { .. })
            | (Expected::SignIn, Outcome::SignIn { .. })
            | (Expected::SignInAgain, Outcome::SignInAgain { .. })
            | (Expected::Refused, Outcome::Refused { .. })
            | (Expected::BadRequest, Outcome::BadRequest { .. }) => true,
            (Expected::AllowList, outcome) => outcome.is_of_the_list(),
            _ => false,
        };
        let by_rule = self
            .rule
            .as_deref()
            .is_none_or(|rule| outcome.rule() == Some(rule));
        if as_expected && by_rule {
            None
        } else {
            Some(format!("{method} {path}: {outcome}"))
        }
    }
}

impl UserOfCase {
    fn subject(&self, policy: &Policy) -> Subject {
        let roles = self.roles.iter().map(|role| RoleInProject {
            role: role.role.clone(),
            project: policy.project(&role.project),
        });
        let groups = self.groups.iter().map(|text| GroupOfProvider {
            group: text.group.clone(),
            provider: text.provider.clone(),
        });
        Subject {
            roles: roles.collect(),
            groups: groups.collect(),
            signed_in_ago: self.signed_in_ago.or(Some(Duration::ZERO)),
            factors: self.factors.clone(),
            ..Subject::named(&self.user_id, &self.user, &self.domain)
        }
    }
}

//! `[[tests]]` of a rules file: what its author expects, run before the file is used.
use std::{net::IpAddr, time::Duration};

use http::Method;
use portico_domain::access::{GroupOfProvider, RoleInProject};
use serde::Deserialize;

use super::policy::{Asking, Outcome, Policy, Somebody};

/// A request and what must become of it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CaseConfig {
    /// What is tested, in a few words.
    pub name: String,
    /// Method and path: `POST /api/v2/silences`.
    pub request: String,
    /// Who asks; without it nobody is signed in.
    #[serde(default)]
    pub user: Option<UserOfCase>,
    /// The client's address.
    #[serde(default)]
    pub address: Option<IpAddr>,
    pub expect: Expected,
    /// The rule that must decide.
    #[serde(default)]
    pub rule: Option<String>,
}

/// Somebody made up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct UserOfCase {
    pub user_id: String,
    pub user: String,
    pub domain: String,
    pub roles: Vec<RoleInProject>,
    pub groups: Vec<GroupText>,
    /// How long ago they signed in; without it: just now.
    #[serde(with = "humantime_serde::option")]
    pub signed_in_ago: Option<Duration>,
    pub factors: Vec<String>,
}

/// A group of a provider, as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GroupText {
    pub group: String,
    pub provider: String,
}

/// What may become of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Expected {
    /// Somebody may.
    Open,
    /// Everybody may.
    Public,
    /// Nobody is signed in: they are led to sign-in.
    SignIn,
    /// They must confirm who they are.
    SignInAgain,
    Refused,
    /// No rule decides: `apps.allow` does.
    AllowList,
    /// The path can be read in two ways.
    BadRequest,
}

impl CaseConfig {
    /// Why the test fails; nothing when it does not.
    pub fn fails(&self, policy: &Policy) -> Option<String> {
        let (method, path) = match self.request.split_once(' ') {
            Some((method, path)) => (method, path.trim()),
            None => return Some("request: write method and path, such as GET /x".to_owned()),
        };
        let Ok(method) = Method::from_bytes(method.as_bytes()) else {
            return Some(format!("request: {method:?} is no method"));
        };
        let somebody = self.user.as_ref().map(|user| user.somebody(policy));
        let outcome = policy.decide(&Asking {
            method: &method,
            path,
            client: self.address,
            person: somebody.as_ref(),
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
    fn somebody(&self, policy: &Policy) -> Somebody {
        let roles = self.roles.iter().map(|role| RoleInProject {
            role: role.role.clone(),
            project: policy.project(&role.project),
        });
        let groups = self.groups.iter().map(|text| GroupOfProvider {
            group: text.group.clone(),
            provider: text.provider.clone(),
        });
        Somebody {
            roles: roles.collect(),
            groups: groups.collect(),
            signed_in_ago: self.signed_in_ago.or(Some(Duration::ZERO)),
            factors: self.factors.clone(),
            ..Somebody::named(&self.user_id, &self.user, &self.domain)
        }
    }
}

//! `[[apps.rules]]`: rules about requests to an app, as written in the configuration.
use std::time::Duration;

use ipnet::IpNet;
use portico_domain::access::{GroupOfProvider, RoleInProject, Rule};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The value of `project` in a rule for the project that owns the app.
pub const PROJECT_OF_THE_APP: &str = "$app";

/// `[[apps.rules]]`: a rule about requests to the app. The order of rules does not matter: a `deny`
/// that matches wins, then a `public`, then an `allow`; if none matches, `apps.allow` decides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleConfig {
    /// The rule's name in the access log, the audit log and on the page for users who are refused.
    /// Unique within an app.
    pub name: String,
    /// What the rule does with matching requests.
    pub effect: Effect,
    /// The methods: `GET` (`HEAD` too), `POST` and so on, or the keywords `safe` (`GET`, `HEAD`,
    /// `OPTIONS`, `TRACE`) and `unsafe` (all others). Empty: every method.
    #[serde(default)]
    pub methods: Vec<String>,
    /// The paths, decoded and without a query: `/x` matches that path only, `/x/` everything below
    /// it, `prefix:/x` every path that begins with it, `exact:/x/` that path only,
    /// `regex:^/x/[0-9]+$` every path that the expression matches as a whole. Empty: every path.
    #[serde(default)]
    pub paths: Vec<String>,
    /// The networks of the client's address. Empty: every address.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub networks: Vec<IpNet>,
    /// Whom the rule applies to; one entry must match. An `allow` needs at least one; a `deny`
    /// without any applies to every client; a `public` has none.
    #[serde(default)]
    pub who: Vec<Who>,
    /// `allow` only: how long ago the user may have signed in. A user who opens a page later is
    /// asked to confirm their identity, and then returns to the page.
    #[serde(default, with = "humantime_serde::option")]
    #[schemars(with = "Option<String>")]
    pub signed_in_within: Option<Duration>,
    /// `allow` only: the factors that the user must have signed in with, all of them: Keystone's
    /// methods (`password`, `totp`), a provider's as `amr:<value>`, or `mfa` for two factors of
    /// either.
    #[serde(default)]
    pub factors: Vec<String>,
    /// `deny` only: exceptions from the rule.
    #[serde(default)]
    pub except: Option<Except>,
    /// Forwards CORS preflight requests that match the rule to the app, without a session. `allow`
    /// and `public` only; `apps.preflight` applies to the whole app.
    #[serde(default)]
    pub preflight: bool,
}

/// What a rule does with matching requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Refuses, whatever other rules apply.
    Deny,
    /// Permits every request, with or without a signed-in user.
    Public,
    /// Permits requests of the users that the rule names.
    Allow,
}

impl Effect {
    /// Returns the value in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Public => "public",
            Self::Allow => "allow",
        }
    }
}

/// `apps.rules.except`: exceptions from a `deny`. Every condition that is given must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Except {
    /// The users; one entry must match.
    pub who: Vec<Who>,
    /// The networks of the client's address.
    #[schemars(with = "Vec<String>")]
    pub networks: Vec<IpNet>,
    /// How long ago the user may have signed in.
    #[serde(with = "humantime_serde::option")]
    #[schemars(with = "Option<String>")]
    pub signed_in_within: Option<Duration>,
    /// The factors that the user must have signed in with, all of them.
    pub factors: Vec<String>,
}

/// The users that an entry of a rule matches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "WhoText", into = "WhoText")]
pub enum Who {
    /// `role` and `project`.
    Role(RoleInProject),
    /// `group` and `provider`.
    Group(GroupOfProvider),
    /// `user_id`.
    UserId(String),
    /// `user` and `domain`.
    UserName {
        /// The name in the domain.
        name: String,
        /// The domain's name or ID.
        domain: String,
    },
    /// `signed_in = true`: all signed-in users.
    SignedIn,
}

/// An entry of `who` as written in the configuration.
#[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct WhoText {
    /// The role's name or ID in Keystone; used with `project`.
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<String>,
    /// The project's ID, or `$app` for the project that owns the app; used with `role`.
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    /// A group that an OIDC provider names (a role as `role:<name>`); used with `provider`.
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<String>,
    /// The ID of an entry of `gateway.providers`; used with `group`.
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<String>,
    /// A user's ID.
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<String>,
    /// A user's name; used with `domain`. A name may be reassigned to another user, an ID never is.
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    /// The name or ID of the user's domain; used with `user`.
    #[serde(skip_serializing_if = "Option::is_none")]
    domain: Option<String>,
    /// Matches all signed-in users.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    signed_in: bool,
}

impl TryFrom<WhoText> for Who {
    type Error = &'static str;

    fn try_from(text: WhoText) -> Result<Self, Self::Error> {
        let parts = [
            &text.role,
            &text.project,
            &text.group,
            &text.provider,
            &text.user_id,
            &text.user,
            &text.domain,
        ];
        let given =
            parts.iter().filter(|part| part.is_some()).count() + usize::from(text.signed_in);
        if parts.iter().any(|part| part.as_deref() == Some("")) {
            return Err("an entry of `who` holds an empty text");
        }
        let who = match text {
            WhoText {
                role: Some(role),
                project: Some(project),
                ..
            } if given == 2 => Self::Role(RoleInProject { role, project }),
            WhoText {
                group: Some(group),
                provider: Some(provider),
                ..
            } if given == 2 => Self::Group(GroupOfProvider { group, provider }),
            WhoText {
                user_id: Some(id), ..
            } if given == 1 => Self::UserId(id),
            WhoText {
                user: Some(name),
                domain: Some(domain),
                ..
            } if given == 2 => Self::UserName { name, domain },
            WhoText {
                signed_in: true, ..
            } if given == 1 => Self::SignedIn,
            _ => {
                return Err(
                    "an entry of `who` is one of: role and project; group and provider; user_id; \
                     user and domain; signed_in = true",
                );
            }
        };
        Ok(who)
    }
}

impl From<Who> for WhoText {
    fn from(who: Who) -> Self {
        let empty = Self::default();
        match who {
            Who::Role(RoleInProject { role, project }) => Self {
                role: Some(role),
                project: Some(project),
                ..empty
            },
            Who::Group(GroupOfProvider { group, provider }) => Self {
                group: Some(group),
                provider: Some(provider),
                ..empty
            },
            Who::UserId(id) => Self {
                user_id: Some(id),
                ..empty
            },
            Who::UserName { name, domain } => Self {
                user: Some(name),
                domain: Some(domain),
                ..empty
            },
            Who::SignedIn => Self {
                signed_in: true,
                ..empty
            },
        }
    }
}

impl From<Rule> for Who {
    fn from(rule: Rule) -> Self {
        match rule {
            Rule::Role(role) => Self::Role(role),
            Rule::Group(group) => Self::Group(group),
        }
    }
}

impl RuleConfig {
    /// Returns all entries of `who`, including those of the exception.
    pub fn named(&self) -> impl Iterator<Item = &Who> {
        let excepted = self.except.iter().flat_map(|except| &except.who);
        self.who.iter().chain(excepted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_entry_of_who_is_one_thing_and_whole() {
        let read = |text| serde_json::from_value::<Who>(text);
        for whole in [
            json!({ "role": "r", "project": "p" }),
            json!({ "group": "g", "provider": "p" }),
            json!({ "user_id": "u" }),
            json!({ "user": "ada", "domain": "Default" }),
            json!({ "signed_in": true }),
        ] {
            let who = read(whole.clone()).expect("whole");
            assert_eq!(serde_json::to_value(who).expect("written"), whole);
        }
        for text in [
            json!({}),
            json!({ "role": "r" }),
            json!({ "user": "ada" }),
            json!({ "user": "ada@Default" }),
            json!({ "signed_in": false }),
            json!({ "signed_in": true, "user_id": "u" }),
            json!({ "user_id": "" }),
            json!({ "role": "r", "project": "p", "user_id": "u" }),
            json!({ "email": "ada@example.org" }),
        ] {
            assert!(read(text.clone()).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_not_known_is_an_error() {
        let read = |text| serde_json::from_value::<RuleConfig>(text);
        assert!(read(json!({ "name": "n", "effect": "public", "paths": ["/x"] })).is_ok());
        assert!(read(json!({ "name": "n", "effect": "public", "path": "/x" })).is_err());
        assert!(read(json!({ "name": "n", "effect": "skip" })).is_err());
        assert!(read(json!({ "effect": "deny" })).is_err());
    }
}

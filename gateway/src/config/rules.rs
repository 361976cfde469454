//! `[[apps.rules]]`: what may be asked of an app, by whom, as it is written.
use std::time::Duration;

use ipnet::IpNet;
use portico_domain::access::{GroupOfProvider, RoleInProject, Rule};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The project that owns the app, in `project` of a rule.
pub const PROJECT_OF_THE_APP: &str = "$app";

/// `[[apps.rules]]`: a rule about requests to the app. The order of rules does not matter: a
/// `deny` that fits wins, then a `public`, then an `allow`; where none fits, `apps.allow` decides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleConfig {
    /// What the access log, the audit log and the page for whoever is refused call the rule. Each
    /// name once an app.
    pub name: String,
    /// What the rule does to the requests that it names.
    pub effect: Effect,
    /// The methods: `GET` (`HEAD` too), `POST` and so on, or the words `safe` (`GET`, `HEAD`,
    /// `OPTIONS`, `TRACE`) and `unsafe` (all others). Empty: every method.
    #[serde(default)]
    pub methods: Vec<String>,
    /// The paths, decoded and without a query: `/x` is that path only, `/x/` everything below,
    /// `prefix:/x` whatever begins so, `exact:/x/` that path only, `regex:^/x/[0-9]+$` an
    /// expression that the whole path must match. Empty: every path.
    #[serde(default)]
    pub paths: Vec<String>,
    /// The client's address. Empty: every address.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub networks: Vec<IpNet>,
    /// Whom the rule is about; one entry must fit. An `allow` needs one; a `deny` without any is
    /// about everybody; a `public` has none.
    #[serde(default)]
    pub who: Vec<Who>,
    /// `allow` only: how long ago they may have signed in. Somebody who opens a page later is
    /// asked to confirm who they are, and comes back.
    #[serde(default, with = "humantime_serde::option")]
    #[schemars(with = "Option<String>")]
    pub signed_in_within: Option<Duration>,
    /// `allow` only: what they must have signed in with, all of it: Keystone's words (`password`,
    /// `totp`), a provider's as `amr:<word>`, or `mfa` for two factors of either.
    #[serde(default)]
    pub factors: Vec<String>,
    /// `deny` only: who gets past it.
    #[serde(default)]
    pub except: Option<Except>,
    /// Passes CORS preflights for what the rule names on to the app, without a session. `allow` and
    /// `public` only; `apps.preflight` is for the whole app.
    #[serde(default)]
    pub preflight: bool,
}

/// What a rule does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Refuses, whatever other rules say.
    Deny,
    /// Opens to everybody, signed in or not.
    Public,
    /// Opens to whom it is about.
    Allow,
}

impl Effect {
    /// The word in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Public => "public",
            Self::Allow => "allow",
        }
    }
}

/// `apps.rules.except`: who gets past a `deny`. Everything that is named here must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Except {
    /// One entry must fit.
    pub who: Vec<Who>,
    /// The client's address.
    #[schemars(with = "Vec<String>")]
    pub networks: Vec<IpNet>,
    /// How long ago they may have signed in.
    #[serde(with = "humantime_serde::option")]
    #[schemars(with = "Option<String>")]
    pub signed_in_within: Option<Duration>,
    /// What they must have signed in with, all of it.
    pub factors: Vec<String>,
}

/// Somebody, in a rule.
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
    /// `signed_in = true`: everybody who is signed in.
    SignedIn,
}

/// Somebody as it is written.
#[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct WhoText {
    /// The role's name or ID in Keystone; goes with `project`.
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<String>,
    /// The project's ID, or `$app` for the project that owns the app; goes with `role`.
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    /// A group that an OIDC provider names (a role as `role:<name>`); goes with `provider`.
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<String>,
    /// The ID of an entry of `gateway.providers`; goes with `group`.
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<String>,
    /// A user's ID.
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<String>,
    /// A user's name; goes with `domain`. A name may belong to somebody else tomorrow, an ID never.
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    /// The name or ID of the user's domain; goes with `user`.
    #[serde(skip_serializing_if = "Option::is_none")]
    domain: Option<String>,
    /// Everybody who is signed in.
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
    /// Everybody whom the rule names, past its exception too.
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

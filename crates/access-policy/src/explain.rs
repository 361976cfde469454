//! Explains which rule decides about a request, and why the others do not.
use std::{fmt, net::IpAddr, time::Duration};

use http::Method;
use humantime_serde::re::humantime::format_duration;
use ipnet::IpNet;

use super::{
    model::{Effect, Who},
    policy::{Asking, Outcome, Policy, Subject},
    request_context::{Fit, RequestContext},
    rule::{Rule, networks_in_words},
};

/// A request to explain.
#[derive(Clone, Debug)]
pub struct PolicyQuery {
    pub method: Method,
    pub path: String,
    /// The client's address; `None` if unknown.
    pub client: Option<IpAddr>,
    /// The user; `None` without a signed-in user.
    pub person: Option<Subject>,
}

/// The decision, and the effect of each rule on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    pub outcome: Outcome,
    /// For each rule: its name, its meaning as text, and its effect.
    pub steps: Vec<(String, String, Step)>,
}

/// The effect of a rule on a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It decides.
    Decides,
    /// It matches, but another one takes precedence.
    FitsToo,
    OtherMethod,
    OtherPath,
    OtherAddress,
    /// It applies to other users.
    OtherUsers,
    /// It applies to signed-in users only.
    NotSignedIn,
    /// A `deny` with an exception that matches.
    LetsPast,
    /// The user signed in too long ago for it.
    TooLongAgo,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Decides => "decides",
            Self::FitsToo => "matches too, but the deciding rule takes precedence",
            Self::OtherMethod => "is about other methods",
            Self::OtherPath => "is about other paths",
            Self::OtherAddress => "is about other addresses",
            Self::OtherUsers => "is about other people, or about another way to sign in",
            Self::NotSignedIn => "is about people who are signed in",
            Self::LetsPast => "exempts them",
            Self::TooLongAgo => "requires a more recent sign-in",
        })
    }
}

impl Policy {
    /// Explains a decision.
    pub fn explain(&self, query: &PolicyQuery) -> Explained {
        let outcome = self.decide(&Asking {
            method: &query.method,
            path: &query.path,
            client: query.client,
            person: query.person.as_ref(),
        });
        if matches!(outcome, Outcome::BadRequest { .. }) {
            let steps = Vec::new();
            return Explained { outcome, steps };
        }
        let request = RequestContext {
            method: &query.method,
            path: self.rules.readings(&query.path),
            client: query.client.into(),
        };
        let steps = self.rules.rules.iter().map(|rule| {
            let step = if outcome.rule() == Some(&*rule.name) {
                Step::Decides
            } else {
                step(rule, &request, query.person.as_ref())
            };
            (rule.name.to_string(), words(rule), step)
        });
        Explained {
            steps: steps.collect(),
            outcome,
        }
    }

    /// Returns each rule's name with its meaning as text.
    pub fn in_words(&self) -> impl Iterator<Item = (&str, String)> {
        let rules = self.rules.rules.iter();
        rules.map(|rule| (&*rule.name, words(rule)))
    }
}

fn step(rule: &Rule, request: &RequestContext<'_>, person: Option<&Subject>) -> Step {
    if !rule.about_method(request.method) {
        return Step::OtherMethod;
    }
    if !rule.about_path(request) {
        return Step::OtherPath;
    }
    if !rule.about_client(request) {
        return Step::OtherAddress;
    }
    let Some(person) = person else {
        let applies_without_user = match rule.effect {
            Effect::Allow => false,
            Effect::Public => true,
            Effect::Deny => rule.who.is_empty(),
        };
        return if applies_without_user {
            Step::FitsToo
        } else {
            Step::NotSignedIn
        };
    };
    match rule.about(person) {
        Fit::Yes => {}
        Fit::Stale => return Step::TooLongAgo,
        Fit::Unknown | Fit::No => return Step::OtherUsers,
    }
    match rule.excepts(request, person) {
        Fit::Yes => Step::LetsPast,
        Fit::Stale => Step::TooLongAgo,
        Fit::Unknown | Fit::No => Step::FitsToo,
    }
}

/// Returns a rule as one sentence.
fn words(rule: &Rule) -> String {
    let mut text = format!("{} {}", rule.effect.as_str(), rule.requests_in_words());
    let with = conditions(rule.signed_in_within, &rule.factors, &[]);
    for part in [people(&rule.who), with] {
        if !part.is_empty() {
            text.push_str(", ");
            text.push_str(&part);
        }
    }
    if let Some(except) = &rule.except {
        let with = conditions(except.signed_in_within, &except.factors, &except.networks);
        let parts = [people(&except.who).replacen("for ", "", 1), with];
        let parts: Vec<&str> = parts
            .iter()
            .map(String::as_str)
            .filter(|part| !part.is_empty())
            .collect();
        text.push_str(" except ");
        text.push_str(&parts.join(", "));
    }
    text
}

fn people(who: &[Who]) -> String {
    let words: Vec<String> = who
        .iter()
        .map(|who| match who {
            Who::Role(role) => format!("{} in {}", role.role, role.project),
            Who::Group(group) => format!("group {} of {}", group.group, group.provider),
            Who::UserId(id) => format!("user {id}"),
            Who::UserName { name, domain } => format!("user {name}@{domain}"),
            Who::SignedIn => "all signed-in users".to_owned(),
        })
        .collect();
    if words.is_empty() {
        String::new()
    } else {
        format!("for {}", words.join(" or "))
    }
}

/// Returns what a user needs in addition to matching `who`.
pub fn conditions(within: Option<Duration>, factors: &[String], networks: &[IpNet]) -> String {
    let mut parts = Vec::new();
    if !factors.is_empty() {
        parts.push(format!("signed in with {}", factors.join(" and ")));
    }
    if let Some(within) = within {
        parts.push(format!(
            "signed in less than {} ago",
            format_duration(within)
        ));
    }
    if !networks.is_empty() {
        parts.push(format!("from {}", networks_in_words(networks)));
    }
    parts.join(", ")
}

//! Finds effects of rules that are probably unintended.
use std::fmt;

use super::{
    model::{Effect, Who},
    pattern::PathPattern,
    policy::Policy,
    request_context::PROVIDER_FACTOR_PREFIX,
    rule::{KNOWN_FACTORS, Rule},
};

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// For information.
    Note,
    /// More is permitted than it seems, or a part has no effect.
    Warning,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub severity: Severity,
    /// The rule's name; empty for the rules as a whole.
    pub rule: String,
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
        };
        if self.rule.is_empty() {
            write!(f, "{severity}: {}", self.message)
        } else {
            write!(f, "{severity}: rule {:?}: {}", self.rule, self.message)
        }
    }
}

impl Policy {
    /// Returns the rules that permit more than intended or have no effect.
    pub fn lint(&self) -> Vec<Finding> {
        let mut found = Found::default();
        for rule in &self.rules.rules {
            found.rule = rule.name.to_string();
            breadth(rule, &mut found);
            paths(rule, &mut found);
            words(rule, &mut found);
            if let Some(by) = self.shadow_of(rule) {
                found.warn(format!(
                    "never decides: the rule {:?} takes precedence wherever it matches",
                    by.name
                ));
            }
            self.beside_the_list(rule, &mut found);
        }
        found.rule = String::new();
        if self.app.rules_file.is_some() && self.file.tests.is_empty() {
            found.note(
                "the file has no [[tests]]: it is used without being tested, and a file that is \
                 only half written may look complete",
            );
        }
        found.all
    }

    /// Returns the rule because of which another one never decides.
    fn shadow_of(&self, rule: &Rule) -> Option<&Rule> {
        self.rules.rules.iter().find(|by| {
            let counts_before = match by.effect {
                Effect::Deny => by.who.is_empty() && by.except.is_none(),
                Effect::Public => rule.effect == Effect::Allow,
                Effect::Allow => false,
            };
            let itself = by.name == rule.name;
            let equivalent = by.effect == rule.effect && covers(rule, by);
            counts_before && !itself && !equivalent && covers(by, rule)
        })
    }

    fn beside_the_list(&self, rule: &Rule, found: &mut Found) {
        let listed = !self.app.allow.is_empty();
        let bound = rule.signed_in_within.is_some() || !rule.factors.is_empty();
        if rule.effect == Effect::Allow && listed && bound {
            found.warn(
                "users in apps.allow have access without it: to prevent that, write a deny rule \
                 with the same entries under `except`",
            );
        }
        if rule.effect == Effect::Deny && !rule.who.is_empty() {
            let public = self.rules.rules.iter();
            let mut public = public.filter(|other| other.effect == Effect::Public);
            if let Some(public) = public.find(|public| meet(rule, public)) {
                found.warn(format!(
                    "a user whom it refuses can sign out and see what the rule {:?} opens to \
                     everyone",
                    public.name
                ));
            }
        }
    }
}

#[derive(Default)]
struct Found {
    rule: String,
    all: Vec<Finding>,
}

impl Found {
    fn note(&mut self, message: impl Into<String>) {
        self.add(Severity::Note, message.into());
    }

    fn warn(&mut self, message: impl Into<String>) {
        self.add(Severity::Warning, message.into());
    }

    fn add(&mut self, severity: Severity, message: String) {
        self.all.push(Finding {
            severity,
            rule: self.rule.clone(),
            message,
        });
    }
}

fn breadth(rule: &Rule, found: &mut Found) {
    let everywhere = rule.is_about_every_path();
    match rule.effect {
        Effect::Public if everywhere && rule.networks.is_empty() => {
            found.warn("opens every path of the app to everyone");
        }
        Effect::Public if everywhere => found.warn(
            "opens every path of the app to every client in these networks: every program, and \
             every page in every browser there",
        ),
        Effect::Deny if everywhere && rule.who.is_empty() && rule.except.is_none() => {
            if rule.methods.is_every() && rule.networks.is_empty() {
                found.warn("closes the whole app to everyone");
            }
        }
        Effect::Allow if rule.who.contains(&Who::SignedIn) && everywhere => {
            found.warn("opens every path of the app to all signed-in users");
        }
        Effect::Public | Effect::Deny | Effect::Allow => {}
    }
}

fn paths(rule: &Rule, found: &mut Found) {
    for path in &rule.paths {
        match path {
            PathPattern::Exact(path) | PathPattern::Below(path) | PathPattern::Prefix(path) => {
                if path == "/oauth2" || path.starts_with("/oauth2/") {
                    found.warn(format!(
                        "{path} never reaches the app: /oauth2/ is Portico's own"
                    ));
                }
                if path.contains(',') {
                    found.warn(format!(
                        "{path} is one path with a comma in it, not several"
                    ));
                }
                if path.contains('=') || path.contains('!') {
                    found.note(format!(
                        "{path} is compared literally: = and ! have no special meaning"
                    ));
                }
            }
            PathPattern::Regex(_, text) => expression(text, found),
        }
        if let PathPattern::Prefix(path) = path
            && path != "/"
            && !path.ends_with('/')
        {
            found.note(format!(
                "prefix:{path} also names {path}x: write {path}/ for everything below"
            ));
        }
    }
}

fn expression(text: &str, found: &mut Found) {
    if !text.starts_with('^') || !text.ends_with('$') {
        found.warn(format!(
            "regex:{text} is matched with the whole path, as all are: write ^ and $ to make that \
             explicit"
        ));
    }
    let inner = text.trim_start_matches('^').trim_end_matches('$');
    let plain = |text: &str| !text.is_empty() && !text.contains(|c| r"\.+*?()|[]{}^$".contains(c));
    let instead = match inner.strip_suffix(".*") {
        None if plain(inner) && inner.ends_with('/') => format!("exact:{inner}"),
        None if plain(inner) => inner.to_owned(),
        Some(path) if plain(path) && path.ends_with('/') && path != "/" => path.to_owned(),
        Some(path) if plain(path) => format!("prefix:{path}"),
        _ => return,
    };
    found.note(format!("regex:{text} needs no expression: write {instead}"));
}

fn words(rule: &Rule, found: &mut Found) {
    for method in rule.methods.unusual() {
        found.note(format!("{method} is not a common method"));
    }
    let except = rule.except.as_ref();
    let factors = except.into_iter().flat_map(|except| &except.factors);
    for factor in rule.factors.iter().chain(factors) {
        if !factor.starts_with(PROVIDER_FACTOR_PREFIX) && !KNOWN_FACTORS.contains(&factor.as_str())
        {
            found.warn(format!(
                "no sign-in has the factor {factor:?}: Keystone's names are {}; a provider's begin \
                 with {PROVIDER_FACTOR_PREFIX}",
                KNOWN_FACTORS.join(", ")
            ));
        }
    }
    let who = except.into_iter().flat_map(|except| &except.who);
    for who in rule.who.iter().chain(who) {
        if let Who::UserName { name, domain } = who {
            found.note(format!(
                "{name}@{domain} can be given to another user later: a user_id cannot"
            ));
        }
    }
}

/// Returns whether `by` applies to everything that `rule` applies to, as far as that can be
/// determined.
fn covers(by: &Rule, rule: &Rule) -> bool {
    let paths = by.is_about_every_path()
        || (!rule.paths.is_empty()
            && rule
                .paths
                .iter()
                .all(|path| by.paths.iter().any(|all| all.covers(path))));
    let networks = by.networks.is_empty()
        || (!rule.networks.is_empty()
            && rule
                .networks
                .iter()
                .all(|network| by.networks.iter().any(|all| all.contains(network))));
    paths && networks && by.methods.cover(&rule.methods)
}

/// Returns whether two rules have some paths in common, as far as that can be determined.
fn meet(one: &Rule, other: &Rule) -> bool {
    covers(one, other)
        || covers(other, one)
        || one.paths.iter().any(|path| {
            other
                .paths
                .iter()
                .any(|also| path.covers(also) || also.covers(path))
        })
}

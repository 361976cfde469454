//! All rules of an app together, and what they say about a request.
//!
//! In this order, whatever the order in the file: a `deny` that fits refuses; a `public` that fits
//! opens; somebody must be signed in; an `allow` that fits opens; `apps.allow` decides.
use std::{collections::HashSet, sync::Arc};

use http::Method;
use portico_domain::access;

use super::{
    error::{RuleError, RulesError},
    facts::{Fit, Names, Person, RequestFacts, is_meant},
    reading::Readings,
    rule::{Rule, compile},
};
use crate::{
    config::{
        AppConfig,
        rules::{Effect, RuleConfig, Who},
    },
    proxy::rewrite::Rewrite,
};

/// Rules that an app may have.
pub(super) const MOST: usize = 128;

/// The rules of an app.
#[derive(Clone, Debug)]
pub(crate) struct RuleSet {
    pub rules: Vec<Rule>,
    /// `apps.allow`, each with what the log calls it.
    pub list: Vec<Listed>,
    /// `apps.preflight`.
    pub preflight: bool,
    /// What becomes of paths on their way to the app: rules are about both.
    rewrite: Rewrite,
}

/// An entry of `apps.allow`.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    pub rule: access::Rule,
    pub label: Arc<str>,
}

/// What the rules say. Rules are named by their place in [`RuleSet::rules`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Refused by a `deny`.
    Refused(usize),
    /// A `deny` or an `allow` would let them through, had they signed in lately enough.
    SignInAgain(usize),
    /// Nobody can say, because Keystone does not answer.
    Unknown(usize),
    /// Nobody is signed in, and it is not public. With the `deny` that somebody may get past.
    SignIn(Option<usize>),
    /// Open to everybody by a `public`.
    Public(usize),
    /// Open by an `allow`, through this entry of its `who`.
    Open(usize, usize),
    /// No rule decides: `apps.allow` does. With what to say where it refuses.
    List(Otherwise),
}

/// What might have opened before `apps.allow` was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Otherwise {
    Nothing,
    /// An `allow`, had they signed in lately enough.
    SignInAgain(usize),
    /// Perhaps an `allow`, could Keystone be asked.
    Unknown(usize),
}

/// Which rules name a request: found out once, used several times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Naming(u128);

impl Naming {
    fn includes(self, index: usize) -> bool {
        self.0 & (1 << index) != 0
    }
}

impl RuleSet {
    /// Puts rules together; those of the configuration come before those of a file.
    ///
    /// # Errors
    /// With the first rule that cannot be used. `Ok(Err(_))` is one of the file's.
    pub fn compile(
        app: &AppConfig,
        of_file: &[RuleConfig],
    ) -> Result<Result<Self, RuleError>, RulesError> {
        if app.rules.len() + of_file.len() > MOST {
            let app = app.id.clone();
            return Err(RulesError::Many { app, most: MOST });
        }
        let mut taken = HashSet::new();
        let mut rules =
            compile(&app.rules, app, &mut taken).map_err(|source| RulesError::Rule {
                app: app.id.clone(),
                source,
            })?;
        match compile(of_file, app, &mut taken) {
            Ok(more) => rules.extend(more),
            Err(error) => return Ok(Err(error)),
        }
        let list = app.allow.iter().map(|rule| Listed {
            label: label_of(rule).into(),
            rule: rule.clone(),
        });
        Ok(Ok(Self {
            rules,
            list: list.collect(),
            preflight: app.preflight,
            rewrite: Rewrite::new(
                app.upstream.strip_prefix.as_deref(),
                app.upstream.add_prefix.as_deref(),
            ),
        }))
    }

    /// What opens nothing to nobody.
    pub fn nothing() -> Self {
        Self {
            rules: Vec::new(),
            list: Vec::new(),
            preflight: false,
            rewrite: Rewrite::default(),
        }
    }

    /// A path as rules see it, with what the app gets in its place.
    pub fn readings<'r>(&self, raw: &'r str) -> Readings<'r> {
        match self.rewrite.path(raw) {
            Some(rewritten) => Readings::with(raw, &rewritten),
            None => Readings::of(raw),
        }
    }

    /// The rules about a request.
    pub fn naming(&self, request: &RequestFacts<'_>) -> Naming {
        let named = |(index, rule): (usize, &Rule)| rule.names(request).then(|| 1_u128 << index);
        let bits = self.rules.iter().enumerate().filter_map(named);
        Naming(bits.fold(0, |all, bit| all | bit))
    }

    pub fn named(&self, naming: Naming) -> impl Iterator<Item = (usize, &Rule)> {
        let rules = self.rules.iter().enumerate();
        rules.filter(move |(index, _)| naming.includes(*index))
    }

    fn named_with(&self, naming: Naming, effect: Effect) -> impl Iterator<Item = (usize, &Rule)> {
        self.named(naming)
            .filter(move |(_, rule)| rule.effect == effect)
    }

    /// What the rules say about a request of somebody, or of nobody.
    pub fn verdict(
        &self,
        request: &RequestFacts<'_>,
        naming: Naming,
        person: Option<&dyn Person>,
    ) -> Verdict {
        let denied = match person {
            Some(person) => self.denies(request, naming, person),
            None => self.denies_nobody(request, naming),
        };
        if let Some(denied) = denied {
            return denied;
        }
        if let Some(public) = self.public(naming) {
            return Verdict::Public(public);
        }
        match person {
            Some(person) => self.allows(naming, person),
            None => Verdict::SignIn(None),
        }
    }

    fn denies(
        &self,
        request: &RequestFacts<'_>,
        naming: Naming,
        person: &dyn Person,
    ) -> Option<Verdict> {
        let mut lesser = None;
        for (index, rule) in self.named_with(naming, Effect::Deny) {
            let verdict = match (rule.about(person), rule.excepts(request, person)) {
                (Fit::No, _) | (_, Fit::Yes) => continue,
                (Fit::Yes, Fit::No) => return Some(Verdict::Refused(index)),
                (Fit::Unknown, _) | (_, Fit::Unknown) => Verdict::Unknown(index),
                (Fit::Yes | Fit::Stale, _) => Verdict::SignInAgain(index),
            };
            // who does not know may not send anybody to sign in for nothing
            if lesser.is_none() || matches!(verdict, Verdict::Unknown(_)) {
                lesser = Some(verdict);
            }
        }
        lesser
    }

    fn denies_nobody(&self, request: &RequestFacts<'_>, naming: Naming) -> Option<Verdict> {
        let mut lesser = None;
        for (index, rule) in self.named_with(naming, Effect::Deny) {
            if !rule.who.is_empty() {
                continue;
            }
            match &rule.except {
                Some(except) if except.covers_client(request) => {
                    if except.needs_somebody() {
                        lesser.get_or_insert(Verdict::SignIn(Some(index)));
                    }
                }
                _ => return Some(Verdict::Refused(index)),
            }
        }
        lesser
    }

    /// A `public`; rather one that is not bound to networks.
    fn public(&self, naming: Naming) -> Option<usize> {
        let mut bound = None;
        for (index, rule) in self.named_with(naming, Effect::Public) {
            if rule.networks.is_empty() {
                return Some(index);
            }
            bound.get_or_insert(index);
        }
        bound
    }

    fn allows(&self, naming: Naming, person: &dyn Person) -> Verdict {
        let mut open = None;
        let mut otherwise = Otherwise::Nothing;
        for (index, rule) in self.named_with(naming, Effect::Allow) {
            match rule.about(person) {
                Fit::Yes => match entry(rule, person) {
                    // a role says most about somebody, so it counts before everything else
                    Some(at) if matches!(rule.who.get(at), Some(Who::Role(_))) => {
                        return Verdict::Open(index, at);
                    }
                    Some(at) => {
                        open.get_or_insert(Verdict::Open(index, at));
                    }
                    None => {}
                },
                Fit::Stale if otherwise == Otherwise::Nothing => {
                    otherwise = Otherwise::SignInAgain(index);
                }
                Fit::Unknown => otherwise = Otherwise::Unknown(index),
                Fit::Stale | Fit::No => {}
            }
        }
        open.unwrap_or(Verdict::List(otherwise))
    }

    /// Whether a rule names this very method.
    pub fn spells_out(&self, method: &Method) -> bool {
        self.rules.iter().any(|rule| rule.methods.spell_out(method))
    }

    /// Whether there are rules about some paths only that requests of this method are asked.
    pub fn tells_paths_apart(&self, method: &Method) -> bool {
        self.rules
            .iter()
            .any(|rule| !rule.is_about_every_path() && rule.about_method(method))
    }

    /// Whether a request is refused whoever sends it.
    pub fn closes_to_everybody(&self, request: &RequestFacts<'_>) -> bool {
        let denied = self.denies_nobody(request, self.naming(request));
        matches!(denied, Some(Verdict::Refused(_)))
    }

    /// Whether a CORS preflight for `request` may pass: where the app or a rule says so, and it is
    /// not closed to everybody.
    pub fn passes_preflight(&self, request: &RequestFacts<'_>) -> bool {
        let naming = self.naming(request);
        (self.preflight || self.named(naming).any(|(_, rule)| rule.preflight))
            && !self.closes_to_everybody(request)
    }
}

/// The entry of `who` that fits, a role first.
fn entry(rule: &Rule, person: &dyn Person) -> Option<usize> {
    let fits = |who: &Who| is_meant(who, person, Names::Exactly) == Fit::Yes;
    let by_role = rule
        .who
        .iter()
        .position(|who| matches!(who, Who::Role(_)) && fits(who));
    by_role.or_else(|| rule.who.iter().position(fits))
}

/// What the log calls an entry of `apps.allow`.
fn label_of(rule: &access::Rule) -> String {
    match rule {
        access::Rule::Role(rule) => format!("{} in {}", rule.role, rule.project),
        access::Rule::Group(rule) => format!("group {} of {}", rule.group, rule.provider),
    }
}

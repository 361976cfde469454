//! Evaluates all rules of an app for a request.
//!
//! In this order, whatever the order in the file: a `deny` that matches refuses; a `public` that
//! matches permits; a user must be signed in; an `allow` that matches permits; `apps.allow`
//! decides.
use std::{collections::HashSet, sync::Arc};

use http::Method;
use portico_domain::access;

use portico_request::rewrite::Rewrite;

use super::{
    app::AppPolicy,
    error::{RuleError, RulesError},
    model::{Effect, RuleConfig, Who},
    reading::Readings,
    request_context::{Fit, Names, Person, RequestContext, is_meant},
    rule::{Rule, compile},
};

/// Bounds the rules of one app.
pub(super) const MAX_RULES: usize = 128;

/// The rules of an app.
#[derive(Clone, Debug)]
pub struct RuleSet {
    pub rules: Vec<Rule>,
    /// The entries of `apps.allow`, each with its name in the log.
    pub list: Vec<Listed>,
    /// `apps.preflight`.
    pub preflight: bool,
    /// How paths are rewritten for the app: rules apply to both forms.
    rewrite: Rewrite,
}

/// An entry of `apps.allow`.
#[derive(Clone, Debug)]
pub struct Listed {
    pub rule: access::Rule,
    pub label: Arc<str>,
}

/// The decision of the rules. A rule is given by its index in [`RuleSet::rules`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleDecision {
    /// Refused by a `deny`.
    Refused(usize),
    /// A `deny` or an `allow` would permit the request if the user had signed in recently enough.
    SignInAgain(usize),
    /// Unknown, because Keystone does not respond.
    Unknown(usize),
    /// No user is signed in, and the request is not public. With the `deny` that a user may be
    /// excepted from.
    SignIn(Option<usize>),
    /// Permitted for every client by a `public`.
    Public(usize),
    /// Permitted by an `allow`, through this entry of its `who`.
    Open(usize, usize),
    /// No rule decides: `apps.allow` does. With the decision if it refuses.
    List(Fallback),
}

/// What could have permitted the request before `apps.allow`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    Nothing,
    /// An `allow`, if the user had signed in recently enough.
    SignInAgain(usize),
    /// Possibly an `allow`, if Keystone responded.
    Unknown(usize),
}

/// The rules that apply to a request: determined once, used several times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchedRules(u128);

impl MatchedRules {
    fn includes(self, index: usize) -> bool {
        self.0 & (1 << index) != 0
    }
}

impl RuleSet {
    /// Compiles the rules of the configuration, followed by those of a file.
    ///
    /// # Errors
    /// With the first invalid rule. `Ok(Err(_))` is one of the file's.
    pub fn compile(
        app: &AppPolicy,
        of_file: &[RuleConfig],
    ) -> Result<Result<Self, RuleError>, RulesError> {
        if app.rules.len() + of_file.len() > MAX_RULES {
            let app = app.id.clone();
            return Err(RulesError::Many {
                app,
                max: MAX_RULES,
            });
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
            rewrite: app.rewrite.clone(),
        }))
    }

    /// Returns rules that permit no request.
    pub fn nothing() -> Self {
        Self {
            rules: Vec::new(),
            list: Vec::new(),
            preflight: false,
            rewrite: Rewrite::default(),
        }
    }

    /// Returns the readings of a path, with those of the path that the app gets instead, for the rules
    /// of this set alone: where there are none, nothing depends on the path.
    pub fn readings<'r>(&self, raw: &'r str) -> Readings<'r> {
        if self.rules.is_empty() {
            return Readings::unread(raw);
        }
        match self.rewrite.path(raw) {
            Some(rewritten) => Readings::with(raw, &rewritten),
            None => Readings::of(raw),
        }
    }

    /// Returns the rules that apply to the request.
    pub fn matching(&self, request: &RequestContext<'_>) -> MatchedRules {
        let named = |(index, rule): (usize, &Rule)| rule.names(request).then(|| 1_u128 << index);
        let bits = self.rules.iter().enumerate().filter_map(named);
        MatchedRules(bits.fold(0, |all, bit| all | bit))
    }

    pub fn named(&self, matched: MatchedRules) -> impl Iterator<Item = (usize, &Rule)> {
        let rules = self.rules.iter().enumerate();
        rules.filter(move |(index, _)| matched.includes(*index))
    }

    fn named_with(
        &self,
        matched: MatchedRules,
        effect: Effect,
    ) -> impl Iterator<Item = (usize, &Rule)> {
        self.named(matched)
            .filter(move |(_, rule)| rule.effect == effect)
    }

    /// Returns the decision about a request, with or without a signed-in user.
    pub fn decision(
        &self,
        request: &RequestContext<'_>,
        matched: MatchedRules,
        person: Option<&dyn Person>,
    ) -> RuleDecision {
        let denied = match person {
            Some(person) => self.denies(request, matched, person),
            None => self.denies_without_user(request, matched),
        };
        if let Some(denied) = denied {
            return denied;
        }
        if let Some(public) = self.public(matched) {
            return RuleDecision::Public(public);
        }
        match person {
            Some(person) => self.allows(matched, person),
            None => RuleDecision::SignIn(None),
        }
    }

    fn denies(
        &self,
        request: &RequestContext<'_>,
        matched: MatchedRules,
        person: &dyn Person,
    ) -> Option<RuleDecision> {
        let mut lesser = None;
        for (index, rule) in self.named_with(matched, Effect::Deny) {
            let decision = match (rule.about(person), rule.excepts(request, person)) {
                (Fit::No, _) | (_, Fit::Yes) => continue,
                (Fit::Yes, Fit::No) => return Some(RuleDecision::Refused(index)),
                (Fit::Unknown, _) | (_, Fit::Unknown) => RuleDecision::Unknown(index),
                (Fit::Yes | Fit::Stale, _) => RuleDecision::SignInAgain(index),
            };
            // while the decision is unknown, a redirect to sign-in may be pointless
            if lesser.is_none() || matches!(decision, RuleDecision::Unknown(_)) {
                lesser = Some(decision);
            }
        }
        lesser
    }

    fn denies_without_user(
        &self,
        request: &RequestContext<'_>,
        matched: MatchedRules,
    ) -> Option<RuleDecision> {
        let mut lesser = None;
        for (index, rule) in self.named_with(matched, Effect::Deny) {
            if !rule.who.is_empty() {
                continue;
            }
            match &rule.except {
                Some(except) if except.covers_client(request) => {
                    if except.requires_user() {
                        lesser.get_or_insert(RuleDecision::SignIn(Some(index)));
                    }
                }
                _ => return Some(RuleDecision::Refused(index)),
            }
        }
        lesser
    }

    /// Returns a `public`, preferably one that is not limited to networks.
    fn public(&self, matched: MatchedRules) -> Option<usize> {
        let mut bound = None;
        for (index, rule) in self.named_with(matched, Effect::Public) {
            if rule.networks.is_empty() {
                return Some(index);
            }
            bound.get_or_insert(index);
        }
        bound
    }

    fn allows(&self, matched: MatchedRules, person: &dyn Person) -> RuleDecision {
        let mut open = None;
        let mut fallback = Fallback::Nothing;
        for (index, rule) in self.named_with(matched, Effect::Allow) {
            match rule.about(person) {
                Fit::Yes => match entry(rule, person) {
                    // a role is the most specific entry, so it takes precedence
                    Some(at) if matches!(rule.who.get(at), Some(Who::Role(_))) => {
                        return RuleDecision::Open(index, at);
                    }
                    Some(at) => {
                        open.get_or_insert(RuleDecision::Open(index, at));
                    }
                    None => {}
                },
                Fit::Stale if fallback == Fallback::Nothing => {
                    fallback = Fallback::SignInAgain(index);
                }
                Fit::Unknown => fallback = Fallback::Unknown(index),
                Fit::Stale | Fit::No => {}
            }
        }
        open.unwrap_or(RuleDecision::List(fallback))
    }

    /// Returns whether a rule names this method explicitly.
    pub fn spells_out(&self, method: &Method) -> bool {
        self.rules.iter().any(|rule| rule.methods.spell_out(method))
    }

    /// Returns whether rules about particular paths apply to requests with this method.
    pub fn distinguishes_paths(&self, method: &Method) -> bool {
        self.rules
            .iter()
            .any(|rule| !rule.is_about_every_path() && rule.about_method(method))
    }

    /// Returns whether a request is refused for every client.
    pub fn refuses_every_client(&self, request: &RequestContext<'_>) -> bool {
        let denied = self.denies_without_user(request, self.matching(request));
        matches!(denied, Some(RuleDecision::Refused(_)))
    }

    /// Returns whether a CORS preflight for `request` may be forwarded: where the app or a rule
    /// permits it, and the request is not refused for every client.
    pub fn passes_preflight(&self, request: &RequestContext<'_>) -> bool {
        let matched = self.matching(request);
        (self.preflight || self.named(matched).any(|(_, rule)| rule.preflight))
            && !self.refuses_every_client(request)
    }
}

impl AppPolicy {
    /// Checks the rules in the configuration, without those of the file.
    ///
    /// # Errors
    /// [`RulesError::Rule`] and [`RulesError::Many`].
    pub fn check(&self) -> Result<(), RulesError> {
        RuleSet::compile(self, &[]).map(drop)
    }
}

/// Returns the entry of `who` that matches, a role first.
fn entry(rule: &Rule, person: &dyn Person) -> Option<usize> {
    let fits = |who: &Who| is_meant(who, person, Names::Exactly) == Fit::Yes;
    let by_role = rule
        .who
        .iter()
        .position(|who| matches!(who, Who::Role(_)) && fits(who));
    by_role.or_else(|| rule.who.iter().position(fits))
}

/// Returns the name of an entry of `apps.allow` in the log.
fn label_of(rule: &access::Rule) -> String {
    match rule {
        access::Rule::Role(rule) => format!("{} in {}", rule.role, rule.project),
        access::Rule::Group(rule) => format!("group {} of {}", rule.group, rule.provider),
    }
}

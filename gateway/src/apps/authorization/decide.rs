//! Decides whether a request is permitted, for the proxy and for forward auth alike.
use std::{sync::Arc, time::Duration};

use http::{HeaderMap, Method};
use portico_access_policy::{
    Fallback, Fit, Listed, MatchedRules, Person, RequestContext, RuleDecision, RuleSet, Who, proves,
};
use portico_clock::Clock;
use portico_domain::{
    access::{self, GroupOfProvider, RoleInProject},
    identity::User,
};
use portico_request::client_address::ClientAddress;
use portico_store::Session;

use super::{Authorization, key::Key, preflight, refusal::Refusal};
use crate::{
    hosts::App,
    http::access_log::{self, RuleName},
    sessions::{
        keystone_tokens::TokenError,
        live::{Caller, Live, ProjectToken},
    },
};

/// The request to decide on: the request line and the client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'r> {
    pub method: &'r Method,
    /// The raw path, already checked by [`portico_request::path::check`].
    pub path: &'r str,
    pub headers: &'r HeaderMap,
    /// The client's address, as far as it is trusted.
    pub client: ClientAddress,
}

/// The decision about a request.
#[derive(Debug)]
pub(crate) enum Decision {
    /// Permitted for a signed-in user, with what gives them access.
    Open(Key),
    /// Permitted for every client (`public`); the caller, if any, is known.
    Public,
    /// A CORS preflight that is forwarded: without identity, cookies and body.
    Preflight,
    /// No user is signed in, and the request is not public: sign-in (or 401).
    SignIn,
    /// The user must confirm their identity, as their sign-in is too long ago for the rule in the
    /// refusal.
    SignInAgain(Refusal),
    /// Refused; also without a signed-in user, where no sign-in would help.
    Refused(Refusal),
}

impl<'r> Asked<'r> {
    fn request_context(&self, rules: &RuleSet) -> RequestContext<'r> {
        RequestContext {
            method: self.method,
            path: rules.readings(self.path),
            client: self.client,
        }
    }
}

impl Authorization {
    /// Decides on a request to an app, and records the rule for the access log.
    ///
    /// # Errors
    /// When the decision depends on Keystone or the store, and it does not respond.
    pub async fn decide(
        &self,
        app: &App,
        asked: &Asked<'_>,
        caller: Option<&Caller>,
    ) -> Result<Decision, TokenError> {
        let (decision, rule) = self.weigh(app, asked, caller).await?;
        if let Some(rule) = rule {
            access_log::rule(rule);
        }
        Ok(decision)
    }

    /// Decides without recording anything, also ahead of a request. Returns the decision with the
    /// name of its rule for the access log.
    pub(super) async fn weigh(
        &self,
        app: &App,
        asked: &Asked<'_>,
        caller: Option<&Caller>,
    ) -> Result<Weighed, TokenError> {
        let rules = self.rules.of(app);
        let request = asked.request_context(&rules);
        if preflight::passes(&rules, asked, &request) {
            return Ok((Decision::Preflight, Some("preflight".into())));
        }
        let matched = rules.matching(&request);
        let Some(caller) = caller else {
            let decision = rules.decision(&request, matched, None);
            return Ok(without_caller(rules, decision));
        };
        let known = self.known_of(&rules, matched, caller).await;
        let decision = rules.decision(&request, matched, Some(&known));
        let fallback = match decision {
            RuleDecision::Refused(index) => return Ok(refused(rules, index)),
            RuleDecision::SignInAgain(index) => return Ok(sign_in_again(rules, index)),
            RuleDecision::Public(index) => return Ok((Decision::Public, name_of(&rules, index))),
            RuleDecision::Open(index, entry) => {
                let key = known.key(&rules, index, entry);
                return Ok((Decision::Open(key), name_of(&rules, index)));
            }
            RuleDecision::Unknown(_) => return Err(known.why_unknown()),
            RuleDecision::SignIn(_) => return Ok((Decision::SignIn, None)),
            RuleDecision::List(fallback) => fallback,
        };
        // users whom the list permits need nothing else
        match (self.by_list(&rules, &caller.live).await, fallback) {
            (Ok(Some((key, label))), _) => Ok((Decision::Open(key), Some(label.into()))),
            (Err(error), _) => Err(error),
            (Ok(None), Fallback::Unknown(_)) => Err(known.why_unknown()),
            (Ok(None), Fallback::SignInAgain(index)) => Ok(sign_in_again(rules, index)),
            (Ok(None), Fallback::Nothing) => {
                let refusal = Refusal::of_nothing(rules, matched);
                Ok((Decision::Refused(refusal), None))
            }
        }
    }

    /// Returns whether access to an app depends on more than `apps.allow`.
    pub fn has_rules(&self, app: &App) -> bool {
        !self.rules.of(app).rules.is_empty()
    }

    /// Returns whether a request by a page of another origin may be forwarded without identity:
    /// where a rule permits every client to send it from any network.
    pub fn allows_cross_origin(&self, app: &App, asked: &Asked<'_>) -> bool {
        let rules = self.rules.of(app);
        let request = asked.request_context(&rules);
        if preflight::passes(&rules, asked, &request) {
            return true;
        }
        let matched = rules.matching(&request);
        match rules.decision(&request, matched, None) {
            // a browser inside these networks may send the request for a page of any origin
            RuleDecision::Public(index) => {
                let bound = rules
                    .rules
                    .get(index)
                    .is_none_or(|rule| !rule.networks.is_empty());
                !bound || is_no_browser(asked.headers)
            }
            _ => false,
        }
    }

    /// Returns what `apps.allow` gives access by, a role before a group, with its name in the log.
    async fn by_list(
        &self,
        rules: &RuleSet,
        live: &Live,
    ) -> Result<Option<(Key, Arc<str>)>, TokenError> {
        let root = live.root();
        let listed = || rules.list.iter();
        let by_group = || {
            let in_group =
                |rule: &access::Rule| rule.group().is_some_and(|group| is_in(&root, group));
            listed()
                .find(|one| in_group(&one.rule))
                .map(|one| (Key::Group, Arc::clone(&one.label)))
        };
        for (at, one) in listed().enumerate() {
            let Some(role) = one.rule.role() else {
                continue;
            };
            let asked_before = listed()
                .take(at)
                .filter_map(|before| before.rule.role())
                .any(|before| before.project == role.project);
            if asked_before {
                continue;
            }
            let token = match self.sessions.project_token(live, &role.project).await {
                Ok(Some(token)) => token,
                Ok(None) => continue,
                // a group does not depend on Keystone
                Err(error) => return by_group().map_or(Err(error), |key| Ok(Some(key))),
            };
            let fits = |one: &&Listed| one.rule.role().is_some_and(|role| is_held(role, &token));
            if let Some(one) = listed().find(fits) {
                return Ok(Some((Key::Role(token), Arc::clone(&one.label))));
            }
        }
        Ok(by_group())
    }

    /// Fetches the roles that the rules about a request depend on.
    async fn known_of(&self, rules: &RuleSet, matched: MatchedRules, caller: &Caller) -> Known<'_> {
        let root = caller.live.root();
        let mut tokens: Vec<(String, TokenResult)> = Vec::new();
        let mut failed = None;
        for (_, rule) in rules.named(matched) {
            for role in rule.roles() {
                if tokens.iter().any(|(project, _)| *project == role.project) {
                    continue;
                }
                let token = match self
                    .sessions
                    .project_token(&caller.live, &role.project)
                    .await
                {
                    Ok(token) => Ok(token),
                    Err(error) => {
                        failed = Some(error);
                        Err(NoAnswer)
                    }
                };
                tokens.push((role.project.clone(), token));
            }
        }
        Known {
            root,
            clock: &self.clock,
            tokens,
            failed,
        }
    }
}

/// A decision with the name of its rule in the access log; a refusal records its own.
type Weighed = (Decision, Option<RuleName>);

fn without_caller(rules: Arc<RuleSet>, decision: RuleDecision) -> Weighed {
    match decision {
        RuleDecision::Refused(index) => refused(rules, index),
        RuleDecision::Public(index) => (Decision::Public, name_of(&rules, index)),
        _ => (Decision::SignIn, None),
    }
}

fn name_of(rules: &RuleSet, index: usize) -> Option<RuleName> {
    let rule = rules.rules.get(index)?;
    Some(Arc::clone(&rule.name).into())
}

fn refused(rules: Arc<RuleSet>, index: usize) -> Weighed {
    (Decision::Refused(Refusal::of_rule(rules, index)), None)
}

fn sign_in_again(rules: Arc<RuleSet>, index: usize) -> Weighed {
    let name = name_of(&rules, index);
    (Decision::SignInAgain(Refusal::of_rule(rules, index)), name)
}

/// Returns whether the request has none of the headers that every current browser sends when a page
/// makes it send a request.
fn is_no_browser(headers: &HeaderMap) -> bool {
    !["origin", "cookie", "sec-fetch-site", "sec-fetch-mode"]
        .iter()
        .any(|name| headers.contains_key(*name))
}

fn is_held(role: &RoleInProject, token: &ProjectToken) -> bool {
    token.project.id == role.project
        && token
            .roles
            .iter()
            .any(|held| held.id == role.role || held.name == role.role)
}

fn is_in(root: &Session, group: &GroupOfProvider) -> bool {
    root.provider.as_ref().is_some_and(|provider| {
        group.holds(
            &provider.id,
            &provider.profile.groups,
            &provider.profile.roles,
        )
    })
}

/// The result of a request for a project token.
type TokenResult = Result<Option<Arc<ProjectToken>>, NoAnswer>;

struct NoAnswer;

/// A caller with the roles that were fetched.
struct Known<'c> {
    root: Arc<Session>,
    /// Asked where a rule limits the age of a sign-in, after the wait for Keystone, which may have made
    /// one too old.
    clock: &'c Clock,
    tokens: Vec<(String, TokenResult)>,
    failed: Option<TokenError>,
}

impl Known<'_> {
    fn token(&self, project: &str) -> Option<&Result<Option<Arc<ProjectToken>>, NoAnswer>> {
        let mut tokens = self.tokens.iter();
        tokens
            .find(|(asked, _)| asked == project)
            .map(|(_, token)| token)
    }

    fn key(&self, rules: &RuleSet, index: usize, entry: usize) -> Key {
        let who = rules.rules.get(index).and_then(|rule| rule.who.get(entry));
        match who {
            Some(Who::Role(role)) => match self.token(&role.project) {
                Some(Ok(Some(token))) => Key::Role(Arc::clone(token)),
                _ => Key::Person,
            },
            Some(Who::Group(_)) => Key::Group,
            _ => Key::Person,
        }
    }

    fn why_unknown(self) -> TokenError {
        // only a failure makes something unknown
        self.failed.unwrap_or(TokenError::SessionEnded)
    }
}

impl Person for Known<'_> {
    fn user(&self) -> &User {
        &self.root.user
    }

    fn holds(&self, role: &RoleInProject) -> Fit {
        match self.token(&role.project) {
            Some(Ok(Some(token))) => Fit::of(is_held(role, token)),
            Some(Ok(None)) | None => Fit::No,
            Some(Err(NoAnswer)) => Fit::Unknown,
        }
    }

    fn is_in(&self, group: &GroupOfProvider) -> bool {
        is_in(&self.root, group)
    }

    fn signed_in_for(&self) -> Option<Duration> {
        let authenticated_at = self.root.authenticated_at?;
        let ago = self.clock.now().duration_since(authenticated_at);
        // a clock that is behind does not make a sign-in older
        Some(Duration::try_from(ago).unwrap_or(Duration::ZERO))
    }

    fn has_factor(&self, factor: &str) -> bool {
        proves(
            &self.root.auth_methods,
            self.root.provider.is_some(),
            factor,
        )
    }
}

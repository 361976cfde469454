//! May they? Asked by the proxy and by forward auth alike.
use std::{sync::Arc, time::Duration};

use http::{HeaderMap, Method};
use jiff::Timestamp;
use portico_domain::{
    access::{self, GroupOfProvider, RoleInProject},
    identity::User,
};
use portico_store::Session;

use super::{
    facts::{Fit, Person, RequestFacts, proves},
    preflight,
    refusal::Refusal,
    set::{Naming, Otherwise, RuleSet, Verdict},
};
use crate::{
    access::{
        client_address::ClientAddress,
        line::{self, RuleName},
        rules::Key,
    },
    config::rules::Who,
    hosts::App,
    session::{
        live::{Caller, Live, ProjectToken},
        tokens::TokenError,
    },
    state::Gateway,
};

/// What is asked for: the request line that is decided on, from whom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'r> {
    pub method: &'r Method,
    /// Raw, and already through [`crate::proxy::path::check`].
    pub path: &'r str,
    pub headers: &'r HeaderMap,
    /// The client's address, as far as it is believed.
    pub client: ClientAddress,
}

/// What becomes of a request.
#[derive(Debug)]
pub(crate) enum Decision {
    /// Somebody signed in, and what opens it for them.
    Open(Key),
    /// Open to everybody (`public`); the caller, if any, is known.
    Public,
    /// A CORS preflight that passes: without identity, cookies and body.
    Preflight,
    /// Nobody is signed in, and it is not public: sign-in (or 401).
    SignIn,
    /// Somebody is signed in who must confirm who they are: the sign-in is too long ago. By the
    /// rule that says so.
    SignInAgain(Refusal),
    /// Refused; also somebody who is not signed in, where no sign-in would help.
    Refused(Refusal),
}

impl<'r> Asked<'r> {
    fn facts(&self, rules: &RuleSet) -> RequestFacts<'r> {
        RequestFacts {
            method: self.method,
            path: rules.readings(self.path),
            client: self.client,
        }
    }
}

impl Gateway {
    /// Decides on a request to an app, and notes the rule for the access log.
    ///
    /// # Errors
    /// When nobody can say: Keystone or the store does not answer, and it depends on that.
    pub async fn decide(
        &self,
        app: &App,
        asked: &Asked<'_>,
        caller: Option<&Caller>,
    ) -> Result<Decision, TokenError> {
        let (decision, rule) = self.weigh(app, asked, caller).await?;
        if let Some(rule) = rule {
            line::rule(rule);
        }
        Ok(decision)
    }

    /// Decides without noting anything: also what nobody has asked for yet. With what the access
    /// log calls the rule.
    pub(super) async fn weigh(
        &self,
        app: &App,
        asked: &Asked<'_>,
        caller: Option<&Caller>,
    ) -> Result<Weighed, TokenError> {
        let rules = self.rules.of(app);
        let request = asked.facts(&rules);
        if preflight::passes(&rules, asked, &request) {
            return Ok((Decision::Preflight, Some("preflight".into())));
        }
        let naming = rules.naming(&request);
        let Some(caller) = caller else {
            let verdict = rules.verdict(&request, naming, None);
            return Ok(without_caller(rules, verdict));
        };
        let known = self.known_of(&rules, naming, caller).await;
        let verdict = rules.verdict(&request, naming, Some(&known));
        let otherwise = match verdict {
            Verdict::Refused(index) => return Ok(refused(rules, index)),
            Verdict::SignInAgain(index) => return Ok(sign_in_again(rules, index)),
            Verdict::Public(index) => return Ok((Decision::Public, name_of(&rules, index))),
            Verdict::Open(index, entry) => {
                let key = known.key(&rules, index, entry);
                return Ok((Decision::Open(key), name_of(&rules, index)));
            }
            Verdict::Unknown(_) => return Err(known.why_unknown()),
            Verdict::SignIn(_) => return Ok((Decision::SignIn, None)),
            Verdict::List(otherwise) => otherwise,
        };
        // whoever the list lets in needs nothing else
        match (self.by_list(&rules, &caller.live).await, otherwise) {
            (Ok(Some((key, label))), _) => Ok((Decision::Open(key), Some(label.into()))),
            (Err(error), _) => Err(error),
            (Ok(None), Otherwise::Unknown(_)) => Err(known.why_unknown()),
            (Ok(None), Otherwise::SignInAgain(index)) => Ok(sign_in_again(rules, index)),
            (Ok(None), Otherwise::Nothing) => {
                let refusal = Refusal::of_nothing(rules, naming);
                Ok((Decision::Refused(refusal), None))
            }
        }
    }

    /// Whether an app's answers depend on more than who asks.
    pub fn has_rules(&self, app: &App) -> bool {
        !self.rules.of(app).rules.is_empty()
    }

    /// Whether a request from a page of another origin may go on without anything that says who
    /// sends it: where everybody may send it from anywhere.
    pub fn is_open_to_pages_elsewhere(&self, app: &App, asked: &Asked<'_>) -> bool {
        let rules = self.rules.of(app);
        let request = asked.facts(&rules);
        if preflight::passes(&rules, asked, &request) {
            return true;
        }
        let naming = rules.naming(&request);
        match rules.verdict(&request, naming, None) {
            // within its networks a browser is no better than a page that it shows
            Verdict::Public(index) => {
                let bound = rules
                    .rules
                    .get(index)
                    .is_none_or(|rule| !rule.networks.is_empty());
                !bound || is_no_browser(asked.headers)
            }
            _ => false,
        }
    }

    /// What opens the app by `apps.allow`, a role before a group; with what the log calls it.
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
            let token = match self.project_token(live, &role.project).await {
                Ok(Some(token)) => token,
                Ok(None) => continue,
                // a group needs no word of Keystone's
                Err(error) => return by_group().map_or(Err(error), |key| Ok(Some(key))),
            };
            let fits = |one: &&super::set::Listed| {
                one.rule.role().is_some_and(|role| is_held(role, &token))
            };
            if let Some(one) = listed().find(fits) {
                return Ok(Some((Key::Role(token), Arc::clone(&one.label))));
            }
        }
        Ok(by_group())
    }

    /// Asks for the roles that the rules about a request depend on.
    async fn known_of(&self, rules: &RuleSet, naming: Naming, caller: &Caller) -> Known {
        let mut known = Known {
            root: caller.live.root(),
            tokens: Vec::new(),
            failed: None,
        };
        for (_, rule) in rules.named(naming) {
            for role in rule.roles() {
                if known
                    .tokens
                    .iter()
                    .any(|(project, _)| *project == role.project)
                {
                    continue;
                }
                let token = match self.project_token(&caller.live, &role.project).await {
                    Ok(token) => Ok(token),
                    Err(error) => {
                        known.failed = Some(error);
                        Err(NoAnswer)
                    }
                };
                known.tokens.push((role.project.clone(), token));
            }
        }
        known
    }
}

/// A decision with what the access log calls its rule; a refusal notes its own.
type Weighed = (Decision, Option<RuleName>);

fn without_caller(rules: Arc<RuleSet>, verdict: Verdict) -> Weighed {
    match verdict {
        Verdict::Refused(index) => refused(rules, index),
        Verdict::Public(index) => (Decision::Public, name_of(&rules, index)),
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

/// What no browser of these years leaves out when a page makes it send something.
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

/// What was said about a token for a project.
type Told = Result<Option<Arc<ProjectToken>>, NoAnswer>;

struct NoAnswer;

/// A caller with the roles that were asked for.
struct Known {
    root: Arc<Session>,
    tokens: Vec<(String, Told)>,
    failed: Option<TokenError>,
}

impl Known {
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

impl Person for Known {
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
        let ago = Timestamp::now().duration_since(self.root.authenticated_at?);
        // a clock that runs behind makes nobody's sign-in older
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

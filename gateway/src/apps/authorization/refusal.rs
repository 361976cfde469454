//! Explains refusals: which rule refused the request, and what would give access.
use std::sync::Arc;

use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use portico_access_policy::{Effect, MatchedRules, Rule, RuleSet, Who, conditions};
use portico_store::Outcome;

use super::Authorization;
use crate::{
    audit::Event,
    hosts::App,
    http::{access_log, error_response::Problem},
    pages::app::{AccessRequirement, Refused, RequiredSubject},
    request_context::Context,
    sessions::live::{Caller, Live},
};

/// Why a user is refused.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    rules: Arc<RuleSet>,
    by: By,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// A rule refuses.
    Rule(usize),
    /// No `allow` that applies to the request matches the user, and neither does `apps.allow`.
    Nothing(MatchedRules),
}

impl Refusal {
    pub(super) fn of_rule(rules: Arc<RuleSet>, index: usize) -> Self {
        Self {
            rules,
            by: By::Rule(index),
        }
    }

    pub(super) fn of_nothing(rules: Arc<RuleSet>, matched: MatchedRules) -> Self {
        Self {
            rules,
            by: By::Nothing(matched),
        }
    }

    fn rule_itself(&self) -> Option<&Rule> {
        match self.by {
            By::Rule(index) => self.rules.rules.get(index),
            By::Nothing(_) => None,
        }
    }

    /// Returns the rule that refuses; `None` where no rule permits the request.
    pub fn rule(&self) -> Option<&Arc<str>> {
        self.rule_itself().map(|rule| &rule.name)
    }

    /// Returns the reason, for the audit log.
    pub fn reason(&self) -> String {
        self.rule().map_or_else(
            || "no role or group that grants access".to_owned(),
            |rule| format!("rule {rule}"),
        )
    }

    /// Records the refusal for the access log.
    pub fn note(&self) {
        access_log::refused("app_refused");
        if let Some(rule) = self.rule() {
            access_log::refused_by(Arc::clone(rule));
        }
    }

    /// Returns the refusal as JSON for a program.
    pub fn problem(&self, app: &App, requirements: &[AccessRequirement]) -> Problem {
        let name = &app.config.name;
        let words: Vec<String> = requirements
            .iter()
            .map(AccessRequirement::in_words)
            .collect();
        let words = words.join(", ");
        let detail = match (self.rule(), requirements) {
            (Some(rule), []) => format!("The rule \"{rule}\" of {name} refuses this request."),
            (Some(rule), _) => {
                format!("The rule \"{rule}\" of {name} refuses this request, except for: {words}.")
            }
            (None, _) => format!("{name} is open to: {words}."),
        };
        let mut problem = Problem::downstream(
            StatusCode::FORBIDDEN,
            "app_refused",
            "Not permitted",
            detail,
        );
        problem.rule = self.rule().cloned();
        problem
    }
}

impl Authorization {
    /// Refuses a request, with the rule and what would give access, as a page or in JSON.
    pub async fn refuse_app(
        &self,
        context: &Context,
        caller: Option<&Caller>,
        app: &App,
        refusal: &Refusal,
    ) -> Response {
        let reason = refusal.reason();
        let mut event = Event::new("app.open", Outcome::Denied)
            .project(Some(&app.config.project))
            .target(&app.config.id)
            .reason(&reason);
        if let Some(caller) = caller {
            event = event.session(&caller.session);
        }
        self.audit.record(context, event).await;
        refusal.note();
        let requirements = self.requirements(refusal, caller.map(|caller| &*caller.live));
        if context.navigation {
            let page = Refused {
                app: &app.config.name,
                user: caller.map(|caller| caller.session.user.name.as_str()),
                rule: refusal.rule().map(|rule| &**rule),
                requirements: &requirements,
                home: &format!("{}/", self.hosts.main()),
                request_id: &context.request_id_text(),
            };
            return page.page().into_response();
        }
        refusal.problem(app, &requirements).into_response()
    }

    /// Returns the problem for a client that has signed in too long ago and is not a browser at a
    /// page.
    pub fn ask_to_sign_in_again(&self, app: &App, refusal: &Refusal) -> Problem {
        refusal.note();
        let mut problem = Problem::downstream(
            StatusCode::FORBIDDEN,
            "sign_in_again",
            "Confirm who you are",
            format!(
                "{} requires a recent sign-in, and yours was too long ago.",
                app.config.name
            ),
        )
        .steps([
            "Open this address in a new tab: it asks for your password, and then returns to this \
             address.",
        ]);
        problem.rule = refusal.rule().cloned();
        problem
    }

    /// Returns what would give access, without names that the user may not know; each requirement
    /// once.
    pub fn requirements(&self, refusal: &Refusal, live: Option<&Live>) -> Vec<AccessRequirement> {
        let mut requirements = Vec::new();
        for requirement in self.every_requirement(refusal, live) {
            if !requirements.contains(&requirement) {
                requirements.push(requirement);
            }
        }
        requirements
    }

    fn every_requirement(&self, refusal: &Refusal, live: Option<&Live>) -> Vec<AccessRequirement> {
        let named = |who: &Who, with: String| self.requirement(who, with, live);
        match refusal.by {
            By::Rule(_) => {
                let Some(rule) = refusal.rule_itself() else {
                    return Vec::new();
                };
                if rule.effect == Effect::Allow {
                    let with = conditions(rule.signed_in_within, &rule.factors, &[]);
                    return rule
                        .who
                        .iter()
                        .map(|who| named(who, with.clone()))
                        .collect();
                }
                let Some(except) = &rule.except else {
                    return Vec::new();
                };
                let with = conditions(except.signed_in_within, &except.factors, &except.networks);
                if except.who.is_empty() {
                    let who = if except.requires_user() {
                        RequiredSubject::SignedIn
                    } else {
                        RequiredSubject::Everyone
                    };
                    return vec![AccessRequirement { who, with }];
                }
                except
                    .who
                    .iter()
                    .map(|who| named(who, with.clone()))
                    .collect()
            }
            By::Nothing(matched) => {
                let list = refusal.rules.list.iter();
                let list = list.map(|one| named(&one.rule.clone().into(), String::new()));
                let allows = refusal.rules.named(matched).map(|(_, rule)| rule);
                let allows = allows.filter(|rule| rule.effect == Effect::Allow);
                let of_rules = allows.flat_map(|rule| {
                    let with = conditions(rule.signed_in_within, &rule.factors, &[]);
                    rule.who.iter().map(move |who| (who, with.clone()))
                });
                list.chain(of_rules.map(|(who, with)| named(who, with)))
                    .collect()
            }
        }
    }

    fn requirement(&self, who: &Who, with: String, live: Option<&Live>) -> AccessRequirement {
        let who = match who {
            Who::Role(rule) => {
                let project = live.and_then(|live| live.project(&rule.project));
                RequiredSubject::Role {
                    role: rule.role.clone(),
                    project_known: project.is_some(),
                    project: project.map_or_else(|| rule.project.clone(), |project| project.name),
                }
            }
            Who::Group(rule) => RequiredSubject::Group {
                group: rule.group.clone(),
                provider: self.providers.name_of(&rule.provider),
            },
            // which other users have access is not disclosed
            Who::UserId(_) | Who::UserName { .. } => RequiredSubject::Chosen,
            Who::SignedIn => RequiredSubject::SignedIn,
        };
        AccessRequirement { who, with }
    }
}

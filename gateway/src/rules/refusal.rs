//! Who is refused learns which rule did it, and what would open it.
use std::{sync::Arc, time::Duration};

use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use humantime_serde::re::humantime::format_duration;
use ipnet::IpNet;
use portico_store::Outcome;

use super::{
    rule::{Rule, networks_in_words},
    set::{Naming, RuleSet},
};
use crate::{
    access::line,
    audit::Event,
    config::rules::{Effect, Who},
    hosts::App,
    pages::app::{Door, Refused, Visitor},
    problem::Problem,
    session::live::{Caller, Live},
    state::{Context, Gateway},
};

/// Why somebody is refused.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    rules: Arc<RuleSet>,
    by: By,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// A rule.
    Rule(usize),
    /// No `allow` that names the request fits, and `apps.allow` lets them in neither.
    Nothing(Naming),
}

impl Refusal {
    pub(super) fn of_rule(rules: Arc<RuleSet>, index: usize) -> Self {
        Self {
            rules,
            by: By::Rule(index),
        }
    }

    pub(super) fn of_nothing(rules: Arc<RuleSet>, naming: Naming) -> Self {
        Self {
            rules,
            by: By::Nothing(naming),
        }
    }

    fn rule_itself(&self) -> Option<&Rule> {
        match self.by {
            By::Rule(index) => self.rules.rules.get(index),
            By::Nothing(_) => None,
        }
    }

    /// The rule that refuses; none where nothing opens.
    pub fn rule(&self) -> Option<&Arc<str>> {
        self.rule_itself().map(|rule| &rule.name)
    }

    /// Why, for the audit log.
    pub fn reason(&self) -> String {
        self.rule().map_or_else(
            || "no role or group that opens it".to_owned(),
            |rule| format!("rule {rule}"),
        )
    }

    /// Notes it for the access log.
    pub fn note(&self) {
        line::refused("app_refused");
        if let Some(rule) = self.rule() {
            line::refused_by(Arc::clone(rule));
        }
    }

    /// The same as JSON for a program.
    pub fn problem(&self, app: &App, doors: &[Door]) -> Problem {
        let name = &app.config.name;
        let words: Vec<String> = doors.iter().map(Door::in_words).collect();
        let words = words.join(", ");
        let detail = match (self.rule(), doors) {
            (Some(rule), []) => format!("The rule \"{rule}\" of {name} refuses this request."),
            (Some(rule), _) => {
                format!("The rule \"{rule}\" of {name} refuses this request, save for: {words}.")
            }
            (None, _) => format!("{name} opens for: {words}."),
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

impl Gateway {
    /// Says what opens the app, and which rule refuses, on a page or in JSON.
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
        self.audit(context, event).await;
        refusal.note();
        let doors = self.doors(refusal, caller.map(|caller| &*caller.live));
        if context.navigation {
            let page = Refused {
                app: &app.config.name,
                user: caller.map(|caller| caller.session.user.name.as_str()),
                rule: refusal.rule().map(|rule| &**rule),
                doors: &doors,
                home: &format!("{}/", self.hosts.main()),
                request_id: &context.request_id_text(),
            };
            return page.page().into_response();
        }
        refusal.problem(app, &doors).into_response()
    }

    /// What somebody is told who has signed in too long ago, and is no person at a page.
    pub fn ask_to_sign_in_again(&self, app: &App, refusal: &Refusal) -> Problem {
        refusal.note();
        let mut problem = Problem::downstream(
            StatusCode::FORBIDDEN,
            "sign_in_again",
            "Confirm who you are",
            format!(
                "{} asks for a sign-in that is not long ago, and yours is.",
                app.config.name
            ),
        )
        .steps([
            "Open this address in a page of its own: it asks for your password, and comes back.",
        ]);
        problem.rule = refusal.rule().cloned();
        problem
    }

    /// What opens what was refused, in words that fit who asks; each once.
    pub fn doors(&self, refusal: &Refusal, live: Option<&Live>) -> Vec<Door> {
        let mut doors = Vec::new();
        for door in self.every_door(refusal, live) {
            if !doors.contains(&door) {
                doors.push(door);
            }
        }
        doors
    }

    fn every_door(&self, refusal: &Refusal, live: Option<&Live>) -> Vec<Door> {
        let named = |who: &Who, with: String| self.door(who, with, live);
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
                    let anybody = if except.needs_somebody() {
                        Visitor::SignedIn
                    } else {
                        Visitor::Anybody
                    };
                    return vec![Door { who: anybody, with }];
                }
                except
                    .who
                    .iter()
                    .map(|who| named(who, with.clone()))
                    .collect()
            }
            By::Nothing(naming) => {
                let list = refusal.rules.list.iter();
                let list = list.map(|one| named(&one.rule.clone().into(), String::new()));
                let allows = refusal.rules.named(naming).map(|(_, rule)| rule);
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

    fn door(&self, who: &Who, with: String, live: Option<&Live>) -> Door {
        let who = match who {
            Who::Role(rule) => {
                let project = live.and_then(|live| live.project(&rule.project));
                Visitor::Role {
                    role: rule.role.clone(),
                    project_known: project.is_some(),
                    project: project.map_or_else(|| rule.project.clone(), |project| project.name),
                }
            }
            Who::Group(rule) => Visitor::Group {
                group: rule.group.clone(),
                provider: self.provider_name(&rule.provider),
            },
            // whom else it opens for is nobody's business
            Who::UserId(_) | Who::UserName { .. } => Visitor::Chosen,
            Who::SignedIn => Visitor::SignedIn,
        };
        Door { who, with }
    }
}

/// What somebody needs besides being who they are.
pub(super) fn conditions(
    within: Option<Duration>,
    factors: &[String],
    networks: &[IpNet],
) -> String {
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

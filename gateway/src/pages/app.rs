//! Pages on the way to an app: the hand-over, and the page for users who may not open it.
use http::StatusCode;
use maud::{Markup, html};

use super::{
    assets::Asset,
    layout::{Page, hidden, note, request_line},
};

/// Returns the page with the form that posts the one-time code to the app's host.
pub(crate) fn handover(app: &str, origin: &str, code: &str) -> Page {
    let body = html! {
        h1 { "Opening " (app) }
        p.lead { "Continuing to " (origin) "." }
        form #handover method="post" action={ (origin) "/oauth2/handover" } {
            (hidden("code", code))
            button.submit type="submit" { "Continue to " (app) }
        }
    };
    Page::new(format!("Opening {app}"), body)
        .script(Asset::Handover)
        .form_may_reach(origin)
        .shows_origin()
}

/// Returns a page with a link, for browsers that do not follow the redirect.
pub(crate) fn onward(app: &str, target: &str) -> Page {
    let body = html! {
        h1 { "Sign in to open " (app) }
        p.lead { "Continue to Portico's sign-in; it returns you to the app." }
        div.row { a.button href=(target) { "Sign in" } }
    };
    Page::new(format!("Sign in to open {app}"), body)
}

/// One way to get access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AccessRequirement {
    pub who: RequiredSubject,
    /// What is needed in addition; empty for nothing.
    pub with: String,
}

/// Who meets a requirement, with the project's name where the user may know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RequiredSubject {
    Role {
        role: String,
        project: String,
        project_known: bool,
    },
    Group {
        group: String,
        provider: String,
    },
    /// Users named in the configuration.
    Chosen,
    SignedIn,
    Everyone,
}

impl AccessRequirement {
    /// Returns the requirement as text, for programs.
    pub fn in_words(&self) -> String {
        let who = match &self.who {
            RequiredSubject::Role { role, project, .. } => format!("{role} in {project}"),
            RequiredSubject::Group { group, provider } => format!("group {group} of {provider}"),
            RequiredSubject::Chosen => "people whom the configuration names".to_owned(),
            RequiredSubject::SignedIn => "all signed-in users".to_owned(),
            RequiredSubject::Everyone => "everyone".to_owned(),
        };
        if self.with.is_empty() {
            who
        } else {
            format!("{who} ({})", self.with)
        }
    }

    fn markup(&self) -> Markup {
        html! {
            @match &self.who {
                RequiredSubject::Role { role, project, project_known } => {
                    "the role " strong { (role) } " in "
                    @if *project_known { "project " strong { (project) } }
                    @else { "a project that you are not in (" code { (project) } ")" }
                },
                RequiredSubject::Group { group, provider } => {
                    "the group " strong { (group) } " of " (provider)
                },
                RequiredSubject::Chosen => "people whom its configuration names",
                RequiredSubject::SignedIn => "all signed-in users",
                RequiredSubject::Everyone => "everyone",
            }
            @if !self.with.is_empty() { ", " (self.with) }
        }
    }
}

/// The page for a user without access.
pub(crate) struct Refused<'a> {
    pub app: &'a str,
    /// The user; `None` without a session.
    pub user: Option<&'a str>,
    /// The rule that refuses; `None` where no rule permits the request.
    pub rule: Option<&'a str>,
    pub requirements: &'a [AccessRequirement],
    pub home: &'a str,
    pub request_id: &'a str,
}

impl Refused<'_> {
    /// Returns the page, with the rule that decided and what would give access.
    pub fn page(&self) -> Page {
        let app = self.app;
        let body = html! {
            @if self.rule.is_some() { h1 { "You may not open this part of " (app) } }
            @else { h1 { "You may not open " (app) } }
            @match self.user {
                Some(user) => p.lead { "You are signed in as " strong { (user) } "." },
                None => p.lead { "You are not signed in." },
            }
            (note("warn", &self.why()))
            @if !self.requirements.is_empty() {
                p { "Ask the people who manage that project or group if you need it." }
            }
            (request_line(self.request_id))
            div.row { a.button href=(self.home) { "Back to Portico" } }
        };
        Page::new(format!("{app}: not permitted"), body).status(StatusCode::FORBIDDEN)
    }

    fn why(&self) -> Markup {
        let app = self.app;
        let several = if self.requirements.len() == 1 {
            "this:"
        } else {
            "one of these:"
        };
        html! {
            @match self.rule {
                Some(rule) => p {
                    "The rule " strong { (rule) } " of " (app) " refuses this request."
                    @if self.requirements.is_empty() { " It allows no exceptions." }
                    @else { " It exempts users with " (several) }
                },
                None if self.requirements.is_empty() => {
                    p {
                        "No role or group grants access to " (app)
                        ". Its configuration allows no users."
                    }
                },
                None => p { (app) " is open to users with " (several) },
            }
            @if !self.requirements.is_empty() {
                ul.plain { @for requirement in self.requirements { li { (requirement.markup()) } } }
            }
        }
    }
}

//! On the way to an app: the hand-over, and the page for those who may not open it.
use http::StatusCode;
use maud::{Markup, html};

use super::{
    assets::Asset,
    layout::{Page, hidden, note, request_line},
};

/// The form that carries the one-time code to the app's host.
pub(crate) fn handover(app: &str, origin: &str, code: &str) -> Page {
    let body = html! {
        h1 { "Opening " (app) }
        p.lead { "You go on to " (origin) "." }
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

/// For browsers that are not redirected by themselves.
pub(crate) fn onward(app: &str, target: &str) -> Page {
    let body = html! {
        h1 { "Sign in to open " (app) }
        p.lead { "You go on to Portico's sign-in, and back from there." }
        div.row { a.button href=(target) { "Sign in" } }
    };
    Page::new(format!("Sign in to open {app}"), body)
}

/// One way to be allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Door {
    pub who: Visitor,
    /// What is needed besides; empty for nothing.
    pub with: String,
}

/// Whom a door is for, with the project's name where the person may know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Visitor {
    Role {
        role: String,
        project: String,
        project_known: bool,
    },
    Group {
        group: String,
        provider: String,
    },
    /// People whom the configuration names.
    Chosen,
    SignedIn,
    Anybody,
}

impl Door {
    /// For programs.
    pub fn in_words(&self) -> String {
        let who = match &self.who {
            Visitor::Role { role, project, .. } => format!("{role} in {project}"),
            Visitor::Group { group, provider } => format!("group {group} of {provider}"),
            Visitor::Chosen => "people whom the configuration names".to_owned(),
            Visitor::SignedIn => "everybody who is signed in".to_owned(),
            Visitor::Anybody => "everybody".to_owned(),
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
                Visitor::Role { role, project, project_known } => {
                    "the role " strong { (role) } " in "
                    @if *project_known { "project " strong { (project) } }
                    @else { "a project that you are not in (" code { (project) } ")" }
                },
                Visitor::Group { group, provider } => {
                    "the group " strong { (group) } " of " (provider)
                },
                Visitor::Chosen => "people whom its configuration names",
                Visitor::SignedIn => "everybody who is signed in",
                Visitor::Anybody => "everybody",
            }
            @if !self.with.is_empty() { ", " (self.with) }
        }
    }
}

/// The page for somebody who may not.
pub(crate) struct Refused<'a> {
    pub app: &'a str,
    /// `None`: nobody is signed in.
    pub user: Option<&'a str>,
    /// The rule that refuses; none where nothing opens.
    pub rule: Option<&'a str>,
    pub doors: &'a [Door],
    pub home: &'a str,
    pub request_id: &'a str,
}

impl Refused<'_> {
    /// Says which rule decided and what opens it.
    pub fn page(&self) -> Page {
        let app = self.app;
        let body = html! {
            @if self.rule.is_some() { h1 { "This part of " (app) " is closed to you" } }
            @else { h1 { "You may not open " (app) } }
            @match self.user {
                Some(user) => p.lead { "You are signed in as " strong { (user) } "." },
                None => p.lead { "You are not signed in." },
            }
            (note("warn", &self.why()))
            @if !self.doors.is_empty() {
                p { "Ask the people who manage that project or group if you need it." }
            }
            (request_line(self.request_id))
            div.row { a.button href=(self.home) { "Back to Portico" } }
        };
        Page::new(format!("{app}: not permitted"), body).status(StatusCode::FORBIDDEN)
    }

    fn why(&self) -> Markup {
        let app = self.app;
        let several = if self.doors.len() == 1 {
            "this:"
        } else {
            "one of these:"
        };
        html! {
            @match self.rule {
                Some(rule) => p { "The rule " strong { (rule) } " of " (app) " refuses this."
                    @if self.doors.is_empty() { " It lets nobody past." }
                    @else { " It lets past people with " (several) }
                },
                None if self.doors.is_empty() => {
                    p { "Nothing opens " (app) ". Its configuration lets nobody in." }
                },
                None => p { (app) " opens for people with " (several) },
            }
            @if !self.doors.is_empty() {
                ul.plain { @for door in self.doors { li { (door.markup()) } } }
            }
        }
    }
}

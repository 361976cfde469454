//! Pages for sign-in, the one-time code after it, and the choice of a project.
use http::StatusCode;
use maud::{Markup, html};
use portico_domain::identity::Project;
use portico_runtime::request_id;

use super::{
    assets::Asset,
    layout::{Page, hidden, note, request_line},
    sign_in_methods::SignInMethods,
};
use crate::{
    config::{DemoUser, KeystoneMethod},
    http::csrf,
};

/// Why the page is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Notice {
    Info(String),
    Warning(String),
    Failure(String),
}

/// The sign-in form.
pub(crate) struct SignInPage<'a> {
    /// A description of the destination; `None` for the home page.
    pub destination: Option<&'a str>,
    pub return_path: &'a str,
    pub notice: Option<Notice>,
    pub name: &'a str,
    pub domain: &'a str,
    pub domain_changed: bool,
    pub csrf: &'a str,
    pub host: &'a str,
    pub demo: &'a [DemoUser],
    pub status: StatusCode,
    /// Whether the form was submitted before without its cookie.
    pub cookie_lost: bool,
    /// The checkbox for staying signed in, where that is offered.
    pub stay: Option<Stay>,
    pub methods: SignInMethods<'a>,
    /// Whether Keystone's form is shown.
    pub keystone: bool,
    pub providers: &'a [Button],
}

/// A provider that can be chosen.
pub(crate) struct Button {
    pub name: String,
    pub href: String,
    /// Whether its last request failed.
    pub down: bool,
    /// Whether this browser signed in with it last.
    pub last_used: bool,
}

/// The offer to stay signed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stay {
    /// The maximum duration, in hours.
    pub hours: i64,
    pub ticked: bool,
}

/// The form field of a user who asks to stay signed in.
pub(crate) const STAY_FIELD: &str = "stay";

/// Set in a form that is shown again because the previous one was submitted without its cookie.
pub(crate) const RETRY_FIELD: &str = "tried";

impl Notice {
    pub fn markup(&self) -> Markup {
        let (kind, text) = match self {
            Notice::Info(text) => ("info", text),
            Notice::Warning(text) => ("warn", text),
            Notice::Failure(text) => ("bad", text),
        };
        // users quote it when they ask for help, and the log has the reason
        let request = matches!(self, Notice::Failure(_))
            .then(request_id::current)
            .flatten()
            .map(|id| id.to_string())
            .unwrap_or_default();
        note(kind, &html! { p { (text) } (request_line(&request)) })
    }
}

impl SignInPage<'_> {
    pub fn page(&self) -> Page {
        let ways = &self.methods;
        let fields = html! {
            (hidden(csrf::FIELD, self.csrf))
            (hidden("rd", self.return_path))
            @if self.cookie_lost { (hidden(RETRY_FIELD, "1")) }
        };
        let body = html! {
            h1 { "Sign in" }
            p.lead {
                @match self.destination {
                    Some(destination) => { "to open " strong { (destination) } },
                    None => {
                        @if self.providers.is_empty() { "with your OpenStack account" }
                        @else { "in one of these ways" }
                    },
                }
            }
            @if let Some(notice) = &self.notice { (notice.markup()) }
            (self.provider_buttons())
            @if self.is_empty() {
                (note("warn", &html! { p { "No way to sign in is offered here. Portico's administrators can change that (gateway.providers)." } }))
            }
            @if self.keystone {
                (ways.single_sign_on(&fields))
                @if ways.keystone.offers(KeystoneMethod::Password) { (self.password(&fields)) }
                (ways.disclosure(&fields))
            }
            @if !self.demo.is_empty() { (self.demo_users()) }
            p.hint { "You are at " strong { (self.host) } "." }
        };
        let mut page = Page::new("Sign in", body).status(self.status);
        for origin in ways.origins() {
            page = page.form_may_reach(origin);
        }
        if self.demo.is_empty() {
            page
        } else {
            page.script(Asset::Demo)
        }
    }

    /// Returns whether there is no sign-in method.
    fn is_empty(&self) -> bool {
        let ways = self.methods.keystone;
        let keystone = self.keystone && !(ways.methods.is_empty() && ways.websso.is_empty());
        self.providers.is_empty() && !keystone
    }

    fn password(&self, fields: &Markup) -> Markup {
        let here = self.methods.nothing_tried();
        let failed = here && self.status == StatusCode::UNAUTHORIZED;
        html! {
            form method="post" action="/oauth2/sign_in" {
                (fields)
                label for="name" { "User name" }
                input #name type="text" name="name" value=(self.name) required
                    maxlength="255" autocomplete="username" autocapitalize="none"
                    spellcheck="false" autofocus[here && self.name.is_empty()];
                label for="password" { "Password" }
                input #password type="password" name="password" required maxlength="4096"
                    autocomplete="current-password" autofocus[here && !self.name.is_empty()]
                    aria-invalid=[failed.then_some("true")];
                details open[here && self.domain_changed] {
                    summary { "Domain: " (self.domain) }
                    label for="domain" { "Keystone domain" }
                    input #domain type="text" name="domain" value=(self.domain) maxlength="255"
                        autocomplete="off" autocapitalize="none" spellcheck="false";
                    p.hint { "Or write the name as " code { "user@domain" } "." }
                }
                @if let Some(stay) = self.stay {
                    label.check for="stay" {
                        input #stay type="checkbox" name=(STAY_FIELD) value="1" checked[stay.ticked]
                            aria-describedby="stay-means";
                        " Stay signed in"
                    }
                    p.hint #stay-means {
                        "For " (hours(stay.hours)) " at most, in one project that you choose next. \
                         Portico creates an application credential in Keystone for it, and \
                         deletes it when you sign out. Use this only on a computer of your own."
                    }
                }
                button #sign-in.submit type="submit" { "Sign in" }
            }
        }
    }

    fn provider_buttons(&self) -> Markup {
        html! {
            @if !self.providers.is_empty() {
                ul.choices {
                    @for provider in self.providers {
                        li {
                            a href=(provider.href) rel="nofollow" {
                                span.what {
                                    strong { "Sign in with " (provider.name) }
                                    @if provider.down {
                                        small { (provider.name) " does not answer at the moment" }
                                    }
                                }
                                @if provider.last_used { span.tag { "last used" } }
                            }
                        }
                    }
                }
                @if self.keystone { h2 { "Or with your OpenStack account" } }
            }
        }
    }

    fn demo_users(&self) -> Markup {
        html! {
            // shown by the script, as the buttons do nothing without it
            section #demo-users hidden {
                h2 { "Users of this demonstration" }
                p.hint { "A click fills the form in." }
                ul.choices {
                    @for user in self.demo {
                        li {
                            button type="button" data-user=(user.name) {
                                span.what { strong { (user.name) } small { (user.note) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the second step, where Keystone asks for a one-time code.
pub(crate) fn totp(name: &str, csrf: &str, notice: Option<&Notice>, status: StatusCode) -> Page {
    let body = html! {
        h1 { "One-time code" }
        p.lead { "for " strong { (name) } ", from your authenticator app" }
        @if let Some(notice) = notice { (notice.markup()) }
        form method="post" action="/oauth2/totp" {
            (hidden(csrf::FIELD, csrf))
            label for="passcode" { "Code" }
            input #passcode.code type="text" name="passcode" inputmode="numeric" required
                autofocus autocomplete="one-time-code" maxlength="12" spellcheck="false";
            p.hint { "Six digits; a new one every 30 seconds." }
            button.submit type="submit" { "Continue" }
        }
        p.hint { a href="/oauth2/sign_in" { "Start again" } }
    };
    Page::new("One-time code", body).status(status)
}

fn hours(hours: i64) -> String {
    match hours {
        0 => "less than an hour".to_owned(),
        1 => "an hour".to_owned(),
        hours => format!("{hours} hours"),
    }
}

/// The choice of a project, after sign-in and later.
pub(crate) struct Projects<'a> {
    pub user: &'a str,
    /// The projects, the last used one first.
    pub projects: &'a [Project],
    pub last: Option<&'a str>,
    pub return_path: &'a str,
    pub csrf: &'a str,
    /// Whether the choice is the project to stay signed in to.
    pub stay: bool,
    /// The project that the session stays signed in to, which leaves no other choice.
    pub stays_in: Option<&'a str>,
}

impl Projects<'_> {
    pub fn page(&self) -> Page {
        let body = html! {
            h1 { "Choose a project" }
            p.lead { "You are signed in as " strong { (self.user) } "." }
            @if self.stay {
                (note("info", &html! {
                    p {
                        "You asked to stay signed in. That is for one project: to work in another, \
                         sign out and sign in again."
                    }
                }))
            }
            @if let Some(project) = self.stays_in {
                (note("info", &html! {
                    p {
                        "You stay signed in, in project " strong { (project) } " only. To work in \
                         another project, " a href="/oauth2/sign_out" { "sign out" } " and sign in again."
                    }
                }))
            }
            @if self.projects.is_empty() {
                (note("warn", &html! {
                    p { "You have no role in any project. Ask the administrators of your cloud for one." }
                }))
            }
            form method="post" action="/oauth2/project" {
                (hidden(csrf::FIELD, self.csrf))
                (hidden("rd", self.return_path))
                @if self.stay { (hidden(STAY_FIELD, "1")) }
                ul.choices {
                    @for project in self.projects {
                        li {
                            button type="submit" name="project" value=(project.id) {
                                span.what {
                                    strong { (project.name) }
                                    small { "Domain " (project.domain.name) }
                                }
                                @if self.last == Some(project.id.as_str()) {
                                    span.tag { "last used" }
                                }
                            }
                        }
                    }
                }
            }
            @if self.stay {
                p.hint { a href=(self.return_path) { "Do not stay signed in" } }
            }
            p.hint { a href="/oauth2/sign_out" { "Sign out" } }
        };
        Page::new("Choose a project", body)
    }
}

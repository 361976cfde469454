//! On the way to an app: the hand-over, and the page for those who may not open it.
use http::StatusCode;
use maud::html;

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

/// One way to be allowed, with the project's name where the person may know it.
pub(crate) enum Door {
    Role {
        role: String,
        project: String,
        project_known: bool,
    },
    Group {
        group: String,
        provider: String,
    },
}

impl Door {
    /// For programs.
    pub fn in_words(&self) -> String {
        match self {
            Door::Role { role, project, .. } => format!("{role} in {project}"),
            Door::Group { group, provider } => format!("group {group} of {provider}"),
        }
    }
}

/// Says what opens the app, and that this session does not have it.
pub(crate) fn refused(app: &str, user: &str, doors: &[Door], home: &str, request_id: &str) -> Page {
    let body = html! {
        h1 { "You may not open " (app) }
        p.lead { "You are signed in as " strong { (user) } "." }
        (note("warn", &html! {
            @if doors.is_empty() {
                p { "Nothing opens " (app) ". Its configuration lets nobody in." }
            } @else {
                p { (app) " opens for people with "
                    @if doors.len() == 1 { "this:" } @else { "one of these:" }
                }
                ul.plain {
                    @for door in doors {
                        @match door {
                            Door::Role { role, project, project_known } => li {
                                "the role " strong { (role) } " in "
                                @if *project_known { "project " strong { (project) } }
                                @else { "a project that you are not in (" code { (project) } ")" }
                            },
                            Door::Group { group, provider } => li {
                                "the group " strong { (group) } " of " (provider)
                            },
                        }
                    }
                }
            }
        }))
        p { "Ask the people who manage that project or group if you need it." }
        (request_line(request_id))
        div.row { a.button href=(home) { "Back to Portico" } }
    };
    Page::new(format!("{app}: not permitted"), body).status(StatusCode::FORBIDDEN)
}

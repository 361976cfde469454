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

/// One way to be allowed, with the project's name where the person may know it.
pub(crate) struct Door {
    pub role: String,
    pub project: String,
    pub project_known: bool,
}

/// Says which role opens the app, and that this session does not have it.
pub(crate) fn refused(app: &str, user: &str, doors: &[Door], home: &str, request_id: &str) -> Page {
    let body = html! {
        h1 { "You may not open " (app) }
        p.lead { "You are signed in as " strong { (user) } "." }
        (note("warn", &html! {
            @if doors.is_empty() {
                p { "No role opens " (app) ". Its configuration lets nobody in." }
            } @else {
                p { (app) " opens for people with "
                    @if doors.len() == 1 { "this role:" } @else { "one of these roles:" }
                }
                ul.plain {
                    @for door in doors {
                        li {
                            strong { (door.role) } " in "
                            @if door.project_known { "project " strong { (door.project) } }
                            @else { "a project that you are not in (" code { (door.project) } ")" }
                        }
                    }
                }
            }
        }))
        p { "Ask the people who manage that project if you need it." }
        (request_line(request_id))
        div.row { a.button href=(home) { "Back to Portico" } }
    };
    Page::new(format!("{app}: not permitted"), body).status(StatusCode::FORBIDDEN)
}

//! The error page: the cause, what to do, and where to find it in the log.
use maud::html;

use super::layout::{Page, request_line};
use crate::http::error_response::Problem;

pub(crate) fn page(problem: &Problem, request_id: &str) -> Page {
    let other = problem.leads_to.as_deref();
    let body = html! {
        h1 { (problem.title) }
        p.lead { (problem.detail) }
        @if !problem.steps.is_empty() {
            h2 { "What you can do" }
            ul.plain { @for step in &problem.steps { li { (step) } } }
        }
        (request_line(request_id))
        div.row {
            @if let Some(link) = other { a.button href=(link.href) { (link.label) } }
            @if other.is_none_or(|link| link.label != HOME_LABEL) {
                a.button.quiet[other.is_some()] href="/" { (HOME_LABEL) }
            }
        }
    };
    Page::new(problem.title.as_str(), body).status(problem.status)
}

const HOME_LABEL: &str = "Back to Portico";

//! The page for whatever went wrong.
use maud::html;

use super::layout::Page;
use crate::problem::Problem;

pub(crate) fn page(problem: &Problem, request_id: &str) -> Page {
    let body = html! {
        h1 { (problem.title) }
        p.lead { (problem.detail) }
        @if problem.status.is_server_error() && !request_id.is_empty() {
            p.hint { "Request " code { (request_id) } }
        }
        div.row {
            a.button href="/" { "Back to Portico" }
        }
    };
    Page::new(problem.title.as_str(), body).status(problem.status)
}

//! Pages for approving a command line: each request needs a click, and shows who asks for what.
use http::StatusCode;
use maud::html;

use super::{
    layout::{Page, hidden},
    sign_in::Notice,
};
use crate::http::csrf;

/// A request of a command line that waits for approval.
pub(crate) struct Approval<'a> {
    pub user: &'a str,
    pub client: &'a str,
    /// The client's address.
    pub address: &'a str,
    /// The names of the projects that it can use.
    pub projects: &'a [String],
    pub cluster: Option<&'a str>,
    pub csrf: &'a str,
    /// The target of the form, and its hidden fields.
    pub action: &'a str,
    pub fields: &'a [(&'a str, &'a str)],
    /// The code, to be compared with the one in the terminal.
    pub code: Option<&'a str>,
    /// The origin that the response redirects to, for the page's content security policy.
    pub redirects_to: Option<String>,
}

impl Approval<'_> {
    pub fn page(&self) -> Page {
        let body = html! {
            h1 { "Authorize the command line?" }
            p.lead { "It will act as " strong { (self.user) } " until you sign out here." }
            dl {
                dt { "Client" } dd { (self.client) }
                dt { "Address" } dd { code { (self.address) } }
                dt { @if self.projects.len() == 1 { "Project" } @else { "Projects" } }
                dd {
                    @if self.projects.is_empty() { "none: you have no role in any project" }
                    @else { (self.projects.join(", ")) }
                }
                dt { "Cluster" } dd { (self.cluster.unwrap_or("every cluster of these projects")) }
                @if let Some(code) = self.code { dt { "Terminal shows" } dd { code { (code) } } }
            }
            @if self.code.is_some() {
                p { "Approve only if you started this yourself and your terminal shows the same code." }
            } @else {
                p {
                    "Approve only if you have just started " code { "portico login" }
                    " on this computer."
                }
            }
            form method="post" action=(self.action) {
                (hidden(csrf::FIELD, self.csrf))
                @for (name, value) in self.fields { (hidden(name, value)) }
                div.row {
                    button type="submit" name="decision" value="approve" { "Approve" }
                    button.quiet type="submit" name="decision" value="deny" { "Refuse" }
                }
            }
        };
        let page = Page::new("Approve the command line", body);
        match &self.redirects_to {
            Some(source) => page.form_may_reach(source.as_str()),
            None => page,
        }
    }
}

/// Returns the page where a user types the code that their terminal shows.
pub(crate) fn enter_code(code: &str, notice: Option<&Notice>, status: StatusCode) -> Page {
    let body = html! {
        h1 { "Connect a terminal" }
        p.lead { "Type the code that " code { "portico login --device" } " shows." }
        @if let Some(notice) = notice { (notice.markup()) }
        form method="get" action="/oauth2/device" {
            label for="user_code" { "Code" }
            input #user_code.code type="text" name="user_code" value=(code) required autofocus
                maxlength="16" autocomplete="off" autocapitalize="characters" spellcheck="false";
            button.submit type="submit" { "Continue" }
        }
    };
    Page::new("Connect a terminal", body).status(status)
}

/// Returns the last page of an approval without a redirect.
pub(crate) fn decided(approved: bool) -> Page {
    let body = html! {
        @if approved {
            h1 { "Your terminal is connected" }
            p.lead { "You can close this page and continue in the terminal." }
        } @else {
            h1 { "Refused" }
            p.lead {
                "The terminal gets no access. If you did not start it, you do not need to do \
                 anything else."
            }
        }
        div.row { a.button.quiet href="/" { "Back to Portico" } }
    };
    Page::new(if approved { "Connected" } else { "Refused" }, body)
}

//! The pages with a user's sessions, and the confirmation before several sessions end.
use jiff::Timestamp;
use maud::{Markup, html};
use portico_domain::identity::User;
use portico_store::{SessionCredential, SessionKind, UnfinishedRevocations};
use uuid::Uuid;

use super::end::Ending;
use crate::{
    http::csrf,
    pages::{
        assets::Asset,
        layout::{Page, hidden, note, request_line},
        sign_out::count,
        time::{roughly, time},
    },
};

/// Whose sessions a page shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// The viewer's own, who can search for other users if they administer the cloud.
    Own { may_search: bool },
    /// Another user's: the viewer administers the cloud.
    Another,
}

/// One session in the list.
pub(crate) struct Row {
    pub id: Uuid,
    pub kind: SessionKind,
    /// Browser and system, or the command line's name.
    pub device: String,
    /// The browser that approved a command line.
    pub approved_from: Option<String>,
    /// Whether it is the session that the page is viewed with.
    pub current: bool,
    pub address: String,
    /// The apps opened with it, whose sessions end with it.
    pub apps: Vec<String>,
    /// The project used last.
    pub project: Option<String>,
    pub provider: String,
    pub signed_in: Timestamp,
    pub last_used: Timestamp,
    pub expires: Timestamp,
    /// The credential by which it continues after its token has ended.
    pub stays: Option<Stays>,
}

/// How a session stays signed in.
pub(crate) struct Stays {
    pub project: String,
    /// The credential's name in Keystone.
    pub credential: String,
}

/// The contents of the page.
pub(crate) struct Sessions<'a> {
    pub whose: Whose,
    pub user: &'a User,
    pub rows: &'a [Row],
    pub unfinished: Option<UnfinishedRevocations>,
    /// Credentials of ended sessions that still exist at Keystone.
    pub left_over: &'a [SessionCredential],
    pub ending: Option<&'a Ending>,
    pub csrf: &'a str,
    pub now: Timestamp,
    pub request_id: &'a str,
}

impl Sessions<'_> {
    pub fn page(&self) -> Page {
        let title = match self.whose {
            Whose::Own { .. } => "Your sessions".to_owned(),
            Whose::Another => format!("Sessions of {}", self.user.name),
        };
        let body = html! {
            h1 { (title) }
            p.lead {
                @match self.whose {
                    Whose::Own { .. } => {
                        "Where you are signed in as " strong { (self.user.name) }
                        ". End any session you do not recognise."
                    },
                    Whose::Another => {
                        "Domain " strong { (self.user.domain.name) } ", ID " code { (self.user.id) }
                    },
                }
            }
            (self.notices())
            @if self.rows.is_empty() {
                p { "There is no live session." }
            } @else {
                ul.sessions { @for row in self.rows { (self.row(row)) } }
            }
            (self.all())
            @if let Whose::Own { may_search: true } = self.whose { (search_form("")) }
            @if self.whose == Whose::Another {
                p.hint.apart { a href=(PATH) { "Your own sessions" } }
            }
            (request_line(self.request_id))
            div.row {
                a.button.quiet href="/oauth2/audit" { "Your activity" }
                a.button.quiet href="/" { "Back to Portico" }
            }
        };
        Page::new(title.as_str(), body).wide().script(Asset::Times)
    }

    fn notices(&self) -> Markup {
        html! {
            @if let Some(ending) = self.ending {
                (note("info", &html! {
                    p {
                        @match ending.sessions {
                            0 => "This session had ended before.",
                            1 => "The session has ended, and everything that was open in it is \
                                  closed.",
                            many => {
                                (many) " sessions have ended, and everything that was open in them \
                                        is closed."
                            },
                        }
                        @if ending.tokens > 0 {
                            " " (count(ending.tokens, "Keystone token has", "Keystone tokens have"))
                            " been revoked."
                        }
                    }
                }))
            }
            @if let Some(unfinished) = self.unfinished {
                (note("warn", &html! {
                    p {
                        @if unfinished.tokens == 1 { "1 Keystone token" }
                        @else { (unfinished.tokens) " Keystone tokens" }
                        " of ended sessions could not be revoked yet. It is tried again until "
                        (time(unfinished.until))
                        ", when the last of them expires; they cannot be used through Portico."
                    }
                }))
            }
            @if !self.left_over.is_empty() {
                (note("warn", &html! {
                    p {
                        "Left over in Keystone from sessions that stayed signed in, without their \
                         secrets, and deleted at the next sign-in:"
                    }
                    ul {
                        @for left in self.left_over {
                            li { code { (left.name) } ", expires " (time(left.expires_at)) }
                        }
                    }
                }))
            }
        }
    }

    fn row(&self, row: &Row) -> Markup {
        let name = format!("session-{}", row.id);
        html! {
            li.session aria-labelledby=(name) {
                div.session-head {
                    h2 id=(name) { (row.device) }
                    @if row.current { span.tag.here { "This session" } }
                    @if row.kind == SessionKind::CommandLine { span.tag { "Command line" } }
                }
                dl {
                    @if let Some(browser) = &row.approved_from {
                        dt { "Approved from" } dd { (browser) }
                    }
                    dt { "Address" }
                    dd { @if row.address.is_empty() { "unknown" } @else { code { (row.address) } } }
                    @if !row.apps.is_empty() {
                        dt { "Apps opened" } dd { (row.apps.join(", ")) }
                    }
                    @if let Some(project) = &row.project {
                        dt { "Project used last" } dd { (project) }
                    }
                    dt { "Signed in with" } dd { (row.provider) }
                    dt { "Signed in" } dd { (time(row.signed_in)) " (" (roughly(row.signed_in, self.now)) ")" }
                    dt { "Last use" } dd { (time(row.last_used)) " (" (roughly(row.last_used, self.now)) ")" }
                    @if let Some(stays) = &row.stays {
                        dt { "Stays signed in" }
                        dd {
                            "in project " (stays.project) " only, with application credential "
                            code { (stays.credential) }
                        }
                    }
                    dt { "Expires" } dd { (time(row.expires)) " (" (roughly(row.expires, self.now)) ")" }
                }
                (self.end_one(row))
            }
        }
    }

    fn end_one(&self, row: &Row) -> Markup {
        if row.current && matches!(self.whose, Whose::Own { .. }) {
            return html! { a.button.quiet href="/oauth2/sign_out" { "Sign out" } };
        }
        let what = format!(
            "End session: {}{}, signed in {}",
            row.device,
            if row.address.is_empty() {
                String::new()
            } else {
                format!(" at {}", row.address)
            },
            row.signed_in.strftime("%Y-%m-%d %H:%M UTC"),
        );
        html! {
            form method="post" action="/oauth2/sessions/end" {
                (hidden(csrf::FIELD, self.csrf))
                (hidden("session", &row.id.to_string()))
                @if self.whose == Whose::Another { (hidden("user", &self.user.id)) }
                button.quiet type="submit" aria-label=(what) { "End session" }
            }
        }
    }

    fn all(&self) -> Markup {
        let others = self.rows.iter().filter(|row| !row.current).count();
        html! {
            @match self.whose {
                Whose::Own { .. } if others > 0 => {
                    div.row {
                        a.button href="/oauth2/sessions/end?which=others" { "End all other sessions" }
                    }
                },
                Whose::Another if self.rows.len() > 1 => {
                    div.row {
                        a.button href=(of_user("/oauth2/sessions/end", &self.user.id)) {
                            "End all sessions of " (self.user.name)
                        }
                    }
                },
                _ => {},
            }
        }
    }
}

const PATH: &str = "/oauth2/sessions";

fn of_user(path: &str, id: &str) -> String {
    let query = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("user", id)
        .finish();
    format!("{path}?{query}")
}

fn search_form(typed: &str) -> Markup {
    html! {
        section.apart aria-labelledby="of-others" {
            h2 #of-others { "Sessions of another user" }
            p.hint { "You administer this cloud. What you look up and what you end is recorded." }
            form method="get" action=(PATH) {
                label for="user" { "User name or ID" }
                input #user type="text" name="user" value=(typed) required maxlength="255"
                    autocomplete="off" autocapitalize="none" spellcheck="false";
                button.quiet.after type="submit" { "Show sessions" }
            }
        }
    }
}

/// A search by an administrator that found no user or several.
pub(crate) struct Search<'a> {
    pub typed: &'a str,
    pub users: &'a [User],
    pub request_id: &'a str,
}

/// Returns the page where an administrator chooses one of the users found, or searches again.
pub(crate) fn search(found: &Search<'_>) -> Page {
    let body = html! {
        h1 { "Sessions of another user" }
        @if found.users.is_empty() {
            p {
                "No user named " strong { (found.typed) }
                " is signed in: no name or ID matches exactly."
            }
            p.hint { "Write the whole name, " code { "name@domain" } ", or the user's ID in Keystone." }
        } @else {
            p { "Several users have this name. Choose one:" }
            ul.plain {
                @for user in found.users {
                    li {
                        a href=(of_user(PATH, &user.id)) { (user.name) }
                        " in domain " (user.domain.name) ", " code { (user.id) }
                    }
                }
            }
        }
        (search_form(found.typed))
        (request_line(found.request_id))
        div.row { a.button.quiet href=(PATH) { "Your own sessions" } }
    };
    Page::new("Sessions of another user", body).wide()
}

/// The confirmation before several sessions end.
pub(crate) struct EndSessionsConfirmation<'a> {
    pub user: &'a User,
    pub by_admin: bool,
    pub sessions: usize,
    pub csrf: &'a str,
}

impl EndSessionsConfirmation<'_> {
    pub fn page(&self) -> Page {
        let (title, which, back) = if self.by_admin {
            (
                format!("End all sessions of {}?", self.user.name),
                "all",
                of_user(PATH, &self.user.id),
            )
        } else {
            (
                "End all other sessions?".to_owned(),
                "others",
                PATH.to_owned(),
            )
        };
        let body = html! {
            h1 { (title) }
            p {
                @if self.by_admin {
                    (count(self.sessions, "session", "sessions")) " of " strong { (self.user.name) }
                    " (domain " (self.user.domain.name) ") will end. Their users see that an \
                     administrator ended them."
                } @else {
                    (count(self.sessions, "other session", "other sessions"))
                    " will end. You stay signed in here."
                }
            }
            p {
                "Terminals and logs that are open there close at once, apps and command lines are \
                 signed out, and their Keystone tokens are revoked."
            }
            form method="post" action="/oauth2/sessions/end" {
                (hidden(csrf::FIELD, self.csrf))
                (hidden("which", which))
                @if self.by_admin { (hidden("user", &self.user.id)) }
                div.row {
                    button type="submit" { "End " (count(self.sessions, "session", "sessions")) }
                    a.button.quiet href=(back) { "Keep them" }
                }
            }
        };
        Page::new(title.as_str(), body)
    }
}

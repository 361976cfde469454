//! The audit page: entries about a user, or about a project.
use jiff::Timestamp;
use maud::{Markup, html};
use portico_domain::identity::{Project, User};
use portico_store::Outcome;

use super::{ACTIONS, TrailQuery};
use crate::{
    account::activity,
    pages::{
        assets::Asset,
        layout::{Page, hidden, request_line},
        sign_out::count,
        time::time,
    },
};

/// Whose entries a page shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    Own,
    /// The entries of every user, in this project.
    Project(Project),
}

/// One entry of the audit log.
pub(crate) struct Row {
    pub sequence: i64,
    pub at: Timestamp,
    pub user: String,
    /// The client's address, for the viewer's own entries only.
    pub address: Option<String>,
    pub project: Option<String>,
    pub cluster: Option<String>,
    pub action: String,
    pub object: String,
    pub outcome: Outcome,
    pub reason: Option<String>,
}

/// The contents of the audit page.
pub(crate) struct Trail<'a> {
    pub whose: Whose,
    pub user: &'a User,
    pub rows: &'a [Row],
    pub has_more: bool,
    pub query: &'a TrailQuery,
    /// Projects whose entries the viewer may read.
    pub administered: &'a [Project],
    pub request_id: &'a str,
}

impl Trail<'_> {
    pub fn page(&self) -> Page {
        let title = match &self.whose {
            Whose::Own => "Your activity".to_owned(),
            Whose::Project(project) => format!("Activity in project {}", project.name),
        };
        let body = html! {
            h1 { (title) }
            p.lead {
                @match &self.whose {
                    Whose::Own => {
                        "What was recorded about " strong { bdi { (self.user.name) } }
                        ": sign-ins, apps, cluster tokens and changes. End sessions that you do not recognise on "
                        a href="/oauth2/sessions" { "Your sessions" } "."
                    },
                    Whose::Project(project) => {
                        "What was recorded about all users in project " strong { bdi { (project.name) } } " ("
                        code { (project.id) } "). That you looked is recorded too."
                    },
                }
            }
            (self.trails())
            (self.filters())
            (self.list())
            (self.paging())
            (request_line(self.request_id))
            div.row {
                a.button.quiet href="/oauth2/sessions" { "Your sessions" }
                a.button.quiet href="/" { "Back to Portico" }
            }
        };
        Page::new(title.as_str(), body).wide().script(Asset::Times)
    }

    /// Returns links to the other audit logs that the viewer may read.
    fn trails(&self) -> Markup {
        let shown = self.query.project.as_deref();
        html! {
            @if shown.is_some() || !self.administered.is_empty() {
                nav.trails aria-label="Whose activity" {
                    ul {
                        li { (self.trail_link(None, "Your own", shown)) }
                        @for project in self.administered {
                            li { (self.trail_link(Some(&project.id), &format!("Project {}", project.name), shown)) }
                        }
                    }
                }
            }
        }
    }

    /// Returns a link to another audit log, which keeps the object of this page.
    fn trail_link(&self, project: Option<&str>, name: &str, shown: Option<&str>) -> Markup {
        let query = TrailQuery {
            project: project.map(str::to_owned),
            cluster: self.query.cluster.clone(),
            object: self.query.object.clone(),
            ..TrailQuery::default()
        };
        let query = query.beginning(None);
        let href = if query.is_empty() {
            activity::PATH.to_owned()
        } else {
            format!("{}?{query}", activity::PATH)
        };
        html! {
            a href=(href) aria-current=[(project == shown).then_some("page")] { (name) }
        }
    }

    fn filters(&self) -> Markup {
        let query = self.query;
        let action = query.action.as_deref().unwrap_or_default();
        html! {
            form.filters method="get" action=(activity::PATH) role="search" aria-label="Filter entries" {
                @if let Some(project) = &query.project { (hidden("project", project)) }
                @if let Some(cluster) = &query.cluster { (hidden("cluster", cluster)) }
                @if query.project.is_some() {
                    div {
                        label for="user" { "User name or ID" }
                        input #user type="text" name="user" maxlength="255" autocomplete="off"
                            autocapitalize="none" spellcheck="false"
                            value=(query.user.as_deref().unwrap_or_default());
                    }
                }
                div {
                    label for="action" { "Action" }
                    select #action name="action" {
                        option value="" { "All" }
                        @if !action.is_empty() && !ACTIONS.iter().any(|(known, _)| *known == action) {
                            option value=(action) selected { (action) }
                        }
                        @for (value, name) in ACTIONS {
                            option value=(value) selected[value == action] { (name) }
                        }
                    }
                }
                div {
                    label for="object" { "Object" }
                    input #object type="text" name="object" maxlength="255" autocomplete="off"
                        autocapitalize="none" spellcheck="false"
                        value=(query.object.as_deref().unwrap_or_default());
                }
                div {
                    label for="outcome" { "Outcome" }
                    select #outcome name="outcome" {
                        option value="" { "All" }
                        @for outcome in Outcome::ALL {
                            option value=(outcome.as_str()) selected[query.outcome == Some(outcome)] {
                                (word(outcome))
                            }
                        }
                    }
                }
                div {
                    label for="since" { "From (UTC)" }
                    input #since type="date" name="since"
                        value=(query.since.map(|day| day.to_string()).unwrap_or_default());
                }
                div {
                    label for="until" { "To (UTC)" }
                    input #until type="date" name="until"
                        value=(query.until.map(|day| day.to_string()).unwrap_or_default());
                }
                div.apply {
                    button.quiet type="submit" { "Apply filters" }
                    @if query.is_filtered() {
                        a href=(self.unfiltered()) { "Clear filters" }
                    }
                }
            }
        }
    }

    fn list(&self) -> Markup {
        let of_project = matches!(self.whose, Whose::Project(_));
        html! {
            @if self.rows.is_empty() {
                p.empty role="status" {
                    @if self.query.before.is_some() { "There are no older entries." }
                    @else if self.query.is_filtered() { "No entry fits these filters." }
                    @else { "Nothing has been recorded yet." }
                }
            } @else {
                // the ARIA roles remain where the style sheet lays the table out as blocks
                table.trail role="table" {
                    caption { (count(self.rows.len(), "entry", "entries")) ", newest first" }
                    thead role="rowgroup" {
                        tr role="row" {
                            th scope="col" role="columnheader" { "Time" }
                            @if of_project { th scope="col" role="columnheader" { "User" } }
                            th scope="col" role="columnheader" { "Action" }
                            th scope="col" role="columnheader" { "Object" }
                            th scope="col" role="columnheader" { "Outcome" }
                            @if !of_project { th scope="col" role="columnheader" { "Address" } }
                        }
                    }
                    tbody role="rowgroup" { @for row in self.rows { (row.html(of_project)) } }
                }
            }
        }
    }

    fn paging(&self) -> Markup {
        let last = self.rows.last().filter(|_| self.has_more);
        let link = |before| format!("{}?{}", activity::PATH, self.query.beginning(before));
        html! {
            @if last.is_some() || self.query.before.is_some() {
                nav.row aria-label="Pages" {
                    @if self.query.before.is_some() {
                        a.button.quiet href=(link(None)) { "Newest entries" }
                    }
                    @if let Some(last) = last {
                        a.button.quiet rel="next" href=(link(Some(last.sequence))) { "Older entries" }
                    }
                }
            }
        }
    }

    fn unfiltered(&self) -> String {
        let bare = TrailQuery {
            project: self.query.project.clone(),
            ..TrailQuery::default()
        };
        format!("{}?{}", activity::PATH, bare.beginning(None))
    }
}

impl Row {
    fn html(&self, of_project: bool) -> Markup {
        html! {
            tr role="row" {
                td role="cell" data-label="Time" { (time(self.at)) }
                @if of_project { td role="cell" data-label="User" { bdi { (self.user) } } }
                td role="cell" data-label="Action" {
                    div {
                        @if let Some(words) = words(&self.action) { (words) " " }
                        code { (self.action) }
                    }
                }
                td role="cell" data-label="Object" { (self.object(of_project)) }
                td role="cell" data-label="Outcome" {
                    div {
                        span class={ "tag " (self.outcome.as_str()) } { (word(self.outcome)) }
                        @if let Some(reason) = &self.reason { " " small { bdi { (reason) } } }
                    }
                }
                @if !of_project {
                    td role="cell" data-label="Address" {
                        @if let Some(address) = &self.address { code { (address) } } @else { "–" }
                    }
                }
            }
        }
    }

    fn object(&self, of_project: bool) -> Markup {
        let project = self.project.as_ref().filter(|_| !of_project);
        html! {
            div {
                @if self.object.is_empty() && self.cluster.is_none() && project.is_none() { "–" }
                @if !self.object.is_empty() { bdi { (self.object) } }
                @if let Some(cluster) = &self.cluster { small { "cluster " bdi { (cluster) } } }
                @if let Some(project) = project { small { "project " bdi { (project) } } }
            }
        }
    }
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Intended => "Started",
        Outcome::Succeeded => "Succeeded",
        Outcome::Denied => "Denied",
        Outcome::Failed => "Failed",
    }
}

/// Returns the description of an action; `None` for one of a later version, which is shown by its
/// name.
fn words(action: &str) -> Option<&'static str> {
    Some(match action {
        "session.sign_in" => "Signed in",
        "session.sign_out" => "Signed out",
        "session.end" => "Session ended",
        "session.revoke" => "Session ended by hand",
        "session.list" => "Sessions of another user read",
        "session.reauthenticate" => "Identity confirmed",
        "session.renew" => "Session renewed",
        "session.stale" => "Session not validated",
        "session.stay" => "Stayed signed in",
        "session.federate" => "Federated with Keystone",
        "cli.sign_in" => "Command line signed in",
        "cli.sign_out" => "Command line signed out",
        "cli.approve" => "Command line approved",
        "app.open" => "App opened",
        "app.handover" => "Sign-in handed to an app",
        "app.bearer" => "App called with a token",
        "cluster.token" => "Cluster token issued",
        "panel.scale" => "Scaled",
        "panel.apply" => "Manifest applied",
        "panel.edit" => "Edited",
        "panel.reveal" => "Secret values revealed",
        "panel.roll_back" => "Rolled back",
        "panel.pause" => "Rollout paused",
        "panel.resume" => "Rollout resumed",
        "panel.suspend" => "CronJob suspended",
        "panel.unsuspend" => "CronJob resumed",
        "panel.run_now" => "Job run now",
        "panel.cordon" => "Node cordoned",
        "panel.uncordon" => "Node uncordoned",
        "panel.drain" => "Node drained",
        "panel.evict" => "Pod evicted",
        "panel.restart" => "Restarted",
        "panel.delete" => "Deleted",
        "panel.grant" => "Access granted",
        "panel.revoke" => "Access revoked",
        "panel.undo" => "Change undone",
        "panel.yaml" => "YAML opened",
        "panel.exec" => "Terminal opened",
        "panel.add_namespace" => "Namespace added to the visible ones",
        "panel.enrol" => "Cluster enrolled",
        "panel.remove_record" => "Record of a deleted cluster removed",
        "panel.test_self" | "panel.test_user" => "Sign-in to the cluster tested",
        "panel.request" => "Change without an answer",
        "audit.read" => "Activity of a project read",
        _ => return None,
    })
}

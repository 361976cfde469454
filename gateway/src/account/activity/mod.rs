//! `GET /oauth2/audit`: users read the entries about themselves, administrators of a project the
//! entries about the project. The caller's rights decide whose entries are read, never the query.
mod page;
mod query;

use std::sync::Arc;

use axum::{
    Extension,
    extract::{OriginalUri, State},
    response::{IntoResponse as _, Response},
};
use http::StatusCode;
use portico_domain::{access::RoleInProject, identity::Project};
use portico_store::{AuditEvent, Outcome};

use super::{
    Account,
    activity::page::{Row, Trail, Whose},
};
use crate::{
    audit::Event,
    authentication::extract::SignedIn,
    http::{error_response::Problem, forms::Fields, interrupt::Interrupt},
    request_context::Context,
    sessions::live::Caller,
};

pub(crate) use query::{ACTIONS, TrailQuery};

pub(crate) const PATH: &str = "/oauth2/audit";
/// The number of entries on a page.
const PAGE_ENTRIES: usize = 50;
/// Bounds the projects that the page lists.
const MAX_PROJECTS: usize = 20;

pub(crate) async fn get(
    State(account): State<Arc<Account>>,
    Extension(context): Extension<Context>,
    SignedIn(caller): SignedIn,
    OriginalUri(uri): OriginalUri,
) -> Result<Response, Interrupt> {
    let query = TrailQuery::read(&Fields::of_query(&uri)?)?;
    let mut filter = query.filter();
    let whose = match &query.project {
        None => {
            filter.user_id = Some(caller.session.user.id.clone());
            Whose::Own
        }
        Some(id) => {
            let project = account
                .project_for_admin(&context, &caller, id, &query)
                .await?;
            filter.project_id = Some(project.id.clone());
            Whose::Project(project)
        }
    };
    let limit = i64::try_from(PAGE_ENTRIES + 1).unwrap_or(i64::MAX);
    let mut events = account.store.audit().list(&filter, limit).await?;
    let has_more = events.len() > PAGE_ENTRIES;
    events.truncate(PAGE_ENTRIES);
    let rows: Vec<Row> = events
        .into_iter()
        .map(|event| account.audit_row(&caller, event))
        .collect();
    let page = Trail {
        whose,
        user: &caller.session.user,
        rows: &rows,
        has_more,
        query: &query,
        administered: &account.administered(&caller),
        request_id: &context.request_id_text(),
    };
    Ok(page.page().into_response())
}

impl Account {
    /// Returns the project whose entries the caller may read. All other projects are refused in the
    /// same way, so that the response does not reveal which projects exist.
    async fn project_for_admin(
        &self,
        context: &Context,
        caller: &Caller,
        id: &str,
        query: &TrailQuery,
    ) -> Result<Project, Interrupt> {
        let rules: Vec<RoleInProject> = self
            .project_admin_roles
            .iter()
            .map(|role| RoleInProject {
                role: role.clone(),
                project: id.to_owned(),
            })
            .collect();
        let token = match caller.live.project(id) {
            Some(_) if !rules.is_empty() => self.sessions.fitting(&rules, &caller.live).await?,
            _ => None,
        };
        let outcome = match token {
            Some(_) => Outcome::Succeeded,
            None => Outcome::Denied,
        };
        // one audit entry per visit, not for each further page
        if query.before.is_none() || token.is_none() {
            let event = Event::new("audit.read", outcome)
                .session(&caller.session)
                .target(id)
                .project(token.as_ref().map(|token| token.project.id.as_str()));
            self.audit.record(context, event).await;
        }
        token.map(|token| token.project.clone()).ok_or_else(|| {
            let roles = &self.project_admin_roles;
            let detail = if roles.is_empty() {
                "Only users' own activity is shown here: gateway.audit.project_admin_roles names no \
                 role."
                    .to_owned()
            } else {
                format!(
                    "A project's activity is for its administrators: users who hold one of these \
                     roles in it: {}.",
                    roles.join(", ")
                )
            };
            Problem::downstream(
                StatusCode::FORBIDDEN,
                "audit_refused",
                "Not permitted",
                detail,
            )
            .leads_to("Your own activity", PATH)
            .into()
        })
    }

    /// Returns the projects of which the caller is known to be an administrator, without asking
    /// Keystone.
    fn administered(&self, caller: &Caller) -> Vec<Project> {
        let roles = &self.project_admin_roles;
        let root = caller.live.root();
        let tokens = caller.live.projects.lock();
        let mut projects: Vec<Project> = tokens
            .values()
            .filter(|token| {
                let identity = token.identity(&root);
                roles.iter().any(|role| {
                    let rule = RoleInProject {
                        role: role.clone(),
                        project: token.project.id.clone(),
                    };
                    rule.holds(&identity)
                })
            })
            .map(|token| token.project.clone())
            .collect();
        projects.sort_by(|a, b| a.name.cmp(&b.name).then_with(|| a.id.cmp(&b.id)));
        projects.truncate(MAX_PROJECTS);
        projects
    }

    fn audit_row(&self, caller: &Caller, event: AuditEvent) -> Row {
        let AuditEvent {
            at,
            event,
            sequence,
            ..
        } = event;
        let own = event.user_id.as_deref() == Some(caller.session.user.id.as_str());
        let text = |name: &str| event.detail[name].as_str().map(str::to_owned);
        let project = event.project_id.as_deref().map(|id| {
            let known = caller.live.project(id);
            known.map_or_else(|| id.to_owned(), |project| project.name)
        });
        let cluster = event.cluster_id.as_deref().map(|id| {
            let known = id.parse().ok().and_then(|id| self.clusters.find(id));
            known.map_or_else(|| id.to_owned(), |cluster| cluster.record.name.clone())
        });
        Row {
            sequence,
            at,
            // addresses of other users are not shown
            address: text("address").filter(|_| own),
            reason: text("reason"),
            user: event.user_name.or(event.user_id).unwrap_or_default(),
            project,
            cluster,
            action: event.action,
            object: event.target,
            outcome: event.outcome,
        }
    }
}

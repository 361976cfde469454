//! `/oauth2/sessions`: lists sessions and ends them: users their own, administrators of the cloud
//! those of any user.
pub(crate) mod device;
pub(crate) mod end;
pub(crate) mod list;
mod page;

use jiff::Timestamp;
use portico_domain::identity::User;
use portico_store::{Outcome, Session, SessionKind, StoreError};

use super::{
    Account,
    sessions::page::{Row, Stays},
};
use crate::{
    audit::Event,
    http::{error_response::Problem, interrupt::Interrupt},
    request_context::Context,
    sessions::live::Caller,
};

impl Account {
    /// Returns whether the caller administers the cloud.
    async fn is_admin(&self, caller: &Caller) -> Result<bool, Interrupt> {
        let rules = &self.admins;
        Ok(!rules.is_empty() && self.sessions.fitting(rules, &caller.live).await?.is_some())
    }

    /// Refuses callers who are not administrators, and names the required roles.
    async fn admins_only(
        &self,
        context: &Context,
        caller: &Caller,
        about: &str,
    ) -> Result<(), Interrupt> {
        if self.is_admin(caller).await? {
            return Ok(());
        }
        let about: String = about.chars().take(255).collect();
        let event = Event::new("session.list", Outcome::Denied)
            .session(&caller.session)
            .target(&about)
            .reason("no role that administers sessions");
        self.audit.record(context, event).await;
        let rules = &self.admins;
        let detail = if rules.is_empty() {
            "No user may see other users' sessions here: gateway.session.admins is empty."
                .to_owned()
        } else {
            let roles: Vec<String> = rules
                .iter()
                .map(|rule| {
                    let project = caller.live.project(&rule.project);
                    let project =
                        project.map_or_else(|| rule.project.clone(), |project| project.name);
                    format!("{} in project {project}", rule.role)
                })
                .collect();
            format!(
                "Only administrators of the cloud may see other users' sessions: {}.",
                roles.join(", or ")
            )
        };
        Err(Problem::downstream(
            http::StatusCode::FORBIDDEN,
            "sessions_refused",
            "Not permitted",
            detail,
        )
        .leads_to("Your own sessions", list::PATH)
        .into())
    }

    /// Returns the user's live sessions as the page shows them: `current` first, then the latest
    /// used.
    async fn rows(&self, user: &User, current: Option<&Caller>) -> Result<Vec<Row>, StoreError> {
        let now = self.clock.now();
        let all = self.store.sessions().list_of_user(&user.id, now).await?;
        let mut rows: Vec<Row> = all
            .iter()
            .filter(|session| session.kind != SessionKind::App)
            .map(|session| self.row(session, &all, current))
            .collect();
        let credentials = self.store.session_credentials();
        for row in rows
            .iter_mut()
            .filter(|row| row.kind == SessionKind::Browser)
        {
            let stays = credentials.of_session(row.id, now).await?;
            row.stays = stays.map(|credential| Stays {
                project: credential.project_name,
                credential: credential.name,
            });
        }
        rows.sort_by_key(|row| (!row.current, std::cmp::Reverse(row.last_used)));
        Ok(rows)
    }

    fn row(&self, session: &Session, all: &[Session], current: Option<&Caller>) -> Row {
        let apps: Vec<&Session> = all
            .iter()
            .filter(|other| {
                session.kind == SessionKind::Browser
                    && other.kind == SessionKind::App
                    && other.parent == Some(session.id)
            })
            .collect();
        let mut names: Vec<String> = apps
            .iter()
            .filter_map(|app| app.app.as_deref())
            .map(|id| {
                self.hosts
                    .app(id)
                    .map_or_else(|| id.to_owned(), |app| app.config.name.clone())
            })
            .collect();
        names.sort();
        names.dedup();
        let used = apps.iter().map(|app| app.last_seen_at);
        let parent = all.iter().find(|other| Some(other.id) == session.parent);
        let project = session.last_project.as_deref().map(|id| {
            let known = session.projects.iter().find(|project| project.id == id);
            known.map_or_else(|| id.to_owned(), |project| project.name.clone())
        });
        Row {
            id: session.id,
            kind: session.kind,
            device: match session.kind {
                SessionKind::CommandLine => session
                    .client
                    .clone()
                    .unwrap_or_else(|| "a command line".to_owned()),
                SessionKind::Browser | SessionKind::App => device::words(&session.user_agent),
            },
            approved_from: parent.map(|parent| device::words(&parent.user_agent)),
            current: current.is_some_and(|caller| caller.session.id == session.id),
            address: session.address.clone(),
            apps: names,
            project,
            provider: self.vouched_by(session),
            signed_in: session.created_at,
            last_used: used.fold(session.last_seen_at, Timestamp::max),
            expires: session.expires_at(),
            stays: None,
        }
    }
}

impl Account {
    /// Returns how the user signed in, and at which provider.
    fn vouched_by(&self, session: &Session) -> String {
        let name = session.provider.as_ref().map_or_else(
            || "Keystone".to_owned(),
            |provider| self.providers.name_of(&provider.id),
        );
        how(session, name)
    }
}

fn how(session: &Session, name: String) -> String {
    let methods: Vec<&str> = session
        .auth_methods
        .iter()
        .map(|method| match method.as_str() {
            "totp" => "one-time code",
            "application_credential" => "application credential",
            other => other,
        })
        .collect();
    if methods.is_empty() {
        name
    } else {
        format!("{name} ({})", methods.join(", "))
    }
}

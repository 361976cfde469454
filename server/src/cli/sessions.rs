//! `portico sessions`: lists and ends sessions in the store, for operators without a browser.
use super::error::CliError;
use super::migrate::open_store;
use super::operator;
use super::print_for_people;
use crate::config::Config;
use anyhow::{Context as _, anyhow};
use clap::{Args, Subcommand};
use jiff::Timestamp;
use portico_cli::one_line;
use portico_cli::output::{self, OutputFormat, TableRow};
use portico_clock::Clock;
use portico_domain::identity::User;
use portico_runtime::config::{ConfigError, Problem};
use portico_store::{EndReason, NewAuditEvent, Outcome, Session, SessionKind, Store};
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

#[derive(Debug, Subcommand)]
pub(super) enum SessionsCommand {
    /// List the live sessions of a user
    List {
        /// Name (in any case), name@domain, or ID
        #[arg(long, value_name = "USER")]
        user: String,
        /// How to print the list
        #[arg(short, long, value_enum, default_value_t)]
        output: OutputFormat,
    },
    End(EndArgs),
}

/// End sessions of a user: their tokens are revoked, and their connections are closed
///
/// The gateways that run on the same database close streams within a second and work off the
/// revocations; both are recorded in the audit log.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  portico --config portico.toml sessions list --user ada
  portico --config portico.toml sessions end --user ada --session 0b5c54a4-...
  portico --config portico.toml sessions end --user ada@Default --all")]
pub(super) struct EndArgs {
    /// Name (in any case), name@domain, or ID
    #[arg(long, value_name = "USER")]
    user: String,
    /// Only this session
    #[arg(long, value_name = "ID", required_unless_present = "all")]
    session: Option<Uuid>,
    /// Every session of the user
    #[arg(long, conflicts_with = "session")]
    all: bool,
}

pub(super) async fn sessions(config: &Config, command: &SessionsCommand) -> Result<(), CliError> {
    let section = config.store.as_ref().ok_or_else(|| {
        ConfigError::Invalid(vec![Problem::new("store", "the section is missing")])
    })?;
    let store = open_store(section).await?;
    store.ensure_migrated().await.context("look at the store")?;
    let now = Clock::system().now();
    let text = match command {
        SessionsCommand::List { user, output } => list(&store, user, *output, now).await?,
        SessionsCommand::End(arguments) => end(&store, arguments, now).await?,
    };
    store.close().await;
    print_for_people(&text)
}

/// A live session in the list.
#[derive(Serialize)]
struct SessionRow {
    session: Uuid,
    kind: &'static str,
    device: String,
    address: String,
    last_use: Timestamp,
    expires: Timestamp,
}

impl TableRow for SessionRow {
    const HEADINGS: &'static [&'static str] = &[
        "SESSION", "KIND", "DEVICE", "ADDRESS", "LAST USE", "EXPIRES",
    ];

    fn cells(&self) -> Vec<String> {
        vec![
            self.session.to_string(),
            self.kind.to_owned(),
            self.device.clone(),
            self.address.clone(),
            at(self.last_use),
            at(self.expires),
        ]
    }
}

async fn list(
    store: &Store,
    typed: &str,
    format: OutputFormat,
    now: Timestamp,
) -> anyhow::Result<String> {
    let user = the_user(store, typed, now).await?;
    let sessions = live(store, &user, now).await?;
    let rows: Vec<SessionRow> = sessions.iter().map(row).collect();
    let list = output::list(format, &rows)?;
    Ok(if format == OutputFormat::Table {
        let [name, domain, id] =
            [&user.name, &user.domain.name, &user.id].map(|text| one_line(text));
        format!("{name} in domain {domain} ({id})\n{list}")
    } else {
        list
    })
}

fn row(session: &Session) -> SessionRow {
    let (kind, device) = match session.kind {
        SessionKind::CommandLine => ("command line", session.client.clone().unwrap_or_default()),
        SessionKind::Browser | SessionKind::App => {
            ("browser", gateway::device_in_words(&session.user_agent))
        }
    };
    SessionRow {
        session: session.id,
        kind,
        device,
        address: session.address.clone(),
        last_use: session.last_seen_at,
        expires: session.expires_at(),
    }
}

async fn end(store: &Store, arguments: &EndArgs, now: Timestamp) -> anyhow::Result<String> {
    let user = the_user(store, &arguments.user, now).await?;
    let mut chosen = live(store, &user, now).await?;
    if let Some(id) = arguments.session {
        chosen.retain(|session| session.id == id);
        if chosen.is_empty() {
            return Err(anyhow!(
                "{} has no live session {id}: `portico sessions list --user {}` shows them",
                user.name,
                user.id
            ));
        }
    }
    let mut ended = 0;
    for session in chosen {
        // an action that cannot be recorded is not carried out
        record(store, &session, Outcome::Intended, now).await?;
        let reason = EndReason::EndedByAdministrator;
        let gone = store.sessions().end(session.id, reason, now).await?;
        ended += gone
            .iter()
            .filter(|session| session.kind != SessionKind::App)
            .count();
        if !gone.is_empty() {
            record(store, &session, Outcome::Succeeded, now).await?;
        }
    }
    Ok(format!(
        "{ended} session(s) of {} ended. Gateways close what is open within a second and revoke \
         the Keystone tokens.\n",
        user.name
    ))
}

/// Returns the sessions that can be ended individually: those on app hosts end with their browser
/// session.
async fn live(store: &Store, user: &User, now: Timestamp) -> anyhow::Result<Vec<Session>> {
    let mut sessions = store.sessions().list_of_user(&user.id, now).await?;
    sessions.retain(|session| session.kind != SessionKind::App);
    // browser sessions first: their command lines end with them
    sessions.sort_by_key(|session| session.parent.is_some());
    Ok(sessions)
}

async fn the_user(store: &Store, typed: &str, now: Timestamp) -> anyhow::Result<User> {
    let users = store.sessions().users_matching(typed.trim(), now).await?;
    if let Some(user) = users.iter().find(|user| user.id == typed.trim()) {
        return Ok(user.clone());
    }
    match users.as_slice() {
        [] => Err(anyhow!(
            "no user named {typed:?} has a live session: give the whole name, name@domain, or the \
             ID"
        )),
        [user] => Ok(user.clone()),
        several => {
            let ids: Vec<String> = several
                .iter()
                .map(|user| format!("{}@{} {}", user.name, user.domain.name, user.id))
                .collect();
            Err(anyhow!(
                "several users are named {typed:?}; give the ID of one:\n  {}",
                ids.join("\n  ")
            ))
        }
    }
}

async fn record(
    store: &Store,
    session: &Session,
    outcome: Outcome,
    now: Timestamp,
) -> anyhow::Result<()> {
    let user = &session.user;
    let event = NewAuditEvent {
        user_name: Some(operator::audit_name()),
        target: session.id.to_string(),
        detail: json!({
            "reason": operator::REASON,
            "subject": { "id": user.id, "name": user.name, "domain": user.domain.name },
        }),
        ..NewAuditEvent::new("session.revoke", outcome)
    };
    store
        .audit()
        .append(&event, now)
        .await
        .context("record who ends which session")
}

fn at(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::identity::Named;
    use portico_store::{AuditFilter, KeyRing, NewSession};
    use secrecy::{ExposeSecret as _, SecretString};

    const NOW: Timestamp = Timestamp::constant(1_800_000_000, 0);

    async fn store(dir: &tempfile::TempDir) -> Store {
        // 32 zero bytes
        let key = SecretString::from(format!("{}=", "A".repeat(43)));
        let url = format!("sqlite://{}", dir.path().join("test.db").display());
        let keys = KeyRing::from_base64(&[key]).unwrap();
        let store = Store::connect(&url, 1, keys).await.unwrap();
        store.migrate(jiff::Timestamp::UNIX_EPOCH).await.unwrap();
        store
    }

    async fn signed_in(store: &Store, name: &str) -> (String, Session) {
        let now = NOW;
        let later = now + jiff::SignedDuration::from_hours(1);
        let named = |name: &str| Named {
            id: format!("{name}-id"),
            name: name.to_owned(),
        };
        let new = NewSession {
            user: User {
                id: format!("{name}-id"),
                name: name.to_owned(),
                domain: named("Default"),
            },
            projects: Vec::new(),
            last_project: None,
            auth_methods: Vec::new(),
            user_agent: String::new(),
            address: "192.0.2.7".to_owned(),
            idle_expires_at: later,
            absolute_expires_at: later,
            keystone_expires_at: later,
            authenticated_at: None,
        };
        let (secret, session) = store.sessions().create(&new, now).await.unwrap();
        (secret.expose_secret().to_owned(), session)
    }

    #[tokio::test]
    async fn an_operator_lists_and_ends_the_sessions_of_a_user_and_it_is_recorded() {
        let dir = tempfile::tempdir().unwrap();
        let store = store(&dir).await;
        let (secret, ada) = signed_in(&store, "ada").await;
        let (other, vera) = signed_in(&store, "vera").await;
        let text = list(&store, "Ada", OutputFormat::Table, NOW).await.unwrap();
        assert!(text.contains(&ada.id.to_string()), "{text}");
        assert!(!text.contains(&vera.id.to_string()), "{text}");

        let wrong = EndArgs {
            user: "ada".to_owned(),
            session: Some(vera.id),
            all: false,
        };
        let error = end(&store, &wrong, NOW).await.unwrap_err();
        assert!(error.to_string().contains("no live session"), "{error}");
        let all = EndArgs {
            session: None,
            all: true,
            ..wrong
        };
        let text = end(&store, &all, NOW).await.unwrap();
        assert!(text.starts_with("1 session(s) of ada ended"), "{text}");

        let now = NOW;
        assert!(store.sessions().find(&secret, now).await.unwrap().is_none());
        assert!(store.sessions().find(&other, now).await.unwrap().is_some());
        let ended = store.sessions().get(ada.id).await.unwrap().unwrap();
        assert_eq!(ended.end_reason, Some(EndReason::EndedByAdministrator));
        let events = store.audit().list(&AuditFilter::default(), 10).await;
        let events = events.unwrap();
        assert_eq!(events.len(), 2);
        assert!(events.iter().all(|event| {
            event.event.action == "session.revoke"
                && event.event.target == ada.id.to_string()
                && event.event.detail["subject"]["name"] == "ada"
        }));
    }

    #[tokio::test]
    async fn an_unknown_user_name_is_reported() {
        let dir = tempfile::tempdir().unwrap();
        let store = store(&dir).await;
        let error = list(&store, "unknown-user", OutputFormat::Table, NOW)
            .await
            .unwrap_err();
        assert!(error.to_string().contains("no user named"), "{error}");
    }

    #[tokio::test]
    async fn attack_112_a_name_of_a_user_or_program_moves_no_cursor_and_begins_no_line() {
        let dir = tempfile::tempdir().unwrap();
        let store = store(&dir).await;
        let hostile = "ada\u{1b}[2J\u{9b}31m\nSESSION\u{202e}gnp\r";
        let (_, session) = signed_in(&store, hostile).await;
        let text = list(&store, &session.user.id, OutputFormat::Table, NOW)
            .await
            .unwrap();
        // the heading, the table's headings and one session
        assert_eq!(text.lines().count(), 3, "{text:?}");
        assert!(
            text.starts_with("ada[2J31mSESSIONgnp in domain"),
            "{text:?}"
        );
        let text = portico_cli::printable(&text);
        assert!(!text.contains(['\u{1b}', '\u{9b}', '\u{202e}', '\r']));
        assert!(text.contains(&session.id.to_string()), "the control case");
    }
}

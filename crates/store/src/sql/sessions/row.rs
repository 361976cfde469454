//! The rows of sessions.
use super::SqlStore;
use crate::error::StoreError;
use crate::row::{Columns, to_json};
use crate::sealing::KeyRing;
use crate::sessions::{HASH_PURPOSE, Session, SessionProvider, TABLE, csrf_place};
use jiff::Timestamp;
use portico_domain::identity::{Named, User};
use secrecy::{ExposeSecret as _, SecretString};
use sqlx::any::AnyRow;

pub(super) const COLUMNS: &str = "id, parent, kind, app, client, user_id, user_name, domain_id, \
     domain_name, projects, last_project, auth_methods, csrf_sealed, user_agent, address, \
     created_at, last_seen_at, idle_expires_at, absolute_expires_at, keystone_expires_at, \
     keystone_checked_at, ended_at, end_reason, provider, provider_subject, provider_sid, \
     provider_profile, provider_expires_at, authenticated_at";

/// Stores a new session.
pub(super) async fn insert(
    sql: &SqlStore,
    session: &Session,
    secret: Option<&SecretString>,
) -> Result<(), StoreError> {
    let keys = &sql.shared.keys;
    let id = session.id.to_string();
    let csrf = keys.seal(csrf_place(&id), session.csrf.expose_secret())?;
    let of_provider = session.provider.as_ref();
    let hash = secret.map(|secret| keys.hash(HASH_PURPOSE, secret.expose_secret()));
    sqlx::query(
        "INSERT INTO sessions (
             id, secret_hash, parent, kind, app, client, user_id, user_name, domain_id,
             domain_name, projects, last_project, auth_methods, csrf_sealed, user_agent,
             address, created_at, last_seen_at, idle_expires_at, absolute_expires_at,
             keystone_expires_at, keystone_checked_at, provider, provider_subject,
             provider_sid, provider_profile, provider_expires_at, authenticated_at
         )
         VALUES (
             $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
             $19, $20, $21, $22, $23, $24, $25, $26, $27, $28
         )",
    )
    .bind(id.as_str())
    .bind(hash)
    .bind(session.parent.map(|parent| parent.to_string()))
    .bind(session.kind.as_str())
    .bind(session.app.as_deref())
    .bind(session.client.as_deref())
    .bind(session.user.id.as_str())
    .bind(session.user.name.as_str())
    .bind(session.user.domain.id.as_str())
    .bind(session.user.domain.name.as_str())
    .bind(to_json(TABLE, "projects", &session.projects)?)
    .bind(session.last_project.as_deref())
    .bind(to_json(TABLE, "auth_methods", &session.auth_methods)?)
    .bind(csrf)
    .bind(session.user_agent.as_str())
    .bind(session.address.as_str())
    .bind(session.created_at.as_second())
    .bind(session.last_seen_at.as_second())
    .bind(session.idle_expires_at.as_second())
    .bind(session.absolute_expires_at.as_second())
    .bind(session.keystone_expires_at.as_second())
    .bind(session.keystone_checked_at.as_second())
    .bind(of_provider.map(|provider| provider.id.as_str()))
    .bind(of_provider.map(|provider| provider.subject.as_str()))
    .bind(of_provider.and_then(|provider| provider.sid.as_deref()))
    .bind(profile_text(session)?)
    .bind(of_provider.and_then(|provider| provider.expires_at.map(Timestamp::as_second)))
    .bind(session.authenticated_at.map(Timestamp::as_second))
    .execute(&sql.pool)
    .await
    .map_err(StoreError::database("store a session"))?;
    Ok(())
}

/// Reads a session.
pub(super) fn from_row(keys: &KeyRing, row: &AnyRow) -> Result<Session, StoreError> {
    let columns = Columns::new(TABLE, row);
    let id = columns.text("id")?;
    let end_reason = columns
        .optional_text("end_reason")?
        .map(|reason| reason.parse())
        .transpose()
        .map_err(|error: String| columns.corrupt("end_reason", error))?;
    Ok(Session {
        id: columns.uuid("id")?,
        parent: columns.optional_uuid("parent")?,
        kind: columns.parsed("kind")?,
        app: columns.optional_text("app")?,
        client: columns.optional_text("client")?,
        user: User {
            id: columns.text("user_id")?,
            name: columns.text("user_name")?,
            domain: Named {
                id: columns.text("domain_id")?,
                name: columns.text("domain_name")?,
            },
        },
        projects: columns.json("projects")?,
        last_project: columns.optional_text("last_project")?,
        auth_methods: columns.json("auth_methods")?,
        csrf: keys.open(csrf_place(&id), &columns.bytes("csrf_sealed")?)?,
        user_agent: columns.text("user_agent")?,
        address: columns.text("address")?,
        created_at: columns.time("created_at")?,
        last_seen_at: columns.time("last_seen_at")?,
        idle_expires_at: columns.time("idle_expires_at")?,
        absolute_expires_at: columns.time("absolute_expires_at")?,
        keystone_expires_at: columns.time("keystone_expires_at")?,
        keystone_checked_at: columns.time("keystone_checked_at")?,
        ended_at: columns.optional_time("ended_at")?,
        end_reason,
        provider: provider(&columns)?,
        authenticated_at: columns.optional_time("authenticated_at")?,
    })
}

fn provider(columns: &Columns<'_>) -> Result<Option<SessionProvider>, StoreError> {
    let Some(id) = columns.optional_text("provider")? else {
        return Ok(None);
    };
    Ok(Some(SessionProvider {
        id,
        subject: columns
            .optional_text("provider_subject")?
            .unwrap_or_default(),
        sid: columns.optional_text("provider_sid")?,
        profile: columns
            .optional_json("provider_profile")?
            .unwrap_or_default(),
        expires_at: columns.optional_time("provider_expires_at")?,
    }))
}

/// Returns the value of the profile column for a new row.
fn profile_text(session: &Session) -> Result<Option<String>, StoreError> {
    session
        .provider
        .as_ref()
        .map(|provider| to_json(TABLE, "provider_profile", &provider.profile))
        .transpose()
}

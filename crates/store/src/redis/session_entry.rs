//! Redis entries of sessions, and what binds an entry to its place.
use super::binding::{self, FIELD};
use super::entry::{Entry, Fields, Found, or_empty};
use crate::error::StoreError;
use crate::row::to_json;
use crate::sealing::KeyRing;
use crate::sessions::{Session, SessionProvider, TABLE, csrf_place};
use jiff::Timestamp;
use portico_domain::identity::{Named, User};
use secrecy::ExposeSecret as _;

pub(super) const SECRETS: &str = "session secrets";

/// Returns what a secret's hash leads to, bound to the hash so that another user's cookie cannot
/// lead there.
pub(super) fn pointer(keys: &KeyRing, hash: &str, id: &str) -> String {
    format!("{id}.{}", binding::of(keys, SECRETS, &[hash, id]))
}

/// Returns the parts of a session that never change: its owner and its purpose.
fn identity(keys: &KeyRing, session: &Session) -> String {
    with_identity(session, |parts| binding::of(keys, TABLE, parts))
}

fn with_identity<T>(session: &Session, then: impl FnOnce(&[&str]) -> T) -> T {
    let id = session.id.to_string();
    let parent = or_empty(session.parent);
    let user = &session.user;
    let provider = session.provider.as_ref();
    then(&[
        &id,
        &parent,
        session.kind.as_str(),
        session.app.as_deref().unwrap_or_default(),
        session.client.as_deref().unwrap_or_default(),
        &user.id,
        &user.name,
        &user.domain.id,
        &user.domain.name,
        provider.map_or("", |provider| &provider.id),
        provider.map_or("", |provider| &provider.subject),
        provider
            .and_then(|provider| provider.sid.as_deref())
            .unwrap_or_default(),
    ])
}

/// Returns the fields of a new session, which [`session`] reads; `hash` is that of its secret.
pub(super) fn fields(
    keys: &KeyRing,
    session: &Session,
    hash: Option<&str>,
) -> Result<Fields, StoreError> {
    let id = session.id.to_string();
    let csrf = keys.seal(csrf_place(&id), session.csrf.expose_secret())?;
    let provider = session.provider.as_ref();
    let profile = provider
        .map(|one| to_json(TABLE, "provider_profile", &one.profile))
        .transpose()?;
    Ok(Fields::default()
        .with("id", &id)
        .optional("secret_hash", hash)
        .optional("parent", session.parent)
        .with("kind", session.kind.as_str())
        .optional("app", session.app.as_ref())
        .optional("client", session.client.as_ref())
        .with("user_id", &session.user.id)
        .with("user_name", &session.user.name)
        .with("lower_name", session.user.name.to_ascii_lowercase())
        .with("domain_id", &session.user.domain.id)
        .with("domain_name", &session.user.domain.name)
        .with("projects", to_json(TABLE, "projects", &session.projects)?)
        .optional("last_project", session.last_project.as_ref())
        .with(
            "auth_methods",
            to_json(TABLE, "auth_methods", &session.auth_methods)?,
        )
        .sealed("csrf_sealed", &csrf)
        .with("user_agent", &session.user_agent)
        .with("address", &session.address)
        .time("created_at", session.created_at)
        .time("last_seen_at", session.last_seen_at)
        .time("idle_expires_at", session.idle_expires_at)
        .time("absolute_expires_at", session.absolute_expires_at)
        .time("keystone_expires_at", session.keystone_expires_at)
        .time("keystone_checked_at", session.keystone_checked_at)
        .optional("provider", provider.map(|one| &one.id))
        .optional("provider_subject", provider.map(|one| &one.subject))
        .optional("provider_sid", provider.and_then(|one| one.sid.as_ref()))
        .optional("provider_profile", profile)
        .optional(
            "provider_expires_at",
            provider.and_then(|one| one.expires_at.map(Timestamp::as_second)),
        )
        .optional(
            "authenticated_at",
            session.authenticated_at.map(Timestamp::as_second),
        )
        .with(FIELD, identity(keys, session)))
}

pub(super) fn live(
    keys: &KeyRing,
    found: Vec<Found>,
    now: Timestamp,
) -> Result<Vec<Session>, StoreError> {
    let mut sessions = Vec::with_capacity(found.len());
    for fields in found {
        sessions.extend(session(keys, fields)?.filter(|session| session.is_live(now)));
    }
    Ok(sessions)
}

fn provider(entry: &Entry) -> Result<Option<SessionProvider>, StoreError> {
    let Some(id) = entry.optional_owned("provider") else {
        return Ok(None);
    };
    Ok(Some(SessionProvider {
        id,
        subject: entry.owned("provider_subject")?,
        sid: entry.optional_owned("provider_sid"),
        profile: entry.optional_json("provider_profile")?.unwrap_or_default(),
        expires_at: entry.optional_time("provider_expires_at")?,
    }))
}

pub(super) fn session(keys: &KeyRing, found: Found) -> Result<Option<Session>, StoreError> {
    let Some(entry) = Entry::of(TABLE, found) else {
        return Ok(None);
    };
    let session = Session {
        id: entry.uuid("id")?,
        parent: entry.optional("parent")?,
        kind: entry.parsed("kind")?,
        app: entry.optional_owned("app"),
        client: entry.optional_owned("client"),
        user: User {
            id: entry.owned("user_id")?,
            name: entry.owned("user_name")?,
            domain: Named {
                id: entry.owned("domain_id")?,
                name: entry.owned("domain_name")?,
            },
        },
        projects: entry.json("projects")?,
        last_project: entry.optional_owned("last_project"),
        auth_methods: entry.json("auth_methods")?,
        csrf: keys.open(csrf_place(entry.text("id")?), &entry.sealed("csrf_sealed")?)?,
        user_agent: entry.owned("user_agent")?,
        address: entry.owned("address")?,
        created_at: entry.time("created_at")?,
        last_seen_at: entry.time("last_seen_at")?,
        idle_expires_at: entry.time("idle_expires_at")?,
        absolute_expires_at: entry.time("absolute_expires_at")?,
        keystone_expires_at: entry.time("keystone_expires_at")?,
        keystone_checked_at: entry.time("keystone_checked_at")?,
        ended_at: entry.optional_time("ended_at")?,
        end_reason: entry.optional("end_reason")?,
        provider: provider(&entry)?,
        authenticated_at: entry.optional_time("authenticated_at")?,
    };
    with_identity(&session, |parts| {
        binding::check_entry(keys, TABLE, parts, &entry)
    })?;
    Ok(Some(session))
}

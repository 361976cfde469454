//! Sessions as they are stored, and the data of new ones.
use super::SessionProvider;
use crate::error::StoreError;
use crate::random::random_secret;
use crate::sealing::Place;
use jiff::Timestamp;
use portico_domain::identity::{Project, User};
use secrecy::SecretString;
use std::fmt;
use std::str::FromStr;
use uuid::Uuid;

pub(crate) const TABLE: &str = "sessions";

/// A session in the store. Its secret is in the cookie only.
#[derive(Clone, Debug)]
pub struct Session {
    /// The public ID: safe in logs, in the assertion's `sid` and in the list of sessions.
    pub id: Uuid,
    /// The parent browser session; `None` for a browser session.
    pub parent: Option<Uuid>,
    pub kind: SessionKind,
    /// The app's ID, for a child on an app's host.
    pub app: Option<String>,
    /// The client's name (machine and program), for a command line.
    pub client: Option<String>,
    pub user: User,
    /// The projects that the user may choose from.
    pub projects: Vec<Project>,
    /// ID of the project used last in this session.
    pub last_project: Option<String>,
    /// Keystone's method names: `password`, `totp`, …
    pub auth_methods: Vec<String>,
    /// The CSRF token that unsafe requests must carry.
    pub csrf: SecretString,
    pub user_agent: String,
    pub address: String,
    pub created_at: Timestamp,
    pub last_seen_at: Timestamp,
    pub idle_expires_at: Timestamp,
    pub absolute_expires_at: Timestamp,
    /// When the Keystone tokens expire, and with them a password session.
    pub keystone_expires_at: Timestamp,
    /// When Keystone last confirmed the tokens.
    pub keystone_checked_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    pub end_reason: Option<EndReason>,
    /// The OIDC provider that vouches for the user, if there is one.
    pub provider: Option<SessionProvider>,
    /// When the user last authenticated; `None`: unknown.
    pub authenticated_at: Option<Timestamp>,
}

impl Session {
    /// Returns a new browser session and the secret of its cookie.
    pub(super) fn of_browser(
        new: &NewSession,
        provider: Option<SessionProvider>,
        now: Timestamp,
    ) -> Result<(SecretString, Self), StoreError> {
        let secret = random_secret()?;
        let session = Self {
            id: Uuid::new_v4(),
            parent: None,
            kind: SessionKind::Browser,
            app: None,
            client: None,
            user: new.user.clone(),
            projects: new.projects.clone(),
            last_project: new.last_project.clone(),
            auth_methods: new.auth_methods.clone(),
            csrf: random_secret()?,
            user_agent: new.user_agent.clone(),
            address: new.address.clone(),
            created_at: now,
            last_seen_at: now,
            idle_expires_at: new.idle_expires_at.min(new.absolute_expires_at),
            absolute_expires_at: new.absolute_expires_at,
            keystone_expires_at: new.keystone_expires_at,
            keystone_checked_at: now,
            ended_at: None,
            end_reason: None,
            provider,
            authenticated_at: new.authenticated_at,
        };
        Ok((secret, session))
    }

    /// Returns a new child of this session, and a secret.
    pub(super) fn into_child(
        self,
        new: &NewChild,
        now: Timestamp,
    ) -> Result<(SecretString, Self), StoreError> {
        let secret = random_secret()?;
        let (kind, app, client) = match &new.kind {
            ChildKind::App(app) => (SessionKind::App, Some(app.clone()), None),
            ChildKind::CommandLine(client) => {
                (SessionKind::CommandLine, None, Some(client.clone()))
            }
        };
        let child = Self {
            id: Uuid::new_v4(),
            parent: Some(self.root()),
            kind,
            app,
            client,
            csrf: random_secret()?,
            user_agent: new.user_agent.clone(),
            address: new.address.clone(),
            created_at: now,
            last_seen_at: now,
            ..self
        };
        Ok((secret, child))
    }

    /// Returns the browser session: the one that holds the Keystone tokens.
    pub fn root(&self) -> Uuid {
        self.parent.unwrap_or(self.id)
    }

    /// Returns when the session expires unless it is used or renewed.
    pub fn expires_at(&self) -> Timestamp {
        self.idle_expires_at
            .min(self.absolute_expires_at)
            .min(self.keystone_expires_at)
    }

    /// Returns whether the session has neither ended nor expired.
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.ended_at.is_none() && now < self.expires_at()
    }
}

/// The kind of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SessionKind {
    /// A browser on the main host.
    Browser,
    /// The same browser on an app's host.
    App,
    /// A command line.
    CommandLine,
}

impl SessionKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Browser, Self::App, Self::CommandLine];

    /// Returns the name used in the database and in logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Browser => "browser",
            Self::App => "app",
            Self::CommandLine => "cli",
        }
    }
}

impl FromStr for SessionKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "browser" => Ok(Self::Browser),
            "app" => Ok(Self::App),
            "cli" => Ok(Self::CommandLine),
            other => Err(format!("unknown kind {other}")),
        }
    }
}

/// Why a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndReason {
    /// The user signed out.
    SignedOut,
    /// The user ended it from the list of sessions.
    Revoked,
    /// The session was idle, too old, or its Keystone tokens expired.
    Expired,
    /// The parent browser session ended.
    ParentEnded,
    /// Keystone no longer accepts the tokens.
    RefusedByKeystone,
    /// A new sign-in in the same browser replaced the session.
    Replaced,
    /// A refresh token was used twice.
    TokenReuse,
    /// An administrator of the cloud ended it.
    EndedByAdministrator,
    /// The OIDC provider ended it (back-channel logout).
    EndedByProvider,
    /// The OIDC provider refuses to refresh the session, or now returns another subject.
    RefusedByProvider,
}

impl EndReason {
    /// Every reason.
    pub const ALL: [Self; 10] = [
        Self::SignedOut,
        Self::Revoked,
        Self::Expired,
        Self::ParentEnded,
        Self::RefusedByKeystone,
        Self::Replaced,
        Self::TokenReuse,
        Self::EndedByAdministrator,
        Self::EndedByProvider,
        Self::RefusedByProvider,
    ];

    /// Returns the name used in the database and in logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SignedOut => "signed_out",
            Self::Revoked => "revoked",
            Self::Expired => "expired",
            Self::ParentEnded => "parent_ended",
            Self::RefusedByKeystone => "refused_by_keystone",
            Self::Replaced => "replaced",
            Self::TokenReuse => "token_reuse",
            Self::EndedByAdministrator => "ended_by_administrator",
            Self::EndedByProvider => "ended_by_provider",
            Self::RefusedByProvider => "refused_by_provider",
        }
    }
}

impl fmt::Display for EndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for EndReason {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|reason| reason.as_str() == text)
            .ok_or_else(|| format!("unknown reason {text}"))
    }
}

/// The data of a new session.
#[derive(Clone, Debug)]
pub struct NewSession {
    pub user: User,
    pub projects: Vec<Project>,
    pub last_project: Option<String>,
    pub auth_methods: Vec<String>,
    pub user_agent: String,
    pub address: String,
    pub idle_expires_at: Timestamp,
    pub absolute_expires_at: Timestamp,
    pub keystone_expires_at: Timestamp,
    /// When the user authenticated; `None`: unknown.
    pub authenticated_at: Option<Timestamp>,
}

/// The data of a new child session.
#[derive(Clone, Debug)]
pub struct NewChild {
    /// The browser session, or another child of it.
    pub parent: Uuid,
    pub kind: ChildKind,
    pub user_agent: String,
    pub address: String,
}

/// The kind of a child session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChildKind {
    /// An app's host, by the app's ID.
    App(String),
    /// A command line, by the name of its client.
    CommandLine(String),
}

/// The new data of a session after the same user has signed in again.
#[derive(Clone, Debug)]
pub struct Renewal {
    pub auth_methods: Vec<String>,
    pub idle_expires_at: Timestamp,
    pub absolute_expires_at: Timestamp,
    pub keystone_expires_at: Timestamp,
    /// When the user authenticated; `None`: unchanged.
    pub authenticated_at: Option<Timestamp>,
}

/// A session that has just ended: its streams must be closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedSession {
    pub id: Uuid,
    pub kind: SessionKind,
    pub user_id: String,
}

/// Returns the place of a session's CSRF token.
pub(crate) fn csrf_place(id: &str) -> Place<'_> {
    Place {
        table: TABLE,
        row: id,
        column: "csrf_sealed",
    }
}

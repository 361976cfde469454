//! The OIDC provider of a session, which vouches for its user.
use super::model::{COLUMNS, TABLE, from_row};
use super::{EndedSession, NewSession, Session, Sessions};
use crate::changes::ChangeKind;
use crate::error::StoreError;
use crate::row::{Columns, to_json};
use crate::sessions::EndReason;
use jiff::Timestamp;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The OIDC provider behind a session. A session without one is based on Keystone alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionProvider {
    /// The provider's ID in the configuration.
    pub id: String,
    /// `sub` of its tokens.
    pub subject: String,
    /// The provider's own session (`sid`), where it names one.
    pub sid: Option<String>,
    pub profile: ProviderProfile,
    /// When the provider's tokens expire and must have been refreshed; `None`: they cannot be
    /// refreshed.
    pub expires_at: Option<Timestamp>,
}

/// The provider's claims about its subject, renewed with each refresh.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderProfile {
    #[serde(default)]
    pub email: Option<String>,
    #[serde(default)]
    pub email_verified: bool,
    /// The display name.
    #[serde(default)]
    pub display_name: Option<String>,
    #[serde(default)]
    pub groups: Vec<String>,
    #[serde(default)]
    pub roles: Vec<String>,
    /// Whether the session has Keystone tokens too. Without, it reaches apps but no clusters.
    #[serde(default)]
    pub keystone: bool,
}

impl Session {
    /// Returns whether the session has, or had, Keystone tokens.
    pub fn has_keystone(&self) -> bool {
        self.provider
            .as_ref()
            .is_none_or(|provider| provider.profile.keystone)
    }
}

impl Sessions<'_> {
    /// Stores a browser session of an OIDC provider's user; see [`Sessions::create`].
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn create_of_provider(
        self,
        new: &NewSession,
        provider: SessionProvider,
        now: Timestamp,
    ) -> Result<(SecretString, Session), StoreError> {
        self.create_with(new, Some(provider), now).await
    }

    /// Stores a provider's current claims for the whole family. Returns whether the session still
    /// exists.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn set_provider(
        self,
        root: Uuid,
        profile: &ProviderProfile,
        expires_at: Option<Timestamp>,
    ) -> Result<bool, StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis
                .set_provider_of_session(root, profile, expires_at)
                .await;
        }
        let updated = sqlx::query(
            "UPDATE sessions
             SET provider_profile = $1, provider_expires_at = $2
             WHERE (id = $3 OR parent = $3) AND ended_at IS NULL",
        )
        .bind(to_json(TABLE, "provider_profile", profile)?)
        .bind(expires_at.map(Timestamp::as_second))
        .bind(root.to_string())
        .execute(&self.0.pool)
        .await
        .map_err(StoreError::database("take over a provider's word"))?;
        let changes = self.0.changes();
        changes
            .announce(root, ChangeKind::Changed, Timestamp::now())
            .await?;
        Ok(updated.rows_affected() > 0)
    }

    /// Returns the live browser sessions that a provider's logout token refers to: those of its
    /// session `sid`, where it names one, else all of `subject`. A session whose `sid` is not known
    /// counts by subject.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn list_of_provider(
        self,
        provider: &str,
        subject: Option<&str>,
        sid: Option<&str>,
        now: Timestamp,
    ) -> Result<Vec<Session>, StoreError> {
        if let Some(redis) = self.0.redis() {
            let found = redis.sessions_of_provider(&self.0.keys, provider, subject, sid, now);
            let mut sessions = found.await?;
            sessions.retain(|session| session.is_meant(subject, sid));
            return Ok(sessions);
        }
        let query = format!(
            "SELECT {COLUMNS}
             FROM sessions
             WHERE provider = $1 AND parent IS NULL AND ended_at IS NULL
                 AND (provider_sid = $2 OR provider_subject = $3)"
        );
        let rows = sqlx::query(&query)
            .bind(provider)
            .bind(sid)
            .bind(subject)
            .fetch_all(&self.0.pool)
            .await
            .map_err(StoreError::database("list the sessions of a provider"))?;
        let mut sessions = Vec::new();
        for row in &rows {
            let session = from_row(&self.0.keys, row)?;
            if session.is_live(now) && session.is_meant(subject, sid) {
                sessions.push(session);
            }
        }
        Ok(sessions)
    }

    /// Ends what [`Sessions::list_of_provider`] finds.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn end_of_provider(
        self,
        provider: &str,
        subject: Option<&str>,
        sid: Option<&str>,
        now: Timestamp,
    ) -> Result<Vec<EndedSession>, StoreError> {
        let mut all = Vec::new();
        for session in self.list_of_provider(provider, subject, sid, now).await? {
            all.extend(
                self.end(session.id, EndReason::EndedByProvider, now)
                    .await?,
            );
        }
        Ok(all)
    }
}

impl Session {
    fn is_meant(&self, subject: Option<&str>, sid: Option<&str>) -> bool {
        let Some(provider) = &self.provider else {
            return false;
        };
        let same_subject = subject.is_none_or(|subject| subject == provider.subject);
        match (sid, &provider.sid) {
            (Some(sid), Some(own)) => sid == own && same_subject,
            // the provider never named which of its sessions this is
            (Some(_), None) | (None, _) => subject.is_some() && same_subject,
        }
    }
}

pub(super) fn read(columns: &Columns<'_>) -> Result<Option<SessionProvider>, StoreError> {
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
pub(super) fn profile_text(session: &Session) -> Result<Option<String>, StoreError> {
    session
        .provider
        .as_ref()
        .map(|provider| to_json(TABLE, "provider_profile", &provider.profile))
        .transpose()
}

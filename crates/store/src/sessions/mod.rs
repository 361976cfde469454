//! Sessions: one per signed-in browser, with children on app hosts and command lines.
//!
//! A child lives as long as its parent: same end, same expiry, and the parent's Keystone tokens.
//! Every change to a session applies to its *root*, the browser session.
mod life;
mod model;
mod provider;

pub use model::{
    ChildKind, EndReason, EndedSession, NewChild, NewSession, Renewal, Session, SessionKind,
};
pub(crate) use model::{TABLE, csrf_place};
pub use provider::{ProviderProfile, SessionProvider};

use crate::error::StoreError;
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use portico_domain::identity::{Project, User};
use secrecy::SecretString;
use uuid::Uuid;

pub(crate) const HASH_PURPOSE: &str = "session";
/// Maximum number of users of one name in a list.
pub(crate) const MAX_USERS: i64 = 50;
/// Minimum time between two writes of a session's last use.
const TOUCH_INTERVAL: SignedDuration = SignedDuration::from_secs(30);

/// The sessions; see [`crate::Store::sessions`].
#[async_trait]
pub trait Sessions: Send + Sync {
    /// Stores a browser session; returns the secret for its cookie, which is not stored.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn create(
        &self,
        new: &NewSession,
        now: Timestamp,
    ) -> Result<(SecretString, Session), StoreError> {
        let (secret, session) = Session::of_browser(new, None, now)?;
        self.insert(&session, Some(&secret)).await?;
        Ok((secret, session))
    }

    /// Stores a browser session of an OIDC provider's user; see [`Self::create`].
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn create_of_provider(
        &self,
        new: &NewSession,
        provider: SessionProvider,
        now: Timestamp,
    ) -> Result<(SecretString, Session), StoreError> {
        let (secret, session) = Session::of_browser(new, Some(provider), now)?;
        self.insert(&session, Some(&secret)).await?;
        Ok((secret, session))
    }

    /// Stores a child of a live session; returns `None` if the parent has ended meanwhile. A child
    /// on an app's host gets a cookie secret; a command line gets its tokens from
    /// [`crate::AccessTokens`].
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn create_child(
        &self,
        new: &NewChild,
        now: Timestamp,
    ) -> Result<Option<(SecretString, Session)>, StoreError> {
        life::create_child(self, new, now).await
    }

    /// Stores a new session, with the secret of its cookie if it has one; see [`Self::create`] and
    /// [`Self::create_child`].
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn insert(
        &self,
        session: &Session,
        secret: Option<&SecretString>,
    ) -> Result<(), StoreError>;

    /// Returns the live session of a cookie's secret.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn find(&self, secret: &str, now: Timestamp) -> Result<Option<Session>, StoreError> {
        let session = self.find_even_ended(secret).await?;
        Ok(session.filter(|session| session.is_live(now)))
    }

    /// Returns the session of a cookie's secret, whether it is live or has ended: for telling a
    /// user why they have to sign in, never for letting them in.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn find_even_ended(&self, secret: &str) -> Result<Option<Session>, StoreError>;

    /// Returns a session by its public ID, live or ended.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn get(&self, id: Uuid) -> Result<Option<Session>, StoreError>;

    /// Returns the user's live sessions, the most recently used first.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn list_of_user(&self, user_id: &str, now: Timestamp)
    -> Result<Vec<Session>, StoreError>;

    /// Returns the live browser sessions that a provider's logout token refers to: those of its
    /// session `sid`, where it names one, else all of `subject`. A session whose `sid` is not known
    /// counts by subject.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn list_of_provider(
        &self,
        provider: &str,
        subject: Option<&str>,
        sid: Option<&str>,
        now: Timestamp,
    ) -> Result<Vec<Session>, StoreError>;

    /// Returns the users with a live session whose ID is `text`, or whose name is (ASCII letters in
    /// any case); `name@domain` matches too.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn users_matching(&self, text: &str, now: Timestamp) -> Result<Vec<User>, StoreError>;

    /// Returns the number of live browser sessions, for a metric.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn count(&self, now: Timestamp) -> Result<i64, StoreError>;

    /// Returns the number of live sessions of each kind, kinds with zero included.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn count_by_kind(&self, now: Timestamp) -> Result<Vec<(SessionKind, i64)>, StoreError>;

    /// Stores the projects that the user may choose from.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn set_projects(
        &self,
        root: Uuid,
        projects: &[Project],
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Stores the project used last, for the session and for the user's next one.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn set_last_project(
        &self,
        session: &Session,
        project_id: &str,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Returns the project that the user used last, in any session.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn last_project_of_user(&self, user_id: &str) -> Result<Option<String>, StoreError>;

    /// Stores a provider's current claims for the whole family. Returns whether the session still
    /// exists.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn set_provider(
        &self,
        root: Uuid,
        profile: &ProviderProfile,
        expires_at: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Records that the session is in use and extends its idle expiry to `idle_expires_at`; returns
    /// whether it wrote. Use of an app keeps the whole family alive, use of a command line only its
    /// own session.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn touch(
        &self,
        session: &Session,
        idle_expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        if now.duration_since(session.last_seen_at) < TOUCH_INTERVAL {
            return Ok(false);
        }
        let family = match session.kind {
            SessionKind::CommandLine => session.id,
            SessionKind::Browser | SessionKind::App => session.root(),
        };
        self.record_use(session.id, family, idle_expires_at, now)
            .await
    }

    /// Records the use of a session and extends the idle expiry of the family; see
    /// [`Self::touch`].
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn record_use(
        &self,
        id: Uuid,
        family: Uuid,
        idle_expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Sets new times for the whole family after the same user has signed in again, and the session
    /// a new cookie secret. Returns `None` if it has ended meanwhile.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn renew(
        &self,
        root: Uuid,
        renewal: &Renewal,
        now: Timestamp,
    ) -> Result<Option<SecretString>, StoreError>;

    /// Records that Keystone has confirmed the family's tokens.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn set_keystone_checked(&self, root: Uuid, at: Timestamp) -> Result<(), StoreError>;

    /// Stores the expiry of new Keystone tokens for the whole family, which uses them from then on.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn set_keystone_expires(
        &self,
        root: Uuid,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Ends a session and its children; returns those that were live. In the same transaction its
    /// Keystone tokens become due for revocation, the secret of its application credential is
    /// destroyed, and the change is announced to every replica, so that none of this can be missed.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read; no session has ended then.
    async fn end(
        &self,
        id: Uuid,
        reason: EndReason,
        now: Timestamp,
    ) -> Result<Vec<EndedSession>, StoreError> {
        self.end_family(id, reason, false, now).await
    }

    /// Ends a session that has expired, with everything that [`Self::end`] does; does nothing if it
    /// was used meanwhile, on another replica for example.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read; no session has ended then.
    async fn expire(&self, id: Uuid, now: Timestamp) -> Result<Vec<EndedSession>, StoreError> {
        self.end_family(id, EndReason::Expired, true, now).await
    }

    /// Ends a session and its children, or only if the session has expired; see [`Self::end`] and
    /// [`Self::expire`].
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn end_family(
        &self,
        id: Uuid,
        reason: EndReason,
        only_expired: bool,
        now: Timestamp,
    ) -> Result<Vec<EndedSession>, StoreError>;

    /// Ends every session of a user except the family of `except`.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn end_all_of_user(
        &self,
        user_id: &str,
        except: Option<Uuid>,
        reason: EndReason,
        now: Timestamp,
    ) -> Result<Vec<EndedSession>, StoreError> {
        life::end_all_of_user(self, user_id, except, reason, now).await
    }

    /// Ends what [`Self::list_of_provider`] finds.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn end_of_provider(
        &self,
        provider: &str,
        subject: Option<&str>,
        sid: Option<&str>,
        now: Timestamp,
    ) -> Result<Vec<EndedSession>, StoreError> {
        life::end_of_provider(self, provider, subject, sid, now).await
    }

    /// Returns the IDs of the sessions that have expired and not ended, browser sessions first; see
    /// [`Self::end_expired`].
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn expired(&self, now: Timestamp) -> Result<Vec<String>, StoreError>;

    /// Ends every session that has expired.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn end_expired(&self, now: Timestamp) -> Result<Vec<EndedSession>, StoreError> {
        life::end_expired(self, now).await
    }
}

//! Access and refresh tokens of command-line sessions: short-lived access tokens, rotating refresh
//! tokens.
use crate::error::StoreError;
use crate::sessions::Session;
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use secrecy::SecretString;
use uuid::Uuid;

pub(crate) const ACCESS: &str = "access token";
pub(crate) const REFRESH: &str = "refresh token";

/// Access and refresh tokens of the command line; see [`crate::Store::access_tokens`].
#[async_trait]
pub trait AccessTokens: Send + Sync {
    /// Issues an access token for a command-line session.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn issue(&self, session: Uuid, expires_at: Timestamp)
    -> Result<SecretString, StoreError>;

    /// Returns the live session of an access token.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn find_session(
        &self,
        token: &str,
        now: Timestamp,
    ) -> Result<Option<Session>, StoreError>;

    /// Issues the first refresh token of a command-line session.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn issue_refresh(
        &self,
        session: Uuid,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<SecretString, StoreError>;

    /// Exchanges a refresh token for its successor. Within `grace`, the token rotated last may be
    /// presented once more, by a client that did not receive the response; the lost successor then
    /// counts as used, so that only one of two holders can continue. Calls with the same token wait
    /// for each other: one at the same moment is such a repetition, not a reuse.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn rotate(
        &self,
        token: &str,
        grace: SignedDuration,
        now: Timestamp,
    ) -> Result<Rotation, StoreError>;

    /// Returns the command-line session of an access or refresh token, for revocation (RFC 7009):
    /// expired ones included.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn session_of_any(&self, token: &str) -> Result<Option<Uuid>, StoreError>;
}

/// A refresh token that replaces another.
#[derive(Clone, Debug)]
pub struct RefreshGrant {
    /// The command-line session.
    pub session: Uuid,
    pub refresh_token: SecretString,
}

/// The result of presenting a refresh token.
#[derive(Clone, Debug)]
pub enum Rotation {
    /// The token was valid and is now used; this is its successor.
    Rotated(RefreshGrant),
    /// The token had been used before, so another program may have it. End this session.
    Reused { session: Uuid },
    /// The token is unknown or has expired.
    Unknown,
}

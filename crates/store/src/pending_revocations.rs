//! Keystone tokens to revoke, and the revocations that are reported to users as unfinished.
use jiff::Timestamp;
use secrecy::SecretString;
use uuid::Uuid;

/// A token that must be revoked.
#[derive(Clone, Debug)]
pub struct PendingRevocation {
    pub id: Uuid,
    pub session: Uuid,
    /// Whether the token is unscoped: the one that a session starts with.
    pub unscoped: bool,
    pub token: SecretString,
    /// The number of attempts so far.
    pub attempts: i64,
    pub expires_at: Timestamp,
}

/// Tokens of ended sessions that still work at Keystone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnfinishedRevocations {
    pub tokens: i64,
    /// When the last of them expires; revocation is tried until then.
    pub until: Timestamp,
}

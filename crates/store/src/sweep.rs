//! Deletion of expired entries.
use crate::error::StoreError;
use crate::sessions::EndedSession;
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};

/// How long ended sessions are stored, so that a late request gets the reason why it is refused.
pub(crate) const ENDED_RETENTION: SignedDuration = SignedDuration::from_hours(24 * 7);
/// How long changes are stored. A replica that has not read for longer reads every session again.
pub(crate) const CHANGE_RETENTION: SignedDuration = SignedDuration::from_mins(10);
/// How long expired credentials are stored: they remain in Keystone until they are deleted there.
pub(crate) const CREDENTIAL_RETENTION: SignedDuration = SignedDuration::from_hours(24 * 30);
pub(crate) const THROTTLE_RETENTION: SignedDuration = SignedDuration::from_hours(24);

/// The result of a sweep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Sessions that have just expired: close their streams.
    pub ended: Vec<EndedSession>,
    /// Rows that were deleted.
    pub deleted: u64,
}

/// The deletion of entries that can no longer be used; see [`crate::Store::sweep`].
#[async_trait]
pub(crate) trait Sweep: Send + Sync {
    /// Deletes the entries; returns their number.
    async fn delete_old(&self, now: Timestamp) -> Result<u64, StoreError>;
}

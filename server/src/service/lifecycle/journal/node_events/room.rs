//! How much of a journal events of nodes may take. An API server belongs to a tenant, and must not push the requests
//! of users out of a journal that has a limited number of entries. Entries in the middle of a chain cannot be
//! removed, so events are not recorded.
use super::{Failure, new_event};
use jiff::{SignedDuration, Timestamp};
use portico_lifecycle::journal::NodeEvent;
use portico_store::{JournalKey, JournalSource, Store};

/// Maximum number of entries in [`PERIOD`].
pub(super) const MAX_ENTRIES: u32 = 2_000;
const PERIOD: SignedDuration = SignedDuration::from_hours(24);
/// Number of stored entries from which nothing is recorded: half of what a journal holds.
pub(super) const MAX_SHARE: u32 = 5_000;
/// Number of stored entries below which recording continues, so that it does not stop again at once.
const RESUME_SHARE: u32 = 4_000;
/// The beginning of the ID of the entry which states that recording has stopped.
const STOPPED: &str = "stopped/";

/// Checks that new events may be recorded. Where the share is used up, one entry states it.
pub(super) async fn check(store: &Store, key: &JournalKey, now: Timestamp) -> Result<(), Failure> {
    let source = JournalSource::Kubernetes;
    let since = now.checked_sub(PERIOD).unwrap_or(Timestamp::UNIX_EPOCH);
    let journal = store.cluster_journal();
    if journal.count_events(key, source, since).await? >= MAX_ENTRIES {
        return Err(Failure::Full);
    }
    let stored = journal
        .count_events(key, source, Timestamp::UNIX_EPOCH)
        .await?;
    // most journals have few of them
    if stored < RESUME_SHARE {
        return Ok(());
    }
    let newest = journal.last_events(key, source, 1).await?.pop();
    let newest = newest.unwrap_or_default();
    let is_stopped = newest.starts_with(STOPPED);
    if has_room(stored, is_stopped) {
        return Ok(());
    }
    if !is_stopped {
        // the same of all replicas
        let id = format!("{STOPPED}{newest}");
        let stopped = new_event(id, &NodeEvent::stopped(now));
        journal.append_events(key, &[stopped], now).await?;
    }
    Err(Failure::ShareUsed)
}

/// Returns whether a journal with so many of these entries takes another one.
fn has_room(stored: u32, is_stopped: bool) -> bool {
    stored < if is_stopped { RESUME_SHARE } else { MAX_SHARE }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_store::MAX_JOURNAL_ENTRIES;

    #[test]
    fn recording_stops_at_half_of_a_journal_and_continues_when_there_is_room_again() {
        assert_eq!(i64::from(MAX_SHARE) * 2, MAX_JOURNAL_ENTRIES);
        assert!(has_room(MAX_SHARE - 1, false));
        assert!(!has_room(MAX_SHARE, false));
        assert!(!has_room(MAX_SHARE - 1, true));
        assert!(has_room(RESUME_SHARE - 1, true));
    }
}

//! Follows the store's feed of changes: this process learns within moments what other replicas do
//! to sessions, so that a session that has been read once need not be read again.
//!
//! Sessions in memory are trusted only while the feed was read in full less than a second ago; else
//! every request reads the store, and fails if the store does not respond.
use std::{collections::VecDeque, time::Duration};

use parking_lot::Mutex;
use portico_store::{Change, ChangeKind, Position, StoreError};
use tokio::time::Instant;
use uuid::Uuid;

use super::registry::Registry;

/// How often the feed is read.
pub(crate) const READ_INTERVAL: Duration = Duration::from_millis(200);
/// How long memory is current after the feed was read.
const MAX_STALENESS: Duration = Duration::from_secs(1);
/// How long changes are remembered for reads in progress; longer than any read may take.
const CHANGE_RETENTION: Duration = Duration::from_secs(30);

/// The position of this process in the feed.
#[derive(Debug, Default)]
pub(crate) struct Feed {
    position: Mutex<Option<Position>>,
    /// When the last complete read began.
    read: Mutex<Option<Instant>>,
    recent: Mutex<VecDeque<(Instant, Uuid)>>,
}

impl Feed {
    /// Returns whether sessions in memory are known to be current.
    pub fn is_current(&self) -> bool {
        self.read
            .lock()
            .is_some_and(|read| read.elapsed() < MAX_STALENESS)
    }

    /// Returns how long ago the feed was read in full; `None` before the first time.
    pub fn lag(&self) -> Option<Duration> {
        self.read.lock().map(|read| read.elapsed())
    }

    /// Records that a session has just changed, for reads in progress.
    pub fn note(&self, session: Uuid) {
        let now = Instant::now();
        let mut recent = self.recent.lock();
        while recent
            .front()
            .is_some_and(|(at, _)| now.duration_since(*at) > CHANGE_RETENTION)
        {
            recent.pop_front();
        }
        recent.push_back((now, session));
    }

    /// Returns whether one of these sessions has changed since a read of it began.
    pub fn changed_since(&self, began: Instant, sessions: [Uuid; 2]) -> bool {
        self.recent
            .lock()
            .iter()
            .rev()
            .take_while(|(at, _)| *at >= began)
            .any(|(_, session)| sessions.contains(session))
    }
}

impl Registry {
    /// Reads the feed to its end.
    pub async fn follow(&self) -> Result<(), StoreError> {
        let store = self.store();
        loop {
            let began = Instant::now();
            let position = *self.feed.position.lock();
            let Some(position) = position else {
                let position = store.changes().position().await?;
                // changes to sessions that were read before may have been missed
                self.distrust();
                *self.feed.position.lock() = Some(position);
                continue;
            };
            let news = store.changes().since(position).await?;
            if !news.complete {
                tracing::warn!("changes of other replicas were missed: every session is read anew");
                self.distrust();
            }
            for change in &news.changes {
                self.take_over(change);
            }
            *self.feed.position.lock() = Some(news.position);
            if !news.more {
                *self.feed.read.lock() = Some(began);
                return Ok(());
            }
        }
    }

    fn take_over(&self, change: &Change) {
        match change.kind {
            ChangeKind::Ended(reason) => self.end(change.session, reason),
            ChangeKind::Renewed | ChangeKind::Changed => {
                self.refresh(change.session);
                if change.own {
                    return;
                }
                if let Some(live) = self.known(change.session) {
                    live.forget_tokens();
                    self.suspects.lock().insert(live.id);
                    if change.kind == ChangeKind::Renewed {
                        live.connections.renew();
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_that_was_under_way_learns_of_the_change() {
        let (feed, one, other) = (Feed::default(), Uuid::new_v4(), Uuid::new_v4());
        let before = Instant::now();
        feed.note(one);
        assert!(feed.changed_since(before, [one, other]));
        assert!(!feed.changed_since(before, [other, other]));
        let after = Instant::now() + Duration::from_millis(1);
        assert!(!feed.changed_since(after, [one, other]));
    }

    #[test]
    fn nothing_is_trusted_before_the_feed_was_read() {
        let feed = Feed::default();
        assert!(!feed.is_current());
        *feed.read.lock() = Some(Instant::now());
        assert!(feed.is_current());
        *feed.read.lock() = Instant::now().checked_sub(MAX_STALENESS);
        assert!(!feed.is_current());
    }
}

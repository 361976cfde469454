//! Following the store's feed of changes: what other replicas do to sessions is known here within
//! moments, so that a session that has been read once need not be read again.
//!
//! The memory is trusted only while the feed was read in full less than a second ago; else every
//! request asks the store, and where that does not answer either, nobody can say.
use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use portico_store::{Change, ChangeKind, Position, StoreError};
use uuid::Uuid;

use super::{lock::Lock, registry::Registry};

/// How often the feed is read.
pub(crate) const EVERY: Duration = Duration::from_millis(200);
/// How long memory is trusted after the feed was read.
const TRUSTED: Duration = Duration::from_secs(1);
/// How long changes are remembered for reads that were under way; longer than any read may take.
const REMEMBERED: Duration = Duration::from_secs(30);

/// How far this process has followed.
#[derive(Debug, Default)]
pub(crate) struct Feed {
    position: Lock<Option<Position>>,
    /// When the last look began that brought everything.
    read: Lock<Option<Instant>>,
    recent: Lock<VecDeque<(Instant, Uuid)>>,
}

impl Feed {
    /// Whether what was read once is still known to be so.
    pub fn is_current(&self) -> bool {
        self.read
            .lock()
            .is_some_and(|read| read.elapsed() < TRUSTED)
    }

    /// How long ago everything was known; `None` before the first look.
    pub fn lag(&self) -> Option<Duration> {
        self.read.lock().map(|read| read.elapsed())
    }

    /// Notes that a session has just changed, for whoever is reading it now.
    pub fn note(&self, session: Uuid) {
        let now = Instant::now();
        let mut recent = self.recent.lock();
        while recent
            .front()
            .is_some_and(|(at, _)| now.duration_since(*at) > REMEMBERED)
        {
            recent.pop_front();
        }
        recent.push_back((now, session));
    }

    /// Whether one of these sessions has changed since a read of it began.
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
    /// Reads on in the feed, to its end.
    pub async fn follow(&self) -> Result<(), StoreError> {
        let store = self.store();
        loop {
            let began = Instant::now();
            let position = *self.feed.position.lock();
            let Some(position) = position else {
                let position = store.changes().position().await?;
                // what was read before had nobody who would have said that it changed
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
        std::thread::sleep(Duration::from_millis(2));
        assert!(!feed.changed_since(Instant::now(), [one, other]));
    }

    #[test]
    fn nothing_is_trusted_before_the_feed_was_read() {
        let feed = Feed::default();
        assert!(!feed.is_current());
        *feed.read.lock() = Some(Instant::now());
        assert!(feed.is_current());
        *feed.read.lock() = Instant::now().checked_sub(TRUSTED);
        assert!(!feed.is_current());
    }
}

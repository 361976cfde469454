//! One viewer's side of a watch.
use super::{
    Confirmation, Rows, WatchScope,
    feed::{Feed, Progress},
    metrics,
};
use crate::kube::KubeError;
use jiff::Timestamp;
use std::sync::Arc;
use tokio::sync::Notify;

/// How current the rows of a viewer are.
#[derive(Clone, Debug)]
pub enum State {
    /// Not all rows have been read yet.
    Loading,
    Live,
    /// Correct as of `since`; the API server does not respond now.
    Stale {
        error: KubeError,
        since: Timestamp,
    },
    /// The API server refuses this viewer.
    Refused(KubeError),
    /// The viewer's rights were not confirmed in time: it may not read.
    Unconfirmed,
}

/// A viewer of a watch. Leaves when dropped.
pub struct Viewer {
    feed: Arc<Feed>,
    id: u64,
}

impl Viewer {
    pub(super) fn new(feed: Arc<Feed>, confirmation: Confirmation, changed: Arc<Notify>) -> Self {
        let id = feed.viewers.join(confirmation, changed);
        Self { feed, id }
    }

    pub fn scope(&self) -> &WatchScope {
        self.feed.scope()
    }

    /// Prolongs the viewer's rights.
    pub fn renew(&self, confirmation: Confirmation) {
        self.feed.viewers.renew(self.id, confirmation);
    }

    pub fn state(&self) -> State {
        if let Some(error) = self.feed.viewers.refused(self.id) {
            return State::Refused(error);
        }
        if !self.feed.viewers.is_confirmed(self.id) {
            return State::Unconfirmed;
        }
        match self.feed.progress() {
            Progress::Loading => State::Loading,
            Progress::Live => State::Live,
            Progress::Stale { error, since } => State::Stale { error, since },
        }
    }

    /// Reads the rows; `None` if the viewer's rights were not confirmed in the last 60 seconds.
    pub fn read<R>(&self, read: impl FnOnce(&Rows) -> R) -> Option<R> {
        let rows = self.feed.rows.read();
        self.feed.viewers.is_confirmed(self.id).then(|| read(&rows))
    }

    /// Ends the view of a user who has lost the right to it. If the watch uses this user's token, it
    /// is closed and continues with another's.
    pub fn cut(self) {
        metrics::count_cut();
        self.feed.viewers.cut(self.id);
        self.feed.lender_lost.notify_one();
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        self.feed.viewers.leave(self.id);
    }
}

//! The viewers of one watch: who may read, and who lends.
use super::{Confirmation, metrics::Gauged};
use crate::kube::{Api, KubeError};
use parking_lot::Mutex;
use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
    time::Duration,
};
use tokio::{
    sync::Notify,
    time::{Instant, timeout},
};

/// A shared watch stays open for this long after its last viewer has left, on that viewer's
/// confirmation: users change a filter, or go to a page and back.
const GRACE_PERIOD: Duration = Duration::from_secs(5);

/// The viewers of one watch.
pub(super) struct Viewers {
    entries: Mutex<Entries>,
    /// Notified when a viewer joins or renews its confirmation.
    joined: Notify,
}

#[derive(Default)]
struct Entries {
    next_id: u64,
    by_id: BTreeMap<u64, Entry>,
}

struct Entry {
    confirmation: Confirmation,
    changed: Arc<Notify>,
    /// The API server refused the list or watch to this viewer, whatever the reviews returned.
    refused: Option<KubeError>,
    /// Set when the viewer has left: until when the watch may still use its token.
    grace_until: Option<Instant>,
    /// `None` when the viewer has left.
    gauge: Option<Gauged>,
}

impl Entry {
    /// Returns until when the watch may use the viewer's token.
    fn lends_until(&self) -> Instant {
        let confirmed = self.confirmation.expires_at();
        self.grace_until
            .map_or(confirmed, |grace| grace.min(confirmed))
    }

    fn may_lend(&self, now: Instant) -> bool {
        self.refused.is_none() && now < self.lends_until()
    }
}

/// A viewer whose token a watch uses.
pub(super) struct Lender {
    pub(super) id: u64,
    pub(super) api: Api,
}

impl Viewers {
    pub(super) fn new() -> Self {
        Self {
            entries: Mutex::default(),
            joined: Notify::new(),
        }
    }

    pub(super) fn join(&self, confirmation: Confirmation, changed: Arc<Notify>) -> u64 {
        let mut entries = self.entries.lock();
        let id = entries.next_id;
        entries.next_id += 1;
        let entry = Entry {
            gauge: Some(Gauged::viewer(confirmation.scope())),
            confirmation,
            changed,
            refused: None,
            grace_until: None,
        };
        entries.by_id.insert(id, entry);
        drop(entries);
        self.joined.notify_one();
        id
    }

    /// Replaces a viewer's confirmation. One of another scope is not accepted.
    pub(super) fn renew(&self, id: u64, confirmation: Confirmation) {
        let mut entries = self.entries.lock();
        if let Some(entry) = entries.by_id.get_mut(&id)
            && entry.confirmation.scope() == confirmation.scope()
        {
            entry.confirmation = confirmation;
            entry.refused = None;
        }
        drop(entries);
        self.joined.notify_one();
    }

    /// Removes a viewer; the watch may use its token a little longer if it is shared.
    pub(super) fn leave(&self, id: u64) {
        let mut entries = self.entries.lock();
        let Some(entry) = entries.by_id.get_mut(&id) else {
            return;
        };
        if entry.confirmation.scope().is_shared() {
            entry.grace_until = Some(Instant::now() + GRACE_PERIOD);
            drop(entry.gauge.take());
        } else {
            entries.by_id.remove(&id);
        }
    }

    /// Removes a viewer that has lost its rights: its token is not used any more.
    pub(super) fn cut(&self, id: u64) {
        self.entries.lock().by_id.remove(&id);
    }

    /// Records that the API server refused the list or watch to a lender.
    pub(super) fn refuse(&self, id: u64, error: KubeError) {
        let mut entries = self.entries.lock();
        if let Some(entry) = entries.by_id.get_mut(&id) {
            entry.refused = Some(error);
            entry.changed.notify_one();
        }
    }

    pub(super) fn refused(&self, id: u64) -> Option<KubeError> {
        let entries = self.entries.lock();
        entries
            .by_id
            .get(&id)
            .and_then(|entry| entry.refused.clone())
    }

    /// Returns whether a viewer may read rows now.
    pub(super) fn is_confirmed(&self, id: u64) -> bool {
        let entries = self.entries.lock();
        entries
            .by_id
            .get(&id)
            .is_some_and(|entry| Instant::now() < entry.confirmation.expires_at())
    }

    /// Returns until when a lender may lend, if it still may.
    pub(super) fn lends_until(&self, id: u64) -> Option<Instant> {
        let entries = self.entries.lock();
        let entry = entries.by_id.get(&id)?;
        entry.may_lend(Instant::now()).then(|| entry.lends_until())
    }

    /// Chooses a lender: the one before while it may, else the viewer that may lend longest.
    pub(super) fn lender(&self, before: Option<u64>, except: &HashSet<u64>) -> Option<Lender> {
        let now = Instant::now();
        let entries = self.entries.lock();
        let may = |id: &u64, entry: &Entry| !except.contains(id) && entry.may_lend(now);
        let (id, entry) = before
            .and_then(|id| entries.by_id.get_key_value(&id))
            .filter(|(id, entry)| may(id, entry))
            .or_else(|| {
                entries
                    .by_id
                    .iter()
                    .filter(|(id, entry)| may(id, entry))
                    .max_by_key(|(_, entry)| entry.lends_until())
            })?;
        Some(Lender {
            id: *id,
            api: entry.confirmation.api().clone(),
        })
    }

    /// Returns whether there are neither readers nor lenders.
    pub(super) fn is_empty(&self) -> bool {
        let now = Instant::now();
        let mut entries = self.entries.lock();
        entries
            .by_id
            .retain(|_, entry| entry.grace_until.is_none_or(|until| now < until));
        entries.by_id.is_empty()
    }

    /// Waits until a viewer joins or renews its confirmation, or for `limit`.
    pub(super) async fn joined(&self, limit: Duration) {
        // a timeout is one of the two results
        let _ = timeout(limit, self.joined.notified()).await;
    }

    pub(super) fn notify_all(&self) {
        for entry in self.entries.lock().by_id.values() {
            entry.changed.notify_one();
        }
    }
}

#[cfg(test)]
#[path = "viewers_tests.rs"]
mod tests;

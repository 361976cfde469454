//! Arrangements of shared watches, computed once for all viewers with the same query. Each viewer's
//! rights are checked before it gets one, as for the rows themselves.
use super::{
    arrangement::{Arranged, ListRows},
    filter::{Filter, FilterError},
    source,
};
use crate::shared_watch::{Viewer, WatchScope};
use jiff::Timestamp;
use parking_lot::Mutex;
use portico_clock::Clock;
use std::{
    collections::HashMap,
    sync::{Arc, Weak},
    time::Duration,
};
use tokio::time::Instant;

/// An arrangement of a filter that depends on time is computed again after this time.
const MAX_TIMED_AGE: Duration = Duration::from_secs(1);

/// The arrangements that viewers have now. `Clone` shares them.
#[derive(Clone)]
pub struct Arrangements {
    entries: Arc<Mutex<HashMap<Key, Entry>>>,
    clock: Clock,
}

#[derive(PartialEq, Eq, Hash)]
struct Key {
    watches: Vec<WatchScope>,
    filter: Filter,
}

/// Holds an arrangement as long as a viewer does.
struct Entry {
    arranged: Weak<Arranged>,
    /// The versions of the watches' rows.
    versions: Vec<u64>,
    made_at: Instant,
    /// How long it took.
    cost: Duration,
}

/// An arrangement for one viewer.
pub struct Reading {
    pub arranged: Arc<Arranged>,
    /// Whether rows have changed since it was made.
    pub is_outdated: bool,
}

impl Arrangements {
    pub fn new(clock: Clock) -> Self {
        Self {
            entries: Arc::default(),
            clock,
        }
    }

    /// Returns the arrangement of a list; `None` if the viewer's rights to one of its places are not
    /// confirmed. It may be older than the rows by `max_age`, and longer if it takes long to make.
    ///
    /// # Errors
    /// `Fields` for a condition that does not fit the columns.
    pub fn read(
        &self,
        viewers: &[Viewer],
        filter: &Filter,
        max_age: Duration,
    ) -> Result<Option<Reading>, FilterError> {
        let Some(versions) = source::versions(viewers) else {
            return Ok(None);
        };
        let is_shared = viewers.iter().all(|viewer| viewer.scope().is_shared());
        let key = is_shared.then(|| Key {
            watches: viewers
                .iter()
                .map(|viewer| viewer.scope().clone())
                .collect(),
            filter: filter.clone(),
        });
        if let Some(key) = &key
            && let Some(reading) = self.existing(key, &versions, max_age)
        {
            return Ok(Some(reading));
        }
        let started = Instant::now();
        let Some((rows, versions)) = source::collect(viewers) else {
            return Ok(None);
        };
        let arranged = Arc::new(Arranged::new(Arc::new(rows), filter, self.clock.now())?);
        if let Some(key) = key {
            let entry = Entry {
                arranged: Arc::downgrade(&arranged),
                versions,
                made_at: started,
                cost: started.elapsed(),
            };
            let mut entries = self.entries.lock();
            entries.retain(|_, entry| entry.arranged.strong_count() > 0);
            entries.insert(key, entry);
        }
        Ok(Some(Reading {
            arranged,
            is_outdated: false,
        }))
    }

    fn existing(&self, key: &Key, versions: &[u64], max_age: Duration) -> Option<Reading> {
        let entries = self.entries.lock();
        let entry = entries.get(key)?;
        let age = entry.made_at.elapsed();
        let is_outdated =
            entry.versions != versions || (key.filter.depends_on_time() && age > MAX_TIMED_AGE);
        // a long list takes at most a twentieth of a processor, however many viewers there are
        let is_usable = !is_outdated || (!max_age.is_zero() && age < max_age.max(entry.cost * 20));
        let arranged = entry.arranged.upgrade().filter(|_| is_usable)?;
        Some(Reading {
            arranged,
            is_outdated,
        })
    }
}

/// Arranges rows that were read for one viewer alone.
///
/// # Errors
/// `Fields` for a condition that does not fit the columns.
pub fn arrange(
    rows: Arc<ListRows>,
    filter: &Filter,
    now: Timestamp,
) -> Result<Arc<Arranged>, FilterError> {
    Arranged::new(rows, filter, now).map(Arc::new)
}

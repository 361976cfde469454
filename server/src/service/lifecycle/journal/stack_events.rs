//! Reads the events of a cluster's stack from Heat into its journal, so that they outlive the stack.
//!
//! Each event is recorded once, by its ID, whichever replica reads it. What Heat does not answer is read
//! later, and never concerns the rest of the journal.
use super::record::Journal;
use crate::service::lifecycle::{access::MagnumAccess, error, viewer::Viewer};
use portico_cache::Cache;
use portico_clock::Clock;
use portico_cluster_operations::mapping;
use portico_lifecycle::journal::{StackEvent, new_events};
use portico_openstack::{
    heat,
    rest::{Error, ScopedToken},
};
use portico_store::{JournalKey, JournalSource, NewJournalEntry, NewJournalEvent, StoreError};
use std::{collections::HashSet, sync::Arc, time::Duration};
use tokio::{
    sync::Mutex,
    task::JoinHandle,
    time::{Instant, timeout},
};
use uuid::Uuid;

/// Maximum number of clusters about whose stacks anything is remembered.
const MAX_STACKS: u64 = 2_000;
/// How long it is remembered.
const MEMORY: Duration = Duration::from_secs(1_800);
/// How long Heat is not asked again about a stack.
const MAX_AGE: Duration = Duration::from_secs(5);
/// The same about one that Heat does not have: the UUID is another driver's.
const ABSENT_AGE: Duration = Duration::from_secs(60);
/// How long a page waits for Heat. What is read later is there at the next look.
const PAGE_TIMEOUT: Duration = Duration::from_secs(3);
/// Number of recorded events by which the first read of a process knows where to end.
const KNOWN_EVENTS: u32 = 200;
/// Number of events that are recorded in one transaction.
const BATCH: usize = 100;

/// The events of stacks; cheap to clone.
#[derive(Clone)]
pub struct StackEvents {
    heat: heat::Client,
    journal: Journal,
    readings: Cache<JournalKey, Arc<Mutex<Reading>>>,
    /// Clusters on which Magnum worked at the last look.
    busy: Cache<JournalKey, ()>,
    clock: Clock,
}

/// What is known about the stack of one cluster. Locked while Heat is asked, so that one read serves all who
/// wait.
#[derive(Default)]
struct Reading {
    stack: Option<heat::Stack>,
    /// Whether Heat has no such stack.
    is_absent: bool,
    /// The events of the last read; `None`: not read in this process.
    known: Option<HashSet<String>>,
    at: Option<Instant>,
    /// Why new events are missing, as sentences.
    gap: Option<String>,
}

/// Why events were not read.
enum Failure {
    /// Heat no longer has the stack.
    Missing,
    /// As sentences.
    Heat(String),
    Store(String),
}

impl From<Error> for Failure {
    fn from(failed: Error) -> Self {
        if failed.is_not_found() {
            return Self::Missing;
        }
        let (message, step) = (error::message(&failed), error::next_step(&failed));
        Self::Heat(format!(
            "New events of Heat are not shown. {message} {step}"
        ))
    }
}

impl From<StoreError> for Failure {
    fn from(failed: StoreError) -> Self {
        Self::Store(failed.to_string())
    }
}

impl Reading {
    fn is_fresh(&self, max_age: Duration) -> bool {
        let max_age = if self.is_absent { ABSENT_AGE } else { max_age };
        self.at.is_some_and(|at| at.elapsed() < max_age)
    }
}

impl StackEvents {
    pub fn new(heat: heat::Client, journal: Journal, clock: Clock) -> Self {
        let memory = Cache::builder()
            .max_capacity(MAX_STACKS)
            .time_to_idle(MEMORY)
            .build();
        Self {
            heat,
            journal,
            readings: memory,
            busy: Cache::builder()
                .max_capacity(MAX_STACKS)
                .time_to_idle(MEMORY)
                .build(),
            clock,
        }
    }

    /// Returns whether there are journals, and Heat for the token's project.
    fn is_offered(&self, token: &ScopedToken) -> bool {
        self.journal.store().is_some() && self.heat.is_offered(token)
    }

    /// Reads new events in a background task, while Magnum works on the cluster and once after that. `stack`
    /// is the driver's ID of the cluster: that of a stack is a UUID.
    pub async fn follow(
        &self,
        token: &ScopedToken,
        key: &JournalKey,
        stack: Option<&str>,
        is_busy: bool,
    ) {
        let Some(stack) = self.wanted(token, stack) else {
            return;
        };
        if is_busy {
            self.busy.insert(key.clone(), ()).await;
            self.start(token, key, stack, MAX_AGE);
        } else if self.busy.remove(key).await.is_some() {
            self.start(token, key, stack, Duration::ZERO);
        }
    }

    /// Reads the last events of a cluster that no longer exists in a background task.
    pub fn finish(&self, token: &ScopedToken, key: &JournalKey, stack: Option<&str>) {
        if let Some(stack) = self.wanted(token, stack) {
            self.start(token, key, stack, Duration::ZERO);
        }
    }

    /// Reads new events; returns why they are missing, as sentences.
    pub async fn refresh(
        &self,
        token: &ScopedToken,
        key: &JournalKey,
        stack: Option<&str>,
    ) -> Option<String> {
        let stack = self.wanted(token, stack)?;
        // a task of its own, which ends also if the page does not wait
        let reading = self.start(token, key, stack, MAX_AGE);
        match timeout(PAGE_TIMEOUT, reading).await {
            Ok(gap) => gap.ok().flatten(),
            Err(_) => Some(
                "New events of Heat are not shown yet: Heat has not answered in 3 seconds. They are read \
                 in the background."
                    .to_owned(),
            ),
        }
    }

    fn wanted(&self, token: &ScopedToken, stack: Option<&str>) -> Option<Uuid> {
        let stack = Uuid::try_parse(stack?).ok()?;
        self.is_offered(token).then_some(stack)
    }

    fn start(
        &self,
        token: &ScopedToken,
        key: &JournalKey,
        stack: Uuid,
        max_age: Duration,
    ) -> JoinHandle<Option<String>> {
        let (events, token, key) = (self.clone(), token.clone(), key.clone());
        #[allow(
            clippy::disallowed_methods,
            reason = "it ends by its own timeouts; what is read is stored even if the page is closed"
        )]
        let task = tokio::spawn(async move { events.read(&token, &key, stack, max_age).await });
        task
    }

    /// Reads unless the last read is young enough; returns why events are missing.
    async fn read(
        &self,
        token: &ScopedToken,
        key: &JournalKey,
        stack: Uuid,
        max_age: Duration,
    ) -> Option<String> {
        let known = self
            .readings
            .get_with(key.clone(), async { Arc::default() });
        let known = known.await;
        let mut reading = known.lock().await;
        if reading.is_fresh(max_age) {
            return reading.gap.clone();
        }
        let result = self.try_read(token, key, stack, &mut reading).await;
        reading.at = Some(Instant::now());
        reading.gap = match result {
            Ok(()) => None,
            Err(Failure::Heat(gap)) => Some(gap),
            Err(Failure::Missing) => {
                reading.stack = None;
                reading.is_absent = true;
                None
            }
            Err(Failure::Store(error)) => {
                tracing::warn!(
                    cluster_id = %key.cluster,
                    project_id = key.project_id,
                    error,
                    "events of a stack were not written to the journal; retrying with the next read"
                );
                None
            }
        };
        reading.gap.clone()
    }

    async fn try_read(
        &self,
        token: &ScopedToken,
        key: &JournalKey,
        stack: Uuid,
        reading: &mut Reading,
    ) -> Result<(), Failure> {
        let Some(store) = self.journal.store() else {
            return Ok(());
        };
        if reading.stack.is_none() {
            reading.stack = self.heat.stack(token, stack).await?;
            reading.is_absent = reading.stack.is_none();
        }
        let Some(found) = &reading.stack else {
            return Ok(());
        };
        let known = match reading.known.take() {
            Some(known) => known,
            None => {
                let journal = store.cluster_journal();
                let last = journal.last_events(key, JournalSource::Heat, KNOWN_EVENTS);
                last.await?.into_iter().collect()
            }
        };
        let read = self.heat.events(token, found, &known).await?;
        if read.is_cut {
            tracing::warn!(
                cluster_id = %key.cluster,
                project_id = key.project_id,
                "Heat has more events of a stack than are read at once; the oldest are not in the journal"
            );
        }
        let ids: HashSet<_> = read.items.iter().map(|event| event.id.clone()).collect();
        let events = read.items.iter().filter_map(mapping::stack_event);
        let events = new_events(events.collect(), &known);
        // the oldest first: what a failure leaves out is newer than all that is recorded
        for batch in events.chunks(BATCH) {
            let batch: Vec<_> = batch.iter().map(new_entry).collect();
            let now = self.clock.now();
            let journal = store.cluster_journal();
            journal.append_events(key, &batch, now).await?;
        }
        reading.known = Some(if ids.is_empty() { known } else { ids });
        Ok(())
    }
}

/// Reads the new events of a cluster that the viewer may see; returns why they are missing, as sentences.
pub async fn refresh(access: &MagnumAccess, viewer: &Viewer, key: &JournalKey) -> Option<String> {
    let events = access.feeds.stack_events();
    if !events.is_offered(&viewer.token) {
        return None;
    }
    // only Magnum knows the stack of a cluster
    let looked = timeout(PAGE_TIMEOUT, access.feeds.look(viewer, key.cluster)).await;
    let view = looked.ok()?.ok()?;
    let stack = view.cluster.backend_id();
    events.refresh(&viewer.token, key, stack).await
}

fn new_entry(event: &StackEvent) -> NewJournalEvent {
    NewJournalEvent {
        id: event.id.clone(),
        entry: NewJournalEntry {
            source: JournalSource::Heat,
            content: serde_json::to_string(event).unwrap_or_default(),
        },
    }
}

#[cfg(test)]
mod tests;

//! Reads what happens to the nodes of a cluster from its API server into the journal, so that it outlives
//! Kubernetes' own events, the nodes and the cluster.
//!
//! It is read with the rights of a user who has a page of the cluster open. The nodes are compared with those of
//! the last look, which is stored; of several replicas, one records a change.
mod reading;
mod room;
#[cfg(test)]
mod tests;

use super::record::Journal;
use crate::{
    caller::Caller,
    kube::{Api, ClusterSnapshot, KubeError},
    service::{
        Services,
        error::ServiceError,
        lifecycle::{access::MagnumAccess, viewer::Viewer},
    },
};
use jiff::{SignedDuration, Timestamp};
use portico_cache::Cache;
use portico_clock::Clock;
use portico_domain::cluster::ClusterRecord;
use portico_lifecycle::journal::{NodeEvent, ObservedNodes};
use portico_store::{
    JournalKey, JournalSource, LastObservation, NewJournalEntry, NewJournalEvent, Store, StoreError,
};
use std::{collections::HashSet, sync::Arc, time::Duration};
use tokio::{
    sync::Mutex,
    time::{Instant, timeout},
};
use uuid::Uuid;

/// Maximum number of clusters and viewers about which anything is remembered.
const MAX_READINGS: u64 = 2_000;
/// How long it is remembered.
const MEMORY: Duration = Duration::from_secs(600);
/// How long an API server is not asked again for a viewer.
const MAX_AGE: Duration = Duration::from_secs(10);
/// How long a page waits for an API server.
const PAGE_TIMEOUT: Duration = Duration::from_secs(3);
/// Age from which the nodes are stored again without a change, with the time of the look.
const REFRESH_AGE: SignedDuration = SignedDuration::from_secs(60);
/// How often the nodes are compared again after another replica was faster.
const MAX_TRIES: u32 = 3;
/// Number of recorded events that are not sent to the store again: more than one read returns, with what the
/// comparison has recorded.
const KNOWN_EVENTS: u32 = 1_000;

/// What is remembered of the nodes of clusters; cheap to clone.
#[derive(Clone)]
pub struct NodeEvents {
    journal: Journal,
    readings: Cache<(JournalKey, String), Arc<Mutex<Reading>>>,
    clock: Clock,
}

/// The last read with the rights of one viewer.
#[derive(Default)]
struct Reading {
    at: Option<Instant>,
    /// Why events are missing, as sentences.
    gap: Option<String>,
}

/// Why nothing was recorded.
enum Failure {
    Kubernetes(KubeError),
    Store(StoreError),
    /// The journal has [`room::MAX_ENTRIES`].
    Full,
    /// The journal has [`room::MAX_SHARE`].
    ShareUsed,
}

impl From<KubeError> for Failure {
    fn from(error: KubeError) -> Self {
        Self::Kubernetes(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl NodeEvents {
    pub fn new(journal: Journal, clock: Clock) -> Self {
        Self {
            journal,
            readings: Cache::builder()
                .max_capacity(MAX_READINGS)
                .time_to_idle(MEMORY)
                .build(),
            clock,
        }
    }

    /// Reads what is new; returns why something is missing, as sentences.
    pub async fn read(&self, key: &JournalKey, api: &Api) -> Option<String> {
        let store = self.journal.store()?;
        match record(store, key, api, self.clock.now()).await {
            Ok(()) => None,
            Err(Failure::Kubernetes(error)) => Some(missing(&ServiceError::from(error).message)),
            Err(Failure::Full) => Some(missing(
                "The journal has more than 2,000 of the last 24 hours.",
            )),
            Err(Failure::ShareUsed) => Some(missing(
                "Half of the journal are events of nodes, and the rest is left to requests.",
            )),
            Err(Failure::Store(error)) => {
                tracing::warn!(
                    cluster_id = %key.cluster,
                    project_id = key.project_id,
                    %error,
                    "events of nodes were not written to the journal; retrying with the next read"
                );
                None
            }
        }
    }
}

fn missing(why: &str) -> String {
    format!("New events of nodes are not shown. {why}")
}

/// Reads what is new about the nodes of a cluster that the caller may open; returns why it is missing, as
/// sentences. A cluster that is not served here has no events, and one that other projects may use too has them
/// in the journal of its own project only.
pub async fn refresh(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    viewer: &Viewer,
    cluster: Uuid,
) -> Option<String> {
    let served = clusters.get(cluster)?;
    if !is_own(served.record(), viewer.project_id()) {
        return None;
    }
    let access: &MagnumAccess = services.magnum().ok()?;
    let events = access.feeds.node_events();
    events.journal.store()?;
    let key = JournalKey {
        project_id: viewer.project_id().to_owned(),
        cluster,
    };
    let slot = (key.clone(), viewer.key());
    let reading = events.readings.get_with(slot, async { Arc::default() });
    let reading = reading.await;
    let mut reading = reading.lock().await;
    if reading.at.is_some_and(|at| at.elapsed() < MAX_AGE) {
        return reading.gap.clone();
    }
    let read = async {
        match services.api_among(clusters, caller, cluster).await {
            Ok((api, _)) => events.read(&key, &api).await,
            Err(error) => Some(missing(&error.message)),
        }
    };
    let read = timeout(PAGE_TIMEOUT, read).await;
    let late = |_| Some(missing("The API server has not answered in 3 seconds."));
    reading.gap = read.unwrap_or_else(late);
    reading.at = Some(Instant::now());
    reading.gap.clone()
}

/// Returns whether a cluster belongs to the project: others that it accepts have readers who may not see its
/// nodes.
fn is_own(cluster: &ClusterRecord, project_id: &str) -> bool {
    cluster.owner_project == project_id
}

/// Does the same in a background task, for a page that shows no events.
pub fn follow(
    services: Arc<Services>,
    clusters: Arc<ClusterSnapshot>,
    caller: Caller,
    cluster: Uuid,
) {
    if clusters.get(cluster).is_none() {
        return;
    }
    #[allow(
        clippy::disallowed_methods,
        reason = "it ends within seconds; what a stop loses is read by the next look"
    )]
    tokio::spawn(async move {
        let Ok(access) = services.magnum() else {
            return;
        };
        if let Ok(viewer) = access.viewer(&caller).await {
            refresh(&services, &clusters, &caller, &viewer, cluster).await;
        }
    });
}

/// Reads nodes and events, and records what is new.
async fn record(store: &Store, key: &JournalKey, api: &Api, now: Timestamp) -> Result<(), Failure> {
    let (nodes, events) = tokio::join!(reading::nodes(api), reading::events(api));
    compare(store, key, nodes?, now).await?;
    let journal = store.cluster_journal();
    let known = journal.last_events(key, JournalSource::Kubernetes, KNOWN_EVENTS);
    let known: HashSet<String> = known.await?.into_iter().collect();
    let new: Vec<NewJournalEvent> = events?
        .into_iter()
        .filter(|(id, _)| !known.contains(id))
        .map(|(id, event)| new_event(id, &event))
        .collect();
    if !new.is_empty() {
        room::check(store, key, now).await?;
        journal.append_events(key, &new, now).await?;
    }
    Ok(())
}

/// Records what differs from the nodes of the last look.
async fn compare(
    store: &Store,
    key: &JournalKey,
    nodes: ObservedNodes,
    now: Timestamp,
) -> Result<(), Failure> {
    let journal = store.cluster_journal();
    let text = serde_json::to_string(&nodes).unwrap_or_default();
    for _ in 0..MAX_TRIES {
        let last = journal.last_nodes(key).await?;
        let since = last.as_ref().map(|last| last.observed_at);
        // another replica has looked later
        if since.is_some_and(|since| since > now) {
            return Ok(());
        }
        let revision = last.as_ref().map_or(0, |last| last.revision);
        // one that this version cannot read is as none
        let before: Option<ObservedNodes> = last.as_ref().and_then(read);
        let is_young = since.is_some_and(|since| now.duration_since(since) < REFRESH_AGE);
        if before.as_ref() == Some(&nodes) && is_young {
            return Ok(());
        }
        let changes = nodes.changes(before.as_ref().zip(since), now);
        let events: Vec<NewJournalEvent> = changes
            .iter()
            .enumerate()
            .map(|(index, event)| new_event(format!("nodes/{revision}/{index}"), event))
            .collect();
        if !events.is_empty() {
            room::check(store, key, now).await?;
        }
        let is_stored = journal.observe_nodes(key, revision, &text, &events, now);
        if is_stored.await? {
            break;
        }
    }
    Ok(())
}

fn read(last: &LastObservation) -> Option<ObservedNodes> {
    serde_json::from_str(&last.content).ok()
}

fn new_event(id: String, event: &NodeEvent) -> NewJournalEvent {
    NewJournalEvent {
        id,
        entry: NewJournalEntry {
            source: JournalSource::Kubernetes,
            content: serde_json::to_string(event).unwrap_or_default(),
        },
    }
}

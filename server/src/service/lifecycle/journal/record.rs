//! Writes the journals.
use super::content::{ObservationContent, RequestContent, RequestOutcome};
use crate::{
    caller::{Caller, audit::note_journal},
    service::{Services, error::ServiceError},
};
use app::error::UiErrorKind;
use jiff::{SignedDuration, Timestamp};
use portico_cache::Cache;
use portico_clock::Clock;
use portico_lifecycle::journal::Observation;
use portico_store::{JournalHead, JournalKey, JournalSource, NewJournalEntry, Store, StoreError};
use std::time::Duration;
use uuid::Uuid;

/// Maximum number of clusters whose last observation is remembered.
const MAX_OBSERVATIONS: u64 = 10_000;
/// How long it is remembered. Another replica may record a difference and its end meanwhile.
const OBSERVATION_TTL: Duration = Duration::from_secs(60);
/// How long the poller of a cluster waits for the store.
const WRITE_TIMEOUT: Duration = Duration::from_secs(2);
/// Age from which an observation without a difference is stored again, with its time.
const REFRESH_AGE: SignedDuration = SignedDuration::from_secs(60);
/// How often an observation is compared again after another replica was faster.
const MAX_TRIES: u32 = 3;
/// Maximum length of a reason, in characters.
const MAX_REASON_CHARS: usize = 300;
/// Maximum length of a target, in characters: that of the removal of as many nodes as are permitted.
const MAX_TARGET_CHARS: usize = 2_500;

/// The journals in Portico's store. On Redis there are none.
#[derive(Clone, Debug)]
pub struct Journal {
    store: Option<Store>,
    last: Cache<JournalKey, Observation>,
}

impl Journal {
    /// Returns the journals of a store, if it has a SQL database.
    pub fn new(store: Option<Store>) -> Self {
        Self {
            store: store.filter(Store::has_sql),
            last: Cache::builder()
                .max_capacity(MAX_OBSERVATIONS)
                .time_to_live(OBSERVATION_TTL)
                .build(),
        }
    }

    /// Returns the store of the journals; `None`: there are none.
    pub fn store(&self) -> Option<&Store> {
        self.store.as_ref()
    }

    /// Records what differs from the last observation. A failure is logged: the next observation
    /// finds the same difference.
    pub async fn observe(&self, key: &JournalKey, observation: Observation, now: Timestamp) {
        self.try_observe(key, observation, now).await;
    }

    /// Does the same; returns whether the store has answered.
    async fn try_observe(
        &self,
        key: &JournalKey,
        observation: Observation,
        now: Timestamp,
    ) -> bool {
        let Some(store) = &self.store else {
            return false;
        };
        if let Some(last) = self.last.get(key).await
            && observation.clone().completed_by(&last) == last
        {
            return true;
        }
        let compared = compare(store, key, observation, now);
        let result = tokio::time::timeout(WRITE_TIMEOUT, compared).await;
        match result {
            Ok(Ok(observation)) => {
                self.last.insert(key.clone(), observation).await;
                return true;
            }
            Ok(Err(error)) => failed(key, &error.to_string()),
            Err(_) => failed(key, "the store did not answer in time"),
        }
        false
    }

    /// Records what differs from the last observations of several clusters in a background task, one after
    /// another. A cluster that this process has observed in the same state before is not looked up.
    pub fn observe_later(&self, observed: Vec<(JournalKey, Observation)>, now: Timestamp) {
        if self.store.is_none() {
            return;
        }
        let journal = self.clone();
        #[allow(
            clippy::disallowed_methods,
            reason = "a stop loses observations, which the next process makes again"
        )]
        tokio::spawn(async move {
            for (key, observation) in observed {
                // the others would wait for the same store
                if !journal.try_observe(&key, observation, now).await {
                    break;
                }
            }
        });
    }

    /// Records that a cluster which was observed no longer exists.
    pub async fn observe_gone(&self, key: &JournalKey, now: Timestamp) {
        let Some(store) = &self.store else { return };
        let last = store.cluster_journal().last_observation(key);
        match tokio::time::timeout(WRITE_TIMEOUT, last).await {
            Ok(Ok(Some(last))) => {
                if let Ok(before) = serde_json::from_str(&last.content) {
                    self.observe(key, Observation::gone(&before), now).await;
                }
            }
            Ok(Ok(None)) => {}
            Ok(Err(error)) => failed(key, &error.to_string()),
            Err(_) => failed(key, "the store did not answer in time"),
        }
    }
}

fn failed(key: &JournalKey, error: &str) {
    tracing::warn!(
        cluster_id = %key.cluster,
        project_id = key.project_id,
        error,
        "an observation was not written to the journal; retrying with the next one"
    );
}

/// Stores an observation with what differs from the last one; returns it as it is stored.
async fn compare(
    store: &Store,
    key: &JournalKey,
    observation: Observation,
    now: Timestamp,
) -> Result<Observation, StoreError> {
    let journal = store.cluster_journal();
    let mut observation = observation;
    for _ in 0..MAX_TRIES {
        let last = journal.last_observation(key).await?;
        let revision = last.as_ref().map_or(0, |last| last.revision);
        let since = last.as_ref().map(|last| last.observed_at);
        // one that this version cannot read is as none
        let before: Option<Observation> =
            last.and_then(|last| serde_json::from_str(&last.content).ok());
        if let Some(before) = &before {
            observation = observation.completed_by(before);
            // another replica has observed it later
            if since.is_some_and(|since| since > now) {
                return Ok(before.clone());
            }
            if *before == observation {
                let is_old = since.is_some_and(|since| now.duration_since(since) >= REFRESH_AGE);
                if is_old {
                    // the next difference has happened after this observation
                    let text = json(&observation);
                    journal.observe(key, revision, &text, None, now).await?;
                }
                return Ok(observation);
            }
        }
        let differences = before
            .as_ref()
            .map(|before| observation.differences(before));
        // without any, something was read for the first time, such as the node groups
        let has_entry = differences.as_ref().is_none_or(|all| !all.is_empty());
        let content = ObservationContent {
            since: before.and(since).map(Timestamp::as_second),
            status: observation.status.clone(),
            is_busy: observation.is_busy(),
            differences: differences.unwrap_or_default(),
            omitted: 0,
        }
        .bounded();
        let entry = has_entry.then(|| entry(JournalSource::Observation, &content));
        let text = json(&observation);
        let is_stored = journal.observe(key, revision, &text, entry.as_ref(), now);
        if is_stored.await? {
            break;
        }
    }
    Ok(observation)
}

fn entry<T: serde::Serialize>(source: JournalSource, content: &T) -> NewJournalEntry {
    NewJournalEntry {
        source,
        content: json(content),
    }
}

/// Returns a content as JSON; it has no maps with keys that JSON cannot write.
fn json<T: serde::Serialize>(content: &T) -> String {
    serde_json::to_string(content).unwrap_or_default()
}

/// A change that a user requests.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    pub cluster: Uuid,
    /// That of the audit log.
    pub action: &'a str,
    /// What it is about; may be empty.
    pub target: &'a str,
    /// Why the user does it.
    pub reason: Option<&'a str>,
}

impl<'a> Change<'a> {
    /// Adds why the user does it; an empty text is no reason.
    #[must_use]
    pub fn with_reason(self, reason: &'a str) -> Self {
        Self {
            reason: Some(reason),
            ..self
        }
    }
}

/// A request whose beginning is in the journal.
pub struct Begun {
    store: Store,
    key: JournalKey,
    content: RequestContent,
    clock: Clock,
}

/// Records that a request is about to be sent; `None`: there are no journals.
///
/// # Errors
/// `Unavailable` if it cannot be recorded: the request must not be sent then.
pub async fn begin(
    services: &Services,
    caller: &Caller,
    change: Change<'_>,
) -> Result<Option<Begun>, ServiceError> {
    let Some(begun) = Begun::new(services, caller, change) else {
        return Ok(None);
    };
    match begun.write().await {
        Ok(_) => Ok(Some(begun)),
        Err(error) => {
            tracing::error!(
                %error,
                cluster_id = %change.cluster,
                action = change.action,
                request_id = caller.request_id(),
                "a change was not sent, because the journal cannot record it"
            );
            Err(not_recorded())
        }
    }
}

/// Returns that a change was not sent, because it cannot be recorded.
pub(super) fn not_recorded() -> ServiceError {
    ServiceError::new(
        UiErrorKind::Unavailable,
        "The change was not sent: Portico cannot record it in the cluster's journal.",
    )
    .next("Try again in a minute.")
}

/// Records a request that needs no entry before it is sent.
pub async fn record(
    services: &Services,
    caller: &Caller,
    change: Change<'_>,
    outcome: RequestOutcome,
    answer: Option<String>,
) {
    if let Some(begun) = Begun::new(services, caller, change) {
        begun.end(caller, outcome, answer).await;
    }
}

impl Begun {
    /// Returns the entry of a request; `None`: there are no journals.
    fn new(services: &Services, caller: &Caller, change: Change<'_>) -> Option<Self> {
        let store = services.magnum.as_ref()?.feeds.journal().store()?;
        let user = &caller.identity().user;
        let reason = change.reason.map(str::trim).filter(|text| !text.is_empty());
        Some(Self {
            store: store.clone(),
            key: JournalKey {
                project_id: caller.project()?.id.clone(),
                cluster: change.cluster,
            },
            content: RequestContent {
                action: change.action.to_owned(),
                target: cut(change.target, MAX_TARGET_CHARS),
                user_id: user.id.clone(),
                user_name: user.name.clone(),
                request_id: Some(caller.request_id().to_owned()),
                reason: reason.map(|reason| cut(reason, MAX_REASON_CHARS)),
                outcome: RequestOutcome::Sending,
                answer: None,
            },
            clock: services.clock.clone(),
        })
    }

    /// Records the outcome; `answer` is why Magnum or Portico refused. The audit record that follows
    /// names the entry.
    pub async fn end(mut self, caller: &Caller, outcome: RequestOutcome, answer: Option<String>) {
        self.content.outcome = outcome;
        self.content.answer = answer;
        match self.write().await {
            Ok(head) => note_journal(caller, head.sequence, &head.hash),
            Err(error) => tracing::error!(
                %error,
                cluster_id = %self.key.cluster,
                action = self.content.action,
                ?outcome,
                "the outcome of a change is not in the journal"
            ),
        }
    }

    async fn write(&self) -> Result<JournalHead, StoreError> {
        let entry = entry(JournalSource::Request, &self.content);
        let journal = self.store.cluster_journal();
        journal.append(&self.key, &entry, self.clock.now()).await
    }
}

fn cut(text: &str, chars: usize) -> String {
    text.chars().take(chars).collect()
}

#[cfg(test)]
mod tests;

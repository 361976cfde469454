//! The journals of managed clusters (ADR 0025); on a SQL database only.
mod check;

pub use check::{JournalCheck, JournalFault, JournalMarks, check_journal};

use crate::error::StoreError;
use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::{SignedDuration, Timestamp};
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::str::FromStr;
use uuid::Uuid;

pub(crate) const ENTRIES: &str = "cluster_journal_entries";
pub(crate) const HEADS: &str = "cluster_journal_heads";

/// How long a journal is stored after its last entry.
pub(crate) const RETENTION: SignedDuration = SignedDuration::from_hours(24 * 400);
/// Maximum number of entries of a cluster; the oldest ones are deleted.
pub const MAX_ENTRIES: i64 = 10_000;
/// Maximum size of an entry's content, in bytes.
pub const MAX_CONTENT_BYTES: usize = 16 * 1024;

const FORMAT: &[u8] = b"portico cluster journal v1";

/// The journals; see [`crate::Store::cluster_journal`]. The entries of a cluster form a chain of
/// SHA-256 hashes without a key, so that a process that holds none of the store's keys can append to
/// it; the audit log, whose entries are sealed, names its head with each change.
///
/// On Redis every method fails with [`StoreError::NeedsSql`].
#[async_trait]
pub trait ClusterJournal: Send + Sync {
    /// Appends an entry; returns the new head.
    ///
    /// # Errors
    /// If the store cannot be reached, or the content is larger than 16 KiB.
    async fn append(
        &self,
        key: &JournalKey,
        entry: &NewJournalEntry,
        now: Timestamp,
    ) -> Result<JournalHead, StoreError>;

    /// Returns the newest entry of a journal as its writers have recorded it; `None`: there is no journal.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn head(&self, key: &JournalKey) -> Result<Option<JournalHead>, StoreError>;

    /// Returns journals after one, in a fixed order.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn journals(
        &self,
        after: Option<&JournalKey>,
        limit: u32,
    ) -> Result<Vec<JournalKey>, StoreError>;

    /// Returns the last observation of a cluster, as JSON.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn last_observation(
        &self,
        key: &JournalKey,
    ) -> Result<Option<LastObservation>, StoreError>;

    /// Replaces the observation with the revision `expected`, 0 if there is none, and appends the
    /// entry about what differs; returns whether it was still the last one. Of two replicas that
    /// observe the same difference, one records it.
    ///
    /// # Errors
    /// Those of [`ClusterJournal::append`].
    async fn observe(
        &self,
        key: &JournalKey,
        expected: i64,
        observation: &str,
        entry: Option<&NewJournalEntry>,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Appends the events of another service that the journal does not have, in their order; returns how
    /// many those are. Of several replicas that read the same event, one records it.
    ///
    /// # Errors
    /// Those of [`ClusterJournal::append`]. None is appended then.
    async fn append_events(
        &self,
        key: &JournalKey,
        events: &[NewJournalEvent],
        now: Timestamp,
    ) -> Result<u32, StoreError>;

    /// Returns the IDs of the events of a source that were recorded last, the newest first.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn last_events(
        &self,
        key: &JournalKey,
        source: JournalSource,
        limit: u32,
    ) -> Result<Vec<String>, StoreError>;

    /// Returns how many events of a source were recorded from a time on.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn count_events(
        &self,
        key: &JournalKey,
        source: JournalSource,
        since: Timestamp,
    ) -> Result<u32, StoreError>;

    /// Returns the nodes of a cluster at the last look, as JSON.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn last_nodes(&self, key: &JournalKey) -> Result<Option<LastObservation>, StoreError>;

    /// Does the same as [`ClusterJournal::observe`] with the nodes, which have a revision of their own.
    ///
    /// # Errors
    /// Those of [`ClusterJournal::append`].
    async fn observe_nodes(
        &self,
        key: &JournalKey,
        expected: i64,
        nodes: &str,
        events: &[NewJournalEvent],
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Returns events of a source with a sequence number lower than `before`, the newest first.
    ///
    /// # Errors
    /// Those of [`ClusterJournal::list`].
    async fn list_events(
        &self,
        key: &JournalKey,
        source: JournalSource,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<JournalEntry>, StoreError>;

    /// Returns entries with a sequence number lower than `before`, the newest first.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn list(
        &self,
        key: &JournalKey,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<JournalEntry>, StoreError>;

    /// Does the same without the events of other services, of which there can be many.
    ///
    /// # Errors
    /// Those of [`ClusterJournal::list`].
    async fn list_without_events(
        &self,
        key: &JournalKey,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<JournalEntry>, StoreError>;
}

/// What identifies a journal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct JournalKey {
    pub project_id: String,
    /// Magnum's UUID.
    pub cluster: Uuid,
}

/// Where an entry comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JournalSource {
    /// A request through Portico.
    Request,
    /// A difference between two observations of the cluster.
    Observation,
    /// An event of the cluster's stack in Heat.
    Heat,
    /// What happened to a node, as Kubernetes reports it.
    Kubernetes,
}

impl JournalSource {
    /// Returns the name used in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Observation => "observation",
            Self::Heat => "heat",
            Self::Kubernetes => "kubernetes",
        }
    }
}

impl FromStr for JournalSource {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [
            Self::Request,
            Self::Observation,
            Self::Heat,
            Self::Kubernetes,
        ]
        .into_iter()
        .find(|source| source.as_str() == text)
        .ok_or_else(|| format!("unknown source {text}"))
    }
}

/// A new entry. Holds no secret of any kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewJournalEntry {
    pub source: JournalSource,
    /// JSON.
    pub content: String,
}

/// A new entry about an event of another service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewJournalEvent {
    /// The service's ID of the event.
    pub id: String,
    pub entry: NewJournalEntry,
}

/// A stored entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalEntry {
    /// The place in the cluster's chain, from 1.
    pub sequence: i64,
    pub at: Timestamp,
    pub source: JournalSource,
    /// JSON.
    pub content: String,
    pub hash: String,
}

impl JournalEntry {
    /// Returns whether the entry is unchanged and follows the entry with the hash `previous`.
    pub fn follows(&self, key: &JournalKey, previous: &str) -> bool {
        let at_millis = self.at.as_millisecond();
        let new = NewJournalEntry {
            source: self.source,
            content: self.content.clone(),
        };
        self.hash == digest(previous, key, self.sequence, at_millis, &new)
    }
}

/// The newest entry of a journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalHead {
    pub sequence: i64,
    pub hash: String,
}

impl FromStr for JournalHead {
    type Err = String;

    /// Reads what the audit log has of an entry, such as `12:uW0l…`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.split_once(':').and_then(|(sequence, hash)| {
            let sequence = sequence.parse().ok().filter(|sequence| *sequence > 0)?;
            Some((sequence, Some(hash).filter(|hash| !hash.is_empty())?))
        });
        let (sequence, hash) = parts.ok_or_else(|| format!("not an entry of a journal: {text}"))?;
        Ok(Self {
            sequence,
            hash: hash.to_owned(),
        })
    }
}

impl fmt::Display for JournalHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.sequence, self.hash)
    }
}

/// The observation that the next one is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastObservation {
    /// JSON, as it was given.
    pub content: String,
    /// Increases with each replacement, from 1.
    pub revision: i64,
    pub observed_at: Timestamp,
}

/// Returns the hash of an entry at its place: SHA-256 over the hash before it and every field, each with
/// its length, so that two entries never have the same encoding.
pub(crate) fn digest(
    previous: &str,
    key: &JournalKey,
    sequence: i64,
    at_millis: i64,
    entry: &NewJournalEntry,
) -> String {
    let (sequence, at) = (sequence.to_string(), at_millis.to_string());
    let cluster = key.cluster.to_string();
    let fields = [
        previous,
        &key.project_id,
        &cluster,
        &sequence,
        &at,
        entry.source.as_str(),
        &entry.content,
    ];
    let mut hash = Sha256::new_with_prefix(FORMAT);
    for field in fields {
        hash.update((field.len() as u64).to_be_bytes());
        hash.update(field);
    }
    URL_SAFE_NO_PAD.encode(hash.finalize())
}

#[cfg(test)]
mod tests;

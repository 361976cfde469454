//! Verifying the chain over the audit log.
use super::chain::{self, BREAK, Head, digest};
use super::filter::{AuditFilter, Order};
use super::{Audit, Entry};
use crate::error::StoreError;
use crate::sealing::Signature;
use jiff::Timestamp;
use serde_json::Value;
use std::fmt;

/// Entries that are read at once.
const PAGE: i64 = 500;
/// How often retention may move the start while a log is being verified.
const MAX_RESTARTS: u32 = 8;

/// What [`Audit::verify`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainReport {
    /// Entries whose place and content are as they were written.
    pub verified: u64,
    /// The newest sequence number that retention has removed; 0 when none.
    pub removed_through: i64,
    /// The newest entry's sequence number and hash: to be noted elsewhere, and given as
    /// [`ChainMark`] later.
    pub head: ChainMark,
    /// Entries that were written without a place in the chain and joined it later.
    pub adopted: u64,
    /// Entries that have no place yet.
    pub unchained: u64,
    /// Entries sealed with keys that are not configured any more; the later ones vouch for them.
    pub unknown_key: u64,
    /// The first place where the chain breaks.
    pub first_break: Option<ChainBreak>,
}

/// A place in the chain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChainMark {
    pub sequence: i64,
    pub hash: String,
}

/// Where the chain breaks, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainBreak {
    pub sequence: i64,
    /// When the entry there says that it was written.
    pub at: Option<Timestamp>,
    pub kind: BreakKind,
}

/// How a chain breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BreakKind {
    /// The entry is not there.
    Missing,
    /// The entry's content, or its place, is not what its hash is over.
    Altered,
    /// The hash fits and the seal does not: it was made without the store's keys.
    Forged,
    /// Entries lie ahead of the chain's start or behind its end.
    Outside,
    /// The head is not there.
    NoHead,
    /// The head is not as it was left: entries at an end of the chain may have been removed.
    HeadChanged,
    /// The head is sealed with a key that is not configured.
    HeadUnknownKey,
    /// The newest entry is not the one that the head names.
    HeadMismatch,
    /// The entry that was noted is not there, or has another hash.
    NotAsNoted,
    /// A writer found such a break and noted it here.
    Noted(String),
}

impl fmt::Display for BreakKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("the entry is missing"),
            Self::Altered => f.write_str("the entry was altered or moved"),
            Self::Forged => f.write_str("the entry was written without the store's keys"),
            Self::Outside => f.write_str("entries lie outside of the chain"),
            Self::NoHead => f.write_str("the head of the chain was removed"),
            Self::HeadChanged => f.write_str(
                "the head of the chain was changed: entries at its start or end may be missing",
            ),
            Self::HeadUnknownKey => f.write_str(
                "the head of the chain is sealed with a key that is not configured: add the old \
                 key to store.key_files",
            ),
            Self::HeadMismatch => {
                f.write_str("the newest entry is not the one that the head of the chain names")
            }
            Self::NotAsNoted => f.write_str("the entry is not the one that was noted"),
            Self::Noted(reason) => write!(f, "a writer found a break and noted it: {reason}"),
        }
    }
}

impl Audit<'_> {
    /// Verifies every entry from the oldest to the newest and reports the first break. Entries that
    /// are appended meanwhile are not looked at. With `noted`, the head that was noted on an earlier
    /// occasion must still be in the chain.
    ///
    /// # Errors
    /// When the store cannot say.
    pub async fn verify(self, noted: Option<&ChainMark>) -> Result<ChainReport, StoreError> {
        let mut restarts = 0;
        loop {
            let Some(head) = self.head().await? else {
                let mut report = ChainReport::of(&Head::default());
                report.broken(0, None, BreakKind::NoHead);
                return Ok(report);
            };
            let report = self.walk(&head, noted).await?;
            let start = self.head().await?.unwrap_or_default().start_sequence;
            // retention was at work: what is missing may have been removed by it
            if start != head.start_sequence && restarts < MAX_RESTARTS {
                restarts += 1;
                continue;
            }
            return Ok(report);
        }
    }

    async fn walk(self, head: &Head, noted: Option<&ChainMark>) -> Result<ChainReport, StoreError> {
        let mut report = ChainReport::of(head);
        let (unchained, outside) = self.outside(head).await?;
        report.unchained = u64::try_from(unchained).unwrap_or_default();
        if outside > 0 {
            report.broken(head.start_sequence, None, BreakKind::Outside);
        }
        let mut hash = head.start_hash.clone();
        let mut sequence = head.start_sequence;
        // what retention has removed cannot be compared any more
        let mut noted = noted.filter(|mark| mark.sequence > sequence);
        'chain: while sequence < head.sequence {
            let filter = AuditFilter {
                after: Some(sequence),
                before: head.sequence.checked_add(1),
                ..AuditFilter::default()
            };
            let page = self.read(&filter, Order::OldestFirst, PAGE).await?;
            if page.is_empty() {
                report.broken(sequence + 1, None, BreakKind::Missing);
                break;
            }
            for entry in page {
                if let Some(kind) = self.check(&entry, sequence, &hash) {
                    let missing = kind == BreakKind::Missing;
                    let (place, at) = if missing {
                        (sequence + 1, None)
                    } else {
                        (entry.link.sequence, entry.at())
                    };
                    report.broken(place, at, kind);
                    break 'chain;
                }
                sequence = entry.link.sequence;
                hash.clone_from(&entry.link.hash);
                report.count(self, &entry);
                if let Some(mark) = noted.filter(|mark| mark.sequence == sequence) {
                    if mark.hash != hash {
                        report.broken(sequence, entry.at(), BreakKind::NotAsNoted);
                    }
                    noted = None;
                }
            }
        }
        if let Some(mark) = noted
            && report.first_break.is_none()
        {
            report.broken(mark.sequence, None, BreakKind::NotAsNoted);
        }
        if report.first_break.is_none() && hash != head.hash {
            report.broken(head.sequence, None, BreakKind::HeadMismatch);
        }
        match head.check(&self.0.keys) {
            Signature::Valid => {}
            Signature::Invalid => report.broken(head.sequence, None, BreakKind::HeadChanged),
            Signature::UnknownKey => report.broken(head.sequence, None, BreakKind::HeadUnknownKey),
        }
        Ok(report)
    }

    /// Says what is wrong with an entry that should follow `sequence`.
    fn check(self, entry: &Entry, sequence: i64, hash: &str) -> Option<BreakKind> {
        let link = &entry.link;
        if link.sequence != sequence + 1 {
            return Some(BreakKind::Missing);
        }
        if digest(hash, link.sequence, &entry.record) != link.hash {
            return Some(BreakKind::Altered);
        }
        (link.check(&self.0.keys, &entry.record) == Signature::Invalid).then_some(BreakKind::Forged)
    }
}

impl ChainReport {
    fn of(head: &Head) -> Self {
        Self {
            verified: 0,
            removed_through: head.start_sequence,
            head: ChainMark {
                sequence: head.sequence,
                hash: head.hash.clone(),
            },
            adopted: 0,
            unchained: 0,
            unknown_key: 0,
            first_break: None,
        }
    }

    fn count(&mut self, audit: Audit<'_>, entry: &Entry) {
        self.verified += 1;
        self.adopted += u64::from(entry.record.adopted_millis.is_some());
        self.unknown_key +=
            u64::from(entry.link.check(&audit.0.keys, &entry.record) == Signature::UnknownKey);
        if entry.record.action == BREAK {
            let detail: Value = serde_json::from_str(&entry.record.detail).unwrap_or_default();
            let reason = detail["reason"].as_str().unwrap_or_default().to_owned();
            self.broken(entry.link.sequence, entry.at(), BreakKind::Noted(reason));
        }
    }

    fn broken(&mut self, sequence: i64, at: Option<Timestamp>, kind: BreakKind) {
        if self.first_break.is_none() {
            self.first_break = Some(ChainBreak { sequence, at, kind });
        }
    }
}

impl chain::Record {
    pub(super) fn at(&self) -> Option<Timestamp> {
        Timestamp::from_millisecond(self.at_millis).ok()
    }
}

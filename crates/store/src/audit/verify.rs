//! Verifying the chain over the audit log.
use super::Entry;
use super::chain::{self, BREAK, Head, digest};
use super::filter::{AuditFilter, Order};
use super::log::{AuditLog, read};
use crate::error::StoreError;
use crate::sealing::{KeyRing, Signature};
use jiff::Timestamp;
use serde_json::Value;
use std::fmt;

/// Number of entries that one read returns.
const PAGE_ENTRIES: i64 = 500;
/// Maximum number of times that retention may move the start of the chain while it is verified.
const MAX_RESTARTS: u32 = 8;

/// The result of [`crate::Audit::verify`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainReport {
    /// Entries whose place and content are unchanged.
    pub verified: u64,
    /// The highest sequence number that retention has removed; 0 if none.
    pub removed_through: i64,
    /// The newest entry's sequence number and hash; record it elsewhere and pass it as
    /// [`ChainMark`] later.
    pub head: ChainMark,
    /// Entries that were written without a place in the chain and joined it later.
    pub adopted: u64,
    /// Entries that have no place in the chain yet.
    pub unchained: u64,
    /// Entries sealed with keys that are no longer configured; the later entries vouch for them.
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

/// Where and how the chain breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainBreak {
    pub sequence: i64,
    /// The time in the entry at the break.
    pub at: Option<Timestamp>,
    pub kind: BreakKind,
}

/// The kind of a break.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BreakKind {
    /// The entry is missing.
    Missing,
    /// The entry's content or place does not match its hash.
    Altered,
    /// The hash matches and the seal does not: it was made without the store's keys.
    Forged,
    /// There are entries before the start of the chain or after its end.
    Outside,
    /// The head is missing.
    NoHead,
    /// The head was changed by another program: entries at an end of the chain may have been
    /// removed.
    HeadChanged,
    /// The head is sealed with a key that is not configured.
    HeadUnknownKey,
    /// The newest entry is not the one in the head.
    HeadMismatch,
    /// The recorded entry is missing or has another hash.
    NotAsNoted,
    /// A writer found a break here and recorded it.
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

/// Verifies the chain; see [`super::Audit::verify`].
pub(super) async fn verify(
    log: &impl AuditLog,
    noted: Option<&ChainMark>,
) -> Result<ChainReport, StoreError> {
    let mut restarts = 0;
    loop {
        let Some(head) = log.head().await? else {
            let mut report = ChainReport::of(&Head::default());
            report.broken(0, None, BreakKind::NoHead);
            return Ok(report);
        };
        let report = walk(log, &head, noted).await?;
        let start = log.head().await?.unwrap_or_default().start_sequence;
        // retention ran meanwhile and may have removed the missing entries
        if start != head.start_sequence && restarts < MAX_RESTARTS {
            restarts += 1;
            continue;
        }
        return Ok(report);
    }
}

async fn walk(
    log: &impl AuditLog,
    head: &Head,
    noted: Option<&ChainMark>,
) -> Result<ChainReport, StoreError> {
    let mut report = ChainReport::of(head);
    let (unchained, outside) = log.outside(head).await?;
    report.unchained = u64::try_from(unchained).unwrap_or_default();
    if outside > 0 {
        report.broken(head.start_sequence, None, BreakKind::Outside);
    }
    let mut hash = head.start_hash.clone();
    let mut sequence = head.start_sequence;
    // what retention has removed can no longer be compared
    let mut noted = noted.filter(|mark| mark.sequence > sequence);
    'chain: while sequence < head.sequence {
        let filter = AuditFilter {
            after: Some(sequence),
            before: head.sequence.checked_add(1),
            ..AuditFilter::default()
        };
        let page = read(log, &filter, Order::OldestFirst, PAGE_ENTRIES).await?;
        if page.is_empty() {
            report.broken(sequence + 1, None, BreakKind::Missing);
            break;
        }
        for entry in page {
            if let Some(kind) = check(log.keys(), &entry, sequence, &hash) {
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
            report.count(log.keys(), &entry);
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
    match head.check(log.keys()) {
        Signature::Valid => {}
        Signature::Invalid => report.broken(head.sequence, None, BreakKind::HeadChanged),
        Signature::UnknownKey => report.broken(head.sequence, None, BreakKind::HeadUnknownKey),
    }
    Ok(report)
}

/// Returns the reason why an entry cannot follow `sequence`, or `None`.
fn check(keys: &KeyRing, entry: &Entry, sequence: i64, hash: &str) -> Option<BreakKind> {
    let link = &entry.link;
    if link.sequence != sequence + 1 {
        return Some(BreakKind::Missing);
    }
    if digest(hash, link.sequence, &entry.record) != link.hash {
        return Some(BreakKind::Altered);
    }
    (link.check(keys, &entry.record) == Signature::Invalid).then_some(BreakKind::Forged)
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

    fn count(&mut self, keys: &KeyRing, entry: &Entry) {
        self.verified += 1;
        self.adopted += u64::from(entry.record.adopted_millis.is_some());
        self.unknown_key +=
            u64::from(entry.link.check(keys, &entry.record) == Signature::UnknownKey);
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

//! Checks the chain of a journal, and compares it with the entries that the audit log names.
use super::{ClusterJournal, JournalEntry, JournalHead, JournalKey, MAX_ENTRIES};
use crate::error::StoreError;
use std::collections::BTreeMap;
use std::fmt;

/// Number of entries that one read returns.
const PAGE_ENTRIES: u32 = 500;

/// The entries that the audit log names, by sequence number, with their hashes.
pub type JournalMarks = BTreeMap<i64, String>;

/// The result of [`check_journal`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalCheck {
    /// Entries that were read.
    pub entries: u64,
    /// Entries that agree with the audit log.
    pub agreeing: u64,
    /// The first fault that was found, from the newest entry on.
    pub fault: Option<JournalFault>,
}

/// What is wrong with a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JournalFault {
    /// There is no entry, although the audit log names this one.
    Gone { named: i64 },
    /// The newest entries up to this one are missing.
    CutOff { through: i64 },
    /// An entry in the middle is missing.
    Missing { sequence: i64 },
    /// The entry does not follow the one before: one of them was changed.
    Changed { sequence: i64 },
    /// The audit log has another hash for this entry.
    NotAsNamed { sequence: i64 },
}

impl fmt::Display for JournalFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gone { named } => {
                write!(
                    f,
                    "there is no journal, but the audit log names its entry {named}"
                )
            }
            Self::CutOff { through } => {
                write!(f, "the newest entries, up to {through}, were removed")
            }
            Self::Missing { sequence } => write!(f, "entry {sequence} was removed"),
            Self::Changed { sequence } => {
                write!(f, "entry {sequence} or the one before it was changed")
            }
            Self::NotAsNamed { sequence } => {
                write!(
                    f,
                    "entry {sequence} is not the one that the audit log names"
                )
            }
        }
    }
}

/// Checks every entry of a journal. `marks` must have been read before, so that the journal has them.
///
/// # Errors
/// If the store cannot be reached or its answer cannot be read.
pub async fn check_journal(
    journal: &dyn ClusterJournal,
    key: &JournalKey,
    marks: &JournalMarks,
) -> Result<JournalCheck, StoreError> {
    let mut check = JournalCheck::default();
    let named = marks.keys().next_back().copied().unwrap_or_default();
    let head = journal.head(key).await?.unwrap_or_default();
    if named > head.sequence {
        check.fault = Some(match head.sequence {
            0 => JournalFault::Gone { named },
            _ => JournalFault::CutOff { through: named },
        });
        return Ok(check);
    }
    let mut newer: Option<JournalEntry> = None;
    // entries that are appended meanwhile are not checked
    let mut before = head.sequence.saturating_add(1);
    loop {
        let page = journal.list(key, Some(before), PAGE_ENTRIES).await?;
        let is_last = page.len() < usize::try_from(PAGE_ENTRIES).unwrap_or(usize::MAX);
        for entry in page {
            let fault = match &newer {
                None => is_other(&entry, &head).then_some(JournalFault::CutOff {
                    through: head.sequence,
                }),
                Some(newer) => unlinked(key, &entry, newer),
            };
            if fault.is_some() {
                check.fault = fault;
                return Ok(check);
            }
            check.entries += 1;
            before = entry.sequence;
            if let Some(hash) = marks.get(&entry.sequence) {
                if *hash != entry.hash {
                    let sequence = entry.sequence;
                    check.fault = Some(JournalFault::NotAsNamed { sequence });
                    return Ok(check);
                }
                check.agreeing += 1;
            }
            newer = Some(entry);
        }
        if is_last {
            break;
        }
    }
    check.fault = match newer {
        Some(oldest) if oldest.sequence == 1 => {
            let is_changed = !oldest.follows(key, "");
            is_changed.then_some(JournalFault::Changed { sequence: 1 })
        }
        // what is older than a full journal has been deleted, perhaps while the entries were read
        Some(oldest) => {
            let newest = journal.head(key).await?.unwrap_or_default().sequence;
            let sequence = oldest.sequence - 1;
            let is_stored = newest > 0 && sequence > newest.saturating_sub(MAX_ENTRIES);
            is_stored.then_some(JournalFault::Missing { sequence })
        }
        None if head.sequence > 0 => Some(JournalFault::CutOff {
            through: head.sequence,
        }),
        _ => None,
    };
    Ok(check)
}

fn is_other(newest: &JournalEntry, head: &JournalHead) -> bool {
    newest.sequence != head.sequence || newest.hash != head.hash
}

fn unlinked(key: &JournalKey, entry: &JournalEntry, newer: &JournalEntry) -> Option<JournalFault> {
    if newer.sequence != entry.sequence + 1 {
        let sequence = newer.sequence - 1;
        return Some(JournalFault::Missing { sequence });
    }
    let is_changed = !newer.follows(key, &entry.hash);
    let sequence = newer.sequence;
    is_changed.then_some(JournalFault::Changed { sequence })
}

//! Compares the journals of managed clusters with the audit log, which names their entries (ADR 0025).
use crate::cli::{error::CliError, print_for_people};
use anyhow::anyhow;
use jiff::{SignedDuration, Timestamp};
use portico_store::{
    AuditEvent, AuditFilter, JournalFault, JournalHead, JournalKey, JournalMarks, Store,
    StoreError, check_journal,
};
use std::collections::BTreeMap;
use uuid::Uuid;

/// Number of entries of the audit log, and of journals, that one read returns.
const PAGE: u32 = 500;

/// How long a journal is stored after its last entry, less a day.
const RETENTION: SignedDuration = SignedDuration::from_hours(24 * 399);

/// By project and cluster.
type Marks = BTreeMap<(String, Uuid), JournalMarks>;

/// What was found in all journals.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Journals {
    pub journals: u64,
    pub entries: u64,
    /// Entries that the audit log names.
    pub agreeing: u64,
    /// One for each journal that is not whole.
    pub faults: Vec<Fault>,
}

/// What is wrong with the journal of a cluster.
#[derive(Debug, PartialEq, Eq)]
pub struct Fault {
    pub project: String,
    pub cluster: Uuid,
    pub fault: JournalFault,
}

/// Checks every journal; `None` if the store has none, as Redis.
///
/// # Errors
/// If the store cannot be reached or its answer cannot be read.
pub async fn check(store: &Store, now: Timestamp) -> Result<Option<Journals>, StoreError> {
    if !store.has_sql() {
        return Ok(None);
    }
    // first, so that the journals have every entry that is named
    let mut marks = marks(store, now).await?;
    let mut found = Journals::default();
    let mut after: Option<JournalKey> = None;
    loop {
        let journal = store.cluster_journal();
        let keys = journal.journals(after.as_ref(), PAGE).await?;
        let Some(last) = keys.last().cloned() else {
            break;
        };
        for key in keys {
            let named = marks.remove(&(key.project_id.clone(), key.cluster));
            check_one(store, &key, &named.unwrap_or_default(), &mut found).await?;
        }
        after = Some(last);
    }
    // of those that remain, there is no journal
    for ((project_id, cluster), named) in marks {
        let key = JournalKey {
            project_id,
            cluster,
        };
        check_one(store, &key, &named, &mut found).await?;
    }
    Ok(Some(found))
}

async fn check_one(
    store: &Store,
    key: &JournalKey,
    named: &JournalMarks,
    found: &mut Journals,
) -> Result<(), StoreError> {
    let check = check_journal(store.cluster_journal(), key, named).await?;
    found.journals += 1;
    found.entries += check.entries;
    found.agreeing += check.agreeing;
    if let Some(fault) = check.fault {
        found.faults.push(Fault {
            project: key.project_id.clone(),
            cluster: key.cluster,
            fault,
        });
    }
    Ok(())
}

/// Returns the entries of journals that the audit log names. A journal is stored for 400 days after its last
/// entry; what the audit log has for longer is not compared.
async fn marks(store: &Store, now: Timestamp) -> Result<Marks, StoreError> {
    let mut marks = Marks::new();
    let mut filter = AuditFilter {
        action: Some("panel".to_owned()),
        since: now.checked_sub(RETENTION).ok(),
        ..AuditFilter::default()
    };
    loop {
        let page = store.audit().list_forward(&filter, i64::from(PAGE)).await?;
        let Some(last) = page.last() else {
            return Ok(marks);
        };
        filter.after = Some(last.sequence);
        for (key, head) in page.iter().filter_map(mark) {
            marks
                .entry(key)
                .or_default()
                .insert(head.sequence, head.hash);
        }
    }
}

/// Returns how the command ends; what is wrong with journals is printed if the audit log is broken too.
///
/// # Errors
/// What is wrong with the audit log, else with the journals.
pub(super) fn ended(chain: Result<(), CliError>, failure: Option<String>) -> Result<(), CliError> {
    match (chain, failure) {
        (chain, None) => chain,
        (Ok(()), Some(failure)) => Err(CliError::Other(anyhow!(failure))),
        (Err(error), Some(failure)) => {
            print_for_people(&format!("{failure}\n"))?;
            Err(error)
        }
    }
}

fn mark(stored: &AuditEvent) -> Option<((String, Uuid), JournalHead)> {
    let event = &stored.event;
    let head: JournalHead = event.detail.get("journal")?.as_str()?.parse().ok()?;
    let project = event.project_id.clone()?;
    let cluster = event.cluster_id.as_ref()?.parse().ok()?;
    Some(((project, cluster), head))
}

impl Journals {
    /// Returns the line that the command prints.
    pub fn summary(&self) -> String {
        format!(
            "Journals of clusters verified: {}, with {} entries, of which the audit log names {}\n",
            self.journals, self.entries, self.agreeing
        )
    }

    /// Returns what is wrong, as a text; `None`: nothing.
    pub fn failure(&self) -> Option<String> {
        let lines = self.faults.iter().map(|one| {
            format!(
                "the journal of the cluster {} of the project {} is not whole: {}",
                one.cluster, one.project, one.fault
            )
        });
        let lines: Vec<String> = lines.collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

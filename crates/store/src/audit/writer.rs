//! The audit log's writer: one task of the process writes all waiting entries together.
//!
//! Each batch is one transaction (one script on Redis), so the head of the chain is locked once for
//! many entries, and an entry is written even if the request that caused it is cancelled meanwhile.
use super::chain::Record;
use super::log::AuditLog;
use crate::error::StoreError;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// Maximum number of entries in one transaction.
const MAX_BATCH: usize = 64;
/// Maximum number of entries that wait while the store does not respond. Each failed write takes a
/// few seconds at most.
const MAX_QUEUED_ENTRIES: usize = 10_000;

/// The entries of this process that wait to be written.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    waiting: Mutex<Vec<Waiting>>,
    /// Held by the task that is writing.
    writing: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct Waiting {
    record: Record,
    done: oneshot::Sender<Result<(), Arc<StoreError>>>,
}

/// Queues a record after those that wait, and waits until it is stored.
pub(super) async fn append(log: &impl AuditLog, record: Record) -> Result<(), StoreError> {
    let (done, written) = oneshot::channel();
    {
        let mut waiting = log.writer().waiting();
        if waiting.len() >= MAX_QUEUED_ENTRIES {
            metrics::counter!(super::LOST).increment(1);
            return Err(StoreError::AuditOverflow);
        }
        waiting.push(Waiting { record, done });
    }
    let log = log.clone();
    #[allow(clippy::disallowed_methods, reason = "the caller waits for the entry")]
    tokio::spawn(async move { write_waiting(&log).await });
    match written.await {
        Ok(result) => result.map_err(StoreError::Audit),
        // the runtime is shutting down
        Err(_) => Err(StoreError::AuditOverflow),
    }
}

/// Writes the waiting entries; returns at once if another task has done so.
async fn write_waiting(log: &impl AuditLog) {
    let _writing = log.writer().writing.lock().await;
    let batch: Vec<Waiting> = {
        let mut waiting = log.writer().waiting();
        let count = waiting.len().min(MAX_BATCH);
        waiting.drain(..count).collect()
    };
    if batch.is_empty() {
        return;
    }
    let records: Vec<Record> = batch.iter().map(|one| one.record.clone()).collect();
    // the time, as far as the callers knew it
    let now_millis = records.iter().map(|record| record.at_millis).max();
    let now_millis = now_millis.unwrap_or_default();
    match log.append_records(&records, now_millis).await {
        Ok(()) => answer(batch, &Ok(())),
        // an entry that the database refuses must not fail the others
        Err(error) if batch.len() > 1 && error.is_refusal() => {
            for one in batch {
                let record = std::slice::from_ref(&one.record);
                let result = log.append_records(record, now_millis).await;
                answer(vec![one], &result.map_err(Arc::new));
            }
        }
        Err(error) => answer(batch, &Err(Arc::new(error))),
    }
}

/// Waits until every queued entry has been written.
pub(crate) async fn flush(log: &impl AuditLog) {
    loop {
        let is_idle = log.writer().waiting().is_empty();
        if is_idle {
            // a batch may be in progress
            drop(log.writer().writing.lock().await);
            return;
        }
        write_waiting(log).await;
    }
}

impl Writer {
    fn waiting(&self) -> MutexGuard<'_, Vec<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn answer(batch: Vec<Waiting>, result: &Result<(), Arc<StoreError>>) {
    if result.is_err() {
        metrics::counter!(super::LOST).increment(batch.len() as u64);
    }
    for one in batch {
        // the caller may be gone: what matters is that the entry is stored
        let _ = one.done.send(result.clone());
    }
}

//! The audit log's writer: one task of the process writes all waiting entries together.
//!
//! Each batch is one transaction (one script on Redis), so the head of the chain is locked once for
//! many entries, and an entry is written even if the request that caused it is cancelled meanwhile.
use super::chain::Record;
use crate::error::StoreError;
use crate::store::Store;
use std::sync::{Arc, Mutex, PoisonError};
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

impl Store {
    /// Queues a record after those that wait, and waits until it is stored.
    pub(super) async fn write_audit(&self, record: Record) -> Result<(), StoreError> {
        let (done, written) = oneshot::channel();
        {
            let waiting = self.audit_writer.waiting.lock();
            let mut waiting = waiting.unwrap_or_else(PoisonError::into_inner);
            if waiting.len() >= MAX_QUEUED_ENTRIES {
                metrics::counter!(super::LOST).increment(1);
                return Err(StoreError::AuditOverflow);
            }
            waiting.push(Waiting { record, done });
        }
        let store = self.clone();
        tokio::spawn(async move { store.write_waiting().await });
        match written.await {
            Ok(result) => result.map_err(StoreError::Audit),
            // the runtime is shutting down
            Err(_) => Err(StoreError::AuditOverflow),
        }
    }

    /// Writes the waiting entries; returns at once if another task has done so.
    async fn write_waiting(&self) {
        let _writing = self.audit_writer.writing.lock().await;
        let batch: Vec<Waiting> = {
            let waiting = self.audit_writer.waiting.lock();
            let mut waiting = waiting.unwrap_or_else(PoisonError::into_inner);
            let count = waiting.len().min(MAX_BATCH);
            waiting.drain(..count).collect()
        };
        if batch.is_empty() {
            return;
        }
        let records: Vec<Record> = batch.iter().map(|one| one.record.clone()).collect();
        match self.write_records(&records).await {
            Ok(()) => answer(batch, &Ok(())),
            // an entry that the database refuses must not fail the others
            Err(error) if batch.len() > 1 && error.is_refusal() => {
                for one in batch {
                    let result = self.write_records(std::slice::from_ref(&one.record)).await;
                    answer(vec![one], &result.map_err(Arc::new));
                }
            }
            Err(error) => answer(batch, &Err(Arc::new(error))),
        }
    }

    async fn write_records(&self, records: &[Record]) -> Result<(), StoreError> {
        match self.redis() {
            Some(redis) => redis.append_records(&self.keys, records).await,
            None => super::sql::append(self, records).await,
        }
    }

    /// Waits until every queued entry has been written.
    pub(crate) async fn flush_audit(&self) {
        loop {
            let waiting = {
                let waiting = self.audit_writer.waiting.lock();
                waiting.unwrap_or_else(PoisonError::into_inner).len()
            };
            if waiting == 0 {
                // a batch may be in progress
                drop(self.audit_writer.writing.lock().await);
                return;
            }
            self.write_waiting().await;
        }
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

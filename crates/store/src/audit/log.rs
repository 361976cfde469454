//! The log on a database: its steps, and the operations that are made of them.
use super::chain::{Head, Record};
use super::filter::{AuditFilter, Order};
use super::record::{event, record};
use super::verify::verify;
use super::writer::{self, Writer};
use super::{
    Audit, AuditEvent, AuditSize, ChainMark, ChainReport, Entry, MAX_LISTED_ENTRIES, NewAuditEvent,
};
use crate::error::StoreError;
use crate::sealing::{KeyRing, Signature};
use async_trait::async_trait;
use jiff::Timestamp;

/// Maximum number of entries that one transaction chains or deletes.
const MAX_BATCH: u16 = 200;

/// The steps of the operations of [`Audit`] that differ between databases.
#[async_trait]
pub(crate) trait AuditLog: Clone + Send + Sync + 'static {
    fn keys(&self) -> &KeyRing;

    fn writer(&self) -> &Writer;

    /// Appends records in one step; `now_millis` is the time of an entry about a break, if there is one.
    async fn append_records(&self, records: &[Record], now_millis: i64) -> Result<(), StoreError>;

    /// Gives a place in the chain to at most `limit` entries that have none; returns their number.
    async fn adopt_entries(
        &self,
        now: Timestamp,
        limit: u16,
        is_migration: bool,
    ) -> Result<u64, StoreError>;

    /// Removes at most `limit` of the oldest entries that are older than `before`; returns their
    /// number.
    async fn trim_entries(
        &self,
        before: Timestamp,
        limit: u16,
        now: Timestamp,
    ) -> Result<u64, StoreError>;

    /// Reads at most `limit` matching entries.
    async fn read_entries(
        &self,
        filter: &AuditFilter,
        order: Order,
        limit: i64,
    ) -> Result<Vec<Entry>, StoreError>;

    /// Reads the head of the chain without locking it.
    async fn head(&self) -> Result<Option<Head>, StoreError>;

    /// Counts entries without a place in the chain, and those outside its ends.
    async fn outside(&self, head: &Head) -> Result<(i64, i64), StoreError>;
}

#[async_trait]
impl<L: AuditLog> Audit for L {
    async fn append(&self, event: &NewAuditEvent, now: Timestamp) -> Result<(), StoreError> {
        writer::append(self, record(event, now)?).await
    }

    async fn list(&self, filter: &AuditFilter, limit: i64) -> Result<Vec<AuditEvent>, StoreError> {
        events(self, filter, Order::NewestFirst, limit).await
    }

    async fn list_forward(
        &self,
        filter: &AuditFilter,
        limit: i64,
    ) -> Result<Vec<AuditEvent>, StoreError> {
        events(self, filter, Order::OldestFirst, limit).await
    }

    async fn size(&self) -> Result<AuditSize, StoreError> {
        let head = self.head().await?.unwrap_or_default();
        let first = read(self, &AuditFilter::default(), Order::OldestFirst, 1).await?;
        Ok(AuditSize {
            entries: head.sequence - head.start_sequence,
            oldest: first.first().and_then(Entry::at),
        })
    }

    async fn adopt(&self, now: Timestamp) -> Result<u64, StoreError> {
        adopt_all(self, now, false).await
    }

    async fn trim(&self, before: Timestamp, now: Timestamp) -> Result<u64, StoreError> {
        let mut all = 0;
        loop {
            let deleted = self.trim_entries(before, MAX_BATCH, now).await?;
            all += deleted;
            if deleted < u64::from(MAX_BATCH) {
                return Ok(all);
            }
        }
    }

    async fn verify(&self, noted: Option<&ChainMark>) -> Result<ChainReport, StoreError> {
        verify(self, noted).await
    }
}

/// Lets entries that were written without the chain join it, in the order of their times.
pub(crate) async fn adopt_after_migration(
    log: &impl AuditLog,
    now: Timestamp,
) -> Result<(), StoreError> {
    let adopted = adopt_all(log, now, true).await?;
    if adopted > 0 {
        tracing::info!(adopted, "entries of the audit log have joined its chain");
    }
    Ok(())
}

async fn adopt_all(
    log: &impl AuditLog,
    now: Timestamp,
    is_migration: bool,
) -> Result<u64, StoreError> {
    let mut all = 0;
    loop {
        let adopted = log.adopt_entries(now, MAX_BATCH, is_migration).await?;
        all += adopted;
        if adopted < u64::from(MAX_BATCH) {
            return Ok(all);
        }
    }
}

async fn events(
    log: &impl AuditLog,
    filter: &AuditFilter,
    order: Order,
    limit: i64,
) -> Result<Vec<AuditEvent>, StoreError> {
    let entries = read(log, filter, order, limit).await?;
    entries
        .into_iter()
        .map(|entry| {
            let seal = entry.link.check(log.keys(), &entry.record);
            event(entry, seal == Signature::Invalid)
        })
        .collect()
}

/// Reads matching entries, at most as many as one list may have.
pub(super) async fn read(
    log: &impl AuditLog,
    filter: &AuditFilter,
    order: Order,
    limit: i64,
) -> Result<Vec<Entry>, StoreError> {
    let limit = limit.clamp(0, MAX_LISTED_ENTRIES);
    log.read_entries(filter, order, limit).await
}

//! Reads entries as rows: a page of them, or those that match a filter.
#[cfg(test)]
mod tests;

use super::rows::{self, Read, Shown};
use super::template_names::{NamesByViewer, template_names};
use crate::service::lifecycle::viewer::Viewer;
use jiff::Timestamp;
use portico_cluster_operations::Clients;
use portico_domain::panel::lifecycle::{JournalFilter, JournalRow};
use portico_store::{ClusterJournal, JournalEntry, JournalKey, StoreError};
use std::collections::HashSet;

/// Number of entries of a page.
const PAGE: u32 = 100;
/// Older requests and observations that are read to find the request that a difference of the page follows
/// from.
const CONTEXT: u32 = 20;
/// Number of newer entries among which the outcomes of the requests of a page are looked for.
const NEWER: u32 = 200;
/// Number of entries that are read at once for a filter.
const BATCH: u32 = 500;
/// Maximum number of entries in which those that match are looked for; the next page continues.
const MAX_SCANNED: usize = 2_000;

/// A journal, and the viewer who reads it.
pub struct Reader<'a> {
    pub clients: &'a Clients,
    /// The names of templates that were read before.
    pub names: &'a NamesByViewer,
    pub journal: &'a dyn ClusterJournal,
    pub key: &'a JournalKey,
    pub viewer: &'a Viewer,
    pub now: Timestamp,
}

/// What is shown of a journal.
pub struct Page {
    pub rows: Vec<JournalRow>,
    /// To be read on from, if there are older entries.
    pub older: Option<i64>,
    pub changed: Option<String>,
}

impl Reader<'_> {
    /// Returns the entries before a sequence number.
    pub async fn page(&self, before: Option<i64>) -> Result<Page, StoreError> {
        // one more, by which the oldest of the page is checked
        let entries = self.journal.list(self.key, before, PAGE + 1).await?;
        let limit = usize::try_from(PAGE).unwrap_or(usize::MAX);
        let beyond = entries.get(limit).map(|entry| entry.sequence);
        let shown = self.shown(&entries, limit, (before, beyond)).await?;
        let oldest = entries.get(limit.saturating_sub(1));
        Ok(Page {
            rows: shown.rows,
            older: oldest
                .filter(|_| beyond.is_some())
                .map(|entry| entry.sequence),
            changed: shown.changed,
        })
    }

    /// Returns those of the entries before a sequence number that match: at least as many as a page has, unless
    /// there are none among many.
    pub async fn filtered(
        &self,
        before: Option<i64>,
        filter: &JournalFilter,
    ) -> Result<Page, StoreError> {
        let mut entries: Vec<JournalEntry> = Vec::new();
        let mut cursor = before;
        loop {
            let batch = self.journal.list(self.key, cursor, BATCH).await?;
            let is_short = batch.len() < usize::try_from(BATCH).unwrap_or(usize::MAX);
            entries.extend(batch);
            cursor = entries.last().map(|entry| entry.sequence);
            // what is recorded before a time has happened before it
            let is_early = entries.last().is_some_and(|entry| {
                filter
                    .since
                    .is_some_and(|since| entry.at.as_second() < since)
            });
            let is_last = is_short || is_early;
            let older = cursor.filter(|_| !is_last);
            let mut shown = self.shown(&entries, entries.len(), (before, older)).await?;
            shown.rows.retain(|row| filter.matches(row));
            let is_enough = shown.rows.len() >= usize::try_from(PAGE).unwrap_or(usize::MAX);
            if is_last || is_enough || entries.len() >= MAX_SCANNED {
                return Ok(Page {
                    rows: shown.rows,
                    older,
                    changed: shown.changed,
                });
            }
        }
    }

    /// Returns the sequence numbers of the entries that match; `before` is where they were read from.
    pub async fn matching(
        &self,
        entries: &[JournalEntry],
        before: Option<i64>,
        filter: &JournalFilter,
    ) -> Result<HashSet<i64>, StoreError> {
        let oldest = entries.last().map(|entry| entry.sequence);
        let around = (before, oldest);
        let shown = self.shown(entries, entries.len(), around).await?;
        let matching = shown.rows.iter().filter(|row| filter.matches(row));
        Ok(matching.filter_map(sequence).collect())
    }

    /// Returns the newest `limit` entries as rows, with those from the first sequence number on and before the
    /// second one as their context.
    async fn shown(
        &self,
        entries: &[JournalEntry],
        limit: usize,
        (from, beyond): (Option<i64>, Option<i64>),
    ) -> Result<Shown, StoreError> {
        let newer = match from {
            Some(from) => self.newer(from).await?,
            None => Vec::new(),
        };
        let context = match beyond {
            Some(beyond) => {
                let journal = self.journal;
                let before = Some(beyond);
                journal
                    .list_without_events(self.key, before, CONTEXT)
                    .await?
            }
            None => Vec::new(),
        };
        let templates = template_names(self.clients, self.names, self.viewer, entries).await;
        let read = Read {
            key: self.key,
            newer: &newer,
            entries,
            context: &context,
            viewer_id: &self.viewer.user_id,
            templates: &templates,
            now: self.now,
        };
        Ok(rows::of(&read, limit))
    }

    /// Returns requests and observations from a sequence number on.
    async fn newer(&self, from: i64) -> Result<Vec<JournalEntry>, StoreError> {
        let before = Some(from.saturating_add(i64::from(NEWER)));
        let journal = self.journal;
        let mut entries = journal.list_without_events(self.key, before, NEWER).await?;
        entries.retain(|entry| entry.sequence >= from);
        Ok(entries)
    }
}

/// Returns the sequence number in the ID of a row.
fn sequence(row: &JournalRow) -> Option<i64> {
    row.id.strip_prefix('p')?.parse().ok()
}

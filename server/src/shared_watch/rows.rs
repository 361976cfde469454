//! The rows of one watch, as the API server rendered them: cells and the metadata that rows need, no
//! annotations, no managed fields.
use crate::kube::{listing::Chunk, table::TableRow, watch::Change};
use portico_domain::panel::Column;
use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// The version of the rows that change next, of all watches of the process.
static NEXT_VERSION: AtomicU64 = AtomicU64::new(1);

/// Maximum number of rows of one watch: twice that of a list, whose last chunk may exceed it.
const MAX_WATCHED_ROWS: usize = 40_000;

/// The rows of one watch.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    columns: Arc<[Column]>,
    by_uid: HashMap<String, Arc<TableRow>>,
    /// Approximate memory of `by_uid`.
    bytes: usize,
    remaining: usize,
    is_cut: bool,
    /// Another one after each change; no other rows of the process have it.
    version: u64,
}

impl Rows {
    /// Returns a number that is another one after each change, and for each watch.
    pub fn version(&self) -> u64 {
        self.version
    }

    pub fn columns(&self) -> &Arc<[Column]> {
        &self.columns
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<TableRow>> {
        self.by_uid.values()
    }

    /// Returns the approximate memory of the rows, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the number of rows that are still to be read.
    pub fn remaining(&self) -> usize {
        self.remaining
    }

    /// Returns whether there are more objects than a list may have.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    pub(super) fn len(&self) -> usize {
        self.by_uid.len()
    }

    pub(super) fn extend(&mut self, chunk: Chunk) {
        if chunk.is_restarted {
            *self = Self::default();
        }
        if self.columns.is_empty() {
            self.columns = chunk.columns.into();
        }
        self.remaining = chunk.remaining;
        self.is_cut = chunk.is_cut;
        self.insert(chunk.rows);
        self.changed();
    }

    pub(super) fn apply(&mut self, change: Change) {
        match change {
            Change::Upsert(rows) => self.insert(rows),
            Change::Remove(uids) => {
                for uid in uids {
                    if let Some(old) = self.by_uid.remove(&uid) {
                        self.bytes -= old.bytes();
                    }
                }
            }
            Change::Position => return,
        }
        self.changed();
    }

    fn changed(&mut self) {
        self.version = NEXT_VERSION.fetch_add(1, Ordering::Relaxed);
    }

    fn insert(&mut self, rows: Vec<TableRow>) {
        for row in rows {
            // a watch may send any number of objects, as a tenant's API server can
            if self.by_uid.len() >= MAX_WATCHED_ROWS && !self.by_uid.contains_key(&row.row.uid) {
                self.is_cut = true;
                continue;
            }
            self.bytes += row.bytes();
            if let Some(old) = self.by_uid.insert(row.row.uid.clone(), Arc::new(row)) {
                self.bytes -= old.bytes();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::panel::Row;

    fn row(name: &str) -> TableRow {
        TableRow {
            owner: None,
            row: Row {
                uid: format!("uid-{name}"),
                name: name.to_owned(),
                namespace: None,
                resource_version: "1".to_owned(),
                created_at: None,
                cells: vec![name.to_owned()],
                labels: Vec::new(),
                health: None,
                event: None,
            },
        }
    }

    fn chunk(names: &[&str], remaining: usize) -> Chunk {
        Chunk {
            rows: names.iter().map(|name| row(name)).collect(),
            remaining,
            ..Chunk::default()
        }
    }

    #[test]
    fn finding_s12_the_memory_of_rows_is_counted_as_they_come_and_go() {
        let mut rows = Rows::default();
        rows.extend(chunk(&["a"], 0));
        let one = rows.bytes();
        assert!(one > 100, "{one}");
        rows.apply(Change::Upsert(vec![row("b"), row("a")]));
        assert_eq!(rows.bytes(), 2 * one);
        let gone = ["uid-a", "uid-b", "uid-unknown"].map(str::to_owned);
        rows.apply(Change::Remove(gone.to_vec()));
        assert_eq!(rows.bytes(), 0);
    }

    #[test]
    fn a_watch_has_a_maximum_number_of_rows_and_is_incomplete_beyond() {
        let mut rows = Rows::default();
        let all = (0..MAX_WATCHED_ROWS).map(|number| row(&number.to_string()));
        rows.apply(Change::Upsert(all.collect()));
        assert!(!rows.is_cut());
        // a row that is known is replaced
        rows.apply(Change::Upsert(vec![row("7")]));
        assert!(!rows.is_cut());
        rows.apply(Change::Upsert(vec![row("one too many")]));
        assert_eq!(rows.len(), MAX_WATCHED_ROWS);
        assert!(rows.is_cut());
    }

    #[test]
    fn each_change_and_each_watch_has_a_version_of_its_own() {
        let (mut rows, mut other) = (Rows::default(), Rows::default());
        rows.extend(chunk(&["a"], 0));
        other.extend(chunk(&["a"], 0));
        assert_ne!(rows.version(), other.version());
        let before = rows.version();
        rows.apply(Change::Position);
        assert_eq!(rows.version(), before);
        rows.apply(Change::Remove(vec!["uid-a".to_owned()]));
        assert_ne!(rows.version(), before);
        assert_eq!(rows.clone().version(), rows.version());
    }

    #[test]
    fn a_list_that_had_to_start_again_has_no_rows_of_the_first_attempt() {
        let mut rows = Rows::default();
        rows.extend(chunk(&["a", "b"], 3));
        assert_eq!((rows.len(), rows.remaining()), (2, 3));
        rows.extend(Chunk {
            is_restarted: true,
            ..chunk(&["c"], 0)
        });
        assert_eq!((rows.len(), rows.remaining()), (1, 0));
    }
}

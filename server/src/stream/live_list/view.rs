//! The rows of a list on the server, and the window of them that the browser has.
use crate::{
    kube::{listing::Part, watch},
    service::{lists, row_health::RowHealth},
};
use portico_domain::{
    panel::{Column, ListQuery, ListScope, Row},
    stream::Message,
};
use std::collections::{BTreeMap, HashMap, HashSet};

/// All rows, and the window of them that the browser has.
pub struct View {
    query: ListQuery,
    pub columns: Vec<Column>,
    health: Option<RowHealth>,
    rows: BTreeMap<String, Row>,
    /// Approximate memory of `rows`.
    bytes: usize,
    /// What was sent last: UID and version.
    sent: HashMap<String, String>,
    sent_total: usize,
    dirty: bool,
}

impl View {
    pub fn new(columns: Vec<Column>, query: &ListQuery) -> Self {
        Self {
            query: query.clone(),
            health: RowHealth::of(&query.resource, &columns),
            columns,
            rows: BTreeMap::new(),
            bytes: 0,
            sent: HashMap::new(),
            sent_total: 0,
            dirty: false,
        }
    }

    pub fn fill(&mut self, parts: Vec<Part>) {
        self.rows = parts
            .into_iter()
            .flat_map(|part| part.rows)
            .map(|row| (row.row.uid.clone(), row.row))
            .collect();
        self.bytes = self.rows.values().map(row_bytes).sum();
        self.dirty = true;
    }

    /// Returns the approximate memory of the rows.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn apply(&mut self, change: watch::Change) {
        match change {
            watch::Change::Upsert(rows) => {
                for row in rows {
                    self.bytes += row_bytes(&row.row);
                    if let Some(old) = self.rows.insert(row.row.uid.clone(), row.row) {
                        self.bytes -= row_bytes(&old);
                    }
                }
                self.dirty = true;
            }
            watch::Change::Remove(uids) => {
                for uid in uids {
                    if let Some(old) = self.rows.remove(&uid) {
                        self.bytes -= row_bytes(&old);
                    }
                }
                self.dirty = true;
            }
            watch::Change::Position => {}
        }
    }

    /// Judges rows beyond their cells; `None` if the cells are sufficient.
    pub fn row_health(&self) -> Option<&RowHealth> {
        self.health.as_ref()
    }

    /// Sends the rows whose cells are not sufficient again, since their health may have changed.
    pub fn send_uncertain_again(&mut self) {
        let Some(health) = &self.health else {
            return;
        };
        for row in self.rows.values().filter(|row| health.is_uncertain(row)) {
            // no object has this version
            if let Some(version) = self.sent.get_mut(&row.uid) {
                version.clear();
                self.dirty = true;
            }
        }
    }

    fn window(&self) -> (Vec<Row>, usize) {
        let mut rows: Vec<_> = self.rows.values().cloned().collect();
        let total = lists::arrange(&mut rows, &self.columns, &self.query);
        (rows, total)
    }

    fn remember(&mut self, rows: &[Row], total: usize) {
        self.sent = rows
            .iter()
            .map(|row| (row.uid.clone(), row.resource_version.clone()))
            .collect();
        self.sent_total = total;
        self.dirty = false;
    }

    pub fn snapshot(&mut self, id: u32, scope: &ListScope) -> Message {
        let (rows, total) = self.window();
        self.remember(&rows, total);
        Message::Snapshot {
            id,
            columns: self.columns.clone(),
            rows,
            total,
            scope: scope.clone(),
        }
    }

    /// Returns what the browser does not have yet; a whole snapshot if the list is cut to a window,
    /// as the browser could not derive the total from single rows.
    pub fn changes(&mut self, id: u32, scope: &ListScope) -> Option<Message> {
        if !self.dirty {
            return None;
        }
        let (rows, total) = self.window();
        if total > rows.len() && total != self.sent_total {
            return Some(self.snapshot(id, scope));
        }
        let changed: Vec<_> = rows
            .iter()
            .filter(|row| self.sent.get(&row.uid) != Some(&row.resource_version))
            .cloned()
            .collect();
        let now: HashSet<_> = rows.iter().map(|row| &row.uid).collect();
        let removed: Vec<_> = self
            .sent
            .keys()
            .filter(|uid| !now.contains(uid))
            .cloned()
            .collect();
        self.remember(&rows, total);
        (!changed.is_empty() || !removed.is_empty()).then_some(Message::Rows {
            id,
            changed,
            removed,
        })
    }
}

/// Returns the memory of a row with its places in `rows` and `sent`: its texts, and the overhead of
/// each.
fn row_bytes(row: &Row) -> usize {
    const TEXT: usize = size_of::<String>();
    let cells: usize = row.cells.iter().map(|cell| cell.len() + TEXT).sum();
    let labels: usize = row
        .labels
        .iter()
        .map(|(name, value)| name.len() + value.len() + 2 * TEXT)
        .sum();
    let keys = 3 * (row.uid.len() + TEXT) + 2 * (row.resource_version.len() + TEXT);
    size_of::<Row>()
        + keys
        + row.name.len()
        + row.namespace.as_ref().map_or(0, String::len)
        + cells
        + labels
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;

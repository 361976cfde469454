//! The window of a list's rows that the browser has.
use crate::service::{lists::Window, row_health::RowHealth};
use portico_domain::{
    panel::{ListQuery, ListScope, Row},
    stream::Message,
};
use std::collections::{HashMap, HashSet};

/// What the browser has of a list.
pub struct View {
    query: ListQuery,
    health: Option<RowHealth>,
    /// UID and version of the rows that were sent.
    sent: HashMap<String, String>,
    sent_total: usize,
    sends_uncertain_again: bool,
}

impl View {
    pub fn new(query: &ListQuery) -> Self {
        Self {
            query: query.clone(),
            health: None,
            sent: HashMap::new(),
            sent_total: 0,
            sends_uncertain_again: false,
        }
    }

    /// Judges rows beyond their cells; `None` if the cells are sufficient.
    pub fn row_health(&self) -> Option<&RowHealth> {
        self.health.as_ref()
    }

    /// Sends the rows whose cells are not sufficient with the next changes, since their health may
    /// have changed.
    pub fn send_uncertain_again(&mut self) {
        self.sends_uncertain_again = self.health.is_some();
    }

    /// Returns whether there is something to send although no row has changed.
    pub fn is_due(&self) -> bool {
        self.sends_uncertain_again
    }

    fn remember(&mut self, rows: &[Row], total: usize) {
        self.sent = rows
            .iter()
            .map(|row| (row.uid.clone(), row.resource_version.clone()))
            .collect();
        self.sent_total = total;
        self.sends_uncertain_again = false;
    }

    pub fn snapshot(&mut self, id: u32, scope: &ListScope, window: Window) -> Message {
        self.health = RowHealth::of(&self.query.resource, &window.columns);
        self.remember(&window.rows, window.total);
        Message::Snapshot {
            id,
            columns: window.columns.to_vec(),
            rows: window.rows,
            total: window.total,
            scope: scope.clone(),
        }
    }

    /// Returns what the browser does not have yet; a whole snapshot if the list is cut to a window,
    /// as the browser could not derive the total from single rows.
    pub fn changes(&mut self, id: u32, scope: &ListScope, window: Window) -> Option<Message> {
        if window.total > window.rows.len() && window.total != self.sent_total {
            return Some(self.snapshot(id, scope, window));
        }
        let is_uncertain = |row: &Row| {
            self.sends_uncertain_again
                && self
                    .health
                    .as_ref()
                    .is_some_and(|health| health.is_uncertain(row))
        };
        let changed: Vec<_> = window
            .rows
            .iter()
            .filter(|row| {
                self.sent.get(&row.uid) != Some(&row.resource_version) || is_uncertain(row)
            })
            .cloned()
            .collect();
        let now: HashSet<_> = window.rows.iter().map(|row| &row.uid).collect();
        let removed: Vec<_> = self
            .sent
            .keys()
            .filter(|uid| !now.contains(uid))
            .cloned()
            .collect();
        self.remember(&window.rows, window.total);
        (!changed.is_empty() || !removed.is_empty()).then_some(Message::Rows {
            id,
            changed,
            removed,
        })
    }
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;

//! The window of a list that the browser has, and what it lacks of a newer one.
use portico_domain::{
    panel::{Column, Health, ListScope, Row, RowWindow, StatusCount},
    stream::Message,
};
use std::{collections::HashMap, sync::Arc};

/// What the browser has of a list.
#[derive(Debug, Default)]
pub struct SentWindow {
    columns: Arc<[Column]>,
    offset: usize,
    /// UIDs.
    order: Vec<String>,
    /// Version and health of each row, by UID.
    rows: HashMap<String, (String, Option<Health>)>,
    total: usize,
    unfiltered: usize,
    statuses: Vec<StatusCount>,
    pending: usize,
}

/// A window to be sent.
#[derive(Clone, Debug, Default)]
pub struct NewWindow {
    pub columns: Arc<[Column]>,
    pub window: RowWindow,
    pub statuses: Vec<StatusCount>,
    /// Number of objects that have changed since the list was paused.
    pub pending: usize,
}

impl SentWindow {
    /// Returns the whole window, and whatever a snapshot does not include.
    pub fn snapshot(
        &mut self,
        id: u32,
        turn: u32,
        scope: &ListScope,
        new: NewWindow,
    ) -> (Message, Option<Message>) {
        let pending = new.pending;
        self.remember(&new);
        let snapshot = Message::Snapshot {
            id,
            turn,
            columns: new.columns.to_vec(),
            window: new.window,
            statuses: new.statuses,
            scope: scope.clone(),
        };
        let rest = (pending > 0).then(|| Message::Rows {
            id,
            turn,
            changed: Vec::new(),
            order: None,
            total: self.total,
            unfiltered: self.unfiltered,
            statuses: None,
            pending,
        });
        (snapshot, rest)
    }

    /// Returns what the browser lacks; `None` if that is nothing. `Err` gives the window back if it
    /// has to be sent whole, because it has other columns or begins at another row.
    pub fn changes(
        &mut self,
        id: u32,
        turn: u32,
        new: NewWindow,
    ) -> Result<Option<Message>, NewWindow> {
        if new.columns != self.columns || new.window.offset != self.offset {
            return Err(new);
        }
        let window = &new.window;
        let changed: Vec<_> = window
            .rows
            .iter()
            .filter(|row| !self.has(row))
            .cloned()
            .collect();
        let order: Vec<_> = window.rows.iter().map(|row| row.uid.clone()).collect();
        let order = (order != self.order).then_some(order);
        let statuses = (new.statuses != self.statuses).then(|| new.statuses.clone());
        let is_same = changed.is_empty()
            && order.is_none()
            && statuses.is_none()
            && (window.total, window.unfiltered, new.pending)
                == (self.total, self.unfiltered, self.pending);
        let (total, unfiltered, pending) = (window.total, window.unfiltered, new.pending);
        self.remember(&new);
        Ok((!is_same).then_some(Message::Rows {
            id,
            turn,
            changed,
            order,
            total,
            unfiltered,
            statuses,
            pending,
        }))
    }

    fn has(&self, row: &Row) -> bool {
        self.rows.get(&row.uid).is_some_and(|(version, health)| {
            *version == row.resource_version && *health == row.health
        })
    }

    fn remember(&mut self, new: &NewWindow) {
        let window = &new.window;
        self.columns = Arc::clone(&new.columns);
        self.offset = window.offset;
        self.order = window.rows.iter().map(|row| row.uid.clone()).collect();
        self.rows = window
            .rows
            .iter()
            .map(|row| {
                let version = row.resource_version.clone();
                (row.uid.clone(), (version, row.health))
            })
            .collect();
        self.total = window.total;
        self.unfiltered = window.unfiltered;
        self.statuses.clone_from(&new.statuses);
        self.pending = new.pending;
    }
}

#[cfg(test)]
#[path = "sent_window_tests.rs"]
mod tests;

//! Rows in the order of a query, the counts of their statuses, and windows of them.
use super::{
    filter::{Filter, FilterError, Matcher},
    order::Order,
};
use crate::kube::table::TableRow;
use jiff::Timestamp;
use portico_domain::panel::{Column, Health, MAX_WINDOW_ROWS, RowRange, RowWindow, StatusCount};
use std::{cmp::Reverse, collections::HashMap, sync::Arc};

/// All rows of a list's scope.
#[derive(Clone, Debug, Default)]
pub struct ListRows {
    pub columns: Arc<[Column]>,
    pub rows: Vec<Arc<TableRow>>,
    /// Number of rows that are still to be read.
    pub remaining: usize,
    /// Approximate memory of the rows.
    pub bytes: usize,
    /// Whether there are more objects than a list may have.
    pub is_cut: bool,
}

/// The rows that a query selects, in its order.
#[derive(Clone, Debug, Default)]
pub struct Arranged {
    /// The rows that it was made of.
    pub source: Arc<ListRows>,
    pub rows: Vec<Arc<TableRow>>,
    /// Of the rows that match everything but the statuses; the most severe first.
    pub statuses: Vec<StatusCount>,
    /// Number of rows that match, also of those that are still to be read.
    pub total: usize,
}

impl Arranged {
    /// Filters and sorts rows.
    ///
    /// # Errors
    /// `Fields` for a condition that does not fit the columns.
    pub fn new(
        source: Arc<ListRows>,
        filter: &Filter,
        now: Timestamp,
    ) -> Result<Self, FilterError> {
        let columns = &source.columns;
        let matcher = filter.bind(columns, now)?;
        let mut statuses = Statuses::default();
        let order = Order::new(filter.order(), filter.resource(), columns);
        let mut keyed = Vec::new();
        for row in &source.rows {
            if !matcher.matches_beside_status(&row.row) {
                continue;
            }
            let status = matcher.status(&row.row);
            statuses.add(status, row.row.health);
            if matcher.matches_status(status) {
                keyed.push((order.key(&row.row), row));
            }
        }
        keyed.sort_unstable_by(|(a, a_row), (b, b_row)| {
            order.compare((a, &a_row.row), (b, &b_row.row))
        });
        let rows: Vec<_> = keyed.into_iter().map(|(_, row)| Arc::clone(row)).collect();
        let statuses = statuses.counts();
        let unread = if filter.is_selective() {
            0
        } else {
            source.remaining
        };
        Ok(Self {
            total: rows.len() + unread,
            rows,
            statuses,
            source,
        })
    }

    /// Returns a window; the last one if the range begins after the last row.
    pub fn window(&self, range: RowRange) -> RowWindow {
        let limit = range.limit.min(MAX_WINDOW_ROWS);
        let count = self.rows.len();
        let offset = if range.offset < count {
            range.offset
        } else {
            count.saturating_sub(limit)
        };
        let end = offset.saturating_add(limit).min(count);
        RowWindow {
            offset,
            rows: self.rows[offset..end]
                .iter()
                .map(|row| row.row.clone())
                .collect(),
            total: self.total,
            unfiltered: self.source.rows.len() + self.source.remaining,
        }
    }
}

/// Counts rows by status and health.
#[derive(Default)]
struct Statuses<'a>(HashMap<&'a str, HashMap<Option<Health>, usize>>);

impl<'a> Statuses<'a> {
    fn add(&mut self, status: Option<&'a str>, health: Option<Health>) {
        if let Some(status) = status {
            *self.0.entry(status).or_default().entry(health).or_default() += 1;
        }
    }

    /// Returns the counts, each with the health that most of its rows have.
    fn counts(self) -> Vec<StatusCount> {
        let severity = |health: Option<Health>| health.map_or(u8::MAX, Health::severity);
        let mut counts: Vec<_> = self
            .0
            .into_iter()
            .map(|(status, by_health)| StatusCount {
                status: status.to_owned(),
                health: by_health
                    .iter()
                    .max_by_key(|(health, count)| (**count, Reverse(severity(**health))))
                    .and_then(|(health, _)| *health),
                count: by_health.values().sum(),
            })
            .collect();
        counts.sort_unstable_by(|a, b| {
            (severity(a.health), &a.status).cmp(&(severity(b.health), &b.status))
        });
        counts
    }
}

/// Returns the number of objects that were made, changed or deleted between two readings of a list,
/// of those that a query selects before or after.
pub fn changed_between(before: &ListRows, after: &ListRows, matcher: &Matcher<'_>) -> usize {
    let mut old: HashMap<&str, &Arc<TableRow>> = before
        .rows
        .iter()
        .map(|row| (row.row.uid.as_str(), row))
        .collect();
    let mut changed = 0;
    for row in &after.rows {
        match old.remove(row.row.uid.as_str()) {
            Some(known) if Arc::ptr_eq(known, row) => {}
            Some(known) if known.row.resource_version == row.row.resource_version => {}
            Some(known) => {
                if matcher.matches(&known.row) || matcher.matches(&row.row) {
                    changed += 1;
                }
            }
            None => changed += usize::from(matcher.matches(&row.row)),
        }
    }
    changed + old.values().filter(|row| matcher.matches(&row.row)).count()
}

#[cfg(test)]
#[path = "arrangement_tests.rs"]
mod tests;

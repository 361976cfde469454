//! The CPU and memory that the rows in the page use. Read after the table is shown, with one request
//! for all of them, and again at an interval while the page is visible.
mod cell;

pub use cell::{Measure, usage_cell};

use super::page::ListPage;
use crate::{
    api::resources::get_rows_usage,
    error::UiError,
    hooks::{LiveRow, Timer},
};
use leptos::prelude::*;
use portico_domain::panel::{
    MAX_USAGE_ROWS, Reading, Refusal, RowUsage, RowsUsage, UsageRow, has_usage,
};
use std::{collections::HashMap, time::Duration};

/// How often usage is read; sources measure every 15 to 60 seconds.
pub const REFRESH_INTERVAL: Duration = Duration::from_secs(30);
/// The delay after other rows have come into the page, such as by scrolling.
const REQUEST_DELAY: Duration = Duration::from_millis(250);
/// The least time between two requests for new rows: objects may come into the page many times a second.
const MIN_INTERVAL: Duration = Duration::from_secs(3);

/// The usage of the rows in the page. `Copy`.
#[derive(Clone, Copy)]
pub struct ListUsage {
    page: ListPage,
    /// Whether objects of this kind use CPU and memory.
    applies: bool,
    /// Whether the cluster has a source.
    has_source: bool,
    /// By the UID of the row.
    known: RwSignal<HashMap<String, RowUsage>>,
    /// Why there are no columns, if the source has not responded yet.
    failure: RwSignal<Option<Refusal>>,
    /// Whether the source has responded: the columns stay then.
    has_responded: StoredValue<bool>,
    /// The rows in the page.
    rows: StoredValue<Vec<LiveRow>>,
    is_requesting: StoredValue<bool>,
    request: Timer,
    /// Whether the last request began less than [`MIN_INTERVAL`] ago.
    is_recent: StoredValue<bool>,
    recent: Timer,
}

impl ListUsage {
    pub fn new(page: ListPage, has_source: bool) -> Self {
        Self {
            page,
            applies: page.resource.with_value(has_usage),
            has_source,
            known: RwSignal::new(HashMap::new()),
            failure: RwSignal::new(None),
            has_responded: StoredValue::new(false),
            rows: StoredValue::new(Vec::new()),
            is_requesting: StoredValue::new(false),
            request: Timer::new(),
            is_recent: StoredValue::new(false),
            recent: Timer::new(),
        }
    }

    /// Returns whether the list can have columns for usage.
    pub fn is_offered(self) -> bool {
        self.applies && self.has_source
    }

    /// Returns whether the columns are hidden, because the source has failed.
    pub fn is_hidden(self) -> bool {
        self.failure.with(Option::is_some)
    }

    /// Returns why there are no columns, for kinds that could have them.
    pub fn note(self) -> Option<Refusal> {
        if !self.applies {
            return None;
        }
        let why = if self.has_source {
            self.failure.get()?
        } else {
            "This cluster does not serve metrics.k8s.io (metrics-server), and Portico has no \
             Prometheus for it."
                .to_owned()
                .into()
        };
        Some(Refusal {
            reason: format!("CPU and memory are not shown. {}", why.reason),
            ..why
        })
    }

    /// Returns what a row uses; `None` if it was not read yet.
    pub fn of(self, uid: &str) -> Option<RowUsage> {
        self.known.with(|known| known.get(uid).cloned())
    }

    /// Takes the rows that are in the page now; reads usage if there are others among them.
    pub fn show(self, rows: Vec<LiveRow>) {
        self.rows.set_value(rows);
        self.read_new();
    }

    /// Reads the usage of all rows in the page.
    pub fn read(self) {
        if self.is_requesting.try_get_value() != Some(false) {
            return;
        }
        let rows = self.rows_in_page();
        if rows.is_empty() {
            return;
        }
        self.is_requesting.set_value(true);
        self.is_recent.set_value(true);
        self.recent.start(MIN_INTERVAL, move || {
            self.is_recent.set_value(false);
            self.read_new();
        });
        let uids: Vec<String> = rows.iter().map(|row| row.uid.clone()).collect();
        let asked: Vec<UsageRow> = rows
            .iter()
            .map(|row| {
                row.row.with_untracked(|row| UsageRow {
                    namespace: row.namespace.clone(),
                    name: row.name.clone(),
                })
            })
            .collect();
        let resource = self.page.resource.get_value();
        leptos::task::spawn_local(async move {
            let answer = get_rows_usage(self.page.cluster, resource, asked).await;
            let is_left = self
                .is_requesting
                .try_update_value(|is| *is = false)
                .is_none();
            if !is_left {
                self.receive(uids, answer);
            }
        });
    }

    /// Reads usage soon, if a row in the page has none. A hidden page and a source that fails wait for the
    /// interval.
    fn read_new(self) {
        let has_failed = self.failure.with_untracked(Option::is_some);
        if has_failed || self.is_recent.get_value() || document().hidden() {
            return;
        }
        let rows = self.rows_in_page();
        let is_new = self
            .known
            .with_untracked(|known| rows.iter().any(|row| !known.contains_key(&row.uid)));
        if is_new {
            self.request.start(REQUEST_DELAY, move || self.read());
        }
    }

    fn rows_in_page(self) -> Vec<LiveRow> {
        let rows = self.rows.try_get_value().unwrap_or_default();
        rows.into_iter().take(MAX_USAGE_ROWS).collect()
    }

    fn receive(self, uids: Vec<String>, answer: Result<Reading<RowsUsage>, UiError>) {
        let why = match answer {
            Ok(Reading::Known(usage)) => {
                self.has_responded.set_value(true);
                self.failure.set(None);
                self.known.set(by_uid(uids, usage.rows));
                // those that were scrolled to meanwhile
                self.read_new();
                return;
            }
            Ok(Reading::NotPermitted(refusal)) => refusal,
            Ok(Reading::Unavailable(reason)) => reason.into(),
            Err(error) => Refusal {
                reason: error.message,
                missing: error.missing,
            },
        };
        if self.has_responded.get_value() {
            let unknown = vec![RowUsage::Unknown(why.reason); uids.len()];
            self.known.set(by_uid(uids, unknown));
            self.read_new();
        } else {
            self.failure.set(Some(why));
        }
    }
}

/// Returns the usage of rows by their UIDs. Those of other rows are dropped: they are outdated when
/// their rows are in the page again.
fn by_uid(uids: Vec<String>, rows: Vec<RowUsage>) -> HashMap<String, RowUsage> {
    let mut rows = rows.into_iter();
    let mut known = HashMap::with_capacity(uids.len());
    for uid in uids {
        let usage = rows.next();
        let usage = usage.unwrap_or_else(|| RowUsage::Unknown("No response.".to_owned()));
        known.insert(uid, usage);
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn need_07_rows_in_the_page_all_have_an_entry_after_an_answer() {
        let uids = ["a", "b"].map(str::to_owned).to_vec();
        let known = by_uid(
            uids,
            vec![RowUsage::Unknown("No pod is running.".to_owned())],
        );
        assert_eq!(
            known.get("a"),
            Some(&RowUsage::Unknown("No pod is running.".to_owned()))
        );
        // otherwise it would be requested again and again
        assert!(known.contains_key("b"));
    }
}

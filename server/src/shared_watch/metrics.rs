//! Metrics of shared watches.
use super::WatchScope;

const WATCHES: &str = "portico_panel_shared_watches";
const VIEWERS: &str = "portico_panel_shared_watch_viewers";
const ROWS: &str = "portico_panel_shared_watch_rows";
const LENDERS: &str = "portico_panel_shared_watch_lender_changes_total";
const CUTS: &str = "portico_panel_shared_watch_viewers_cut_total";

/// Counts one thing while it exists.
pub(super) struct Gauged(&'static str, &'static str);

fn sharing(scope: &WatchScope) -> &'static str {
    if scope.is_shared() {
        "shared"
    } else {
        "exclusive"
    }
}

impl Gauged {
    pub(super) fn watch(scope: &WatchScope) -> Self {
        Self::new(WATCHES, scope)
    }

    pub(super) fn viewer(scope: &WatchScope) -> Self {
        Self::new(VIEWERS, scope)
    }

    fn new(name: &'static str, scope: &WatchScope) -> Self {
        let kind = sharing(scope);
        metrics::gauge!(name, "kind" => kind).increment(1.0);
        Self(name, kind)
    }
}

impl Drop for Gauged {
    fn drop(&mut self) {
        metrics::gauge!(self.0, "kind" => self.1).decrement(1.0);
    }
}

/// Counts the rows of one watch.
#[derive(Default)]
pub(super) struct GaugedRows(usize);

impl GaugedRows {
    pub(super) fn set(&mut self, rows: usize) {
        #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
        let change = rows as f64 - self.0 as f64;
        metrics::gauge!(ROWS).increment(change);
        self.0 = rows;
    }
}

impl Drop for GaugedRows {
    fn drop(&mut self) {
        self.set(0);
    }
}

pub(super) fn count_lender_change() {
    metrics::counter!(LENDERS).increment(1);
}

pub(super) fn count_cut() {
    metrics::counter!(CUTS).increment(1);
}

/// Describes the metrics, and initialises them before anything is counted.
pub fn describe_metrics() {
    metrics::describe_gauge!(
        WATCHES,
        "Watches of lists that are open at API servers, by kind: shared between viewers, or exclusive."
    );
    metrics::describe_gauge!(
        VIEWERS,
        "Viewers of these watches, by kind. Divided by the watches: how many viewers share one."
    );
    metrics::describe_gauge!(ROWS, "Rows that these watches hold in memory.");
    metrics::describe_counter!(
        LENDERS,
        "Times that a watch went on with the token of another viewer, because the one before had left or lost its rights."
    );
    metrics::describe_counter!(
        CUTS,
        "Viewers whose access reviews no longer allowed a list, or could not be made for 60 seconds."
    );
    for kind in ["shared", "exclusive"] {
        metrics::gauge!(WATCHES, "kind" => kind).increment(0.0);
        metrics::gauge!(VIEWERS, "kind" => kind).increment(0.0);
    }
    metrics::counter!(LENDERS).increment(0);
    metrics::counter!(CUTS).increment(0);
}

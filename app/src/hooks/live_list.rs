//! A list that the server keeps up to date. All rows that it sent are stored; only a window of them
//! has signals and is in the page.
use super::{
    stream::{Link, Stream},
    timer::Timer,
};
use leptos::prelude::*;
use portico_domain::{
    panel::{Column, ListQuery, ResourceTable, Row},
    stream::{Message, Request},
};
use std::{cmp::Ordering, collections::HashMap};
use uuid::Uuid;

/// How current a list is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Liveness {
    /// As rendered; the stream has not responded yet.
    Loaded,
    Live,
    /// Correct as of a time (Unix seconds), with the reason why it is not live now.
    Stale {
        reason: String,
        since: i64,
    },
    /// Ended permanently.
    Ended(String),
}

/// One row of the window.
#[derive(Clone)]
pub struct LiveRow {
    pub uid: String,
    pub row: ArcRwSignal<Row>,
}

/// A live list. `Copy`.
#[derive(Clone, Copy)]
pub struct LiveList {
    held: StoredValue<Vec<Row>>,
    sort: StoredValue<SortBy>,
    pub window: RwSignal<Vec<LiveRow>>,
    pub total: RwSignal<usize>,
    /// Number of stored rows; fewer than `total` if the server cut the list.
    pub count: RwSignal<usize>,
    pub state: RwSignal<Liveness>,
    /// Maximum number of rows in the page.
    pub limit: Signal<usize>,
    /// Whether changes are held back while the user reads.
    pub paused: RwSignal<bool>,
    /// Number of changes held back.
    pub pending: RwSignal<usize>,
}

impl LiveList {
    /// Starts with the rendered data, then follows the stream.
    pub fn new(
        cluster: Uuid,
        query: ListQuery,
        table: ResourceTable,
        limit: Signal<usize>,
        now: RwSignal<i64>,
    ) -> Self {
        let list = Self {
            sort: StoredValue::new(SortBy::new(query.order(), &table.columns)),
            total: RwSignal::new(table.total),
            count: RwSignal::new(table.rows.len()),
            held: StoredValue::new(table.rows),
            window: RwSignal::new(Vec::new()),
            state: RwSignal::new(Liveness::Loaded),
            limit,
            paused: RwSignal::new(false),
            pending: RwSignal::new(0),
        };
        list.show();
        Effect::new(move |shown: Option<usize>| {
            let limit = limit.get();
            if shown.is_some_and(|shown| shown != limit) {
                list.show();
            }
            limit
        });
        Effect::new(move |was: Option<bool>| {
            let paused = list.paused.get();
            if was == Some(true) && !paused {
                list.pending.set(0);
                list.show();
            }
            paused
        });
        list.follow(cluster, query, now);
        list
    }

    fn follow(self, cluster: Uuid, query: ListQuery, now: RwSignal<i64>) {
        let Some(stream) = use_context::<Stream>() else {
            return;
        };
        Effect::new(move |_| {
            let query = query.clone();
            let id = StoredValue::new(0_u32);
            let retry = Timer::new();
            let opened = stream.open(
                |id| Request::Watch { id, cluster, query },
                move |message| self.receive(message, stream, id, retry),
            );
            id.set_value(opened);
            on_cleanup(move || stream.close(opened));
        });
        Effect::new(move |_| {
            if stream.link.get() == Link::Down {
                let since = now.get_untracked();
                self.state.maybe_update(|state| {
                    let was_current = matches!(state, Liveness::Live | Liveness::Loaded);
                    if was_current {
                        *state = Liveness::Stale {
                            reason: stream.interruption.get_untracked(),
                            since,
                        };
                    }
                    was_current
                });
            }
        });
    }

    fn receive(self, message: Message, stream: Stream, id: StoredValue<u32>, again: Timer) {
        match message {
            Message::Snapshot {
                rows,
                total,
                columns,
                ..
            } => {
                self.sort.update_value(|sort| sort.columns(&columns));
                self.total.set(total);
                self.held.set_value(rows);
                self.state.set(Liveness::Live);
                self.changed(1);
            }
            Message::Rows {
                changed, removed, ..
            } => {
                let count = changed.len() + removed.len();
                self.apply(changed, &removed);
                self.state.set(Liveness::Live);
                self.changed(count);
            }
            Message::Stale { reason, since, .. } => {
                self.state.set(Liveness::Stale { reason, since })
            }
            Message::Ended { reason, retry, .. } => {
                self.state.set(Liveness::Ended(reason));
                if retry {
                    again.start(std::time::Duration::from_secs(3), move || {
                        stream.again(id.try_get_value().unwrap_or_default());
                    });
                }
            }
            Message::Changed { .. }
            | Message::Gone { .. }
            | Message::Lines { .. }
            | Message::NotStarted { .. }
            | Message::Refused { .. }
            | Message::Ping => {}
        }
    }

    fn apply(self, changed: Vec<Row>, removed: &[String]) {
        let grown = self.held.try_update_value(|held| {
            let before = held.len();
            if !removed.is_empty() {
                held.retain(|row| !removed.contains(&row.uid));
            }
            let places: HashMap<&str, usize> = held
                .iter()
                .enumerate()
                .map(|(place, row)| (row.uid.as_str(), place))
                .collect();
            let (known, new): (Vec<_>, Vec<_>) = changed
                .into_iter()
                .map(|row| (places.get(row.uid.as_str()).copied(), row))
                .partition(|(place, _)| place.is_some());
            drop(places);
            let mut moved = false;
            for (place, row) in known {
                if let Some(place) = place {
                    moved |= last_seen(&held[place]) != last_seen(&row);
                    held[place] = row;
                }
            }
            self.sort.with_value(|sort| {
                // an event that happened again is the newest, but no row moves while the user
                // points at it
                if moved && sort.wanted == "last seen" && !is_in_use() {
                    held.sort_by(|a, b| sort.compare(a, b));
                }
                for (_, row) in new {
                    let place = held
                        .partition_point(|other| sort.compare(other, &row) != Ordering::Greater);
                    held.insert(place, row);
                }
            });
            (before, held.len())
        });
        if let Some((before, after)) = grown {
            self.total
                .update(|total| *total = (*total + after).saturating_sub(before));
        }
    }

    fn changed(self, by: usize) {
        if self.paused.get_untracked() {
            self.pending.update(|pending| *pending += by);
        } else {
            self.show();
        }
    }

    /// Updates the window; rows that stay keep their elements.
    fn show(self) {
        let limit = self.limit.get_untracked();
        self.held.try_with_value(|held| {
            self.count
                .maybe_update(|count| std::mem::replace(count, held.len()) != held.len());
            let mut known: HashMap<String, LiveRow> = self
                .window
                .get_untracked()
                .into_iter()
                .map(|row| (row.uid.clone(), row))
                .collect();
            let before = known.len();
            let mut same_order = true;
            let next: Vec<LiveRow> = held
                .iter()
                .take(limit)
                .map(|row| match known.remove(&row.uid) {
                    Some(live) => {
                        live.row.maybe_update(|old| {
                            let differs = old != row;
                            if differs {
                                old.clone_from(row);
                            }
                            differs
                        });
                        live
                    }
                    None => {
                        same_order = false;
                        LiveRow {
                            uid: row.uid.clone(),
                            row: ArcRwSignal::new(row.clone()),
                        }
                    }
                })
                .collect();
            same_order &= before == next.len()
                && self.window.with_untracked(|old| {
                    old.iter().zip(&next).all(|(old, new)| old.uid == new.uid)
                });
            if !same_order {
                self.window.set(next);
            }
        });
    }
}

/// The order in the request to the server, so that new rows are inserted at their place.
#[derive(Clone, Debug)]
struct SortBy {
    wanted: String,
    descending: bool,
    column: Option<usize>,
}

impl SortBy {
    fn new(sort: &str, columns: &[Column]) -> Self {
        let mut by = Self {
            wanted: sort.trim_start_matches('-').to_lowercase(),
            descending: sort.starts_with('-'),
            column: None,
        };
        by.columns(columns);
        by
    }

    fn columns(&mut self, columns: &[Column]) {
        self.column = columns
            .iter()
            .position(|column| column.name.to_lowercase() == self.wanted);
    }

    fn compare(&self, a: &Row, b: &Row) -> Ordering {
        let place = || (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name));
        let order = match (self.wanted.as_str(), self.column) {
            ("", _) => return place(),
            // the oldest has the greatest age
            ("age", _) => b.created_at.cmp(&a.created_at),
            ("namespace", None) => a.namespace.cmp(&b.namespace),
            // the one seen last first
            ("last seen", _) => last_seen(b).cmp(&last_seen(a)),
            (_, Some(column)) => natural(
                a.cells.get(column).map_or("", String::as_str),
                b.cells.get(column).map_or("", String::as_str),
            ),
            (_, None) => return place(),
        };
        let order = if self.descending {
            order.reverse()
        } else {
            order
        };
        order.then_with(place)
    }
}

fn last_seen(row: &Row) -> Option<i64> {
    row.event.as_ref()?.last_seen
}

/// Returns whether the pointer or the keyboard is in a table.
fn is_in_use() -> bool {
    document()
        .query_selector(".table-region:hover, .table-region:focus-within")
        .is_ok_and(|found| found.is_some())
}

/// Compares numbers by value, everything else as text.
fn natural(a: &str, b: &str) -> Ordering {
    match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => a.total_cmp(&b),
        _ => a.cmp(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(namespace: &str, name: &str, restarts: &str, created_at: i64) -> Row {
        Row {
            uid: format!("{namespace}/{name}"),
            name: name.to_owned(),
            namespace: Some(namespace.to_owned()),
            resource_version: "1".to_owned(),
            created_at: Some(created_at),
            cells: vec![name.to_owned(), restarts.to_owned()],
            labels: Vec::new(),
            health: None,
            event: None,
        }
    }

    fn column(name: &str) -> Column {
        Column {
            name: name.to_owned(),
            description: String::new(),
            priority: 0,
            kind: "string".to_owned(),
        }
    }

    fn sorted(sort: &str) -> Vec<String> {
        let by = SortBy::new(sort, &[column("Name"), column("Restarts")]);
        let mut rows = [
            row("b", "x", "10", 3),
            row("a", "z", "9", 1),
            row("a", "y", "9", 2),
        ];
        rows.sort_by(|a, b| by.compare(a, b));
        rows.map(|row| row.uid).to_vec()
    }

    #[test]
    fn rows_stand_by_namespace_and_name() {
        assert_eq!(sorted(""), ["a/y", "a/z", "b/x"]);
        assert_eq!(sorted("nonsense"), ["a/y", "a/z", "b/x"]);
    }

    #[test]
    fn numbers_sort_by_value_and_ties_by_place() {
        assert_eq!(sorted("restarts"), ["a/y", "a/z", "b/x"]);
        assert_eq!(sorted("-restarts"), ["b/x", "a/y", "a/z"]);
    }

    #[test]
    fn the_youngest_has_the_smallest_age() {
        assert_eq!(sorted("age"), ["b/x", "a/y", "a/z"]);
        assert_eq!(sorted("-age"), ["a/z", "a/y", "b/x"]);
    }
}

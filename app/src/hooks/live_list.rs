//! A list that the server keeps up to date. The browser has one window of its rows; the server
//! filters, sorts and cuts it, and sends what changes in it.
use super::{
    stream::{Link, Stream},
    timer::Timer,
    window::{self, LiveRow},
};
use crate::{api::resources::list_resources, error::UiError};
use leptos::prelude::*;
use portico_domain::{
    panel::{
        Column, ListQuery, ListScope, MAX_WINDOW_ROWS, ResourceTable, RowRange, RowWindow,
        StatusCount,
    },
    stream::{ListView, Message, Request},
};
use std::time::Duration;
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

/// A live list. `Copy`.
#[derive(Clone, Copy)]
pub struct LiveList {
    cluster: Uuid,
    stream: Option<Stream>,
    /// The view that was requested last.
    asked: StoredValue<ListView>,
    /// The subscription's ID; `None` before the page runs in a browser.
    id: StoredValue<Option<u32>>,
    /// An order that waits until the rows are not in use.
    order: StoredValue<Option<Vec<String>>>,
    pub columns: RwSignal<Vec<Column>>,
    /// The rows of the window.
    pub rows: RwSignal<Vec<LiveRow>>,
    /// Number of matching rows before the window.
    pub offset: RwSignal<usize>,
    pub total: RwSignal<usize>,
    /// Number of rows without any filter.
    pub unfiltered: RwSignal<usize>,
    pub statuses: RwSignal<Vec<StatusCount>>,
    pub scope: RwSignal<ListScope>,
    pub state: RwSignal<Liveness>,
    /// Whether rows, their order and their cells are kept as they are while the user reads.
    pub paused: RwSignal<bool>,
    /// Number of objects that changed meanwhile.
    pub pending: RwSignal<usize>,
    /// Whether the rows are those of a view that the user has left.
    pub waiting: RwSignal<bool>,
    /// Grows with each selection of other rows.
    pub turns: RwSignal<u32>,
    /// The reason why the requested view could not be loaded.
    pub failure: RwSignal<Option<UiError>>,
}

impl LiveList {
    /// Starts with the rendered data, then follows the stream.
    pub fn new(cluster: Uuid, query: ListQuery, table: ResourceTable, now: RwSignal<i64>) -> Self {
        let window = table.window;
        let range = RowRange {
            offset: window.offset,
            limit: MAX_WINDOW_ROWS,
        };
        let list = Self {
            cluster,
            stream: use_context::<Stream>(),
            asked: StoredValue::new(ListView {
                turn: 1,
                query,
                range,
                is_paused: false,
            }),
            id: StoredValue::new(None),
            order: StoredValue::new(None),
            columns: RwSignal::new(table.columns),
            offset: RwSignal::new(window.offset),
            total: RwSignal::new(window.total),
            unfiltered: RwSignal::new(window.unfiltered),
            rows: RwSignal::new(window::arranged(Vec::new(), window.offset, window.rows)),
            statuses: RwSignal::new(table.statuses),
            scope: RwSignal::new(table.scope),
            state: RwSignal::new(Liveness::Loaded),
            paused: RwSignal::new(false),
            pending: RwSignal::new(0),
            waiting: RwSignal::new(false),
            turns: RwSignal::new(0),
            failure: RwSignal::new(None),
        };
        list.follow(now);
        list
    }

    pub fn cluster(self) -> Uuid {
        self.cluster
    }

    /// Returns the query of the view that was requested last.
    pub fn query(self) -> Option<ListQuery> {
        self.asked.try_with_value(|asked| asked.query.clone())
    }

    /// Shows other rows of the same kind: another query or another window.
    pub fn show(self, query: ListQuery, range: RowRange) {
        self.turns.update(|turns| *turns += 1);
        self.ask(|view| {
            view.query = query;
            view.range = range;
        });
    }

    /// Shows another window of the same rows, if it is not the one that was requested already.
    pub fn show_range(self, range: RowRange) {
        let differs = self.asked.try_with_value(|asked| asked.range != range);
        if differs == Some(true) {
            self.ask(|view| view.range = range);
        }
    }

    /// Requests the same view again, after a failure.
    pub fn retry(self) {
        self.ask(|_| {});
    }

    /// Pauses or resumes the updates of the list.
    pub fn pause(self, paused: bool) {
        self.paused.set(paused);
        self.pending.set(0);
        self.ask(|view| view.is_paused = paused);
    }

    fn ask(self, change: impl FnOnce(&mut ListView)) {
        let asked = self.asked.try_update_value(|asked| {
            change(asked);
            asked.turn += 1;
            asked.clone()
        });
        let Some(view) = asked else { return };
        self.waiting.set(true);
        self.order.set_value(None);
        let (Some(stream), Some(id)) = (self.stream, self.id.get_value()) else {
            return;
        };
        let watch = self.watch(id, view.clone());
        if stream.link.get_untracked() == Link::Down {
            // without the stream a list can still be read
            stream.change(id, None, &watch);
            self.load(view);
        } else {
            stream.change(id, Some(&Request::View { id, view }), &watch);
        }
    }

    fn watch(self, id: u32, view: ListView) -> Request {
        let cluster = self.cluster;
        Request::Watch { id, cluster, view }
    }

    /// Reads a view once, where the stream cannot deliver it: it is interrupted, or has ended the
    /// list without giving the reason in full.
    fn load(self, view: ListView) {
        leptos::task::spawn_local(async move {
            let answer = list_resources(self.cluster, view.query, view.range).await;
            // the user may have left the page or the view
            if self.is_current(view.turn) {
                match answer {
                    Ok(table) => self.receive_table(table),
                    Err(error) => {
                        self.waiting.set(false);
                        self.failure.set(Some(error));
                    }
                }
            }
        });
    }

    fn is_current(self, turn: u32) -> bool {
        self.asked.try_with_value(|asked| asked.turn) == Some(turn)
    }

    fn follow(self, now: RwSignal<i64>) {
        let Some(stream) = self.stream else {
            return;
        };
        Effect::new(move |_| {
            let retry = Timer::new();
            let view = self.asked.get_value();
            let opened = stream.open(
                |id| self.watch(id, view),
                move |message| self.receive(message, stream, retry),
            );
            self.id.set_value(Some(opened));
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
                if self.waiting.get_untracked() {
                    self.load(self.asked.get_value());
                }
            }
        });
    }

    fn receive(self, message: Message, stream: Stream, again: Timer) {
        match message {
            Message::Snapshot {
                turn,
                columns,
                window,
                statuses,
                scope,
                ..
            } if self.is_current(turn) => {
                replace(self.columns, columns);
                replace(self.statuses, statuses);
                replace(self.scope, scope);
                replace(self.state, Liveness::Live);
                self.receive_window(window);
            }
            Message::Rows {
                turn,
                changed,
                order,
                total,
                unfiltered,
                statuses,
                pending,
                ..
            } if self.is_current(turn) => {
                replace(self.total, total);
                replace(self.unfiltered, unfiltered);
                replace(self.pending, pending);
                replace(self.state, Liveness::Live);
                if let Some(statuses) = statuses {
                    self.statuses.set(statuses);
                }
                self.update(changed, order);
            }
            Message::Stale { reason, since, .. } => {
                self.state.set(Liveness::Stale { reason, since });
            }
            Message::Ended { reason, retry, .. } => {
                self.state.set(Liveness::Ended(reason));
                if !retry {
                    // rows that the user may not see any more must not stay on the screen
                    self.total.set(0);
                    self.rows.set(Vec::new());
                }
                // the reason in full, also if what ended is a view that was never shown
                if !retry || self.waiting.get_untracked() {
                    self.load(self.asked.get_value());
                }
                if retry {
                    again.start(Duration::from_secs(3), move || {
                        if let Some(Some(id)) = self.id.try_get_value() {
                            stream.again(id);
                        }
                    });
                }
            }
            _ => {}
        }
    }

    fn receive_table(self, table: ResourceTable) {
        replace(self.columns, table.columns);
        replace(self.statuses, table.statuses);
        replace(self.scope, table.scope);
        self.receive_window(table.window);
    }

    fn receive_window(self, window: RowWindow) {
        self.waiting.set(false);
        replace(self.failure, None);
        self.order.set_value(None);
        let known = self.rows.get_untracked();
        let rows = window::arranged(known, window.offset, window.rows);
        // at once: the place of the rows and the rows themselves
        replace(self.total, window.total);
        replace(self.unfiltered, window.unfiltered);
        replace(self.offset, window.offset);
        self.place(rows);
    }

    fn update(self, changed: Vec<portico_domain::panel::Row>, order: Option<Vec<String>>) {
        let order = order.or_else(|| self.order.try_update_value(Option::take).flatten());
        let known = self.rows.get_untracked();
        let new = window::update(&known, changed);
        let Some(order) = order else { return };
        // rows do not change places while the user points at one of them
        if new.is_empty() && window::is_permutation(&known, &order) && is_in_use() {
            self.order.set_value(Some(order));
            return;
        }
        let offset = self.offset.get_untracked();
        self.place(window::ordered(known, new, offset, &order));
    }

    fn place(self, rows: Vec<LiveRow>) {
        let same = self.rows.with_untracked(|old| {
            old.len() == rows.len() && old.iter().zip(&rows).all(|(a, b)| a.uid == b.uid)
        });
        if !same {
            self.rows.set(rows);
        }
    }
}

/// Sets a signal if its value differs.
fn replace<T: PartialEq + Send + Sync + 'static>(signal: RwSignal<T>, value: T) {
    signal.maybe_update(|old| {
        let differs = *old != value;
        *old = value;
        differs
    });
}

/// Returns whether the pointer or the keyboard is in a row of a table.
fn is_in_use() -> bool {
    document()
        .query_selector(".table-region tbody:hover, .table-region tbody:focus-within")
        .is_ok_and(|found| found.is_some())
}

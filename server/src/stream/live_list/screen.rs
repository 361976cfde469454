//! What a viewer sees of an open list: its view, over the rows as they are, or as they were when the
//! list was paused.
use super::{
    Follower,
    sent_window::{NewWindow, SentWindow},
};
use crate::{
    service::{
        error::ServiceError,
        lists::{self, Arranged, Assessments, Filter, ListRows},
        row_health::RowHealth,
    },
    stream::outbox::Gone,
};
use portico_clock::Clock;
use portico_domain::{
    panel::{ListScope, Row, RowWindow},
    stream::ListView,
};
use std::{sync::Arc, time::Duration};
use tokio::{task::JoinSet, time::Instant};

/// How often objects are read whose rows do not show their health.
const MIN_HEALTH_INTERVAL: Duration = Duration::from_secs(2);
/// How often the changes since a pause are counted.
const COUNT_INTERVAL: Duration = Duration::from_secs(1);
/// How often rows that come into the window because of the health of others are assessed at once.
const MAX_ASSESSMENT_PASSES: usize = 4;

/// The rows of a paused list.
#[derive(Clone)]
pub(super) struct Frozen {
    pub(super) scope: ListScope,
    pub(super) rows: Arc<ListRows>,
    pending: usize,
}

pub(super) struct Screen {
    scope: ListScope,
    view: ListView,
    filter: Filter,
    /// With the health that the cells show.
    arranged: Arc<Arranged>,
    assessments: Assessments,
    /// How long it took to arrange the rows by their assessments.
    cost: Duration,
    sent: SentWindow,
    frozen: Option<Frozen>,
    clock: Clock,
    next_count: Instant,
    /// The tasks that read the health of rows.
    reading: JoinSet<()>,
    next_reading: Instant,
    /// The rows whose cells do not show their health.
    uncertain: Vec<Row>,
    /// Whether the health of some of them is still to be read.
    has_unassessed: bool,
    /// Whether the health of all uncertain rows is to be read again.
    reads_again: bool,
}

impl Screen {
    /// Makes the screen of a view. Rows that were frozen in the same scope stay frozen.
    ///
    /// # Errors
    /// Those of the filter.
    pub(super) fn new(
        view: ListView,
        scope: ListScope,
        live: Arc<Arranged>,
        frozen: Option<Frozen>,
        clock: Clock,
    ) -> Result<Self, ServiceError> {
        let now = Instant::now();
        let mut screen = Self {
            filter: Filter::new(&view.query)?,
            frozen: frozen.filter(|frozen| frozen.scope == scope),
            scope,
            view,
            arranged: live,
            assessments: Assessments::default(),
            cost: Duration::ZERO,
            sent: SentWindow::default(),
            clock,
            next_count: now,
            reading: JoinSet::new(),
            next_reading: now,
            uncertain: Vec::new(),
            has_unassessed: false,
            reads_again: false,
        };
        screen.freeze_or_thaw()?;
        Ok(screen)
    }

    /// Takes another scope: namespaces were found to be refused.
    pub(super) fn set_scope(&mut self, scope: ListScope) {
        self.scope = scope;
    }

    pub(super) fn view(&self) -> &ListView {
        &self.view
    }

    pub(super) fn filter(&self) -> &Filter {
        &self.filter
    }

    pub(super) fn is_paused(&self) -> bool {
        self.view.is_paused
    }

    /// Returns the rows of a paused list, for the time when it is opened again.
    pub(super) fn frozen(self) -> Option<Frozen> {
        self.frozen
    }

    /// Returns the memory of the rows behind the screen.
    pub(super) fn bytes(&self) -> usize {
        self.arranged.source.bytes
    }

    /// Returns how long it took to arrange the rows that were sent last, beside the shared
    /// arrangement.
    pub(super) fn cost(&self) -> Duration {
        self.cost
    }

    /// Changes the view. `live` arranges the rows as they are, if they are needed.
    ///
    /// # Errors
    /// Those of the filter, and of `live`; the view is the former one then.
    pub(super) fn set_view(
        &mut self,
        view: ListView,
        live: impl FnOnce(&Filter) -> Result<Arc<Arranged>, ServiceError>,
    ) -> Result<(), ServiceError> {
        let is_resumed = self.view.is_paused && !view.is_paused;
        let is_same_query = self.view.query == view.query;
        if is_resumed || !is_same_query {
            let filter = Filter::new(&view.query)?;
            let frozen = self.frozen.as_mut().filter(|_| !is_resumed);
            self.arranged = match frozen {
                Some(frozen) => {
                    let arranged =
                        lists::arrange(Arc::clone(&frozen.rows), &filter, self.clock.now())?;
                    frozen.pending = 0;
                    self.next_count = Instant::now();
                    arranged
                }
                None => live(&filter)?,
            };
            self.filter = filter;
        }
        self.view = view;
        self.freeze_or_thaw()
    }

    fn freeze_or_thaw(&mut self) -> Result<(), ServiceError> {
        if !self.view.is_paused {
            self.frozen = None;
            return Ok(());
        }
        match &self.frozen {
            None => {
                self.frozen = Some(Frozen {
                    scope: self.scope.clone(),
                    rows: Arc::clone(&self.arranged.source),
                    pending: 0,
                });
            }
            Some(frozen) if !Arc::ptr_eq(&frozen.rows, &self.arranged.source) => {
                self.arranged =
                    lists::arrange(Arc::clone(&frozen.rows), &self.filter, self.clock.now())?;
            }
            Some(_) => {}
        }
        Ok(())
    }

    /// Takes the rows as they are now. A paused list shows the frozen ones.
    pub(super) fn set_rows(&mut self, live: Arc<Arranged>) {
        if self.frozen.is_none() {
            self.arranged = live;
        }
    }

    /// Returns whether the changes since the pause are to be counted.
    pub(super) fn is_count_due(&self) -> bool {
        self.frozen.is_some() && Instant::now() >= self.next_count
    }

    /// Counts the changes since the pause.
    ///
    /// # Errors
    /// Those of the filter.
    pub(super) fn count_changes(&mut self, live: &ListRows) -> Result<(), ServiceError> {
        if let Some(frozen) = &mut self.frozen {
            let started = Instant::now();
            let matcher = self.filter.bind(&frozen.rows.columns, self.clock.now())?;
            frozen.pending = lists::changed_between(&frozen.rows, live, &matcher);
            self.next_count = started + COUNT_INTERVAL.max(started.elapsed() * 20);
        }
        Ok(())
    }

    /// Sends the whole window.
    pub(super) async fn send_snapshot(&mut self, follower: &Follower) -> Result<(), Gone> {
        let new = self.window(follower).await;
        self.send_whole(follower, new).await
    }

    async fn send_whole(&mut self, follower: &Follower, new: NewWindow) -> Result<(), Gone> {
        let (id, turn) = (follower.id, self.view.turn);
        let (snapshot, rest) = self.sent.snapshot(id, turn, &self.scope, new);
        follower.outbox.send(snapshot).await?;
        match rest {
            Some(rest) => follower.outbox.send(rest).await,
            None => Ok(()),
        }
    }

    /// Sends what has changed in the window.
    pub(super) async fn send_changes(&mut self, follower: &Follower) -> Result<(), Gone> {
        let new = self.window(follower).await;
        match self.sent.changes(follower.id, self.view.turn, new) {
            Ok(Some(message)) => follower.outbox.send(message).await,
            Ok(None) => Ok(()),
            Err(new) => self.send_whole(follower, new).await,
        }
    }

    async fn window(&mut self, follower: &Follower) -> NewWindow {
        self.cost = Duration::ZERO;
        self.uncertain.clear();
        self.has_unassessed = false;
        let (arranged, window) = match self.health() {
            Some(health) if health.is_status() => self.assessed(&health, follower).await,
            Some(health) => {
                let mut window = self.arranged.window(self.view.range);
                let rows = window.rows.iter().filter(|row| health.is_uncertain(row));
                self.uncertain = rows.cloned().collect();
                if !self.uncertain.is_empty()
                    && let Ok(api) = follower.api().await
                {
                    self.has_unassessed = health.apply(&api, &mut window.rows).await;
                }
                (Arc::clone(&self.arranged), window)
            }
            None => {
                let window = self.arranged.window(self.view.range);
                (Arc::clone(&self.arranged), window)
            }
        };
        NewWindow {
            columns: Arc::clone(&arranged.source.columns),
            window,
            statuses: arranged.statuses.clone(),
            pending: self.frozen.as_ref().map_or(0, |frozen| frozen.pending),
        }
    }

    /// Arranges the rows by the health that this user has read, and returns them with their window.
    async fn assessed(
        &mut self,
        health: &RowHealth,
        follower: &Follower,
    ) -> (Arc<Arranged>, RowWindow) {
        let mut shown = self.arrange_assessed();
        let mut api = None;
        for _ in 0..MAX_ASSESSMENT_PASSES {
            let started = Instant::now();
            let source = &self.arranged.source;
            let window = &shown.1;
            let now = self.clock.now();
            self.uncertain = lists::uncertain_rows(health, source, window, &self.filter, now)
                // the columns fit: the rows have been arranged
                .unwrap_or_default();
            self.cost += started.elapsed();
            if self.uncertain.is_empty() {
                break;
            }
            if api.is_none() {
                api = follower.api().await.ok();
            }
            let Some(api) = &api else {
                break;
            };
            let update = self.assessments.update(api, &self.uncertain).await;
            self.has_unassessed = update.is_left;
            if !update.is_changed {
                break;
            }
            shown = self.arrange_assessed();
        }
        shown
    }

    fn arrange_assessed(&mut self) -> (Arc<Arranged>, RowWindow) {
        let started = Instant::now();
        let arranged = self
            .assessments
            .apply(&self.arranged, &self.filter, self.clock.now())
            // as above
            .unwrap_or_else(|_| Arc::clone(&self.arranged));
        self.cost += started.elapsed();
        let window = arranged.window(self.view.range);
        (arranged, window)
    }

    fn health(&self) -> Option<RowHealth> {
        RowHealth::of(&self.view.query.resource, &self.arranged.source.columns)
    }

    /// Time alone changes no object, but it changes its health.
    pub(super) fn read_health_again(&mut self) {
        self.reads_again = true;
    }

    /// Starts to read the health of rows that do not show it, unless the list is paused.
    pub(super) async fn read_health(&mut self, follower: &Follower) {
        let is_wanted = self.has_unassessed || self.reads_again;
        if !is_wanted
            || self.is_paused()
            || !self.reading.is_empty()
            || Instant::now() < self.next_reading
        {
            return;
        }
        let (Some(health), Ok(api)) = (self.health(), follower.api().await) else {
            return;
        };
        let mut rows = Vec::new();
        for row in &self.uncertain {
            if self.reads_again || api.assessed(row).await.is_none() {
                rows.push(row.clone());
            }
        }
        self.has_unassessed = false;
        self.reads_again = false;
        self.next_reading = Instant::now() + MIN_HEALTH_INTERVAL;
        if !rows.is_empty() {
            self.reading
                .spawn(async move { health.read(&api, rows).await });
        }
    }

    /// Waits until the health of rows was read; forever, if none is being read.
    pub(super) async fn health_was_read(&mut self) {
        if self.reading.join_next().await.is_none() {
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(test)]
#[path = "screen_tests.rs"]
mod tests;

//! The task of one watch: lists, watches, and continues with another viewer's token when needed.
use super::{
    WatchScope,
    metrics::{self, Gauged, GaugedRows},
    rows::Rows,
    viewers::{Lender, Viewers},
};
use crate::kube::{
    KubeError,
    listing::{Chunks, Selection},
    watch,
};
use futures::StreamExt;
use jiff::Timestamp;
use parking_lot::{Mutex, RwLock};
use portico_clock::Clock;
use std::{collections::HashSet, pin::pin, time::Duration};
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

/// How often a watch without a lender looks for one.
const LENDER_CHECK_INTERVAL: Duration = Duration::from_secs(1);
const MIN_RETRY_DELAY: Duration = Duration::from_secs(1);
const MAX_RETRY_DELAY: Duration = Duration::from_secs(8);

/// How far a watch is.
#[derive(Clone, Debug)]
pub(super) enum Progress {
    Loading,
    Live,
    Stale { error: KubeError, since: Timestamp },
}

/// Why a watch does not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pause {
    NoViewers,
}

/// One watch, its rows and its viewers.
pub(super) struct Feed {
    scope: WatchScope,
    pub(super) rows: RwLock<Rows>,
    progress: Mutex<Progress>,
    pub(super) viewers: Viewers,
    /// Notified when a viewer is cut, who may be the lender.
    pub(super) lender_lost: Notify,
    gauged_rows: Mutex<GaugedRows>,
    clock: Clock,
    _gauge: Gauged,
}

/// What the task of a watch remembers from one round to the next.
#[derive(Default)]
struct Task {
    /// Where the watch continues; `None`: list first.
    position: Option<String>,
    /// Whether the rows were complete once.
    was_complete: bool,
    last_good: Option<Timestamp>,
    lender: Option<u64>,
    /// Lenders whose token did not work since it last worked for one.
    failed: HashSet<u64>,
    retry_delay: Duration,
}

/// Why a round ended without a failure.
enum End {
    /// The API server ended the watch, which it does at least once a minute.
    Over,
    LenderLost,
}

impl Feed {
    pub(super) fn new(scope: WatchScope, clock: Clock) -> Self {
        Self {
            _gauge: Gauged::watch(&scope),
            scope,
            rows: RwLock::default(),
            progress: Mutex::new(Progress::Loading),
            viewers: Viewers::new(),
            lender_lost: Notify::new(),
            gauged_rows: Mutex::default(),
            clock,
        }
    }

    pub(super) fn scope(&self) -> &WatchScope {
        &self.scope
    }

    pub(super) fn progress(&self) -> Progress {
        self.progress.lock().clone()
    }

    /// Keeps the rows current while there are viewers.
    pub(super) async fn run(&self) -> Pause {
        let mut task = Task::default();
        loop {
            let Some(lender) = self.viewers.lender(task.lender, &task.failed) else {
                if self.viewers.is_empty() {
                    return Pause::NoViewers;
                }
                if task.failed.is_empty() {
                    // each viewer is refused, or waits for its next confirmation
                    self.viewers.joined(LENDER_CHECK_INTERVAL).await;
                } else {
                    // it worked for none of them
                    task.failed.clear();
                    self.viewers.joined(task.retry_delay).await;
                    task.retry_delay = (task.retry_delay * 2).min(MAX_RETRY_DELAY);
                }
                continue;
            };
            if task.lender.is_some_and(|before| before != lender.id) {
                metrics::count_lender_change();
            }
            task.lender = Some(lender.id);
            let round = tokio::select! {
                round = self.round(&lender, &mut task) => round,
                () = self.lost(lender.id) => Ok(End::LenderLost),
            };
            match round {
                Ok(End::Over | End::LenderLost) => {}
                Err(KubeError::Expired) => task.position = None,
                Err(error) => self.failed(&mut task, lender.id, error),
            }
        }
    }

    fn failed(&self, task: &mut Task, lender: u64, error: KubeError) {
        if !error.is_outage() {
            self.viewers.refuse(lender, error);
            return;
        }
        tracing::debug!(cluster_id = %self.scope.cluster, resource = self.scope.resource.plural, %error, "watch interrupted");
        task.failed.insert(lender);
        task.retry_delay = task.retry_delay.max(MIN_RETRY_DELAY);
        if self.viewers.lender(None, &task.failed).is_none() {
            let since = task.last_good.unwrap_or_else(|| self.clock.now());
            self.publish(Progress::Stale { error, since });
        }
    }

    /// Is ready when a lender may not lend any more.
    async fn lost(&self, lender: u64) {
        while let Some(until) = self.viewers.lends_until(lender) {
            // a viewer that leaves lends for a few more seconds, so that a check a second is enough
            let next = (Instant::now() + LENDER_CHECK_INTERVAL).min(until);
            tokio::select! {
                () = sleep_until(next) => {}
                () = self.lender_lost.notified() => {}
            }
        }
    }

    /// Lists if there is no position, then watches until the API server ends the watch.
    async fn round(&self, lender: &Lender, task: &mut Task) -> Result<End, KubeError> {
        let position = match &task.position {
            Some(position) => position.clone(),
            None => self.list(lender, task).await?,
        };
        let columns = self.rows.read().columns().to_vec();
        let changes = watch::watch(
            &lender.api,
            &self.scope.resource,
            self.scope.namespace(),
            &Selection::default(),
            &position,
            columns,
        )
        .await?;
        task.failed.clear();
        task.retry_delay = MIN_RETRY_DELAY;
        self.good(task);
        if !matches!(self.progress(), Progress::Live) {
            self.publish(Progress::Live);
        }
        let mut changes = pin!(changes);
        while let Some(change) = changes.next().await {
            let (change, after) = change?;
            task.position = Some(after);
            self.good(task);
            if !matches!(change, watch::Change::Position) {
                let mut rows = self.rows.write();
                rows.apply(change);
                self.gauged_rows.lock().set(rows.len());
                drop(rows);
                self.viewers.notify_all();
            }
        }
        Ok(End::Over)
    }

    /// Lists chunk by chunk. The first list is visible as it grows; a later one replaces the rows
    /// once it is complete.
    async fn list(&self, lender: &Lender, task: &mut Task) -> Result<String, KubeError> {
        let namespace = self.scope.namespace();
        let resource = &self.scope.resource;
        let everything = Selection::default();
        let mut chunks = Chunks::new(&lender.api, resource, namespace, &everything).await?;
        let mut complete = Rows::default();
        let mut position = String::new();
        while let Some(chunk) = chunks.next().await? {
            position.clone_from(&chunk.resource_version);
            complete.extend(chunk);
            if !task.was_complete {
                // cheap: rows are shared
                *self.rows.write() = complete.clone();
                self.viewers.notify_all();
            }
        }
        self.gauged_rows.lock().set(complete.len());
        *self.rows.write() = complete;
        task.was_complete = true;
        task.position = Some(position.clone());
        self.good(task);
        self.publish(Progress::Live);
        Ok(position)
    }

    fn good(&self, task: &mut Task) {
        task.last_good = Some(self.clock.now());
    }

    fn publish(&self, progress: Progress) {
        *self.progress.lock() = progress;
        self.viewers.notify_all();
    }
}

//! Lists on shared watches. The user's own rights are confirmed again every half minute, and at once
//! after a change of bindings that was made here.
use super::{Follower, Round, State, audit::AuditedView, every, screen::Screen, shares::Shares};
use crate::{
    kube::KubeError,
    service::{
        error::ServiceError,
        lists::{self, Filter, Opened, PlaceState, Reading},
    },
    shared_watch::{Viewer, confirm},
    stream::outbox::Gone,
};
use app::error::UiErrorKind;
use futures::{StreamExt, stream};
use portico_domain::{
    panel::{ListScope, ResourceKind},
    stream::ListView,
};
use std::time::Duration;
use tokio::{
    sync::Notify,
    time::{Instant, MissedTickBehavior, interval},
};

/// How often collected changes are sent, at most.
const BATCH_INTERVAL: Duration = Duration::from_millis(200);
/// How often the rights to a list are confirmed. Two attempts fit into the time for which one is
/// valid.
const CONFIRMATION_INTERVAL: Duration = Duration::from_secs(28);
/// How often the list of namespaces is compared.
const NAMESPACES_CHECK_INTERVAL: Duration = Duration::from_secs(10);
/// How often the health of rows whose cells are not sufficient is computed again.
const HEALTH_CHECK_INTERVAL: Duration = Duration::from_secs(60);
const MAX_CONCURRENT_CONFIRMATIONS: usize = 6;

/// The result of confirming a user's rights again.
enum Rights {
    Confirmed,
    /// Not allowed any more: the place of this viewer.
    Lost(usize),
    /// No answer; the confirmations before hold until they expire.
    Unknown,
    /// The cluster does not authenticate the user, or cannot: rows are withheld until it does.
    Unauthenticated,
}

/// A list that is open.
struct Open {
    kind: ResourceKind,
    scope: ListScope,
    viewers: Vec<Viewer>,
    shares: Shares,
    screen: Screen,
    /// Whether rows have changed that were not sent.
    is_changed: bool,
    /// Whether a new view waits until all rows have been read.
    is_waiting: bool,
    has_lost_rights: bool,
    /// How long it took to arrange the rows of the last batch.
    cost: Duration,
}

impl Follower {
    /// Sends a snapshot, then changes, until the list has to be opened again.
    pub(super) async fn follow_shared(
        &self,
        mut opened: Opened,
        mut view: ListView,
        changed: &Notify,
        shares: Shares,
        state: &mut State,
    ) -> Result<Round, Gone> {
        loop {
            let filter = match Filter::new(&view.query) {
                Ok(filter) => filter,
                Err(error) => return Ok(Round::Failed(error.into(), false)),
            };
            tokio::select! {
                ready = opened.ready(changed, Some(&filter)) => match ready {
                    Ok(()) => break,
                    Err(error) => return Ok(Round::Failed(error.into(), false)),
                },
                is_open = state.views.changed() => {
                    is_open.map_err(|_| Gone)?;
                    if state.has_moved(&view) {
                        return Ok(Round::Again);
                    }
                    view = state.view();
                }
            }
        }
        let viewers = opened.viewers.unwrap_or_default();
        let mut audited = AuditedView::start(&self.caller, self.cluster, &viewers);
        let live = Filter::new(&view.query)
            .map_err(ServiceError::from)
            .and_then(|filter| self.arranged(&viewers, &filter));
        let screen = live.and_then(|reading| {
            let frozen = state.frozen.take();
            let clock = self.services.clock.clone();
            Screen::new(view, opened.scope.clone(), reading.arranged, frozen, clock)
        });
        let screen = match screen {
            Ok(screen) => screen,
            Err(error) => return Ok(Round::Failed(error, false)),
        };
        let mut open = Open {
            kind: opened.kind,
            scope: opened.scope,
            viewers,
            shares,
            screen,
            is_changed: false,
            is_waiting: false,
            has_lost_rights: false,
            cost: Duration::ZERO,
        };
        let round = match open.shares.bytes(open.screen.bytes()) {
            Ok(()) => {
                state.last_good = self.services.clock.now();
                open.screen.send_snapshot(self).await?;
                self.keep_current(&mut open, changed, state).await?
            }
            Err(need) => Round::Limited(need),
        };
        if let Some(audited) = audited.as_mut().filter(|_| open.has_lost_rights) {
            audited.cut();
        }
        state.frozen = open.screen.frozen();
        Ok(round)
    }

    async fn keep_current(
        &self,
        open: &mut Open,
        changed: &Notify,
        state: &mut State,
    ) -> Result<Round, Gone> {
        let mut rights = self.services.clusters.rights_changes();
        let mut batch = interval(BATCH_INTERVAL);
        batch.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut confirmation = every(CONFIRMATION_INTERVAL);
        let mut namespaces = every(NAMESPACES_CHECK_INTERVAL);
        let mut health = every(HEALTH_CHECK_INTERVAL);
        loop {
            let confirm_now = tokio::select! {
                () = changed.notified() => {
                    open.is_changed = true;
                    false
                }
                is_open = state.views.changed() => {
                    is_open.map_err(|_| Gone)?;
                    if state.has_moved(open.screen.view()) {
                        return Ok(Round::Again);
                    }
                    if let Err(error) = self.show(open, state).await? {
                        return Ok(Round::Failed(error, true));
                    }
                    false
                }
                _ = batch.tick() => {
                    match lists::places_state(&open.viewers) {
                        PlaceState::Live => state.last_good = self.services.clock.now(),
                        PlaceState::Loading => {}
                        PlaceState::Failed(KubeError::Refused(_)) if self.has_moved(open).await => {
                            return Ok(Round::Again);
                        }
                        PlaceState::Failed(error) => return Ok(Round::Failed(error.into(), true)),
                    }
                    match self.update(open).await? {
                        Ok(None) => {}
                        Ok(Some(round)) => return Ok(round),
                        Err(error) => return Ok(Round::Failed(error, true)),
                    }
                    // a long list takes at most a twentieth of a processor
                    let cost = open.cost + open.screen.cost();
                    batch.reset_after(BATCH_INTERVAL.max(cost * 20));
                    open.screen.read_health(self).await;
                    false
                }
                // sent with the next batch, which checks the viewer's rights
                () = open.screen.health_was_read() => {
                    open.is_changed = true;
                    false
                }
                _ = health.tick() => {
                    open.screen.read_health_again();
                    false
                }
                _ = namespaces.tick() => {
                    open.is_changed |= open.screen.filter().depends_on_time();
                    match self.scope(&open.kind, &open.screen.view().query).await {
                        Ok(now) if now == open.scope => false,
                        Ok(_) => return Ok(Round::Again),
                        Err(error) => return Ok(Round::Failed(error, true)),
                    }
                },
                _ = confirmation.tick() => true,
                Ok(()) = rights.changed() => true,
            };
            if confirm_now && let Some(round) = self.renew(open).await {
                return Ok(round);
            }
        }
    }

    /// Answers the newest view at once, with a snapshot.
    async fn show(
        &self,
        open: &mut Open,
        state: &mut State,
    ) -> Result<Result<(), ServiceError>, Gone> {
        let view = state.view();
        // also for a paused list, whose rows were read before
        if lists::versions(&open.viewers).is_none() {
            return Ok(Err(lists::unconfirmed().into()));
        }
        let mut is_outdated = open.is_changed;
        let shown = open.screen.set_view(view, |filter| {
            let reading = self.arranged(&open.viewers, filter)?;
            is_outdated = reading.is_outdated;
            Ok(reading.arranged)
        });
        match shown {
            Ok(()) => {}
            // the next view may have a filter that fits
            Err(error) if error.kind == UiErrorKind::Invalid => {
                self.ended(error, false).await?;
                return Ok(Ok(()));
            }
            Err(error) => return Ok(Err(error)),
        }
        open.is_changed = is_outdated || open.screen.is_paused();
        open.is_waiting = !open.screen.is_paused()
            && open.screen.filter().needs_all_rows()
            && matches!(lists::places_state(&open.viewers), PlaceState::Loading);
        if !open.is_waiting {
            open.screen.send_snapshot(self).await?;
        }
        Ok(Ok(()))
    }

    /// Sends what has changed since the last batch.
    async fn update(&self, open: &mut Open) -> Result<Result<Option<Round>, ServiceError>, Gone> {
        if open.is_waiting && matches!(lists::places_state(&open.viewers), PlaceState::Loading) {
            return Ok(Ok(None));
        }
        if !open.is_changed && !open.is_waiting {
            return Ok(Ok(None));
        }
        if open.screen.is_paused() {
            if open.screen.is_count_due() {
                let Some((live, _)) = lists::collect(&open.viewers) else {
                    return Ok(Err(lists::unconfirmed().into()));
                };
                open.is_changed = false;
                if let Err(error) = open.screen.count_changes(&live) {
                    return Ok(Err(error));
                }
                open.screen.send_changes(self).await?;
            }
            return Ok(Ok(None));
        }
        let started = Instant::now();
        let reading = match self.arranged(&open.viewers, open.screen.filter()) {
            Ok(reading) => reading,
            Err(error) => return Ok(Err(error)),
        };
        open.cost = started.elapsed();
        open.is_changed = reading.is_outdated;
        open.screen.set_rows(reading.arranged);
        if let Err(need) = open.shares.bytes(open.screen.bytes()) {
            return Ok(Ok(Some(Round::Limited(need))));
        }
        if std::mem::take(&mut open.is_waiting) {
            open.screen.send_snapshot(self).await?;
        } else {
            open.screen.send_changes(self).await?;
        }
        Ok(Ok(None))
    }

    /// Returns the rows of a query as they are, or were a moment ago.
    fn arranged(&self, viewers: &[Viewer], filter: &Filter) -> Result<Reading, ServiceError> {
        self.services
            .arrangements
            .read(viewers, filter, BATCH_INTERVAL)?
            .ok_or_else(|| lists::unconfirmed().into())
    }

    /// Confirms the viewer's rights again; returns how the round ends if it has lost them.
    async fn renew(&self, open: &mut Open) -> Option<Round> {
        match self.confirm_again(&open.viewers).await {
            Rights::Confirmed | Rights::Unknown => None,
            Rights::Unauthenticated => {
                for viewer in open.viewers.drain(..) {
                    viewer.cut();
                }
                Some(Round::Failed(KubeError::Unauthenticated.into(), true))
            }
            Rights::Lost(place) => {
                open.viewers.swap_remove(place).cut();
                open.has_lost_rights = true;
                if self.has_moved(open).await {
                    return Some(Round::Again);
                }
                let lost = format!(
                    "your roles no longer include this list of {}",
                    open.kind.plural
                );
                Some(Round::Failed(KubeError::Refused(lost.into()).into(), true))
            }
        }
    }

    /// Confirms the rights to each place with a review that is not cached.
    async fn confirm_again(&self, viewers: &[Viewer]) -> Rights {
        let Ok(api) = self.api().await else {
            return Rights::Unknown;
        };
        let api = &api;
        let questions: Vec<_> = viewers
            .iter()
            .map(|viewer| confirm(api, viewer.scope()))
            .collect();
        let answers: Vec<_> = stream::iter(questions)
            .buffered(MAX_CONCURRENT_CONFIRMATIONS)
            .collect()
            .await;
        let mut rights = Rights::Confirmed;
        for (place, (viewer, answer)) in viewers.iter().zip(answers).enumerate() {
            match answer {
                Ok(Some(confirmation)) => viewer.renew(confirmation),
                Ok(None) => return Rights::Lost(place),
                Err(KubeError::Unauthenticated) => return Rights::Unauthenticated,
                Err(_) => rights = Rights::Unknown,
            }
        }
        rights
    }

    /// Returns whether the list now covers other namespaces.
    async fn has_moved(&self, open: &Open) -> bool {
        self.scope(&open.kind, &open.screen.view().query)
            .await
            .is_ok_and(|now| now != open.scope)
    }
}

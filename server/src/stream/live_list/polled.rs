//! Lists that are read again and again with the user's own requests: those over too many namespaces,
//! and those that the user may list but not watch.
use super::{Follower, Round, State, every, screen::Screen, shares::Shares};
use crate::{
    kube::listing::{self, Selection},
    service::{
        error::ServiceError,
        lists::{self, Filter, ListRows, Opened},
    },
    stream::outbox::Gone,
};
use portico_domain::{
    panel::{ListScope, ResourceKind},
    stream::ListView,
};
use std::{sync::Arc, time::Duration};

const POLL_INTERVAL: Duration = Duration::from_secs(5);
/// How often the health of rows whose cells are not sufficient is computed again.
const HEALTH_CHECK_INTERVAL: Duration = Duration::from_secs(60);

/// A list that is polled.
struct Polled {
    kind: ResourceKind,
    scope: ListScope,
    rows: Arc<ListRows>,
    shares: Shares,
    screen: Screen,
}

impl Follower {
    /// Sends a snapshot, then changes, until the list has to be opened again.
    pub(super) async fn poll(
        &self,
        opened: Opened,
        view: ListView,
        shares: Shares,
        state: &mut State,
    ) -> Result<Round, Gone> {
        let kind = opened.kind;
        let (scope, rows) = match self.read(&kind, opened.scope).await {
            Ok(read) => read,
            Err(error) => return Ok(Round::Failed(error, false)),
        };
        let frozen = state.frozen.take();
        let clock = &self.services.clock;
        let screen = Filter::new(&view.query)
            .and_then(|filter| lists::arrange(Arc::clone(&rows), &filter, clock.now()))
            .map_err(ServiceError::from)
            .and_then(|live| Screen::new(view, scope.clone(), live, frozen, clock.clone()));
        let screen = match screen {
            Ok(screen) => screen,
            Err(error) => return Ok(Round::Failed(error, false)),
        };
        let mut polled = Polled {
            kind,
            scope,
            rows,
            shares,
            screen,
        };
        let round = match polled.shares.bytes(polled.rows.bytes) {
            Ok(()) => {
                state.last_good = self.services.clock.now();
                polled.screen.send_snapshot(self).await?;
                self.keep_polling(&mut polled, state).await?
            }
            Err(need) => Round::Limited(need),
        };
        state.frozen = polled.screen.frozen();
        Ok(round)
    }

    async fn keep_polling(&self, polled: &mut Polled, state: &mut State) -> Result<Round, Gone> {
        let mut poll = every(POLL_INTERVAL);
        let mut health = every(HEALTH_CHECK_INTERVAL);
        loop {
            polled.screen.read_health(self).await;
            tokio::select! {
                is_open = state.views.changed() => {
                    is_open.map_err(|_| Gone)?;
                    if state.has_moved(polled.screen.view()) {
                        return Ok(Round::Again);
                    }
                    let rows = &polled.rows;
                    let shown = polled.screen.set_view(state.view(), |filter| {
                        Ok(lists::arrange(Arc::clone(rows), filter, self.services.clock.now())?)
                    });
                    match shown {
                        Ok(()) => polled.screen.send_snapshot(self).await?,
                        // the next view may have a filter that fits
                        Err(error) => self.ended(error, false).await?,
                    }
                }
                _ = poll.tick() => {
                    if let Some(round) = self.read_again(polled, state).await? {
                        return Ok(round);
                    }
                }
                () = polled.screen.health_was_read() => polled.screen.send_changes(self).await?,
                _ = health.tick() => polled.screen.read_health_again(),
            }
        }
    }

    async fn read_again(
        &self,
        polled: &mut Polled,
        state: &mut State,
    ) -> Result<Option<Round>, Gone> {
        let failed = |error| Ok(Some(Round::Failed(error, true)));
        match self.scope(&polled.kind, &polled.screen.view().query).await {
            Ok(now) if listing::places(&now) == listing::places(&polled.scope) => {}
            Ok(_) => return Ok(Some(Round::Again)),
            Err(error) => return failed(error),
        }
        let (scope, rows) = match self.read(&polled.kind, polled.scope.clone()).await {
            Ok(read) => read,
            Err(error) => return failed(error),
        };
        state.last_good = self.services.clock.now();
        if let Err(need) = polled.shares.bytes(rows.bytes) {
            return Ok(Some(Round::Limited(need)));
        }
        polled.rows = rows;
        let screen = &mut polled.screen;
        if screen.is_paused() {
            if let Err(error) = screen.count_changes(&polled.rows) {
                return failed(error);
            }
        } else {
            match lists::arrange(Arc::clone(&polled.rows), screen.filter(), state.last_good) {
                Ok(arranged) => screen.set_rows(arranged),
                Err(error) => return failed(error.into()),
            }
        }
        if scope == polled.scope {
            screen.send_changes(self).await?;
        } else {
            screen.set_scope(scope.clone());
            polled.scope = scope;
            screen.send_snapshot(self).await?;
        }
        Ok(None)
    }

    async fn read(
        &self,
        kind: &ResourceKind,
        scope: ListScope,
    ) -> Result<(ListScope, Arc<ListRows>), ServiceError> {
        let api = self.api().await?;
        let mut merged = listing::list(&api, kind, &scope, &Selection::default()).await?;
        let scope = merged.leave_out_refused(scope);
        if let Some((_, error)) = merged.failures.first() {
            // a part that did not respond must not look like deleted rows
            return Err(error.clone().into());
        }
        Ok((scope, Arc::new(lists::all_rows(merged))))
    }
}

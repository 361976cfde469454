//! Lists on shared watches. The user's own rights are confirmed again every half minute, and at once
//! after a change of bindings that was made here.
use super::{Follower, Round, audit::AuditedView, shares::Shares, view::View};
use crate::{
    kube::KubeError,
    service::lists::{self, Filter, Opened, PlaceState},
    shared_watch::{Viewer, confirm},
    stream::outbox::Gone,
};
use futures::{StreamExt, stream};
use jiff::Timestamp;
use std::time::Duration;
use tokio::{
    sync::Notify,
    time::{Instant, MissedTickBehavior, interval, interval_at},
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

impl Follower {
    /// Sends a snapshot, then changes, until the list has to be opened again.
    pub(super) async fn follow_shared(
        &self,
        mut opened: Opened,
        filter: &Filter,
        changed: &Notify,
        mut shares: Shares,
        last_good: &mut Timestamp,
    ) -> Result<Round, Gone> {
        if let Err(error) = opened.ready(changed, filter).await {
            return Ok(Round::Failed(error.into(), false));
        }
        let Opened {
            kind,
            scope,
            viewers,
        } = opened;
        let mut viewers = viewers.unwrap_or_default();
        let mut audited = AuditedView::start(&self.caller, self.cluster, &viewers);
        let mut view = View::new(&self.query);
        let Some(window) = lists::read(&viewers, filter) else {
            return Ok(Round::Failed(lists::unconfirmed().into(), false));
        };
        if let Err(need) = shares.bytes(window.bytes) {
            return Ok(Round::Limited(need));
        }
        *last_good = Timestamp::now();
        let snapshot = view.snapshot(self.id, &scope, window);
        self.send(&view, snapshot).await?;

        let mut rights = self.services.clusters.rights_changes();
        let mut batch = interval(BATCH_INTERVAL);
        batch.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut confirmation = every(CONFIRMATION_INTERVAL);
        let mut namespaces = every(NAMESPACES_CHECK_INTERVAL);
        let mut health = every(HEALTH_CHECK_INTERVAL);
        let mut is_changed = false;
        loop {
            let confirm_now = tokio::select! {
                () = changed.notified() => {
                    is_changed = true;
                    false
                }
                _ = batch.tick() => {
                    match lists::places_state(&viewers) {
                        PlaceState::Live => *last_good = Timestamp::now(),
                        PlaceState::Loading => {}
                        PlaceState::Failed(KubeError::Refused(_)) if self.has_moved(&kind, &scope).await => {
                            return Ok(Round::Again);
                        }
                        PlaceState::Failed(error) => return Ok(Round::Failed(error.into(), true)),
                    }
                    if is_changed || view.is_due() {
                        is_changed = false;
                        let started = Instant::now();
                        let Some(window) = lists::read(&viewers, filter) else {
                            return Ok(Round::Failed(lists::unconfirmed().into(), true));
                        };
                        if let Err(need) = shares.bytes(window.bytes) {
                            return Ok(Round::Limited(need));
                        }
                        let message = view.changes(self.id, &scope, window);
                        // a long list takes at most a twentieth of a processor
                        batch.reset_after(BATCH_INTERVAL.max(started.elapsed() * 20));
                        if let Some(message) = message {
                            self.send(&view, message).await?;
                        }
                    }
                    false
                }
                // time alone changes no object, but it changes its health
                _ = health.tick() => {
                    view.send_uncertain_again();
                    false
                }
                _ = namespaces.tick() => match self.scope(&kind).await {
                    Ok(now) if now == scope => false,
                    Ok(_) => return Ok(Round::Again),
                    Err(error) => return Ok(Round::Failed(error, true)),
                },
                _ = confirmation.tick() => true,
                Ok(()) = rights.changed() => true,
            };
            if confirm_now {
                match self.confirm_again(&viewers).await {
                    Rights::Confirmed | Rights::Unknown => {}
                    Rights::Unauthenticated => {
                        for viewer in viewers {
                            viewer.cut();
                        }
                        return Ok(Round::Failed(KubeError::Unauthenticated.into(), true));
                    }
                    Rights::Lost(place) => {
                        viewers.swap_remove(place).cut();
                        if let Some(audited) = &mut audited {
                            audited.cut();
                        }
                        if self.has_moved(&kind, &scope).await {
                            return Ok(Round::Again);
                        }
                        let lost =
                            format!("your roles no longer include this list of {}", kind.plural);
                        return Ok(Round::Failed(KubeError::Refused(lost).into(), true));
                    }
                }
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
    async fn has_moved(
        &self,
        kind: &portico_domain::panel::ResourceKind,
        scope: &portico_domain::panel::ListScope,
    ) -> bool {
        self.scope(kind).await.is_ok_and(|now| now != *scope)
    }
}

fn every(time: Duration) -> tokio::time::Interval {
    let mut interval = interval_at(Instant::now() + time, time);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    interval
}

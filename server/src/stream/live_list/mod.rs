//! Live lists: a snapshot, then batches of changes.
mod shares;
mod view;
mod watcher;

use super::outbox::{Gone, Outbox};
use crate::{
    caller::Caller,
    config::panel::StreamLimits,
    kube::{
        KubeError, discovery,
        listing::{self, Merged},
        namespaces,
    },
    service::{Services, error::ServiceError, lists},
};
use app::error::UiErrorKind;
use jiff::Timestamp;
use portico_domain::{
    panel::{ListQuery, ListScope, ResourceKind},
    stream::Message,
};
use shares::{Need, Shares};
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::mpsc,
    time::{Instant, MissedTickBehavior, interval, interval_at},
};
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;
use view::View;
use watcher::{Place, Report, watch_place};

/// How often collected changes are sent.
const BATCH_INTERVAL: Duration = Duration::from_millis(200);
/// How often the list of namespaces is compared.
const NAMESPACES_CHECK_INTERVAL: Duration = Duration::from_secs(10);
/// How often the health of rows whose cells are not sufficient is computed again.
const HEALTH_CHECK_INTERVAL: Duration = Duration::from_secs(60);
/// Maximum number of watched namespaces of one list; with more, the list is polled.
const MAX_WATCHES: usize = StreamLimits::MAX_WATCHES_PER_LIST;
/// How often a list without room in its session's budget checks for some.
const BUDGET_CHECK_INTERVAL: Duration = Duration::from_secs(2);
const POLL_INTERVAL: Duration = Duration::from_secs(5);
/// A list that could not be confirmed for this long ends.
const MAX_STALENESS: Duration = Duration::from_secs(60);

/// Follows a list until the browser disconnects or the user may list nothing of it any more.
pub async fn follow(
    services: Arc<Services>,
    caller: Caller,
    cluster: Uuid,
    query: ListQuery,
    id: u32,
    outbox: Outbox,
) -> Result<(), Gone> {
    let follower = Follower {
        services,
        caller,
        cluster,
        query,
        id,
        outbox,
    };
    let mut last_good = Timestamp::now();
    let mut failing_since: Option<Instant> = None;
    let mut pause = Duration::from_secs(1);
    loop {
        let error = match follower.session(&mut last_good).await? {
            Round::Again => {
                failing_since = None;
                pause = Duration::from_secs(1);
                continue;
            }
            Round::Failed(error, worked) => {
                if worked {
                    failing_since = None;
                    pause = Duration::from_secs(1);
                }
                error
            }
            Round::Limited(need) => {
                follower.wait_for_room(&need, last_good).await?;
                continue;
            }
        };
        let since = *failing_since.get_or_insert_with(Instant::now);
        if error.kind != UiErrorKind::Unavailable {
            return follower.ended(error.message, false).await;
        }
        if since.elapsed() > MAX_STALENESS {
            return follower.ended(error.message, true).await;
        }
        follower
            .outbox
            .send(Message::Stale {
                id,
                reason: error.message,
                since: last_good.as_second(),
            })
            .await?;
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_secs(8));
    }
}

struct Follower {
    services: Arc<Services>,
    caller: Caller,
    cluster: Uuid,
    query: ListQuery,
    id: u32,
    outbox: Outbox,
}

/// How a round of watching ended.
enum Round {
    /// The scope changed or a position expired: list again at once.
    Again,
    /// Failed, with whether it had worked before.
    Failed(ServiceError, bool),
    /// The session's budget does not allow it.
    Limited(Need),
}

impl Follower {
    async fn ended(&self, reason: String, retry: bool) -> Result<(), Gone> {
        let id = self.id;
        self.outbox.send(Message::Ended { id, reason, retry }).await
    }

    /// Sends rows of a view; those whose cells are not sufficient are judged as on their own pages.
    async fn send(&self, view: &View, mut message: Message) -> Result<(), Gone> {
        if let Message::Snapshot { rows, .. } | Message::Rows { changed: rows, .. } = &mut message
            && let Some(health) = view.row_health()
            && rows.iter().any(|row| health.is_uncertain(row))
            && let Ok((api, _)) = self.services.api(&self.caller, self.cluster).await
        {
            health.refine(&api, rows).await;
        }
        self.outbox.send(message).await
    }

    /// Sends the reason why the list is not live, and waits until the session's other lists have
    /// released enough. Sends no request to the API server meanwhile.
    async fn wait_for_room(&self, need: &Need, last_good: Timestamp) -> Result<(), Gone> {
        self.outbox
            .send(Message::Stale {
                id: self.id,
                reason: need.reached.to_string(),
                since: last_good.as_second(),
            })
            .await?;
        let session = self.caller.session_id();
        loop {
            tokio::time::sleep(BUDGET_CHECK_INTERVAL).await;
            let budgets = &self.services.budgets;
            if budgets.has_room(session, need.resource, need.amount) {
                return Ok(());
            }
        }
    }

    /// Lists, then watches until a new list is needed.
    async fn session(&self, last_good: &mut Timestamp) -> Result<Round, Gone> {
        let mut shares = match Shares::take(&self.services, &self.caller) {
            Ok(shares) => shares,
            Err(need) => return Ok(Round::Limited(need)),
        };
        let (kind, scope, merged) = match self.start().await {
            Ok(start) => start,
            Err(error) => return Ok(Round::Failed(error, false)),
        };
        *last_good = Timestamp::now();
        let mut view = View::new(merged.columns(), &self.query);
        let parts: Vec<_> = merged
            .parts
            .iter()
            .map(|part| (part.namespace.clone(), part.resource_version.clone()))
            .collect();
        view.fill(merged.parts);
        let polled = parts.len() > MAX_WATCHES;
        let watches = if polled { 1 } else { parts.len() };
        let room = shares
            .watches(watches)
            .and_then(|()| shares.bytes(view.bytes()));
        if let Err(need) = room {
            return Ok(Round::Limited(need));
        }
        let snapshot = view.snapshot(self.id, &scope);
        self.send(&view, snapshot).await?;
        if polled {
            return self.poll(view, scope, shares, last_good).await;
        }
        let (reports, mut inbox) = mpsc::channel(256);
        let _watchers: Vec<_> = parts
            .into_iter()
            .map(|(namespace, position)| {
                AbortOnDropHandle::new(tokio::spawn(watch_place(
                    Place {
                        services: Arc::clone(&self.services),
                        caller: self.caller.clone(),
                        cluster: self.cluster,
                        query: self.query.clone(),
                        namespace,
                        columns: view.columns.clone(),
                    },
                    position,
                    reports.clone(),
                )))
            })
            .collect();
        drop(reports);
        let mut batch = interval(BATCH_INTERVAL);
        batch.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut rescope = interval_at(
            Instant::now() + NAMESPACES_CHECK_INTERVAL,
            NAMESPACES_CHECK_INTERVAL,
        );
        let mut rejudge = interval_at(
            Instant::now() + HEALTH_CHECK_INTERVAL,
            HEALTH_CHECK_INTERVAL,
        );
        loop {
            tokio::select! {
                report = inbox.recv() => match report {
                    Some(Report::Change(change)) => {
                        *last_good = Timestamp::now();
                        view.apply(change);
                    }
                    Some(Report::Expired) | None => return Ok(Round::Again),
                    Some(Report::Failed(KubeError::Refused(_))) if self.moved(&kind, &scope).await => {
                        return Ok(Round::Again);
                    }
                    Some(Report::Failed(error)) => {
                        return Ok(Round::Failed(error.into(), true));
                    }
                },
                _ = batch.tick() => {
                    if let Err(need) = shares.bytes(view.bytes()) {
                        return Ok(Round::Limited(need));
                    }
                    if let Some(message) = view.changes(self.id, &scope) {
                        self.send(&view, message).await?;
                    }
                }
                // time alone changes no object, but it changes its health
                _ = rejudge.tick() => view.send_uncertain_again(),
                _ = rescope.tick() => match self.scope(&kind).await {
                    Ok(now) if now == scope => {}
                    Ok(_) => return Ok(Round::Again),
                    Err(error) => return Ok(Round::Failed(error, true)),
                },
            }
        }
    }

    async fn start(&self) -> Result<(ResourceKind, ListScope, Merged), ServiceError> {
        let (api, _) = self.services.api(&self.caller, self.cluster).await?;
        let kind = discovery::kind(&api, &self.query.resource).await?;
        let namespace = self.query.namespace.as_deref();
        let scope = namespaces::scope(&api, &kind, namespace, "list").await?;
        let selection = lists::selection(&self.query);
        let mut merged = listing::list(&api, &kind, &scope, &selection).await?;
        let scope = merged.leave_out_refused(scope);
        match merged.failures.first() {
            // a part that did not respond must not look like deleted rows
            Some((_, error)) => Err(error.clone().into()),
            None => Ok((kind, scope, merged)),
        }
    }

    async fn scope(&self, kind: &ResourceKind) -> Result<ListScope, ServiceError> {
        if self.query.namespace.is_some() && kind.namespaced {
            return Ok(ListScope::Namespace(
                self.query.namespace.clone().unwrap_or_default(),
            ));
        }
        let (api, _) = self.services.api(&self.caller, self.cluster).await?;
        Ok(namespaces::scope(&api, kind, None, "list").await?)
    }

    /// Returns whether the list now covers other namespaces.
    async fn moved(&self, kind: &ResourceKind, scope: &ListScope) -> bool {
        self.scope(kind).await.is_ok_and(|now| now != *scope)
    }

    async fn poll(
        &self,
        mut view: View,
        mut scope: ListScope,
        mut shares: Shares,
        last_good: &mut Timestamp,
    ) -> Result<Round, Gone> {
        loop {
            tokio::time::sleep(POLL_INTERVAL).await;
            let (_, now, merged) = match self.start().await {
                Ok(start) => start,
                Err(error) => return Ok(Round::Failed(error, true)),
            };
            *last_good = Timestamp::now();
            let moved = now != scope;
            scope = now;
            view.fill(merged.parts);
            if let Err(need) = shares.bytes(view.bytes()) {
                return Ok(Round::Limited(need));
            }
            let message = if moved {
                Some(view.snapshot(self.id, &scope))
            } else {
                view.changes(self.id, &scope)
            };
            if let Some(message) = message {
                self.send(&view, message).await?;
            }
        }
    }
}

//! A live list: a snapshot, then what changed, in batches.
mod shares;
mod view;
mod watcher;

use super::outbox::{Gone, Outbox};
use crate::{
    kube::{
        KubeError, discovery,
        listing::{self, Merged},
        namespaces,
    },
    panel::{caller::Caller, config::StreamLimits},
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

/// Changes are sent together so often.
const BATCH: Duration = Duration::from_millis(200);
/// Whether other namespaces have come or gone is looked at so often.
const RESCOPE: Duration = Duration::from_secs(10);
/// How often rows whose cells say too little are judged again.
const REJUDGE: Duration = Duration::from_secs(60);
/// Namespaces of one list that are watched; with more the list is read again and again.
const MAX_WATCHES: usize = StreamLimits::WATCHES_OF_A_LIST;
/// How often a list that has no room in its session's budget looks whether it has some.
const ROOM_CHECK: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_secs(5);
/// A list that could not be proved right for so long ends.
const MAX_STALE: Duration = Duration::from_secs(60);

/// Follows a list until the browser has gone or nothing of it may be listed any more.
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
        if since.elapsed() > MAX_STALE {
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

/// How a session of watching ended.
enum Round {
    /// The scope changed or a position expired: list again at once.
    Again,
    /// With whether it had worked before.
    Failed(ServiceError, bool),
    /// The session has no room for it.
    Limited(Need),
}

impl Follower {
    async fn ended(&self, reason: String, retry: bool) -> Result<(), Gone> {
        let id = self.id;
        self.outbox.send(Message::Ended { id, reason, retry }).await
    }

    /// Sends rows of a view, those whose cells say too little judged as on their own pages.
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

    /// Sends why the list is not live, and waits until the session's other lists have made room.
    /// Nothing is asked of the API server meanwhile.
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
            tokio::time::sleep(ROOM_CHECK).await;
            let budgets = &self.services.budgets;
            if budgets.has_room(session, need.resource, need.amount) {
                return Ok(());
            }
        }
    }

    /// Lists, then watches until something needs a new list.
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
        let mut batch = interval(BATCH);
        batch.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut rescope = interval_at(Instant::now() + RESCOPE, RESCOPE);
        let mut rejudge = interval_at(Instant::now() + REJUDGE, REJUDGE);
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
                // time alone changes no object, and yet how it is judged
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
            // a part that is missing must not look like rows that are gone
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

    /// Whether the list is over other namespaces by now.
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
            tokio::time::sleep(POLL).await;
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

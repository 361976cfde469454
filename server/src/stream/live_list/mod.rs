//! Live lists: a snapshot, then batches of changes.
mod audit;
mod polled;
mod shared;
mod shares;
mod view;

use super::outbox::{Gone, Outbox};
use crate::{
    caller::Caller,
    kube::{Api, namespaces},
    service::{
        Services,
        error::ServiceError,
        lists::{self, Filter, Opened},
    },
};
use app::error::UiErrorKind;
use jiff::Timestamp;
use portico_domain::{
    panel::{ListQuery, ListScope, ResourceKind},
    stream::Message,
};
use shares::{Need, Shares};
use std::{sync::Arc, time::Duration};
use tokio::{sync::Notify, time::Instant};
use uuid::Uuid;
use view::View;

/// How often a list without room in its session's budget checks for some.
const BUDGET_CHECK_INTERVAL: Duration = Duration::from_secs(2);
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
    /// The scope changed: list again at once.
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
            && let Ok(api) = self.api().await
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

    /// Opens the list and follows it until it has to be opened again.
    async fn session(&self, last_good: &mut Timestamp) -> Result<Round, Gone> {
        let mut shares = match Shares::take(&self.services, &self.caller) {
            Ok(shares) => shares,
            Err(need) => return Ok(Round::Limited(need)),
        };
        let changed = Arc::new(Notify::new());
        let opened = match self.open(&changed).await {
            Ok(opened) => opened,
            Err(error) => return Ok(Round::Failed(error, false)),
        };
        let filter = match Filter::new(&self.query) {
            Ok(filter) => filter,
            Err(error) => return Ok(Round::Failed(error.into(), false)),
        };
        let watches = opened.viewers.as_ref().map_or(1, Vec::len);
        if let Err(need) = shares.watches(watches) {
            return Ok(Round::Limited(need));
        }
        match opened.viewers {
            Some(_) => {
                self.follow_shared(opened, &filter, &changed, shares, last_good)
                    .await
            }
            None => self.poll(opened, &filter, shares, last_good).await,
        }
    }

    async fn open(&self, changed: &Arc<Notify>) -> Result<Opened, ServiceError> {
        let api = self.api().await?;
        let changed = Arc::clone(changed);
        lists::open(&self.services.watches, &api, &self.query, changed).await
    }

    async fn api(&self) -> Result<Api, ServiceError> {
        let (api, _) = self.services.api(&self.caller, self.cluster).await?;
        Ok(api)
    }

    async fn scope(&self, kind: &ResourceKind) -> Result<ListScope, ServiceError> {
        if let Some(namespace) = self.query.namespace.as_ref().filter(|_| kind.namespaced) {
            return Ok(ListScope::Namespace(namespace.clone()));
        }
        Ok(namespaces::scope(&self.api().await?, kind, None, "list").await?)
    }
}

//! Live lists: a snapshot for each view, then batches of changes.
mod audit;
mod polled;
mod screen;
mod sent_window;
mod shared;
mod shares;

use super::outbox::{Gone, Outbox};
use crate::{
    caller::Caller,
    kube::{Api, namespaces},
    service::{
        Services,
        error::ServiceError,
        lists::{self, Opened},
    },
};
use app::error::UiErrorKind;
use jiff::Timestamp;
use portico_domain::{
    panel::{ListQuery, ListScope, ResourceKind},
    stream::{ListView, Message},
};
use screen::Frozen;
use shares::{Need, Shares};
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::{Notify, watch},
    time::{Instant, Interval, MissedTickBehavior, interval_at, sleep},
};
use uuid::Uuid;

/// How often a list without room in its session's budget checks for some.
const BUDGET_CHECK_INTERVAL: Duration = Duration::from_secs(2);
/// A list that could not be confirmed for this long ends.
const MAX_STALENESS: Duration = Duration::from_secs(60);

/// A live list for one subscription of a tab.
pub struct Follower {
    pub services: Arc<Services>,
    pub caller: Caller,
    pub cluster: Uuid,
    pub id: u32,
    pub outbox: Outbox,
}

/// Follows a list until the browser disconnects or the user may list nothing of it any more. The
/// newest view is shown; all are of the same kind.
pub async fn follow(follower: Follower, views: watch::Receiver<ListView>) -> Result<(), Gone> {
    let id = follower.id;
    let mut state = State {
        views,
        last_good: follower.services.clock.now(),
        frozen: None,
    };
    let mut failing_since: Option<Instant> = None;
    let mut pause = Duration::from_secs(1);
    loop {
        let error = match follower.session(&mut state).await? {
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
                follower.wait_for_room(&need, &mut state).await?;
                continue;
            }
        };
        let since = *failing_since.get_or_insert_with(Instant::now);
        if error.kind != UiErrorKind::Unavailable {
            follower.ended(error, false).await?;
            // another view may have another filter, or other namespaces
            state.frozen = None;
            state.views.changed().await.map_err(|_| Gone)?;
            failing_since = None;
            continue;
        }
        if since.elapsed() > MAX_STALENESS {
            return follower.ended(error, true).await;
        }
        follower
            .outbox
            .send(Message::Stale {
                id,
                reason: error.message,
                since: state.last_good.as_second(),
            })
            .await?;
        state.sleep(pause).await?;
        pause = (pause * 2).min(Duration::from_secs(8));
    }
}

/// What a list remembers when it is opened again.
struct State {
    views: watch::Receiver<ListView>,
    /// When its rows were last known to be current.
    last_good: Timestamp,
    /// The rows of a paused list.
    frozen: Option<Frozen>,
}

impl State {
    /// Returns the newest view.
    fn view(&mut self) -> ListView {
        self.views.borrow_and_update().clone()
    }

    /// Returns whether the newest view is of other namespaces than `shown`.
    fn has_moved(&self, shown: &ListView) -> bool {
        self.views.borrow().query.namespaces != shown.query.namespaces
    }

    /// Waits, at most until the browser shows another view.
    async fn sleep(&mut self, time: Duration) -> Result<(), Gone> {
        tokio::select! {
            () = sleep(time) => Ok(()),
            is_open = self.views.changed() => is_open.map_err(|_| Gone),
        }
    }
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
    async fn ended(&self, error: ServiceError, retry: bool) -> Result<(), Gone> {
        let ended = Message::Ended {
            id: self.id,
            reason: error.message,
            missing: error.missing,
            retry,
        };
        self.outbox.send(ended).await
    }

    /// Sends the reason why the list is not live, and waits until the session's other lists have
    /// released enough. Sends no request to the API server meanwhile.
    async fn wait_for_room(&self, need: &Need, state: &mut State) -> Result<(), Gone> {
        self.outbox
            .send(Message::Stale {
                id: self.id,
                reason: need.reached.to_string(),
                since: state.last_good.as_second(),
            })
            .await?;
        let session = self.caller.session_id();
        let shown = state.view();
        loop {
            state.sleep(BUDGET_CHECK_INTERVAL).await?;
            let budgets = &self.services.budgets;
            if state.has_moved(&shown) || budgets.has_room(session, need.resource, need.amount) {
                return Ok(());
            }
        }
    }

    /// Opens the list and follows it until it has to be opened again.
    async fn session(&self, state: &mut State) -> Result<Round, Gone> {
        let mut shares = match Shares::take(&self.services, &self.caller) {
            Ok(shares) => shares,
            Err(need) => return Ok(Round::Limited(need)),
        };
        let view = state.view();
        let changed = Arc::new(Notify::new());
        let opened = match self.open(&view.query, &changed).await {
            Ok(opened) => opened,
            Err(error) => return Ok(Round::Failed(error, false)),
        };
        let watches = opened.viewers.as_ref().map_or(1, Vec::len);
        if let Err(need) = shares.watches(watches) {
            return Ok(Round::Limited(need));
        }
        match opened.viewers {
            Some(_) => {
                self.follow_shared(opened, view, &changed, shares, state)
                    .await
            }
            None => self.poll(opened, view, shares, state).await,
        }
    }

    async fn open(&self, query: &ListQuery, changed: &Arc<Notify>) -> Result<Opened, ServiceError> {
        let api = self.api().await?;
        let watches = &self.services.watches;
        let changed = Arc::clone(changed);
        Ok(lists::open(watches, &api, &query.resource, &query.namespaces, changed).await?)
    }

    async fn api(&self) -> Result<Api, ServiceError> {
        let (api, _) = self.services.api(&self.caller, self.cluster).await?;
        Ok(api)
    }

    async fn scope(
        &self,
        kind: &ResourceKind,
        query: &ListQuery,
    ) -> Result<ListScope, ServiceError> {
        let api = self.api().await?;
        Ok(namespaces::scope(&api, kind, &query.namespaces, "list").await?)
    }
}

/// Makes an interval that begins after its first period.
fn every(time: Duration) -> Interval {
    let mut interval = interval_at(Instant::now() + time, time);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    interval
}

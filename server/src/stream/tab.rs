//! `GET /projects/{project}/stream`: a tab's only event stream (WebSocket, JSON text frames).
use super::{
    PING_INTERVAL, TOKEN_EXPIRED, check, live_list, log_follow,
    log_range::RangeReads,
    object_watch,
    outbox::{Gone, Outbox},
    token_over,
};
use crate::session_budgets::{LimitReached, Resource};
use crate::{caller::Caller, service::Services};
use axum::{
    extract::{
        Path, State, WebSocketUpgrade,
        ws::{self, WebSocket},
    },
    http::HeaderMap,
    response::{IntoResponse, Response},
};
use portico_domain::stream::{ListView, Message, Request};
use std::{collections::HashMap, future::Future, sync::Arc, time::Duration};
use tokio::{
    sync::watch,
    time::{Instant, interval_at},
};
use tokio_util::task::AbortOnDropHandle;

/// Maximum number of subscriptions of one tab.
const MAX_SUBSCRIPTIONS: usize = 24;
/// How long a browser may take to close a refused stream.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum size of a request of the browser, in bytes.
const MAX_REQUEST_BYTES: usize = 64 * 1024;

/// Opens the stream.
pub async fn open(
    State(services): State<Arc<Services>>,
    caller: Caller,
    Path(project): Path<String>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    if let Err(refusal) = check(&services, &caller, &project, &headers) {
        return refusal.into_response();
    }
    upgrade
        .max_message_size(MAX_REQUEST_BYTES)
        .on_upgrade(move |socket| run(socket, services, caller))
}

/// Runs the stream, if the session may have another one.
async fn run(mut socket: WebSocket, services: Arc<Services>, caller: Caller) {
    let share = services
        .budgets
        .take(caller.session_id(), Resource::Streams, 1);
    match share {
        Ok(_share) => Tab::new(services, caller).run(socket).await,
        Err(reached) => refuse(&mut socket, reached).await,
    }
}

/// Refuses a stream. A browser does not show the HTTP response to a failed upgrade, so the reason
/// is sent over the WebSocket.
async fn refuse(socket: &mut WebSocket, reached: LimitReached) {
    let reason = reached.to_string();
    // the browser may have disconnected already
    let _ = send(socket, &Message::Refused { reason }).await;
    let frame = ws::CloseFrame {
        code: ws::close_code::AGAIN,
        reason: "limit".into(),
    };
    let _ = socket.send(ws::Message::Close(Some(frame))).await;
    // what the browser has sent meanwhile must be read: if closed with unread data, the connection
    // would be reset and the reason lost
    let answer = async { while let Some(Ok(_)) = socket.recv().await {} };
    let _ = tokio::time::timeout(CLOSE_TIMEOUT, answer).await;
}

struct Tab {
    services: Arc<Services>,
    caller: Caller,
    outbox: Outbox,
    inbox: tokio::sync::mpsc::Receiver<Message>,
    running: HashMap<u32, Running>,
    range_reads: RangeReads,
}

/// A subscription. Dropped with the tab, which ends its task.
struct Running {
    task: AbortOnDropHandle<()>,
    /// Where a live list takes its view from.
    view: Option<watch::Sender<ListView>>,
}

impl Tab {
    fn new(services: Arc<Services>, caller: Caller) -> Self {
        let (outbox, inbox) = Outbox::new();
        Self {
            services,
            caller,
            outbox,
            inbox,
            running: HashMap::new(),
            range_reads: RangeReads::new(),
        }
    }

    async fn run(mut self, mut socket: WebSocket) {
        let mut ping = interval_at(Instant::now() + PING_INTERVAL, PING_INTERVAL);
        let caller = self.caller.clone();
        let clock = self.services.clock.clone();
        let over = token_over(&caller, &clock);
        tokio::pin!(over);
        loop {
            let sent = tokio::select! {
                Some(message) = self.inbox.recv() => send(&mut socket, &message).await,
                _ = ping.tick() => send(&mut socket, &Message::Ping).await,
                received = socket.recv() => match received {
                    Some(Ok(ws::Message::Text(text))) => self.request(&text, &mut socket).await,
                    Some(Ok(ws::Message::Close(_)) | Err(_)) | None => Err(Gone),
                    Some(Ok(_)) => Ok(()),
                },
                () = &mut over => {
                    self.end_all(&mut socket).await;
                    Err(Gone)
                }
            };
            if sent.is_err() {
                return;
            }
        }
    }

    async fn request(&mut self, text: &str, socket: &mut WebSocket) -> Result<(), Gone> {
        let request = match serde_json::from_str(text) {
            Ok(request) => request,
            Err(error) => {
                tracing::debug!(%error, "stream request not understood");
                return Ok(());
            }
        };
        self.running
            .retain(|_, running| !running.task.is_finished());
        let id = match &request {
            Request::Close { id } => {
                self.running.remove(id);
                return Ok(());
            }
            Request::View { id, view } => {
                self.show(*id, view);
                return Ok(());
            }
            Request::Watch { id, .. } | Request::Object { id, .. } | Request::Logs { id, .. } => {
                *id
            }
        };
        // a new request under the same ID replaces the old one
        self.running.remove(&id);
        if self.running.len() >= MAX_SUBSCRIPTIONS {
            let reason = "This tab has too many live views open; close some.".to_owned();
            let ended = Message::Ended {
                id,
                reason,
                missing: None,
                retry: false,
            };
            return send(socket, &ended).await;
        }
        let (services, caller) = (Arc::clone(&self.services), self.caller.clone());
        let outbox = self.outbox.clone();
        match request {
            Request::Watch { cluster, view, .. } => {
                let (sender, views) = watch::channel(view);
                let list = live_list::Follower {
                    services,
                    caller,
                    cluster,
                    id,
                    outbox,
                };
                self.spawn(id, Some(sender), live_list::follow(list, views));
            }
            Request::Object {
                cluster,
                object,
                version,
                ..
            } => {
                let followed = object_watch::Followed {
                    cluster,
                    object,
                    shown: version,
                    id,
                    outbox: outbox.clone(),
                };
                let work = object_watch::follow(services, caller, followed);
                self.spawn(id, None, self.with_watch(id, outbox, work));
            }
            Request::Logs { cluster, query, .. } => {
                let reads = self.range_reads.clone();
                let work =
                    log_follow::follow(services, caller, cluster, query, id, outbox.clone(), reads);
                self.spawn(id, None, self.with_watch(id, outbox, work));
            }
            Request::Close { .. } | Request::View { .. } => {}
        }
        Ok(())
    }

    /// Runs a task with one watch of the session's budget, or ends the subscription with the limit.
    fn with_watch<W>(
        &self,
        id: u32,
        outbox: Outbox,
        work: W,
    ) -> impl Future<Output = Result<(), Gone>> + Send + use<W>
    where
        W: Future<Output = Result<(), Gone>> + Send + 'static,
    {
        let share = self
            .services
            .budgets
            .take(self.caller.session_id(), Resource::Watches, 1);
        async move {
            match share {
                Ok(_share) => work.await,
                Err(reached) => {
                    let reason = reached.to_string();
                    let ended = Message::Ended {
                        id,
                        reason,
                        missing: None,
                        retry: true,
                    };
                    outbox.send(ended).await
                }
            }
        }
    }

    /// Passes a new view on to its live list. One of another kind is ignored: it would be another
    /// list.
    fn show(&self, id: u32, new: &ListView) {
        let list = self.running.get(&id);
        if let Some(sender) = list.and_then(|running| running.view.as_ref()) {
            sender.send_if_modified(|view| {
                let is_next = view.query.resource == new.query.resource && view.turn <= new.turn;
                if is_next {
                    view.clone_from(new);
                }
                is_next
            });
        }
    }

    fn spawn(
        &mut self,
        id: u32,
        view: Option<watch::Sender<ListView>>,
        work: impl Future<Output = Result<(), Gone>> + Send + 'static,
    ) {
        #[allow(clippy::disallowed_methods, reason = "aborted with the tab")]
        let task = tokio::spawn(async move {
            // the browser has disconnected: no client is left to notify
            let _ = work.await;
        });
        let task = AbortOnDropHandle::new(task);
        self.running.insert(id, Running { task, view });
    }

    async fn end_all(&mut self, socket: &mut WebSocket) {
        for (id, running) in self.running.drain() {
            drop(running);
            let ended = Message::Ended {
                id,
                reason: TOKEN_EXPIRED.to_owned(),
                missing: None,
                retry: true,
            };
            if send(socket, &ended).await.is_err() {
                return;
            }
        }
    }
}

async fn send(socket: &mut WebSocket, message: &Message) -> Result<(), Gone> {
    let text = serde_json::to_string(message).map_err(|_| Gone)?;
    socket
        .send(ws::Message::Text(text.into()))
        .await
        .map_err(|_| Gone)
}

//! `GET /projects/{project}/stream`: a tab's one event stream (WebSocket, JSON text frames).
use super::{
    PING, TOKEN_OVER, check, live_list, log_follow, object_watch,
    outbox::{Gone, Outbox},
    token_over,
};
use crate::{panel::caller::Caller, service::Services};
use axum::{
    extract::{
        Path, State, WebSocketUpgrade,
        ws::{self, WebSocket},
    },
    http::HeaderMap,
    response::{IntoResponse, Response},
};
use portico_domain::stream::{Message, Request};
use std::{collections::HashMap, future::Future, sync::Arc};
use tokio::time::{Instant, interval_at};
use tokio_util::task::AbortOnDropHandle;

/// Subscriptions of one tab.
const MAX_SUBSCRIPTIONS: usize = 24;
/// The longest request of a browser.
const MAX_REQUEST: usize = 64 * 1024;

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
        .max_message_size(MAX_REQUEST)
        .on_upgrade(move |socket| Tab::new(services, caller).run(socket))
}

struct Tab {
    services: Arc<Services>,
    caller: Caller,
    outbox: Outbox,
    inbox: tokio::sync::mpsc::Receiver<Message>,
    /// Dropped with the tab, which ends them.
    running: HashMap<u32, AbortOnDropHandle<()>>,
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
        }
    }

    async fn run(mut self, mut socket: WebSocket) {
        let mut ping = interval_at(Instant::now() + PING, PING);
        let caller = self.caller.clone();
        let over = token_over(&caller);
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
        self.running.retain(|_, task| !task.is_finished());
        let id = match &request {
            Request::Close { id } => {
                self.running.remove(id);
                return Ok(());
            }
            Request::Watch { id, .. } | Request::Object { id, .. } | Request::Logs { id, .. } => {
                *id
            }
        };
        // asked again under the same ID: the new one takes the old one's place
        self.running.remove(&id);
        if self.running.len() >= MAX_SUBSCRIPTIONS {
            let reason = "This tab has too many live views open; close some.".to_owned();
            let ended = Message::Ended {
                id,
                reason,
                retry: false,
            };
            return send(socket, &ended).await;
        }
        let (services, caller) = (Arc::clone(&self.services), self.caller.clone());
        let outbox = self.outbox.clone();
        match request {
            Request::Watch { cluster, query, .. } => self.spawn(
                id,
                live_list::follow(services, caller, cluster, query, id, outbox),
            ),
            Request::Object {
                cluster, object, ..
            } => self.spawn(
                id,
                object_watch::follow(services, caller, cluster, object, id, outbox),
            ),
            Request::Logs { cluster, query, .. } => self.spawn(
                id,
                log_follow::follow(services, caller, cluster, query, id, outbox),
            ),
            Request::Close { .. } => {}
        }
        Ok(())
    }

    fn spawn(&mut self, id: u32, work: impl Future<Output = Result<(), Gone>> + Send + 'static) {
        let task = tokio::spawn(async move {
            // the browser has gone: there is nobody to tell
            let _ = work.await;
        });
        self.running.insert(id, AbortOnDropHandle::new(task));
    }

    async fn end_all(&mut self, socket: &mut WebSocket) {
        for (id, task) in self.running.drain() {
            drop(task);
            let ended = Message::Ended {
                id,
                reason: TOKEN_OVER.to_owned(),
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

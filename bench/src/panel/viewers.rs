//! Viewers without a browser: each has a session and a WebSocket of its own, and asks for what a
//! browser asked.
use super::portico::{Portico, Session};
use crate::browser::Connection;
use anyhow::{Context as _, Result, ensure};
use futures::{SinkExt as _, StreamExt as _};
use portico_testkit::TestUser;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::{WebSocketStream, client_async};

const CONCURRENT_SIGN_INS: usize = 4;
const SNAPSHOT_TIMEOUT: Duration = Duration::from_secs(60);

/// Viewers of one list. They leave with the value.
pub struct Viewers {
    received: Arc<AtomicUsize>,
    connections: JoinSet<Result<()>>,
}

impl Viewers {
    /// Signs in `count` times as these users, in turn, and opens the list that `request` asks for,
    /// with a WebSocket to `stream`. Waits until all have its rows.
    pub async fn open(
        portico: &Portico,
        users: &[TestUser],
        count: usize,
        stream: &str,
        request: &str,
    ) -> Result<Self> {
        let mut viewers = Self {
            received: Arc::new(AtomicUsize::new(0)),
            connections: JoinSet::new(),
        };
        let users = users.iter().cycle().take(count);
        let opened = users.map(|user| open_one(portico, user, stream, request));
        let mut opened = futures::stream::iter(opened).buffer_unordered(CONCURRENT_SIGN_INS);
        while let Some(socket) = opened.next().await {
            let received = Arc::clone(&viewers.received);
            viewers.connections.spawn(read(socket?, received));
        }
        Ok(viewers)
    }

    /// Returns the number of messages that all viewers have received.
    pub fn received(&self) -> usize {
        self.received.load(Ordering::SeqCst)
    }

    /// Checks that no viewer was disconnected.
    pub fn check(&mut self) -> Result<usize> {
        if let Some(ended) = self.connections.try_join_next() {
            ended??;
        }
        Ok(self.connections.len())
    }
}

async fn open_one(
    portico: &Portico,
    user: &TestUser,
    stream: &str,
    request: &str,
) -> Result<Socket> {
    let session = portico.sign_in(user).await?;
    let mut socket = connect(portico, &session, stream).await?;
    socket.send(Message::text(request)).await?;
    let first = tokio::time::timeout(SNAPSHOT_TIMEOUT, first_rows(&mut socket));
    first.await.context("a viewer got no rows")??;
    Ok(socket)
}

type Socket = WebSocketStream<Box<dyn Connection>>;

async fn connect(portico: &Portico, session: &Session, path: &str) -> Result<Socket> {
    let address = portico.url.replacen("https", "wss", 1);
    let mut request = format!("{address}{path}").into_client_request()?;
    let headers = request.headers_mut();
    headers.insert("cookie", session.cookie.parse()?);
    headers.insert("origin", portico.url.parse()?);
    let stream = portico.gateway.connect("localhost").await?;
    let (socket, _) = client_async(request, stream).await?;
    Ok(socket)
}

/// Reads until the whole list has arrived.
async fn first_rows(socket: &mut Socket) -> Result<()> {
    loop {
        let message = socket.next().await.context("disconnected")??;
        let Message::Text(text) = message else {
            continue;
        };
        // the only key of a message is its name
        ensure!(
            !text.starts_with("{\"ended\"") && !text.starts_with("{\"refused\""),
            "{text}"
        );
        if text.starts_with("{\"snapshot\"") {
            return Ok(());
        }
    }
}

async fn read(mut socket: Socket, received: Arc<AtomicUsize>) -> Result<()> {
    loop {
        let message = socket.next().await.context("disconnected")??;
        ensure!(!message.is_close(), "a viewer was disconnected: {message}");
        received.fetch_add(1, Ordering::SeqCst);
    }
}

//! A browser's tab: its one event stream.
use crate::stack::{PUBLIC_URL, Stack};
use axum::http::HeaderMap;
use futures::{SinkExt, StreamExt};
use portico_domain::stream::{Message, Request};
use portico_testkit::TestUser;
use std::time::Duration;
use tokio::time::timeout;
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async,
    tungstenite::{self, client::IntoClientRequest},
};

pub type Socket = WebSocketStream<MaybeTlsStream<tokio::net::TcpStream>>;

pub async fn connect(
    stack: &Stack,
    address: &str,
    user: &str,
    path: &str,
    origin: &str,
) -> Result<Socket, tungstenite::Error> {
    let headers = stack.headers(user, stack.var("PROJECT_ID_ACME")).await;
    connect_with(headers, address, path, origin).await
}

pub async fn connect_with(
    headers: HeaderMap,
    address: &str,
    path: &str,
    origin: &str,
) -> Result<Socket, tungstenite::Error> {
    let mut request = format!("ws://{address}{path}")
        .into_client_request()
        .unwrap();
    request.headers_mut().extend(headers);
    request
        .headers_mut()
        .insert("origin", origin.parse().unwrap());
    connect_async(request).await.map(|(socket, _)| socket)
}

pub async fn tab(stack: &Stack, user: &str) -> Socket {
    let address = stack.serve().await;
    tab_at(stack, &address, user).await
}

pub async fn tab_at(stack: &Stack, address: &str, user: &str) -> Socket {
    let path = format!("/projects/{}/stream", stack.var("PROJECT_ID_ACME"));
    connect(stack, address, user, &path, PUBLIC_URL)
        .await
        .unwrap()
}

/// The same for a user of the test's own.
pub async fn tab_of(stack: &Stack, address: &str, user: &TestUser) -> Socket {
    let path = format!("/projects/{}/stream", stack.var("PROJECT_ID_ACME"));
    connect_with(stack.headers_of(user).await, address, &path, PUBLIC_URL)
        .await
        .unwrap()
}

pub async fn ask(socket: &mut Socket, request: &Request) {
    let text = serde_json::to_string(request).unwrap();
    socket
        .send(tungstenite::Message::Text(text.into()))
        .await
        .unwrap();
}

/// The first message that `wanted` takes, within eight seconds.
pub async fn until<T>(socket: &mut Socket, wanted: impl FnMut(Message) -> Option<T>) -> T {
    within(Duration::from_secs(8), socket, wanted).await
}

/// The first message that `wanted` takes.
pub async fn within<T>(
    time: Duration,
    socket: &mut Socket,
    mut wanted: impl FnMut(Message) -> Option<T>,
) -> T {
    timeout(time, async {
        loop {
            let frame = socket.next().await.unwrap().unwrap();
            if let tungstenite::Message::Text(text) = frame
                && let Some(found) = wanted(serde_json::from_str(&text).unwrap())
            {
                return found;
            }
        }
    })
    .await
    .expect("the message comes")
}

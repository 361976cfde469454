//! An upstream that answers with the request that it received, streams, and accepts WebSockets.
use std::{
    convert::Infallible,
    net::SocketAddr,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    Json, Router,
    body::Body,
    extract::{Request, State, ws::WebSocketUpgrade},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::{any, get},
};
use bytes::Bytes;
use futures::{StreamExt as _, stream};
use http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use http_body_util::BodyExt as _;
use portico_runtime::{
    lifecycle::Lifecycle,
    listener::{Listener, PeerCertificates},
    tls::{ReloadingTls, TlsFiles},
};
use serde_json::json;
use tokio::{
    io::AsyncWriteExt as _,
    net::{TcpListener, UnixListener},
    sync::Notify,
};

pub struct Echo {
    pub address: SocketAddr,
    url: String,
    /// Lets `/stream` send its second part.
    pub go_on: Arc<Notify>,
    asked: Arc<AtomicUsize>,
}

impl Echo {
    /// Starts it with HTTP/1.1, and HTTP/2 with prior knowledge.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("port");
        let address = listener.local_addr().expect("address");
        let (echo, router) = Self::new(address, format!("http://{address}"));
        tokio::spawn(async move { axum::serve(listener, router).await });
        echo
    }

    /// Starts it on a unix socket.
    pub fn on_socket(path: &Path) -> Self {
        let listener = UnixListener::bind(path).expect("socket");
        let nowhere = SocketAddr::from(([127, 0, 0, 1], 9));
        let (echo, router) = Self::new(nowhere, format!("unix:{}", path.display()));
        tokio::spawn(async move { axum::serve(listener, router).await });
        echo
    }

    /// Starts it over TLS, with HTTP/2 by ALPN; known as `localhost`.
    pub async fn over_tls(files: TlsFiles) -> Self {
        let listener = Listener::bind(([127, 0, 0, 1], 0).into()).await;
        let listener = listener.expect("port");
        let address = listener.address();
        let url = format!("https://localhost:{}", address.port());
        let (echo, router) = Self::new(address, url);
        let tls = ReloadingTls::load(files).expect("certificates");
        let lifecycle = Lifecycle::new(Duration::from_secs(1));
        listener.with_tls(tls).serve(router, &lifecycle);
        echo
    }

    fn new(address: SocketAddr, url: String) -> (Self, Router) {
        let go_on = Arc::new(Notify::new());
        let asked = Arc::new(AtomicUsize::new(0));
        let router = Router::new()
            .route("/stream", get(two_parts))
            .route("/events", get(events))
            .route("/half-event", get(half_event))
            .route("/slow", get(slow))
            .route("/large", get(large))
            .route("/cookies", get(cookies))
            .route("/set-cookies", get(set_cookies))
            .route("/socket", any(socket))
            .route("/half-a-frame", any(half_a_frame))
            .route("/mirror", any(mirror))
            .route("/pauses", get(pauses))
            .route("/projects/p1/reports", any(reports))
            .route("/projects/p1/late-reports", any(late_reports))
            .route("/refuses-upgrade", any(|| async { "no upgrade here" }))
            .fallback(tell)
            .with_state(Arc::clone(&go_on))
            .layer(from_fn_with_state(Arc::clone(&asked), count));
        let echo = Self {
            address,
            url,
            go_on,
            asked,
        };
        (echo, router)
    }

    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// Returns the number of requests received.
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

async fn count(State(asked): State<Arc<AtomicUsize>>, request: Request, next: Next) -> Response {
    asked.fetch_add(1, Ordering::SeqCst);
    next.run(request).await
}

async fn tell(request: Request) -> Json<serde_json::Value> {
    let (parts, body) = request.into_parts();
    let (body, trailers) = match body.collect().await {
        Ok(body) => {
            let trailers = body.trailers().cloned().unwrap_or_default();
            (body.to_bytes(), listed(&trailers))
        }
        Err(_) => (Bytes::new(), Vec::new()),
    };
    let headers = listed(&parts.headers);
    Json(json!({
        "method": parts.method.as_str(),
        "target": parts.uri.path_and_query().map(ToString::to_string),
        "authority": parts.uri.authority().map(ToString::to_string),
        "version": format!("{:?}", parts.version),
        "certificates": parts.extensions.get::<PeerCertificates>().map_or(0, |shown| shown.0.len()),
        "headers": headers,
        "trailers": trailers,
        "body": String::from_utf8_lossy(&body),
    }))
}

fn listed(headers: &HeaderMap) -> Vec<(String, String)> {
    headers
        .iter()
        .map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            (name.to_string(), value)
        })
        .collect()
}

async fn two_parts(State(go_on): State<Arc<Notify>>) -> Response {
    let first = stream::once(async { Ok::<_, Infallible>(Bytes::from_static(b"one")) });
    let second = stream::once(async move {
        go_on.notified().await;
        Ok(Bytes::from_static(b"two"))
    });
    Body::from_stream(first.chain(second)).into_response()
}

/// Sends everything back, trailers too, as soon as it arrives.
async fn mirror(request: Request) -> Response {
    let te = request.headers().get(header::TE).cloned();
    let mut answer = Response::new(request.into_body());
    if let Some(te) = te {
        answer.headers_mut().insert("x-te", te);
    }
    answer
}

/// Sends the start of a body, and nothing more for half a minute.
async fn pauses() -> Response {
    let first = stream::once(async { Ok::<_, Infallible>(Bytes::from_static(b"one")) });
    Body::from_stream(first.chain(stream::pending())).into_response()
}

async fn events() -> Response {
    open_stream("data: one\n\n")
}

async fn half_event() -> Response {
    open_stream("data: one\n\ndata: tw")
}

/// Sends an event stream that stays open after its first bytes.
fn open_stream(first: &'static str) -> Response {
    let first =
        stream::once(async move { Ok::<_, Infallible>(Bytes::from_static(first.as_bytes())) });
    let kind = [(header::CONTENT_TYPE, "text/event-stream")];
    (kind, Body::from_stream(first.chain(stream::pending()))).into_response()
}

/// Sends the number of MiB in `mib`.
async fn large(uri: http::Uri) -> Body {
    let mib = uri.query().and_then(|query| query.strip_prefix("mib="));
    let mib: usize = mib.and_then(|text| text.parse().ok()).unwrap_or(64);
    let piece = Bytes::from(vec![b'x'; 64 << 10]);
    Body::from_stream(stream::iter(
        (0..mib * 16).map(move |_| Ok::<_, Infallible>(piece.clone())),
    ))
}

async fn slow() -> StatusCode {
    tokio::time::sleep(Duration::from_secs(30)).await;
    StatusCode::OK
}

async fn cookies() -> impl IntoResponse {
    let mut headers = HeaderMap::new();
    for line in [
        "theme=dark; Domain=localhost; Path=/",
        "portico=stolen; Path=/",
        "__Host-portico=stolen; Path=/; Secure",
    ] {
        headers.append(header::SET_COOKIE, HeaderValue::from_static(line));
    }
    headers.insert("clear-site-data", HeaderValue::from_static("\"*\""));
    headers.insert("service-worker-allowed", HeaderValue::from_static("/"));
    headers.insert("connection", HeaderValue::from_static("x-hop"));
    headers.insert("x-hop", HeaderValue::from_static("1"));
    (headers, "cookies")
}

/// Reports to the audit log what the query contains, as the panel does.
async fn reports(uri: Uri) -> impl IntoResponse {
    let query = uri.query().unwrap_or_default();
    let value = query.strip_prefix("value=").unwrap_or_default();
    [("portico-audit", value.to_owned())]
}

/// Does the same after a signal.
async fn late_reports(State(go_on): State<Arc<Notify>>, uri: Uri) -> impl IntoResponse {
    go_on.notified().await;
    reports(uri).await
}

/// Sets the cookies in the query: `?line=…&line=…`.
async fn set_cookies(uri: Uri) -> impl IntoResponse {
    let mut headers = HeaderMap::new();
    let query = uri.query().unwrap_or_default();
    for (_, line) in url::form_urlencoded::parse(query.as_bytes()) {
        let line = HeaderValue::from_bytes(line.as_bytes()).expect("a value");
        headers.append(header::SET_COOKIE, line);
    }
    (headers, "set")
}

async fn socket(upgrade: WebSocketUpgrade) -> Response {
    upgrade.on_upgrade(|mut socket| async move {
        while let Some(Ok(message)) = socket.recv().await {
            if socket.send(message).await.is_err() {
                break;
            }
        }
    })
}

/// Switches to a WebSocket, sends the start of a frame, and the rest after a signal.
async fn half_a_frame(State(go_on): State<Arc<Notify>>, mut request: Request) -> Response {
    let upgrade = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        let mut socket = hyper_util::rt::TokioIo::new(upgrade.await.expect("upgraded"));
        socket.write_all(b"\x81\x05he").await.expect("written");
        socket.flush().await.expect("written");
        go_on.notified().await;
        let _ = socket.write_all(b"llo\x81\x04more").await;
        let _ = socket.flush().await;
        // until the gateway has disconnected
        let _ = tokio::io::copy(&mut socket, &mut tokio::io::sink()).await;
    });
    let mut answer = StatusCode::SWITCHING_PROTOCOLS.into_response();
    let headers = answer.headers_mut();
    headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    answer
}

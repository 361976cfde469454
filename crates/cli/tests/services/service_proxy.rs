//! A proxy in front of a real service: it records the requests, and changes some of them or of the
//! answers, as an older cloud or a bad network would.
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;

const VERSION: &str = "openstack-api-version";
/// Maximum size of a request, in bytes.
const MAX_BODY_BYTES: usize = 1 << 20;
/// Headers that belong to one connection, or to the body before it was changed.
const DROPPED: [&str; 5] = [
    "host",
    "connection",
    "content-length",
    "transfer-encoding",
    "accept-encoding",
];

/// What the proxy changes.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// The highest version in the version document, as an older cloud has it.
    pub max_version: Option<&'static str>,
    /// The version that is asked for in place of the client's.
    pub asks_version: Option<&'static str>,
    /// The size of pages in place of the client's.
    pub page_size: Option<u32>,
    /// Whether the answers to `POST /clusters` are lost.
    pub loses_creations: bool,
    /// The end of the path of changes that are accepted and not passed on, as Magnum drops one in a state that
    /// forbids it.
    pub swallows: Option<&'static str>,
    /// A text in answers, and what replaces it.
    pub replaces: Option<(String, String)>,
    /// The number of requests after which the service is gone.
    pub ends_after: Option<usize>,
    /// What the service does last, before it is gone until it is started again. This happens once.
    pub last: Option<Last>,
}

/// The last thing that a service does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Last {
    /// It accepts a change.
    Change,
    /// After a change, it answers with the record of a cluster.
    Record,
}

/// A request as the client sent it.
#[derive(Clone, Debug)]
pub struct Received {
    pub method: Method,
    /// With the query.
    pub path: String,
    /// The header that asks for a version.
    pub version: Option<String>,
    pub body: Value,
}

struct State {
    upstream: String,
    rules: Rules,
    client: reqwest::Client,
    received: Mutex<Vec<Received>>,
    is_down: AtomicBool,
    /// Whether the service has done its last thing.
    has_ended: AtomicBool,
    /// Tokens that Keystone has issued through it. An answer about a token has it too.
    tokens: Mutex<BTreeSet<String>>,
}

/// The proxy; it ends with the runtime of the test.
pub struct ServiceProxy {
    url: String,
    state: Arc<State>,
}

impl ServiceProxy {
    /// Listens on a free port; `upstream` is the scheme and authority of the service.
    pub async fn start(upstream: &str, rules: Rules) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(State {
            upstream: upstream.to_owned(),
            rules,
            client: reqwest::Client::new(),
            received: Mutex::default(),
            is_down: AtomicBool::new(false),
            has_ended: AtomicBool::new(false),
            tokens: Mutex::default(),
        });
        let of_handler = Arc::clone(&state);
        let app = axum::Router::new().fallback(move |request: Request| {
            let state = Arc::clone(&of_handler);
            async move { proxy(&state, request).await }
        });
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { url, state }
    }

    /// Returns its scheme and authority.
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// Returns all requests so far.
    pub fn received(&self) -> Vec<Received> {
        self.state.received.lock().unwrap().clone()
    }

    /// Stops the service, or starts it again: until then the proxy answers as a load balancer without
    /// one behind it.
    pub fn set_down(&self, is_down: bool) {
        self.state.is_down.store(is_down, Ordering::SeqCst);
    }

    /// Returns the tokens that Keystone has issued through the proxy, each once.
    pub fn tokens(&self) -> BTreeSet<String> {
        self.state.tokens.lock().unwrap().clone()
    }

    /// Returns the requests that change something.
    pub fn changes(&self) -> Vec<Received> {
        let mut received = self.received();
        received.retain(|request| request.method != Method::GET);
        received
    }
}

async fn proxy(state: &State, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, MAX_BODY_BYTES).await.unwrap();
    let received = Received {
        method: parts.method.clone(),
        path: parts.uri.to_string(),
        version: text_of(&parts.headers, VERSION),
        body: serde_json::from_slice(&body).unwrap_or(Value::Null),
    };
    let is_over = {
        let mut all = state.received.lock().unwrap();
        all.push(received.clone());
        state
            .rules
            .ends_after
            .is_some_and(|count| all.len() > count)
    };
    if is_over || state.is_down.load(Ordering::SeqCst) {
        return (StatusCode::BAD_GATEWAY, "<html>no service</html>").into_response();
    }
    let is_swallowed = |end: &str| received.path.ends_with(end);
    if received.method != Method::GET && state.rules.swallows.is_some_and(is_swallowed) {
        return (StatusCode::ACCEPTED, axum::Json(json!({}))).into_response();
    }
    let answer = forward(state, &received, parts.headers, body).await;
    let (status, headers, text) = match answer {
        Ok(answer) => answer,
        Err(error) => return (StatusCode::BAD_GATEWAY, error.to_string()).into_response(),
    };
    if is_last(state, &received, status) && !state.has_ended.swap(true, Ordering::SeqCst) {
        state.is_down.store(true, Ordering::SeqCst);
    }
    let token = text_of(&headers, "x-subject-token");
    state.tokens.lock().unwrap().extend(token);
    if state.rules.loses_creations
        && received.method == Method::POST
        && received.path.ends_with("/clusters")
    {
        let page = "<html>a proxy gave up</html>";
        return (StatusCode::GATEWAY_TIMEOUT, page).into_response();
    }
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

/// Returns whether the service has done the last thing of the rules with this answer.
fn is_last(state: &State, received: &Received, status: StatusCode) -> bool {
    let is_change = |request: &Received| request.method != Method::GET;
    match state.rules.last {
        None => false,
        Some(Last::Change) => is_change(received) && status.is_success(),
        Some(Last::Record) => {
            let is_record =
                received.path.contains("/clusters/") && !received.path.contains("/clusters/detail");
            let has_changed = state.received.lock().unwrap().iter().any(is_change);
            is_record && has_changed && status.is_success()
        }
    }
}

async fn forward(
    state: &State,
    received: &Received,
    mut headers: HeaderMap,
    body: Bytes,
) -> Result<(StatusCode, HeaderMap, String), reqwest::Error> {
    let rules = &state.rules;
    drop_headers(&mut headers);
    if let Some(version) = rules.asks_version
        && received.version.is_some()
    {
        let value = format!("container-infra {version}");
        headers.insert(VERSION, HeaderValue::from_str(&value).unwrap());
    }
    let path = match rules.page_size {
        Some(size) => received.path.replace("limit=500", &format!("limit={size}")),
        None => received.path.clone(),
    };
    let url = format!("{}{path}", state.upstream);
    let request = state.client.request(received.method.clone(), url);
    let answer = request.headers(headers).body(body).send().await?;
    let (status, mut headers) = (answer.status(), answer.headers().clone());
    drop_headers(&mut headers);
    let mut text = answer.text().await?;
    if let Some(max) = rules.max_version
        && received.path == "/"
    {
        text = text.replace("\"1.14\"", &format!("\"{max}\""));
    }
    if let Some((from, to)) = &rules.replaces {
        text = text.replace(from, to);
    }
    Ok((status, headers, text))
}

fn drop_headers(headers: &mut HeaderMap) {
    for name in DROPPED {
        headers.remove(name);
    }
}

fn text_of(headers: &HeaderMap, name: &str) -> Option<String> {
    let value = headers.get(name)?.to_str().ok()?;
    Some(value.to_owned())
}

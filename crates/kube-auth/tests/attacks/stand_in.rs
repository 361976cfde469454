//! In Keystone's place, for answers that a real one cannot be brought to give: empty identities,
//! thousands of roles, a wrong clock, outages of every kind, texts with tokens in them.
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, Response, StatusCode};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub struct StandIn {
    url: String,
    calls: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

/// What Keystone is asked.
pub struct Asked {
    pub query: String,
    pub headers: HeaderMap,
}

impl StandIn {
    pub async fn start(
        answer: impl Fn(Asked) -> Response<Body> + Clone + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v3", listener.local_addr().unwrap());
        let calls = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&calls);
        let router = Router::new().fallback(move |request: Request| {
            counter.fetch_add(1, Ordering::SeqCst);
            let asked = Asked {
                query: request.uri().query().unwrap_or("").to_owned(),
                headers: request.headers().clone(),
            };
            let answer = answer.clone();
            async move { answer(asked) }
        });
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, calls, task }
    }

    /// Always the same JSON.
    pub async fn saying(status: u16, body: Value) -> Self {
        Self::start(move |_| json_answer(status, &body)).await
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub fn json_answer(status: u16, body: &Value) -> Response<Body> {
    Response::builder()
        .status(StatusCode::from_u16(status).unwrap())
        .header("content-type", "application/json")
        .body(Body::from(body.to_string()))
        .unwrap()
}

/// Keystone's "no".
pub fn not_found() -> Response<Body> {
    let error = json!({"code": 404, "title": "Not Found", "message": "Could not find token."});
    json_answer(404, &json!({ "error": error }))
}

/// A validation of a token of `ada`, in the project `p1` with the role `r1`, for an hour.
pub fn token() -> Value {
    let now = Timestamp::now();
    json!({"token": {
        "methods": ["password"],
        "user": {"id": "u1", "name": "ada", "domain": {"id": "default", "name": "Default"}},
        "audit_ids": ["HlLJT7C_SIWKZOe7ArMECw"],
        "issued_at": now.to_string(),
        "expires_at": (now + SignedDuration::from_hours(1)).to_string(),
        "project": {"id": "p1", "name": "acme", "domain": {"id": "default", "name": "Default"}},
        "is_domain": false,
        "roles": [{"id": "r1", "name": "k8s_admin"}],
    }})
}

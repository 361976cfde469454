//! Servers in the places of Keystone, of an API server and of others, to answer as those do when
//! something is wrong with them.
use axum::Json;
use axum::Router;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get, post};
use portico_runtime::lifecycle::Lifecycle;
use portico_runtime::listener::Listener;
use portico_runtime::tls::{ReloadingTls, TlsFiles};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

/// Answers until it is dropped.
pub struct StandIn {
    pub address: SocketAddr,
    lifecycle: Lifecycle,
}

impl StandIn {
    pub async fn start(router: Router) -> Self {
        Self::launch(router, None).await
    }

    pub async fn start_tls(router: Router, certificate: &Path, key: &Path) -> Self {
        let files = TlsFiles {
            cert_file: certificate.to_owned(),
            key_file: key.to_owned(),
            ..TlsFiles::default()
        };
        Self::launch(router, Some(files)).await
    }

    async fn launch(router: Router, tls: Option<TlsFiles>) -> Self {
        portico_runtime::install_crypto_provider();
        let lifecycle = Lifecycle::new(Duration::from_secs(1));
        let listener = Listener::bind("127.0.0.1:0".parse().unwrap())
            .await
            .unwrap();
        let listener = match tls {
            Some(files) => listener.with_tls(ReloadingTls::load(files).unwrap()),
            None => listener,
        };
        let address = listener.address();
        listener.serve(router, &lifecycle);
        Self { address, lifecycle }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.lifecycle.stop();
    }
}

/// The identity API in a version.
pub fn keystone(version: &'static str) -> Router {
    keystone_with(version, HeaderMap::new())
}

/// The same with headers of its own.
pub fn keystone_with(version: &'static str, headers: HeaderMap) -> Router {
    let document = json!({ "version": { "id": version, "status": "stable", "links": [] } });
    Router::new().route(
        "/v3",
        get(move || async move { (headers, Json(document)).into_response() }),
    )
}

/// One that answers a sign-in.
pub fn keystone_with_tokens(answer: fn() -> Response) -> Router {
    keystone("v3.14").route("/v3/auth/tokens", post(move || async move { answer() }))
}

/// Keystone's refusal of a sign-in.
pub fn refused() -> Response {
    let error = json!({ "code": 401, "message": "no", "title": "Unauthorized" });
    (StatusCode::UNAUTHORIZED, Json(json!({ "error": error }))).into_response()
}

/// A token of a user with the role admin.
pub fn administrator() -> Response {
    let domain = json!({ "id": "default", "name": "Default" });
    let token = json!({
        "methods": ["password"],
        "user": { "id": "u1", "name": "portico", "domain": domain },
        "audit_ids": ["a1"],
        "issued_at": "2026-11-21T10:55:24.000000Z",
        "expires_at": "2120-11-21T11:55:24.000000Z",
        "project": { "id": "p1", "name": "service", "domain": domain },
        "roles": [{ "id": "r1", "name": "admin" }],
    });
    let headers = [("x-subject-token", "gAAAA-of-the-test")];
    (
        StatusCode::CREATED,
        headers,
        Json(json!({ "token": token })),
    )
        .into_response()
}

/// A healthy API server that knows no token.
pub fn api_server() -> Router {
    Router::new()
        .route(
            "/version",
            get(|| async { Json(json!({ "gitVersion": "v1.33.0" })) }),
        )
        .fallback(any(|| async { StatusCode::UNAUTHORIZED }))
}

/// Any server that is none of ours.
pub fn foreign() -> Router {
    Router::new().fallback(any(|| async { "It works!" }))
}

/// A document at a path.
pub fn document(path: &str, document: Value) -> Router {
    Router::new().route(path, get(move || async move { Json(document) }))
}

/// The date of another time.
pub fn dated(date: &str) -> HeaderMap {
    HeaderMap::from_iter([(header::DATE, date.parse().unwrap())])
}

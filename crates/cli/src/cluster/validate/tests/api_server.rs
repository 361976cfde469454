//! A stand-in for an API server inside of the test.
use super::alice;
use crate::cluster::kubernetes::Access;
use axum::body::Bytes;
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

#[derive(Default)]
struct State {
    /// `GET` paths that answer with an empty list, and `POST` ones that are forbidden.
    removed: BTreeSet<String>,
    has_addresses: bool,
    /// Where the pod of the load balancer answers.
    balancer_port: u16,
    accepts_tokens: bool,
    namespace: Option<String>,
    /// Kinds of what was made.
    made: Vec<String>,
}

/// The stand-in; it stops with the test's runtime.
pub struct ApiServer {
    state: Arc<Mutex<State>>,
    url: String,
}

impl ApiServer {
    /// Starts the API of a cluster that works, with one control plane node and one worker.
    pub async fn start() -> Self {
        portico_runtime::install_crypto_provider();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let balancer = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let state = Arc::new(Mutex::new(State {
            has_addresses: true,
            balancer_port: balancer.local_addr().unwrap().port(),
            accepts_tokens: true,
            ..State::default()
        }));
        let of_handler = Arc::clone(&state);
        let app =
            axum::Router::new().fallback(move |method: Method, uri: Uri, body: Bytes| async move {
                answer(&mut of_handler.lock().unwrap(), &method, &uri, &body)
            });
        tokio::spawn(async move { axum::serve(listener, app).await });
        tokio::spawn(answer_questions(balancer));
        Self { state, url }
    }

    pub fn access(&self) -> Access {
        Access::given(self.url.parse().unwrap(), alice())
    }

    /// Empties a list, or forbids a creation (`POST <path>`).
    pub fn remove(&self, path: &str) {
        self.state.lock().unwrap().removed.insert(path.to_owned());
    }

    pub fn withhold_addresses(&self) {
        self.state.lock().unwrap().has_addresses = false;
    }

    pub fn refuse_tokens(&self) {
        self.state.lock().unwrap().accepts_tokens = false;
    }

    /// Returns the kinds of what was made.
    pub fn made(&self) -> Vec<String> {
        self.state.lock().unwrap().made.clone()
    }

    pub fn has_namespace(&self) -> bool {
        self.state.lock().unwrap().namespace.is_some()
    }
}

/// Answers questions of DNS over TCP as the pod of the load balancer does: with the header of an answer.
async fn answer_questions(listener: TcpListener) {
    while let Ok((mut stream, _)) = listener.accept().await {
        let mut question = [0_u8; 27];
        stream.read_exact(&mut question).await.unwrap();
        question[4] |= 0x80;
        stream.write_all(&question).await.unwrap();
    }
}

fn answer(state: &mut State, method: &Method, uri: &Uri, body: &Bytes) -> Response {
    let (path, method) = (uri.path(), method.as_str());
    if !state.accepts_tokens {
        return status(401, "Unauthorized");
    }
    if state.removed.contains(path) {
        return list(&[]);
    }
    if state.removed.contains(&format!("{method} {path}")) {
        return status(403, "namespaces is forbidden");
    }
    match method {
        "POST" if path.ends_with("/selfsubjectreviews") => review(path),
        "POST" => made(state, body),
        "DELETE" => {
            state.namespace = None;
            object(json!({"kind": "Namespace"}))
        }
        _ => read(state, path),
    }
}

/// An older cluster: it has the first version only.
fn review(path: &str) -> Response {
    if !path.contains("/v1beta1/") {
        return status(404, "the server could not find the requested resource");
    }
    object(json!({"status": {"userInfo": {"username": "alice@Default", "uid": "u1"}}}))
}

fn made(state: &mut State, body: &Bytes) -> Response {
    let new: Value = serde_json::from_slice(body).unwrap();
    let kind = new["kind"].as_str().unwrap();
    if kind == "Namespace" {
        let name = new["metadata"]["name"].as_str().unwrap();
        assert!(name.starts_with("portico-validate-"), "{name}");
        state.namespace = Some(name.to_owned());
    }
    state.made.push(kind.to_owned());
    object(new)
}

fn read(state: &State, path: &str) -> Response {
    let is_in_namespace = |name: &String| path.contains(name.as_str());
    if path.contains("/portico-validate-") && !state.namespace.as_ref().is_some_and(is_in_namespace)
    {
        return status(404, "namespaces not found");
    }
    let ready = |name: &str| {
        json!({"metadata": {"name": name},
               "status": {"conditions": [{"type": "Ready", "status": "True"}]}})
    };
    let last = path.rsplit('/').next().unwrap_or_default();
    match last {
        "version" => object(json!({"gitVersion": "v1.31.0"})),
        "nodes" => list(&[ready("control-plane-0"), ready("worker-0")]),
        "pods" => {
            let mut pod = ready("coredns-1");
            pod["spec"] = json!({"containers": [{"image": "registry.example/coredns:v1.11.3"}]});
            list(&[pod])
        }
        "storageclasses" => list(&[json!({
            "metadata": {"name": "csi", "annotations": {
                "storageclass.kubernetes.io/is-default-class": "true"}},
            "volumeBindingMode": "WaitForFirstConsumer", "reclaimPolicy": "Delete"})]),
        "volume" => object(json!({"spec": {"volumeName": "pv-1"}, "status": {"phase": "Bound"}})),
        "load-balancer" if state.has_addresses => object(json!({
            "spec": {"ports": [{"port": state.balancer_port}]},
            "status": {"loadBalancer": {"ingress": [{"ip": "127.0.0.1"}]}}})),
        "load-balancer" => object(json!({"status": {"loadBalancer": {}}})),
        "events" => {
            list(&[json!({"message": "no quota", "lastTimestamp": "2026-11-28T00:00:00Z"})])
        }
        _ => status(404, "not found"),
    }
}

fn list(items: &[Value]) -> Response {
    object(json!({"kind": "List", "metadata": {}, "items": items}))
}

fn object(body: Value) -> Response {
    axum::Json(body).into_response()
}

fn status(code: u16, message: &str) -> Response {
    let body = json!({"kind": "Status", "code": code, "message": message});
    (StatusCode::from_u16(code).unwrap(), axum::Json(body)).into_response()
}

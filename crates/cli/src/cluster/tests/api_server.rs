//! A stand-in for an API server with nodes and pods that can be evicted, inside of the test.
use axum::body::Bytes;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use url::Url;

#[derive(Default)]
struct State {
    nodes: Vec<Value>,
    pods: Vec<Value>,
    claims: Vec<Value>,
    services: Vec<Value>,
    /// The namespaces in which alone Services and claims may be listed; `None`: the whole cluster.
    only_in: Option<Vec<String>>,
    /// Names of pods that a budget protects.
    protected: BTreeSet<String>,
    /// Names of evicted pods.
    evicted: Vec<String>,
    is_forbidden: bool,
}

/// The stand-in; it stops with the test's runtime.
pub struct ApiServer {
    state: Arc<Mutex<State>>,
    url: Url,
}

impl ApiServer {
    /// Starts it with these nodes and pods.
    pub async fn start(nodes: Vec<Value>, pods: Vec<Value>) -> Self {
        portico_runtime::install_crypto_provider();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State {
            nodes,
            pods,
            ..State::default()
        }));
        let of_handler = Arc::clone(&state);
        let app = axum::Router::new().fallback(
            move |method: Method, uri: Uri, headers: HeaderMap, body: Bytes| async move {
                let mut state = of_handler.lock().unwrap();
                answer(&mut state, &method, &uri, &headers, &body)
            },
        );
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self {
            state,
            url: url.parse().unwrap(),
        }
    }

    pub fn url(&self) -> Url {
        self.url.clone()
    }

    /// Protects a pod with a budget that permits no disruption.
    pub fn protect(&self, pod: &str) {
        self.state.lock().unwrap().protected.insert(pod.to_owned());
    }

    /// Forbids every list.
    pub fn forbid(&self) {
        self.state.lock().unwrap().is_forbidden = true;
    }

    /// Adds a node.
    pub fn add(&self, node: Value) {
        self.state.lock().unwrap().nodes.push(node);
    }

    /// Adds a PersistentVolumeClaim.
    pub fn claim(&self, namespace: &str, name: &str) {
        let uid = format!("{namespace}-{name}");
        let claim = json!({"metadata": {"namespace": namespace, "name": name, "uid": uid}});
        self.state.lock().unwrap().claims.push(claim);
    }

    /// Adds a Service of the type LoadBalancer.
    pub fn load_balancer(&self, namespace: &str, name: &str) {
        let uid = format!("{namespace}-{name}");
        let service = json!({"metadata": {"namespace": namespace, "name": name, "uid": uid},
                             "spec": {"type": "LoadBalancer"}});
        self.state.lock().unwrap().services.push(service);
    }

    /// Permits to list Services and claims in these namespaces only, and not the namespaces.
    pub fn permit_only_in(&self, namespaces: &[&str]) {
        let namespaces = namespaces.iter().map(|&name| name.to_owned());
        self.state.lock().unwrap().only_in = Some(namespaces.collect());
    }

    /// Returns the names of the evicted pods.
    pub fn evicted(&self) -> Vec<String> {
        self.state.lock().unwrap().evicted.clone()
    }

    /// Returns the names of the cordoned nodes.
    pub fn cordoned(&self) -> Vec<String> {
        let state = self.state.lock().unwrap();
        let cordoned = state.nodes.iter();
        let cordoned = cordoned.filter(|node| node["spec"]["unschedulable"] == true);
        cordoned.map(|node| name(node).to_owned()).collect()
    }
}

/// A node that is ready, with two CPUs.
pub fn node(name: &str, server: &str) -> Value {
    json!({"metadata": {"name": name}, "spec": {"providerID": format!("openstack:///{server}")},
           "status": {"allocatable": {"cpu": "2", "memory": "4Gi", "pods": "10"},
                      "conditions": [{"type": "Ready", "status": "True"}]}})
}

/// A running pod of a controller.
pub fn pod(name: &str, node: &str, cpu: &str, kind: &str) -> Value {
    json!({"metadata": {"namespace": "shop", "name": name, "uid": name,
                        "ownerReferences": [{"kind": kind, "controller": true}]},
           "spec": {"nodeName": node, "containers": [{"resources": {"requests": {"cpu": cpu}}}]},
           "status": {"phase": "Running"}})
}

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap()
}

fn answer(
    state: &mut State,
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
    body: &Bytes,
) -> Response {
    let path: Vec<_> = uri
        .path()
        .trim_start_matches("/api/v1")
        .split('/')
        .skip(1)
        .collect();
    let query = uri.query().unwrap_or_default();
    match (method.as_str(), path.as_slice()) {
        ("GET", []) => object(json!({"resources": [{"name": "pods/eviction", "version": "v1"}]})),
        ("GET", ["version"]) => object(json!({"gitVersion": "v1.31.0"})),
        ("GET", ["apis", "apps", "v1", "namespaces", "kube-system", kind]) => {
            let pod = json!({"spec": {"containers": [{"image": "coredns:v1.11.1"}]}});
            let coredns = json!({"metadata": {"name": "coredns"}, "spec": {"template": pod}});
            list(match *kind {
                "deployments" => vec![coredns],
                _ => Vec::new(),
            })
        }
        ("GET", ["namespaces" | "services" | "persistentvolumeclaims" | "persistentvolumes"])
            if state.only_in.is_some() =>
        {
            status(403, "it is forbidden in the cluster")
        }
        (
            "GET",
            [
                "namespaces",
                namespace,
                kind @ ("services" | "persistentvolumeclaims"),
            ],
        ) => match &state.only_in {
            Some(only) if !only.iter().any(|one| one == namespace) => {
                status(403, "it is forbidden")
            }
            _ => {
                let all = match *kind {
                    "services" => &state.services,
                    _ => &state.claims,
                };
                let is_there = |object: &&Value| object["metadata"]["namespace"] == **namespace;
                list(all.iter().filter(is_there).cloned().collect())
            }
        },
        ("GET", ["services"]) => list(state.services.clone()),
        ("GET", ["nodes" | "pods"]) if state.is_forbidden => status(403, "nodes is forbidden"),
        ("GET", ["nodes"]) => list(state.nodes.clone()),
        ("GET", ["persistentvolumes"]) => list(Vec::new()),
        ("GET", ["persistentvolumeclaims"]) => list(state.claims.clone()),
        ("GET", ["pods"]) => {
            let wanted = query.split("spec.nodeName%3D").nth(1);
            let wanted = wanted.map(|rest| rest.split('&').next().unwrap_or_default());
            let is_wanted = |pod: &&Value| {
                wanted.is_none_or(|node| pod["spec"]["nodeName"].as_str() == Some(node))
            };
            list(state.pods.iter().filter(is_wanted).cloned().collect())
        }
        ("GET", ["nodes", wanted]) => {
            let found = state.nodes.iter().find(|node| name(node) == *wanted);
            object(found.unwrap().clone())
        }
        ("PATCH", ["nodes", wanted]) => {
            assert_eq!(headers["content-type"], "application/merge-patch+json");
            let change: Value = serde_json::from_slice(body).unwrap();
            let mut nodes = state.nodes.iter_mut();
            let node = nodes.find(|node| name(node) == *wanted).unwrap();
            node["spec"]["unschedulable"] = change["spec"]["unschedulable"].clone();
            object(node.clone())
        }
        ("POST", ["namespaces", "shop", "pods", evicted, "eviction"]) => {
            let eviction: Value = serde_json::from_slice(body).unwrap();
            assert_eq!(eviction["apiVersion"], "policy/v1");
            if state.protected.contains(*evicted) {
                let text = format!("The disruption budget of-{evicted} needs 1 healthy pods");
                let refused = json!({"message": "no", "details": {"causes": [{"message": text}]}});
                return (StatusCode::TOO_MANY_REQUESTS, axum::Json(refused)).into_response();
            }
            state.pods.retain(|pod| name(pod) != *evicted);
            state.evicted.push((*evicted).to_owned());
            object(json!({"kind": "Status"}))
        }
        _ => status(404, "not found"),
    }
}

fn list(items: Vec<Value>) -> Response {
    object(json!({"kind": "List", "metadata": {}, "items": items}))
}

fn object(body: Value) -> Response {
    axum::Json(body).into_response()
}

fn status(code: u16, message: &str) -> Response {
    let body = json!({"kind": "Status", "code": code, "message": message});
    (StatusCode::from_u16(code).unwrap(), axum::Json(body)).into_response()
}

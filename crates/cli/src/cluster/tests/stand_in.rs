//! A stand-in for Keystone and Magnum inside of the test, for answers that a real cloud does not give
//! on request. It has no Neutron, Cinder and Octavia, and of Nova only what a test gives it.
use axum::body::Bytes;
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use portico_clock::Clock;
use portico_openstack::KeystoneConfig;
use portico_openstack::keystone;
use portico_openstack::rest::{RestClient, ScopedToken, ServiceOptions};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

use crate::direct::CloudAccess;

pub const PROJECT: &str = "915d66fac5204c35aa2ac52c13254e05";
pub const CLUSTER: &str = "900e3758-8071-430e-a8cf-5c48f428dc0e";
pub const TEMPLATE: &str = "f7617ea3-8060-4dd2-9479-e441e1a40404";
pub const WORKERS: &str = "5d1bc0c0-6b93-4d0f-a0a2-3d8d5b0f5a02";

/// A request to Magnum.
#[derive(Clone, Debug)]
pub struct Received {
    pub method: String,
    /// Below `/magnum/v1/`.
    pub path: String,
    /// Without the question mark.
    pub query: String,
    pub body: Value,
}

impl Received {
    /// Returns method and path.
    pub fn call(&self) -> String {
        format!("{} {}", self.method, self.path)
    }
}

/// An answer: status and JSON; `Value::Null` is an empty body, a text is a page of a proxy.
pub type Answer = (u16, Value);
type Reply = dyn Fn(&Received, &mut Vec<Value>) -> Option<Answer> + Send + Sync;

struct State {
    reply: Box<Reply>,
    received: Mutex<Vec<Received>>,
    clusters: Mutex<Vec<Value>>,
    /// Those of Nova; `None`: the cloud has no Nova.
    servers: Mutex<Option<Vec<Value>>>,
    base: String,
}

/// The stand-in; it stops with the test's runtime.
pub struct StandIn(Arc<State>);

impl StandIn {
    /// Starts it with these clusters. `reply` may answer instead of it, and change the clusters.
    pub async fn start(
        clusters: Vec<Value>,
        reply: impl Fn(&Received, &mut Vec<Value>) -> Option<Answer> + Send + Sync + 'static,
    ) -> Self {
        portico_runtime::install_crypto_provider();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let state = Arc::new(State {
            reply: Box::new(reply),
            received: Mutex::default(),
            clusters: Mutex::new(clusters),
            servers: Mutex::default(),
            base: format!("http://{}", listener.local_addr().unwrap()),
        });
        let of_handler = Arc::clone(&state);
        let app =
            axum::Router::new().fallback(move |method: Method, uri: Uri, body: Bytes| async move {
                answer(&of_handler, &method, &uri, &body)
            });
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self(state)
    }

    /// Starts it without answers of the test.
    pub async fn with(clusters: Vec<Value>) -> Self {
        Self::start(clusters, |_, _| None).await
    }

    /// Adds a Nova with these servers, and without flavors and limits.
    pub fn show_servers(&self, servers: Vec<Value>) {
        *self.0.servers.lock().unwrap() = Some(servers);
    }

    /// Signs in: the catalogue is Keystone's.
    pub async fn access(&self) -> CloudAccess {
        let url = format!("{}/v3", self.0.base).parse().unwrap();
        let keystone = keystone::Client::new(&KeystoneConfig::new(url), Clock::system()).unwrap();
        let token = ScopedToken::with_catalog(&keystone, "gAAAA-test".into(), PROJECT);
        CloudAccess {
            cloud: "test".to_owned(),
            token: token.await.unwrap(),
            rest: RestClient::new(ServiceOptions::default()).unwrap(),
            gateway: None,
        }
    }

    /// Returns the requests that change something.
    pub fn changes(&self) -> Vec<Received> {
        let received = self.0.received.lock().unwrap();
        let changes = received.iter().filter(|one| one.method != "GET");
        changes.cloned().collect()
    }

    /// Returns method and path of the requests that change something.
    pub fn calls(&self) -> Vec<String> {
        self.changes().iter().map(Received::call).collect()
    }
}

fn answer(state: &State, method: &Method, uri: &Uri, body: &Bytes) -> Response {
    let path = uri.path();
    if path == "/v3/auth/catalog" {
        return rendered((200, json!({"catalog": catalogue(state)})));
    }
    if path.starts_with("/nova/") {
        let servers = state.servers.lock().unwrap();
        return rendered(match path {
            "/nova/v2.1/servers/detail" => (200, json!({"servers": *servers})),
            _ => (
                404,
                json!({"itemNotFound": {"code": 404, "message": "no such call"}}),
            ),
        });
    }
    if path == "/magnum/" {
        let version =
            json!({"id": "v1", "status": "CURRENT", "min_version": "1.1", "max_version": "1.14"});
        return rendered((200, json!({"versions": [version]})));
    }
    let request = Received {
        method: method.to_string(),
        path: path.trim_start_matches("/magnum/v1/").to_owned(),
        query: uri.query().unwrap_or_default().to_owned(),
        body: serde_json::from_slice(body).unwrap_or(Value::Null),
    };
    state.received.lock().unwrap().push(request.clone());
    let mut clusters = state.clusters.lock().unwrap();
    let own = (state.reply)(&request, &mut clusters);
    rendered(own.unwrap_or_else(|| of_magnum(&request, &mut clusters)))
}

fn catalogue(state: &State) -> Vec<Value> {
    let service = |kind: &str, path: &str| {
        let endpoint = json!({"interface": "public", "region_id": "one", "region": "one",
                              "url": format!("{}{path}", state.base)});
        json!({"type": kind, "endpoints": [endpoint]})
    };
    let has_nova = state.servers.lock().unwrap().is_some();
    let nova = has_nova.then(|| service("compute", "/nova/v2.1"));
    let magnum = service("container-infra", "/magnum/v1");
    std::iter::once(magnum).chain(nova).collect()
}

fn rendered((status, body): Answer) -> Response {
    let status = StatusCode::from_u16(status).unwrap();
    let id = ("x-openstack-request-id", "req-1");
    match body {
        Value::Null => (status, [id]).into_response(),
        Value::String(page) => (status, page).into_response(),
        body => (status, [id], axum::Json(body)).into_response(),
    }
}

fn of_magnum(request: &Received, clusters: &mut Vec<Value>) -> Answer {
    let parts: Vec<_> = request.path.split('/').collect();
    let position = |clusters: &[Value], uuid: &str| {
        clusters.iter().position(|cluster| cluster["uuid"] == uuid)
    };
    match (request.method.as_str(), parts.as_slice()) {
        ("GET", ["clustertemplates", "detail"]) => (200, json!({"clustertemplates": [template()]})),
        ("GET", ["clustertemplates", TEMPLATE]) => (200, template()),
        ("GET", ["quotas", project, _]) => (
            200,
            json!({"project_id": project, "resource": "Cluster", "hard_limit": 3}),
        ),
        ("GET", ["clusters", "detail"]) => (200, json!({"clusters": clusters})),
        ("GET", ["clusters", uuid]) => match position(clusters, uuid) {
            Some(index) => (200, clusters[index].clone()),
            None => (404, error("Cluster could not be found.")),
        },
        ("GET", ["clusters", uuid, "nodegroups"]) => match position(clusters, uuid) {
            Some(index) => {
                let mut groups = groups(&clusters[index]);
                for group in &mut groups {
                    // as the real Magnum: the list has no bounds
                    group["min_node_count"] = json!(0);
                }
                (200, json!({"nodegroups": groups}))
            }
            None => (404, error("Cluster could not be found.")),
        },
        ("GET", ["clusters", uuid, "nodegroups", group]) => {
            let cluster = &clusters[position(clusters, uuid).unwrap()];
            let groups = groups(cluster);
            let found = groups.iter().find(|one| one["uuid"] == *group);
            (200, found.unwrap().clone())
        }
        ("POST", ["clusters"]) => {
            clusters.push(created(request, "CREATE_COMPLETE"));
            (202, json!({"uuid": CLUSTER}))
        }
        ("DELETE", ["clusters", uuid]) => {
            clusters.retain(|cluster| cluster["uuid"] != *uuid);
            (204, Value::Null)
        }
        _ => (404, error("no such call")),
    }
}

/// Returns an error in Magnum's format.
pub fn error(detail: &str) -> Value {
    json!({"errors": [{"status": 400, "code": "client", "title": detail, "detail": detail, "links": []}]})
}

/// Returns the cluster that a request makes.
pub fn created(request: &Received, status: &str) -> Value {
    let name = request.body["name"].as_str().unwrap();
    let mut cluster = cluster(CLUSTER, name, status);
    cluster["labels"] = request.body["labels"].clone();
    for key in ["keypair", "master_count", "node_count"] {
        cluster[key] = request.body[key].clone();
    }
    cluster
}

/// Returns a cluster with 1 control plane node and 2 workers.
pub fn cluster(uuid: &str, name: &str, status: &str) -> Value {
    json!({"uuid": uuid, "name": name, "status": status, "project_id": PROJECT,
           "cluster_template_id": TEMPLATE, "master_count": 1, "node_count": 2, "keypair": "ops",
           "flavor_id": "m1.small", "master_flavor_id": "m1.medium", "labels": {},
           "stack_id": "6e03b504-1563-4dc7-9cda-eaeed562ea66", "coe_version": "v1.31.0",
           "api_address": "https://192.0.2.10:6443", "health_status": "HEALTHY",
           "created_at": "2026-11-21T11:13:55+00:00", "updated_at": "2026-11-21T11:14:00+00:00"})
}

/// Returns the template of every cluster; its driver is one of Heat.
pub fn template() -> Value {
    json!({"uuid": TEMPLATE, "name": "small", "project_id": PROJECT, "public": true,
           "flavor_id": "m1.small", "master_flavor_id": "m1.medium", "keypair_id": "ops",
           "driver": "k8s_fedora_coreos_v1", "cluster_distro": "fedora-coreos", "coe": "kubernetes",
           "labels": {"kube_tag": "v1.31.0", "boot_volume_size": "20"}})
}

fn groups(cluster: &Value) -> Vec<Value> {
    let group = |uuid: &str, name: &str, role: &str, count: &Value| {
        json!({"uuid": uuid, "name": name, "role": role, "node_count": count, "min_node_count": 1,
               "max_node_count": null, "is_default": true, "status": cluster["status"],
               "flavor_id": if role == "master" { "m1.medium" } else { "m1.small" }})
    };
    let masters = "5d1bc0c0-6b93-4d0f-a0a2-3d8d5b0f5a01";
    vec![
        group(
            masters,
            "default-master",
            "master",
            &cluster["master_count"],
        ),
        group(WORKERS, "default-worker", "worker", &cluster["node_count"]),
    ]
}

//! Magnum and Cinder inside of the test: clusters can be created and deleted there. Nova can be added.
use super::viewer::{Viewer, tests::viewer};
use axum::{
    Json, Router,
    body::Bytes,
    http::{Method, StatusCode, Uri},
    response::{IntoResponse as _, Response},
};
use parking_lot::Mutex;
use portico_cluster_operations::{Clients, Drivers};
use portico_openstack::{
    keystone::{Catalog, CatalogEndpoint},
    rest::{RestClient, ServiceOptions},
};
use serde_json::{Value, json};
use std::sync::Arc;
use uuid::Uuid;

pub const CLUSTER: Uuid = Uuid::from_u128(0x900e_3758_8071_430e_a8cf_5c48_f428_dc0e);
pub const TEMPLATE: &str = "f7617ea3-8060-4dd2-9479-e441e1a40404";
const WORKERS: &str = "5d1bc0c0-6b93-4d0f-a0a2-3d8d5b0f5a02";

/// An answer: status and JSON; `Value::Null` is an empty body, a text is a page of a proxy.
pub type Answer = (u16, Value);
type Reply = dyn Fn(&Received, &mut Vec<Value>) -> Option<Answer> + Send + Sync;

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

struct State {
    reply: Box<Reply>,
    received: Mutex<Vec<Received>>,
    clusters: Mutex<Vec<Value>>,
    volumes: Mutex<Vec<Value>>,
    servers: Mutex<Vec<Value>>,
}

/// The stand-in; it stops with the test's runtime.
pub struct ChangingMagnum {
    state: Arc<State>,
    pub clients: Clients,
    catalog: Arc<Catalog>,
}

impl ChangingMagnum {
    /// Starts it with these clusters. `reply` may answer instead of it, and change the clusters.
    pub async fn start(
        clusters: Vec<Value>,
        reply: impl Fn(&Received, &mut Vec<Value>) -> Option<Answer> + Send + Sync + 'static,
    ) -> Self {
        portico_runtime::install_crypto_provider();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(State {
            reply: Box::new(reply),
            received: Mutex::default(),
            clusters: Mutex::new(clusters),
            volumes: Mutex::default(),
            servers: Mutex::default(),
        });
        let of_handler = Arc::clone(&state);
        let router =
            Router::new().fallback(move |method: Method, uri: Uri, body: Bytes| async move {
                answer(&of_handler, &method, &uri, &body)
            });
        tokio::spawn(async move { axum::serve(listener, router).await });
        let endpoint = |service_type: &str, path: &str| CatalogEndpoint {
            service_type: service_type.to_owned(),
            interface: "public".to_owned(),
            region: None,
            url: format!("{base}{path}").parse().unwrap(),
        };
        let rest = RestClient::new(ServiceOptions::default()).unwrap();
        Self {
            state,
            clients: Clients::new(&rest, Drivers::default()),
            catalog: Arc::new(Catalog {
                endpoints: vec![
                    endpoint("container-infra", "/magnum/v1"),
                    endpoint("block-storage", "/cinder/v3/acme"),
                ],
            }),
        }
    }

    /// Starts it without answers of the test.
    pub async fn with(clusters: Vec<Value>) -> Self {
        Self::start(clusters, |_, _| None).await
    }

    /// Adds Nova, with these servers.
    pub fn with_servers(mut self, servers: Vec<Value>) -> Self {
        *self.state.servers.lock() = servers;
        let mut endpoints = self.catalog.endpoints.clone();
        let mut compute = endpoints[0].clone();
        compute.service_type = "compute".to_owned();
        compute.url.set_path("/nova/v2.1");
        endpoints.push(compute);
        self.catalog = Arc::new(Catalog { endpoints });
        self
    }

    /// Returns a user of the project `acme`.
    pub fn viewer(&self, user: &str, roles: &[&str]) -> Viewer {
        let mut viewer = viewer(user, roles);
        viewer.token.catalog = Arc::clone(&self.catalog);
        viewer
    }

    /// Adds a volume that belongs to a cluster.
    pub fn add_volume(&self, id: &str, cluster: Uuid) {
        self.state.volumes.lock().push(json!({
            "id": id, "name": format!("pvc-{id}"), "size": 1, "status": "available",
            "metadata": {"cinder.csi.openstack.org/cluster": cluster}, "attachments": []
        }));
    }

    /// Returns the requests that change something.
    pub fn changes(&self) -> Vec<Received> {
        let received = self.state.received.lock();
        let changes = received.iter().filter(|one| one.method != "GET");
        changes.cloned().collect()
    }

    /// Returns method and path of the requests that change something.
    pub fn calls(&self) -> Vec<String> {
        let changes = self.changes();
        let calls = changes
            .iter()
            .map(|one| format!("{} {}", one.method, one.path));
        calls.collect()
    }

    /// Removes all clusters.
    pub fn clear(&self) {
        self.state.clusters.lock().clear();
    }
}

fn answer(state: &State, method: &Method, uri: &Uri, body: &Bytes) -> Response {
    let path = uri.path();
    if path == "/magnum/" {
        let version =
            json!({"id": "v1", "status": "CURRENT", "min_version": "1.1", "max_version": "1.14"});
        return Json(json!({"versions": [version]})).into_response();
    }
    match path {
        "/cinder/v3/acme/volumes/detail" => {
            return Json(json!({"volumes": *state.volumes.lock()})).into_response();
        }
        "/cinder/v3/acme/snapshots/detail" => {
            return Json(json!({"snapshots": []})).into_response();
        }
        "/nova/v2.1/servers/detail" => {
            return Json(json!({"servers": *state.servers.lock()})).into_response();
        }
        _ => {}
    }
    let request = Received {
        method: method.to_string(),
        path: path.trim_start_matches("/magnum/v1/").to_owned(),
        query: uri.query().unwrap_or_default().to_owned(),
        body: serde_json::from_slice(body).unwrap_or(Value::Null),
    };
    state.received.lock().push(request.clone());
    let mut clusters = state.clusters.lock();
    let own = (state.reply)(&request, &mut clusters);
    rendered(own.unwrap_or_else(|| of_magnum(&request, &mut clusters)))
}

fn rendered((status, body): Answer) -> Response {
    let status = StatusCode::from_u16(status).unwrap();
    let id = [("x-openstack-request-id", "req-1")];
    match body {
        Value::Null => (status, id).into_response(),
        Value::String(page) => (status, page).into_response(),
        body => (status, id, Json(body)).into_response(),
    }
}

fn of_magnum(request: &Received, clusters: &mut Vec<Value>) -> Answer {
    let parts: Vec<_> = request.path.split('/').collect();
    let found =
        |clusters: &[Value], uuid: &str| clusters.iter().find(|one| one["uuid"] == uuid).cloned();
    match (request.method.as_str(), parts.as_slice()) {
        ("GET", ["clustertemplates", "detail"]) => (200, json!({"clustertemplates": [template()]})),
        ("GET", ["clustertemplates", TEMPLATE]) => (200, template()),
        ("GET", ["quotas", project, _]) => (
            200,
            json!({"project_id": project, "resource": "Cluster", "hard_limit": 3}),
        ),
        ("GET", ["clusters", "detail"]) => (200, json!({"clusters": clusters})),
        ("GET", ["clusters", uuid]) => match found(clusters, uuid) {
            Some(cluster) => (200, cluster),
            None => (404, error("Cluster could not be found.")),
        },
        ("GET", ["clusters", uuid, "nodegroups"]) => match found(clusters, uuid) {
            Some(cluster) => (200, json!({"nodegroups": [workers(&cluster)]})),
            None => (404, error("Cluster could not be found.")),
        },
        ("GET", ["clusters", uuid, "nodegroups", WORKERS]) => match found(clusters, uuid) {
            Some(cluster) => (200, workers(&cluster)),
            None => (404, error("Cluster could not be found.")),
        },
        ("POST", ["clusters"]) => {
            clusters.push(created(request));
            (202, json!({"uuid": CLUSTER}))
        }
        ("POST", ["clusters", _, "nodegroups"]) => {
            let mut group = request.body.clone();
            group["uuid"] = json!(Uuid::new_v4());
            (202, group)
        }
        ("DELETE", ["clusters", uuid]) => {
            clusters.retain(|one| one["uuid"] != *uuid);
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
pub fn created(request: &Received) -> Value {
    let name = request.body["name"].as_str().unwrap();
    let mut cluster = cluster(name, "CREATE_COMPLETE");
    cluster["labels"] = request.body["labels"].clone();
    cluster
}

/// Returns a cluster of ada in the project `acme`.
pub fn cluster(name: &str, status: &str) -> Value {
    json!({"uuid": CLUSTER, "name": name, "status": status, "project_id": "acme", "user_id": "ada",
           "cluster_template_id": TEMPLATE, "master_count": 1, "node_count": 1, "keypair": "ops",
           "flavor_id": "m1.small", "master_flavor_id": "m1.medium", "labels": {},
           "stack_id": "kube-x1y2z", "coe_version": "v1.31.0",
           "api_address": "https://192.0.2.10:6443", "health_status": "HEALTHY",
           "created_at": "2026-11-21T11:13:55+00:00", "updated_at": "2026-11-21T11:14:00+00:00"})
}

fn template() -> Value {
    json!({"uuid": TEMPLATE, "name": "small", "project_id": "acme", "public": true,
           "flavor_id": "m1.small", "master_flavor_id": "m1.medium", "keypair_id": "ops",
           "driver": "k8s_cluster_api_ubuntu_v1", "cluster_distro": "ubuntu", "coe": "kubernetes",
           "labels": {"kube_tag": "v1.31.0", "boot_volume_size": "20", "monitoring_enabled": "true"}})
}

fn workers(cluster: &Value) -> Value {
    json!({"uuid": WORKERS, "name": "default-worker", "role": "worker", "is_default": true,
           "node_count": cluster["node_count"], "min_node_count": 0, "max_node_count": null,
           "status": cluster["status"], "flavor_id": "m1.small"})
}

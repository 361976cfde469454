//! Magnum with one cluster, inside of the test.
use super::{fixtures::CLUSTER, viewer::Viewer, viewer::tests::viewer};
use axum::{
    Json, Router,
    http::{HeaderMap, StatusCode, Uri},
    response::{IntoResponse as _, Response},
};
use parking_lot::Mutex;
use portico_clock::Clock;
use portico_cluster_operations::{Clients, Drivers};
use portico_openstack::{
    keystone::{Catalog, CatalogEndpoint},
    rest::{RestClient, ServiceOptions},
};
use serde_json::{Value, json};
use std::sync::Arc;
use uuid::Uuid;

/// How it answers a read of the cluster; `None`: it has no such cluster.
#[derive(Clone, Debug)]
pub enum Mode {
    Cluster(Value),
    Missing,
    /// An error with this status, without Magnum's format.
    Broken(u16),
}

struct State {
    mode: Mutex<Mode>,
    /// The token and the path of each request.
    received: Mutex<Vec<(String, String)>>,
    /// A token that is refused.
    refused: Mutex<Option<String>>,
}

/// The stand-in; it stops with the test's runtime.
pub struct StandIn {
    state: Arc<State>,
    pub clients: Clients,
    catalog: Arc<Catalog>,
}

impl StandIn {
    pub async fn start(mode: Mode) -> Self {
        portico_runtime::install_crypto_provider();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/magnum/v1", listener.local_addr().unwrap());
        let state = Arc::new(State {
            mode: Mutex::new(mode),
            received: Mutex::default(),
            refused: Mutex::default(),
        });
        let of_handler = Arc::clone(&state);
        let router = Router::new().fallback(move |uri: Uri, headers: HeaderMap| async move {
            let token = headers.get("x-auth-token");
            let token = token.map(|token| token.to_str().unwrap().to_owned());
            answer(&of_handler, &token.unwrap_or_default(), uri.path())
        });
        tokio::spawn(async move { axum::serve(listener, router).await });
        let endpoint = CatalogEndpoint {
            service_type: "container-infra".to_owned(),
            interface: "public".to_owned(),
            region: None,
            url: url.parse().unwrap(),
        };
        let rest = RestClient::new(ServiceOptions::default()).unwrap();
        Self {
            state,
            clients: Clients::new(&rest, Drivers::default()),
            catalog: Arc::new(Catalog {
                endpoints: vec![endpoint],
            }),
        }
    }

    /// Returns a user of the project `acme` with a token for it.
    pub fn viewer(&self, user: &str, roles: &[&str]) -> Viewer {
        let mut viewer = viewer(user, roles);
        viewer.token.catalog = Arc::clone(&self.catalog);
        viewer
    }

    /// Answers differently from now on.
    pub fn set(&self, mode: Mode) {
        *self.state.mode.lock() = mode;
    }

    /// Refuses a user's token from now on.
    pub fn refuse(&self, viewer: &Viewer) {
        *self.state.refused.lock() = Some(format!("token-of-{}", viewer.user_id));
    }

    /// Returns the tokens with which the cluster was read.
    pub fn reads(&self) -> Vec<String> {
        let path = format!("/magnum/v1/clusters/{CLUSTER}");
        let received = self.state.received.lock();
        let reads = received.iter().filter(|(_, one)| *one == path);
        reads.map(|(token, _)| token.clone()).collect()
    }
}

/// Returns a cluster that is being created since now.
pub fn creating() -> Value {
    let mut cluster = super::fixtures::json("CREATE_IN_PROGRESS");
    let now = Clock::system().now().to_string();
    cluster["created_at"] = json!(now);
    cluster["updated_at"] = json!(now);
    cluster["api_address"] = Value::Null;
    cluster
}

fn answer(state: &State, token: &str, path: &str) -> Response {
    if path == "/magnum/" {
        let version =
            json!({"id": "v1", "status": "CURRENT", "min_version": "1.1", "max_version": "1.14"});
        return Json(json!({"versions": [version]})).into_response();
    }
    let call = (token.to_owned(), path.to_owned());
    state.received.lock().push(call);
    if state.refused.lock().as_deref() == Some(token) {
        let text = "Policy doesn't allow cluster:get to be performed.";
        return failure(StatusCode::FORBIDDEN, text);
    }
    let mode = state.mode.lock().clone();
    match (mode, path.trim_start_matches("/magnum/v1/")) {
        (Mode::Broken(status), _) => {
            (StatusCode::from_u16(status).unwrap(), "a page of a proxy").into_response()
        }
        (Mode::Cluster(cluster), "clusters/detail") => {
            // as to an administrator, who sees all projects
            let mut other = cluster.clone();
            other["uuid"] = json!(Uuid::from_u128(1));
            other["project_id"] = json!("globex");
            Json(json!({"clusters": [cluster, other]})).into_response()
        }
        (Mode::Cluster(_), rest) if rest.ends_with("/nodegroups") => {
            Json(json!({"nodegroups": []})).into_response()
        }
        (Mode::Cluster(cluster), rest) if rest == format!("clusters/{CLUSTER}") => {
            Json(cluster).into_response()
        }
        _ => failure(StatusCode::NOT_FOUND, "Cluster could not be found."),
    }
}

/// Returns an error in Magnum's format.
fn failure(status: StatusCode, detail: &str) -> Response {
    let error = json!({"status": status.as_u16(), "code": "client", "title": detail,
                       "detail": detail, "links": []});
    (status, Json(json!({"errors": [error]}))).into_response()
}

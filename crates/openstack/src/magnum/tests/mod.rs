use super::*;
use crate::rest::ErrorKind;
use crate::rest::test_server::{PROJECT, Received, Reply, TestServer};
use serde_json::{Value, json};
use uuid::Uuid;

mod certificates;
mod clusters;
mod features;
mod names;
mod node_groups;
mod quotas;
mod stats;
mod templates;
mod versions;

const CLUSTER: &str = "900e3758-8071-430e-a8cf-5c48f428dc0e";

fn uuid() -> Uuid {
    CLUSTER.parse().unwrap()
}

fn client() -> Client {
    Client::new(TestServer::client())
}

fn versions(max: &str) -> Reply {
    let entry = json!({"id": "v1", "status": "CURRENT", "min_version": "1.1", "max_version": max});
    Reply::Json(
        200,
        json!({"name": "OpenStack Magnum API", "versions": [entry]}),
    )
}

/// A Magnum that offers 1.1 to `max`, and answers other calls with `reply`.
async fn magnum(
    max: &'static str,
    reply: impl Fn(&Received) -> Reply + Send + Sync + 'static,
) -> TestServer {
    TestServer::start(move |request| match request.path() {
        "/magnum/" => versions(max),
        _ => reply(request),
    })
    .await
}

fn not_found() -> Reply {
    let error = json!({"status": 404, "code": "client", "title": "x", "links": [],
                       "detail": "Cluster x could not be found."});
    Reply::Json(404, json!({"errors": [error]}))
}

fn cluster(uuid: &str, name: &str, project: &str) -> Value {
    json!({"uuid": uuid, "name": name, "status": "CREATE_COMPLETE", "project_id": project,
           "created_at": "2026-11-21T11:13:55+00:00"})
}

/// What Magnum answers between the record of a cluster and those of its node groups.
fn without_node_groups() -> Reply {
    let detail = "Invalid input for field/attribute master_count. Value: '0'.";
    let error = json!({"status": 400, "code": "client", "title": "x", "links": [],
                       "detail": detail});
    Reply::Json(400, json!({"errors": [error]}))
}

/// The calls but those for versions, without queries.
fn calls(server: &TestServer) -> Vec<String> {
    let received = server.received().into_iter();
    received
        .filter(|one| one.path() != "/magnum/")
        .map(|one| {
            format!(
                "{} {}",
                one.method,
                one.path().trim_start_matches("/magnum/v1/")
            )
        })
        .collect()
}

fn sent_version(request: &Received) -> &str {
    &request.headers["openstack-api-version"]
}

/// A Magnum that accepts every change.
async fn accepting() -> TestServer {
    magnum("1.14", |request| match request.method.as_str() {
        "DELETE" => Reply::Json(204, Value::Null),
        _ => Reply::Json(202, json!({"uuid": CLUSTER})),
    })
    .await
}

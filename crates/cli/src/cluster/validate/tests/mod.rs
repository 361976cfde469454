mod api_server;
mod meaning;

use super::*;
use crate::cluster::tests::Buffer;
use api_server::ApiServer;
use clap::Parser;
use portico_domain::identity::{Named, User};
use portico_testkit::snapshot_settings;

#[derive(Parser)]
struct Program {
    #[command(flatten)]
    args: ValidateArgs,
}

/// What a validation wrote, and its exit code.
struct Ran {
    code: u8,
    out: String,
    err: String,
}

impl Ran {
    /// Returns all that a user sees: the exit code, and what is on standard output and error.
    fn snapshot(&self) -> String {
        let (code, out, err) = (self.code, &self.out, &self.err);
        format!("exit code {code}\n--- output\n{out}--- error\n{err}")
    }

    fn part(&self, name: &str) -> Value {
        let report: Value = serde_json::from_str(&self.out).unwrap();
        let parts = report["parts"].as_array().unwrap();
        let found = parts.iter().find(|part| part["part"] == name);
        found.cloned().unwrap_or(Value::Null)
    }
}

fn alice() -> User {
    User {
        id: "u1".to_owned(),
        name: "alice".to_owned(),
        domain: Named {
            id: "default".to_owned(),
            name: "Default".to_owned(),
        },
    }
}

fn cluster(changes: &[(&str, Value)]) -> Cluster {
    let mut object = json!({"uuid": "900e3758-8071-430e-a8cf-5c48f428dc0e", "name": "shop",
                            "status": "CREATE_COMPLETE", "health_status": "HEALTHY",
                            "master_count": 1, "node_count": 1});
    for (key, value) in changes {
        object[*key] = value.clone();
    }
    serde_json::from_value(object).unwrap()
}

async fn run(access: Result<Access, AccessError>, cluster: &Cluster, more: &[&str]) -> Ran {
    let (out, err) = (Buffer::default(), Buffer::default());
    let mut console = Console {
        out: Box::new(out.clone()),
        err: Box::new(err.clone()),
        read_line: None,
        is_terminal: false,
    };
    let words = ["validate", "shop", "-o", "json", "--timeout", "1s"];
    let words = words.iter().chain(more).copied();
    let args = Program::try_parse_from(words).unwrap().args;
    let pause = Duration::from_millis(5);
    let code = check(&mut console, &args, cluster, access, None, pause).await;
    Ran {
        code: code.unwrap(),
        out: out.text(),
        err: err.text(),
    }
}

/// The certificates of a server without TLS are not seen.
const PLAIN: &str = "certificates";
/// Also what needs `--full`.
const PLAIN_PARTS: &str = "certificates,volume,load-balancer";

#[tokio::test]
async fn a_cluster_that_works_is_valid() {
    let server = ApiServer::start().await;
    let waived = ["--waive", PLAIN_PARTS];
    let ran = run(Ok(server.access()), &cluster(&[]), &waived).await;
    snapshot_settings().bind(|| insta::assert_snapshot!("valid", ran.snapshot()));
    assert!(server.made().is_empty());
}

#[tokio::test]
async fn without_full_a_volume_and_a_load_balancer_are_not_checked() {
    let server = ApiServer::start().await;
    let ran = run(Ok(server.access()), &cluster(&[]), &["--waive", PLAIN]).await;
    snapshot_settings().bind(|| insta::assert_snapshot!("without_full", ran.snapshot()));
    assert!(server.made().is_empty());
}

#[tokio::test]
async fn a_part_that_is_absent_is_an_error_until_it_is_left_out() {
    let server = ApiServer::start().await;
    server.remove("/api/v1/namespaces/kube-system/pods");
    let waived = ["--waive", PLAIN_PARTS];
    let ran = run(Ok(server.access()), &cluster(&[]), &waived).await;
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert_eq!(ran.part("dns")["result"], "not_checked");
    let waived = ["--waive", "certificates,volume,load-balancer,dns"];
    let ran = run(Ok(server.access()), &cluster(&[]), &waived).await;
    assert_eq!(ran.code, 0, "{}", ran.out);
}

#[tokio::test]
async fn what_full_makes_is_deleted() {
    let server = ApiServer::start().await;
    let words = ["--full", "--waive", PLAIN];
    let ran = run(Ok(server.access()), &cluster(&[]), &words).await;
    snapshot_settings().bind(|| insta::assert_snapshot!("full", ran.snapshot()));
    let mut kinds = server.made();
    kinds.sort();
    // a pod uses the claim, and one answers behind the Service
    let expected = [
        "Namespace",
        "PersistentVolumeClaim",
        "Pod",
        "Pod",
        "Service",
    ];
    assert_eq!(kinds, expected);
    assert!(!server.has_namespace());
}

#[tokio::test]
async fn a_load_balancer_without_an_address_fails_and_its_namespace_is_deleted() {
    let server = ApiServer::start().await;
    server.withhold_addresses();
    let words = ["--full", "--waive", "certificates,volume"];
    let ran = run(Ok(server.access()), &cluster(&[]), &words).await;
    snapshot_settings().bind(|| {
        insta::assert_snapshot!("load_balancer_without_an_address", ran.snapshot());
    });
    assert_eq!(server.made(), ["Namespace", "Pod", "Service"]);
    assert!(!server.has_namespace());
}

#[tokio::test]
async fn a_load_balancer_without_a_pod_behind_it_is_not_checked() {
    let server = ApiServer::start().await;
    server.remove("/api/v1/namespaces/kube-system/pods");
    let words = ["--full", "--waive", "certificates,dns,volume"];
    let ran = run(Ok(server.access()), &cluster(&[]), &words).await;
    snapshot_settings().bind(|| {
        insta::assert_snapshot!("load_balancer_without_a_pod", ran.snapshot());
    });
    assert_eq!(server.made(), ["Namespace", "Service"]);
    assert!(!server.has_namespace());
}

#[tokio::test]
async fn a_user_who_may_not_make_a_namespace_makes_nothing() {
    let server = ApiServer::start().await;
    server.remove("POST /api/v1/namespaces");
    let words = ["--full", "--waive", PLAIN];
    let ran = run(Ok(server.access()), &cluster(&[]), &words).await;
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert_eq!(ran.part("volume")["result"], "not_checked");
    assert_eq!(ran.part("cleanup"), Value::Null);
}

#[tokio::test]
async fn a_token_that_is_not_accepted_is_a_fault_of_the_authentication() {
    let server = ApiServer::start().await;
    server.refuse_tokens();
    let ran = run(Ok(server.access()), &cluster(&[]), &["--waive", PLAIN]).await;
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert_eq!(ran.part("api")["result"], "ok");
    assert_eq!(ran.part("authentication")["result"], "failed");
    assert_eq!(ran.part("nodes")["result"], "not_checked");
}

#[tokio::test]
async fn an_api_server_that_does_not_answer_fails_and_nothing_else_is_checked() {
    portico_runtime::install_crypto_provider();
    // a port that was free a moment ago
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let access = Access::given(address.parse().unwrap(), alice());
    let ran = run(Ok(access), &cluster(&[]), &["--full"]).await;
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert_eq!(ran.part("api")["result"], "failed");
    assert_eq!(ran.part("magnum")["result"], "ok");
    for part in ["nodes", "dns", "authentication", "certificates", "volume"] {
        assert_eq!(ran.part(part)["result"], "not_checked", "{part}");
    }
}

#[tokio::test]
async fn without_access_the_next_step_is_named() {
    let ran = run(Err(AccessError::NoSession), &cluster(&[]), &[]).await;
    snapshot_settings().bind(|| insta::assert_snapshot!("without_access", ran.snapshot()));
}

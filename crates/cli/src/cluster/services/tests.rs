use super::*;
use crate::cluster::kubernetes::Access;
use crate::cluster::tests::Buffer;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use clap::Parser;
use portico_domain::identity::{Named, User};
use serde_json::{Value, json};

#[derive(Parser)]
struct Program {
    #[command(subcommand)]
    command: ServicesCommand,
}

fn deployment(namespace: &str, name: &str, ready: u64) -> Value {
    json!({"metadata": {"namespace": namespace, "name": name},
           "spec": {"replicas": 1}, "status": {"readyReplicas": ready}})
}

/// Answers as an API server; `may_list_all`: whether the user may list all namespaces.
fn answer(uri: &Uri, may_list_all: bool) -> Response {
    let items = match uri.path() {
        "/apis/apps/v1/deployments" if may_list_all => vec![
            deployment("monitoring", "prometheus", 1),
            deployment("ingress-nginx", "ingress-nginx-controller", 0),
        ],
        "/apis/apps/v1/statefulsets" | "/apis/apps/v1/daemonsets" if may_list_all => Vec::new(),
        "/apis/apps/v1/namespaces/monitoring/deployments" => {
            vec![deployment("monitoring", "prometheus", 1)]
        }
        _ => {
            let body = json!({"kind": "Status", "message": "forbidden"});
            return (StatusCode::FORBIDDEN, axum::Json(body)).into_response();
        }
    };
    axum::Json(json!({"kind": "List", "metadata": {}, "items": items})).into_response()
}

async fn seen(may_list_all: bool) -> Seen {
    portico_runtime::install_crypto_provider();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let handler = move |uri: Uri| async move { answer(&uri, may_list_all) };
    let app = axum::Router::new().fallback(handler);
    tokio::spawn(async move { axum::serve(listener, app).await });
    let domain = Named {
        id: "default".to_owned(),
        name: "Default".to_owned(),
    };
    let user = User {
        id: "u1".to_owned(),
        name: "alice".to_owned(),
        domain,
    };
    let api = Kubernetes::new(&Access::given(url.parse().unwrap(), user)).unwrap();
    look(&api).await.unwrap()
}

/// Returns the exit code, standard output and standard error.
fn run_with(seen: &Seen, words: &[&str]) -> (u8, String, String) {
    let (out, err) = (Buffer::default(), Buffer::default());
    let mut console = Console {
        out: Box::new(out.clone()),
        err: Box::new(err.clone()),
        read_line: None,
        is_terminal: false,
    };
    let words = std::iter::once(&"services").chain(words).copied();
    let command = Program::try_parse_from(words).unwrap().command;
    let code = show(&command, &mut console, seen).unwrap();
    (code, out.text(), err.text())
}

#[tokio::test]
async fn services_are_listed_and_their_workloads_shown() {
    let seen = seen(true).await;
    let (code, out, err) = run_with(&seen, &["list", "shop"]);
    assert_eq!(code, 0, "{err}");
    for state in ["running", "absent", "degraded"] {
        assert!(out.contains(state), "{state}: {out}");
    }
    assert!(err.contains("does not deploy"), "{err}");
    let (code, out, _) = run_with(&seen, &["status", "shop"]);
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("ingress-nginx-controller"), "{out}");
    let (code, out, _) = run_with(&seen, &["status", "shop", "monitoring", "-o", "json"]);
    assert_eq!(code, 0, "{out}");
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report.as_array().unwrap().len(), 1);
    assert_eq!(report[0]["state"], "running");
    assert_eq!(report[0]["workloads"][0]["name"], "prometheus");
    assert_eq!(run_with(&seen, &["status", "shop", "logging"]).0, 1);
}

#[tokio::test]
async fn a_user_who_may_not_list_all_namespaces_sees_the_well_known_ones() {
    let seen = seen(false).await;
    let (code, out, err) = run_with(&seen, &["list", "shop", "-o", "json"]);
    assert_eq!(code, 0, "{err}");
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report[0]["state"], "running");
    assert_eq!(report[1]["state"], "not_checked");
    assert!(err.contains("Not checked: Deployments outside"), "{err}");
}

#[test]
fn an_error_has_the_exit_code_of_its_cause() {
    for (error, code) in [
        (ApiError::Unauthorized, 10),
        (ApiError::Forbidden("no".to_owned()), 5),
        (ApiError::Unreachable("refused".to_owned()), 11),
    ] {
        assert_eq!(of_api(error).exit_code(), code);
    }
    assert_eq!(of_access(AccessError::NoSession).exit_code(), 10);
    let unlisted = of_access(AccessError::NotListed("https://gateway".to_owned()));
    assert_eq!(unlisted.exit_code(), 3);
    assert!(unlisted.sentence().contains("enrol it"));
}

//! 22, 28: the object that is opened, and the command that is run.
use super::{calls::object, site::Site};
use crate::{
    own_namespace::{OwnNamespace, Removal},
    stack::PUBLIC_URL,
    tab::connect_with,
};
use axum::http::HeaderMap;
use futures::StreamExt as _;
use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};
use uuid::Uuid;

async fn any_pod(client: &Client, namespace: &str) -> String {
    let pods = Api::<Pod>::namespaced(client.clone(), namespace);
    let all = pods.list(&Default::default()).await.unwrap();
    // with one container, so that a terminal need not name it; a pod whose container crashes again and
    // again is in the phase Running too
    let running = all.into_iter().find(|pod| {
        let status = pod.status.as_ref();
        let containers = pod.spec.as_ref().map_or(0, |spec| spec.containers.len());
        let statuses = status.and_then(|status| status.container_statuses.as_deref());
        containers == 1 && statuses.is_some_and(|all| all.iter().all(|one| one.ready))
    });
    running.unwrap().metadata.name.unwrap()
}

#[tokio::test]
async fn flaw_22_no_name_leads_a_request_to_another_object_than_was_authorized() {
    let site = Site::open().await;
    let admin = site.stack.admin().await;
    let system = format!("flaw-{}", Uuid::new_v4().simple());
    let removal = Removal::at_acme(&site.stack, &["pod", "-n", "kube-system", &system]);
    let kube_system = OwnNamespace::new("kube-system".to_owned(), admin.clone(), removal);
    kube_system.pod(&system).await;
    let cluster = site.stack.acme().to_string();
    // ada may read both: what keeps her request where it says is the path, not her rights
    let ada = site.user("ada").await;
    for (group, plural, namespace, name) in [
        (
            "",
            "pods",
            "shop",
            format!("../../kube-system/pods/{system}"),
        ),
        (
            "",
            "pods",
            "shop",
            format!("..%2f..%2fkube-system%2fpods%2f{system}"),
        ),
        ("", "pods", "shop/../kube-system", system.clone()),
        ("", "pods", "shop%2F..%2Fkube-system", system.clone()),
        ("", "pods", "kube-system?x=", system.clone()),
        ("", "pods", "kube-system#", system.clone()),
        ("", "namespaces/kube-system/pods", "shop", system.clone()),
        (
            "",
            "../../api/v1/namespaces/kube-system/pods",
            "shop",
            system.clone(),
        ),
        ("..", "pods", "kube-system", system.clone()),
        ("../api", "pods", "kube-system", system.clone()),
        ("", "pods", "kube-system", format!("{system}/log")),
        ("", "pods", "kube-system", format!("{system}?x")),
        ("", "pods", "kube-system", format!("{system}\n")),
        ("", "pods", "kube-system", "..".to_owned()),
        ("", "pods", "kube-system", ".".to_owned()),
    ] {
        let reference = object(group, plural, Some(namespace), &name);
        for path in [
            "/api/objects/get",
            "/api/objects/yaml",
            "/api/objects/events",
        ] {
            let body = json!({ "cluster": cluster, "object": reference });
            let answer = site.post(&ada, path, body).await;
            let empty = path.ends_with("events") && answer.body == "[]";
            let refused = (400..500).contains(&answer.status);
            assert!(
                refused || empty,
                "{path} {reference}: {} {}",
                answer.status,
                answer.body
            );
        }
    }
    // terminals: the namespace and the pod of the address are what is opened
    let shop = any_pod(&admin, "shop").await;
    let devi = site.user("devi").await;
    let base = format!("/projects/{}/clusters/{cluster}/namespaces", site.acme());
    for path in [
        format!("{base}/kube-system/pods/{system}/exec"),
        format!("{base}/shop/pods/..%2F..%2Fkube-system%2Fpods%2F{system}/exec"),
        format!("{base}/shop%2F..%2Fkube-system/pods/{system}/exec"),
        format!("{base}/shop/pods/{shop}%2F..%2F..%2F..%2Fkube-system%2Fpods%2F{system}/exec"),
        format!("{base}/shop/pods/{system}/exec?namespace=kube-system"),
        format!("{base}/shop/pods/{shop}/exec?container=app&container=other"),
        format!("{base}/shop/pods/{shop}/exec?container=..%2F{system}"),
    ] {
        let first = first_frame(&site, &devi, &path).await;
        assert!(!first.contains("started"), "{path}: {first}");
    }
    let first = first_frame(&site, &devi, &format!("{base}/shop/pods/{shop}/exec")).await;
    assert!(first.contains("started"), "the control case: {first}");
    let body =
        json!({ "cluster": cluster, "object": object("", "pods", Some("kube-system"), &system) });
    let answer = site.post(&ada, "/api/objects/get", body).await;
    assert_eq!(answer.status, 200, "the control case: {}", answer.body);
    let pods = Api::<Pod>::namespaced(admin, "kube-system");
    pods.delete(&system, &Default::default()).await.unwrap();
}

/// The first text of a terminal; the status of a refused upgrade.
async fn first_frame(site: &Site, user: &HeaderMap, path: &str) -> String {
    match connect_with(user.clone(), &site.address, path, PUBLIC_URL).await {
        Ok(mut socket) => {
            let next = tokio::time::timeout(Duration::from_secs(8), socket.next()).await;
            let frame = next.expect("in time").expect("a frame").unwrap();
            frame.to_text().unwrap().to_owned()
        }
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn flaw_28_a_terminal_runs_one_fixed_command_for_every_address() {
    let site = Site::open().await;
    let shop = any_pod(&site.stack.admin().await, "shop").await;
    let log = site.stack.var("KUBE_AUDIT_LOG").to_owned();
    let start = std::fs::metadata(&log).unwrap().len();
    let devi = site.user("devi").await;
    let base = format!(
        "/projects/{}/clusters/{}/namespaces/shop/pods/{shop}/exec",
        site.acme(),
        site.stack.acme()
    );
    for query in [
        "",
        "?command=id&command=-a",
        "?container=%24(touch%20x)%3Bid",
        "?container=app%26command%3Did",
        "?container=%3Bid%3B&tty=false&stdin=false",
    ] {
        first_frame(&site, &devi, &format!("{base}{query}")).await;
    }
    let mut commands = Vec::new();
    let deadline = Instant::now() + Duration::from_secs(10);
    while commands.len() < 5 && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(200)).await;
        commands = exec_commands(&log, start, "devi@Default", &shop);
    }
    assert!(commands.len() >= 5, "the control case: {commands:?}");
    for command in &commands {
        assert_eq!(command, &commands[0]);
        assert_eq!(command[..2], ["/bin/sh", "-c"]);
        assert_eq!(command.len(), 3);
    }
}

/// The commands of a user's terminals in the API server's audit log.
fn exec_commands(log: &str, from: u64, user: &str, pod: &str) -> Vec<Vec<String>> {
    let bytes = std::fs::read(log).unwrap();
    let tail = &bytes[usize::try_from(from).unwrap().min(bytes.len())..];
    let text = String::from_utf8_lossy(tail);
    let events = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut found = BTreeMap::new();
    for event in events {
        let about = &event["objectRef"];
        if about["subresource"] != "exec"
            || about["name"] != pod
            || event["user"]["username"] != user
        {
            continue;
        }
        let uri = event["requestURI"].as_str().unwrap();
        let url = url::Url::parse("https://x").unwrap().join(uri).unwrap();
        let pairs = url.query_pairs().filter(|(name, _)| name == "command");
        let command: Vec<String> = pairs.map(|(_, value)| value.into_owned()).collect();
        found.insert(event["auditID"].as_str().unwrap().to_owned(), command);
    }
    found.into_values().collect()
}

#[tokio::test]
async fn flaw_28_no_program_of_ours_is_started_through_a_shell() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut sources = 0;
    let mut found = Vec::new();
    let mut directories = vec![root];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let skipped = [
                "target",
                "node_modules",
                "tests",
                "testkit",
                "test-support",
                "bench",
            ];
            if path.is_dir() {
                if !name.starts_with('.') && !skipped.contains(&name.as_str()) {
                    directories.push(path);
                }
            } else if name.ends_with(".rs") {
                sources += 1;
                let text = std::fs::read_to_string(&path).unwrap();
                for shell in ["sh", "bash", "/bin/sh", "/bin/bash", "cmd", "powershell"] {
                    if text.contains(&format!("Command::new(\"{shell}\")")) {
                        found.push(path.display().to_string());
                    }
                }
            }
        }
    }
    assert_eq!(found, Vec::<String>::new());
    assert!(sources > 300, "the control case: {sources} files");
}

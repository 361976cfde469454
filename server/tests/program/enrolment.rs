//! `portico enrolment`: what an operator imports, lists and removes on the store itself.
use crate::doctor::place::{Place, portico};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Output;

/// A place whose store is migrated and whose configuration permits API servers in 192.0.2.0/24.
async fn place() -> (Place, PathBuf) {
    let mut place = Place::new().await;
    place.config["enrolment"] = json!({
        "sealing_key_file": place.path("kube-auth.pub"),
        "api_networks": ["192.0.2.0/24"],
    });
    let file = place.config_file();
    assert!(portico(&["migrate", "--config"], &[&file]).status.success());
    (place, file)
}

fn import(file: &Path, ca: &Path, server: &str) -> Output {
    let arguments = [
        "enrolment",
        "import",
        "--name",
        "shop",
        "--owner-project",
        "p1",
        "--server",
        server,
        "--config",
    ];
    let ca = PathBuf::from(format!("--ca={}", ca.display()));
    portico(&arguments, &[file, &ca])
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_is_imported_listed_and_removed() {
    let (place, file) = place().await;
    let ca = place.path("ca.crt");
    let output = import(&file, &ca, "https://192.0.2.7:6443");
    let complaint = text(&output.stderr);
    assert!(output.status.success(), "{complaint}");
    let printed = text(&output.stdout);
    assert!(printed.starts_with("shop is imported"), "{printed}");

    let list = || {
        let output = portico(&["enrolment", "list", "-o", "json", "--config"], &[&file]);
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let listed = list();
    assert_eq!(listed[0]["source"], "operator");
    assert_eq!(listed[0]["api_url"], "https://192.0.2.7:6443");
    assert_eq!(listed[0]["refusal"], Value::Null);
    let id = listed[0]["id"].as_str().unwrap();

    let output = portico(&["audit", "list", "-o", "json", "--config"], &[&file]);
    let entries: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let last = entries.last().unwrap();
    assert_eq!(last["action"], "cluster.import");
    assert_eq!(last["outcome"], "succeeded");
    assert_eq!(last["cluster_id"], id);
    let name = last["user_name"].as_str().unwrap();
    assert!(name.starts_with("operator "), "{name}");

    let removal = ["enrolment", "remove", "--id", id, "--config"];
    assert!(portico(&removal, &[&file]).status.success());
    assert_eq!(list(), json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_ends_the_command_with_the_next_step() {
    let (place, file) = place().await;
    let output = import(&file, &place.path("ca.crt"), "https://198.51.100.7:6443");
    assert_eq!(output.status.code(), Some(1));
    let complaint = text(&output.stderr);
    assert!(
        complaint.contains("198.51.100.7 is not in enrolment.api_networks"),
        "{complaint}"
    );
    assert!(complaint.contains("add its network there"), "{complaint}");
    let output = import(&file, &place.path("missing.crt"), "https://192.0.2.7:6443");
    let complaint = text(&output.stderr);
    assert!(complaint.contains("missing.crt"), "{complaint}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_section_nothing_is_imported() {
    let place = Place::new().await;
    let file = place.config_file();
    let output = portico(&["enrolment", "list", "--config"], &[&file]);
    assert_eq!(output.status.code(), Some(64));
    let complaint = text(&output.stderr);
    assert!(
        complaint.contains("enrolment: the section is missing"),
        "{complaint}"
    );
}

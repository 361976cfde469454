//! Exit codes, `--json`, `--role`, and what cannot be used at all.
use super::place::{Place, mode, portico};
use serde_json::json;
use std::collections::BTreeSet;

#[tokio::test]
async fn finding_o4_doctor_prints_documented_objects_and_lines() {
    let place = Place::new().await;
    let file = place.config_file();
    let report = place.doctor(&[]).await;
    assert_eq!(report.code, 0);
    for finding in &report.findings {
        let keys: BTreeSet<&str> = finding
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        assert_eq!(
            Vec::from_iter(keys),
            ["docs", "id", "message", "remedy", "status", "subject"],
            "{finding}"
        );
        let status = finding["status"].as_str().unwrap();
        assert!(["ok", "warning", "error"].contains(&status));
        assert_eq!(status == "ok", finding["remedy"].is_null(), "{finding}");
        assert_eq!(status == "ok", finding["docs"].is_null(), "{finding}");
    }
    let lines = tokio::task::spawn_blocking(move || portico(&["doctor", "--config"], &[&file]));
    let output = lines.await.unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    for finding in &report.findings {
        let subject = finding["subject"].as_str().unwrap();
        assert!(text.contains(subject), "{subject} in {text}");
    }
    assert!(text.contains("Nothing is broken, "), "{text}");
}

#[tokio::test]
async fn finding_o4_doctor_of_one_role_neither_reads_nor_checks_what_is_of_another() {
    let mut place = Place::new().await;
    place.config["gateway"]["public_url"] = json!("https://cloud.example.org/with/a/path");
    place.config["gateway"]["assertion_key_file"] = json!("/nowhere/assertion.pem");
    place.config["store"]["key_files"] = json!(["/nowhere/store.key"]);
    place.config["store"]["url"] = json!("mysql://db/portico");
    mode(&place.path("keys/panel.key"), 0o644);
    let kube_auth = place.doctor(&["--role", "kube-auth"]).await;
    assert_eq!(kube_auth.code, 0, "{:#?}", kube_auth.findings);
    let seen = kube_auth.findings.iter();
    let seen = seen.map(|one| format!("{} {}", one["subject"], one["message"]));
    let text = seen.collect::<Vec<_>>().join("\n");
    for foreign in ["assertion", "store", "panel", "nowhere"] {
        assert!(!text.contains(foreign), "{foreign} in {text}");
    }
    // the gateway's faults are all found, and the panel's file is not looked at
    let gateway = place.doctor(&["--role", "gateway"]).await;
    assert_eq!(gateway.code, 64);
    gateway.find("configuration-invalid");
    gateway.find("key-file-unusable");
    assert!(!gateway.has("key-file-permissions"));
    let panel = place.doctor(&["--role", "panel"]).await;
    panel.find("key-file-permissions");
}

#[tokio::test]
async fn finding_o4_doctor_continues_after_a_fault_of_the_configuration() {
    let mut place = Place::new().await;
    let cluster = place.config["clusters"][0].clone();
    place.config["clusters"] = json!([cluster, cluster]);
    place.config["kube_auth"]["key_files"] = json!(["/nowhere/kube-auth.key"]);
    let report = place.doctor(&[]).await;
    assert_eq!(report.code, 64);
    let found = report.find("configuration-invalid");
    assert!(found["message"].as_str().unwrap().contains("clusters.1."));
    report.find("key-file-unusable");
}

#[tokio::test]
async fn finding_o4_doctor_names_a_configuration_that_cannot_be_read() {
    let place = Place::new().await;
    let broken = place.secret("broken.toml", "[gateway\n");
    let empty = place.secret("empty.toml", "");
    let run = |file: std::path::PathBuf| {
        tokio::task::spawn_blocking(move || portico(&["doctor", "--json", "--config"], &[&file]))
    };
    let report = super::place::Report::of(&run(broken).await.unwrap());
    assert_eq!(report.code, 64);
    report.find("configuration-invalid");
    let report = super::place::Report::of(&run(empty).await.unwrap());
    assert_eq!(report.code, 0);
    report.find("configuration-empty");
}

#[tokio::test]
async fn finding_o4_doctor_finds_a_low_limit_of_open_files_and_plain_postgresql() {
    let mut place = Place::new().await;
    let file = place.config_file();
    let limited = tokio::task::spawn_blocking(move || {
        let script = "ulimit -n 512; exec \"$0\" doctor --json --config \"$1\"";
        std::process::Command::new("/bin/sh")
            .args(["-c", script, env!("CARGO_BIN_EXE_portico")])
            .arg(file)
            .env_clear()
            .output()
            .unwrap()
    });
    let report = super::place::Report::of(&limited.await.unwrap());
    report.find("open-files-low");
    // it cannot be reached either, and both are named
    place.config["store"]["url"] = json!("postgres://portico@db.invalid/portico");
    let report = place.doctor(&["--role", "gateway"]).await;
    report.find("store-plain-text");
    let found = report.find("store-unreachable");
    let message = found["message"].as_str().unwrap();
    assert!(message.contains("does not resolve"), "{message}");
}

#[tokio::test]
async fn doctor_reports_why_a_revocation_could_not_be_measured() {
    let place = Place::new().await;
    place.is_sound().await;
    // there is no OS_* to sign in with
    let report = place.doctor(&["--revocation", "prod"]).await;
    assert_ne!(report.code, 0);
    let found = report.find("revocation-slow");
    assert_eq!(found["subject"], "revocation at prod");
    assert!(
        found["message"].as_str().unwrap().contains("OS_"),
        "{found}"
    );
}

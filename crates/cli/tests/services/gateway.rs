//! `portico cluster` with the session of `portico login`: Portico calls Magnum, and the journal has it.
use crate::panel::Panel;
use crate::tenant::{DRIVERS, FULL, Tenant, cluster, json};
use portico_openstack::magnum::Status;
use portico_testkit::Person;
use reqwest::StatusCode;
use serde_json::Value;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::time::{Instant, sleep};

const PAUSE: Duration = Duration::from_millis(300);
/// Maximum time until the gateway has a new record.
const PATIENCE: Duration = Duration::from_secs(60);

/// Returns a machine that has signed in at the gateway, and nothing else.
pub async fn signed_in(tenant: &Tenant, panel: &mut Panel) -> Person {
    let mut person = Person::new().unwrap();
    for (name, value) in DRIVERS {
        person.set(name, value);
    }
    let url = tenant.env.get("PORTICO_URL").unwrap();
    let mut words = vec!["login", "--device", url];
    if let Some(file) = tenant.env.optional("PORTICO_CA_FILE") {
        words.extend(["--ca-file", file]);
    }
    let program = portico_testkit::program("portico").unwrap();
    let mut child = person
        .command(&program)
        .args(words)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut seen = String::new();
    while let Some(line) = lines.next_line().await.unwrap() {
        if let Some((_, code)) = line.split_once("user_code=") {
            panel.approve(code.trim()).await;
        }
        seen.push_str(&line);
        seen.push('\n');
    }
    let status = child.wait().await.unwrap();
    assert!(status.success(), "{seen}");
    person
}

#[tokio::test]
async fn a_change_by_the_session_of_a_gateway_is_in_the_journal() {
    Tenant::run(|tenant| async move {
        let mut panel = Panel::sign_in(&tenant).await;
        let person = signed_in(&tenant, &mut panel).await;
        let name = tenant.name("journalled");
        let created = cluster(
            &person,
            &[
                "create",
                &name,
                "-t",
                FULL,
                "--masters",
                "1",
                "--workers",
                "1",
                "--keypair",
                "ops",
                "--set",
                "sim_seconds=1",
                "--wait",
                "--reason",
                "Störung, CHG-12",
            ],
        )
        .await;
        assert_eq!(created.code, 0, "{}", created.err);
        assert!(!created.err.contains("directly"), "{}", created.err);
        let uuid = tenant.named(&name).await[0].uuid.to_string();

        let resized = cluster(
            &person,
            &["resize", &name, "2", "--wait", "--reason", "CHG-13"],
        )
        .await;
        assert_eq!(resized.code, 0, "{}", resized.err);
        let events = cluster(&person, &["events", &name, "--source", "request"]).await;
        assert_eq!(events.code, 0, "{}", events.err);
        for part in [
            "create cluster",
            "(Störung, CHG-12)",
            "resize node group",
            "accepted (CHG-13)",
            &tenant.member.name,
        ] {
            assert!(events.out.contains(part), "{part}: {}", events.out);
        }

        let deleted = cluster(&person, &["delete", &name, "--yes", "--wait"]).await;
        assert_eq!(deleted.code, 0, "{}", deleted.err);
        let events = cluster(&person, &["events", &uuid, "-o", "json"]).await;
        let actions: Vec<String> = events
            .out
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .filter_map(|entry| entry["content"]["action"].as_str().map(str::to_owned))
            .collect();
        let expected = ["create_cluster", "resize_node_group", "delete_cluster"];
        assert_eq!(actions, expected, "{}", events.out);
    })
    .await;
}

#[tokio::test]
async fn case_43_a_certificate_by_a_session_is_in_the_journal_and_in_the_audit_log() {
    Tenant::run(|tenant| async move {
        let mut panel = Panel::sign_in(&tenant).await;
        let person = signed_in(&tenant, &mut panel).await;
        let name = tenant.name("audited");
        let uuid = tenant.make_complete(&name, FULL, &[]).await.uuid;
        let path = person.write("place", "").unwrap();
        let path = path.with_file_name("admin.kubeconfig");
        let out = path.to_str().unwrap();
        let words = ["kubeconfig", &name, "--certificate", "--out", out, "--yes"];
        let ran = cluster(&person, &words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let events = cluster(&person, &["events", &name, "--source", "request"]).await;
        assert!(events.out.contains("sign certificate"), "{}", events.out);
        assert!(events.out.contains(&tenant.member.name), "{}", events.out);
        let activity = panel.activity().await;
        assert!(activity.contains("panel.sign_certificate"), "{activity}");
        // the entry of the audit log names that of the journal
        let agreement = panel.journal(uuid).await.agreement.unwrap();
        assert!(agreement.agrees, "{agreement:?}");
    })
    .await;
}

#[tokio::test]
async fn case_53_a_session_does_not_delete_a_protected_cluster() {
    Tenant::run(|tenant| async move {
        let mut panel = Panel::sign_in(&tenant).await;
        let person = signed_in(&tenant, &mut panel).await;
        let name = tenant.name("protected");
        let made = tenant.make_complete(&name, FULL, &[]).await;
        panel.set_protection(made.uuid, true, "").await;
        let words = ["delete", &name, "--yes", "--reason", "CHG-14"];
        let refused = cluster(&person, &words).await;
        assert_eq!(refused.code, 4, "{}", refused.err);
        assert!(
            refused.err.contains("Remove the protection"),
            "{}",
            refused.err
        );
        let still = tenant.settled(made.uuid).await;
        assert_eq!(still.status, Status::CreateComplete);
        let events = cluster(&person, &["events", &name, "--source", "request"]).await;
        assert_eq!(events.code, 0, "{}", events.err);
        for part in ["delete cluster: refused", "(CHG-14)"] {
            assert!(events.out.contains(part), "{part}: {}", events.out);
        }
        // control case: without the protection the same command deletes it
        panel.set_protection(made.uuid, false, &name).await;
        let deleted = cluster(&person, &words).await;
        assert_eq!(deleted.code, 0, "{}", deleted.err);
    })
    .await;
}

#[tokio::test]
async fn case_53_a_file_protects_a_cluster_by_a_session_and_only_then() {
    Tenant::run(|tenant| async move {
        let mut panel = Panel::sign_in(&tenant).await;
        let person = signed_in(&tenant, &mut panel).await;
        let name = tenant.name("file");
        let made = tenant.make_complete(&name, FULL, &[]).await;
        let file = |machine: &Person, protection: &str| {
            let text = format!(
                "apiVersion: portico.dev/v1alpha1\nkind: Cluster\nmetadata: {{name: {name}}}\n\
                 spec: {{template: {FULL}{protection}}}\n"
            );
            let path = machine.write("cluster.yaml", &text).unwrap();
            path.display().to_string()
        };
        let path = file(&person, ", protection: true");
        let words = ["diff", "-f", &path, "-o", "json"];
        let ran = cluster(&person, &words).await;
        assert_eq!(ran.code, 1, "{} {}", ran.out, ran.err);
        assert_eq!(json(&ran)["protection"]["desired"], true, "{}", ran.out);
        let apply = ["apply", "-f", &path, "--reason", "CHG-15"];
        let ran = cluster(&person, &apply).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.err.contains("is protected"), "{}", ran.err);
        // the second time nothing is sent, and the deletion is refused
        let ran = cluster(&person, &apply).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.err.contains("Nothing to change"), "{}", ran.err);
        let ran = cluster(&person, &["delete", &name, "--yes"]).await;
        assert_eq!(ran.code, 4, "{}", ran.err);
        // control case: a file without it leaves the protection
        let path = file(&person, "");
        let ran = cluster(&person, &["diff", "-f", &path]).await;
        assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);

        // a browser's cookie is not accepted there, and direct access has no protection
        let below = format!("portico/clusters/{}/protection", made.uuid);
        let status = panel.cloud_api(&below).await;
        assert!(status.is_client_error(), "{status}");
        let path = file(&tenant.person, ", protection: false");
        let ran = tenant.cluster(&["apply", "-f", &path]).await;
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains("spec.protection"), "{}", ran.err);

        let path = file(&person, ", protection: false");
        let ran = cluster(&person, &["apply", "-f", &path]).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let events = cluster(&person, &["events", &name, "-o", "json"]).await;
        let actions: Vec<String> = events
            .out
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .filter(|entry| entry["content"]["outcome"] == "accepted")
            .filter_map(|entry| entry["content"]["action"].as_str().map(str::to_owned))
            .collect();
        let expected = ["protect_cluster", "unprotect_cluster"];
        assert_eq!(actions, expected, "{}", events.out);
        assert!(events.out.contains("CHG-15"), "{}", events.out);
        let ran = cluster(&person, &["delete", &name, "--yes"]).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
    })
    .await;
}

#[tokio::test]
async fn a_file_creates_a_cluster_that_is_protected() {
    Tenant::run(|tenant| async move {
        let mut panel = Panel::sign_in(&tenant).await;
        let person = signed_in(&tenant, &mut panel).await;
        let name = tenant.name("guarded");
        let text = format!(
            "apiVersion: portico.dev/v1alpha1\nkind: Cluster\nmetadata: {{name: {name}}}\n\
             spec:\n  template: {FULL}\n  keypair: ops\n  controlPlane: {{replicas: 1}}\n  \
             labels: {{sim_seconds: \"1\"}}\n  protection: true\n  \
             nodeGroups: [{{name: default-worker, replicas: 1}}]\n"
        );
        let path = person.write("cluster.yaml", &text).unwrap();
        let words = ["create", "-f", path.to_str().unwrap(), "--wait"];
        let created = cluster(&person, &words).await;
        assert_eq!(created.code, 0, "{}", created.err);
        let delete = ["delete", &name, "--yes"];
        let refused = cluster(&person, &delete).await;
        assert_eq!(refused.code, 4, "{}", refused.err);
        let uuid = tenant.named(&name).await[0].uuid;
        panel.set_protection(uuid, false, &name).await;
        let deleted = cluster(&person, &delete).await;
        assert_eq!(deleted.code, 0, "{}", deleted.err);
    })
    .await;
}

#[tokio::test]
async fn attack_124_a_reader_does_not_fill_the_journal() {
    Tenant::run(|tenant| async move {
        let reader = tenant.user("reader").await;
        let made = tenant.make_complete(&tenant.name("read"), FULL, &[]).await;
        let mut panel = Panel::sign_in_as(&tenant, &reader).await;
        let person = signed_in(&tenant, &mut panel).await;
        let uuid = made.uuid.to_string();
        // the engine of the command refuses some of them by itself
        for words in [
            &["delete", &uuid, "--yes"][..],
            &["resize", &uuid, "2"],
            &["ca", "rotate", &uuid, "--yes"],
        ] {
            let refused = cluster(&person, words).await;
            assert_ne!(refused.code, 0, "{words:?}: {}", refused.out);
        }
        let deleted = cluster(&person, &["delete", &uuid, "--yes"]).await;
        assert_eq!(deleted.code, 5, "{}", deleted.err);
        assert!(deleted.err.contains("cluster:delete"), "{}", deleted.err);
        let events = cluster(&person, &["events", &uuid, "--source", "request"]).await;
        assert_eq!(events.code, 0, "{}", events.err);
        assert!(!events.out.contains(&reader.name), "{}", events.out);
        let still = tenant.settled(made.uuid).await;
        assert_eq!(still.status, Status::CreateComplete);
    })
    .await;
}

/// Returns what was read without what changes by itself: Magnum measures the health of a cluster again and again.
fn settled(text: &str) -> Value {
    let mut read: Value = serde_json::from_str(text).unwrap();
    let clusters = match read.as_array_mut() {
        Some(all) => all.iter_mut().collect(),
        None => vec![&mut read],
    };
    for cluster in clusters {
        for changing in ["health_status", "health_status_reason", "updated_at"] {
            if let Some(fields) = cluster.as_object_mut() {
                fields.remove(changing);
            }
        }
    }
    read
}

#[tokio::test]
async fn the_reads_of_a_session_are_those_of_direct_access() {
    Tenant::run(|tenant| async move {
        let mut panel = Panel::sign_in(&tenant).await;
        let person = signed_in(&tenant, &mut panel).await;
        let made = tenant.make_complete(&tenant.name("read"), FULL, &[]).await;
        let uuid = made.uuid.to_string();
        for words in [
            vec!["list", "-o", "json"],
            vec!["show", &uuid, "-o", "json"],
            vec!["templates", "-o", "json"],
            vec!["quota", "-o", "json"],
            vec!["nodegroup", "list", &uuid, "-o", "json"],
        ] {
            let direct = tenant.cluster(&words).await;
            let through = cluster(&person, &words).await;
            assert_eq!(through.code, 0, "{words:?}: {}", through.err);
            assert_eq!(settled(&through.out), settled(&direct.out), "{words:?}");
        }
        let unknown = cluster(&person, &["show", "nothing"]).await;
        assert_eq!(unknown.code, 3, "{}", unknown.err);
    })
    .await;
}

#[tokio::test]
async fn direct_access_has_no_journal_and_states_it() {
    Tenant::run(|tenant| async move {
        let listed = tenant.cluster(&["list"]).await;
        assert_eq!(listed.code, 0, "{}", listed.err);
        let note = "Using Magnum directly; changes are not in Portico's journal.";
        assert_eq!(listed.err.matches(note).count(), 1, "{}", listed.err);
        let events = tenant.cluster(&["events", "shop"]).await;
        assert_eq!(events.code, 13, "{}", events.err);
        let words = ["delete", "shop", "--yes", "--reason", "CHG-12"];
        let refused = tenant.cluster(&words).await;
        assert_eq!(refused.code, 2, "{}", refused.err);
        assert!(refused.err.contains("--gateway"), "{}", refused.err);
    })
    .await;
}

#[tokio::test]
async fn a_browser_and_a_session_that_has_ended_change_nothing() {
    Tenant::run(|tenant| async move {
        let mut panel = Panel::sign_in(&tenant).await;
        let person = signed_in(&tenant, &mut panel).await;
        let made = tenant.make_complete(&tenant.name("kept"), FULL, &[]).await;
        let path = format!("container-infra/v1/clusters/{}", made.uuid);
        assert_eq!(panel.cloud_api(&path).await, StatusCode::UNAUTHORIZED);
        let other = tenant.admin.create_project("other").await.unwrap();
        let elsewhere = cluster(&person, &["list", "--project", &other]).await;
        assert_eq!(elsewhere.code, 2, "{}", elsewhere.err);
        tenant.admin.delete_project(&other).await.unwrap();
        let out = person.portico(&["logout"]).await.unwrap();
        assert_eq!(out.code, 0, "{}", out.err);
        let uuid = made.uuid.to_string();
        let ended = cluster(&person, &["delete", &uuid, "--yes"]).await;
        assert_eq!(ended.code, 10, "{}", ended.err);
        assert_eq!(tenant.named(&made.name).await.len(), 1);
    })
    .await;
}

#[tokio::test]
async fn clusters_are_enrolled_by_the_command_line_as_by_the_button() {
    Tenant::run(|tenant| async move {
        let mut panel = Panel::sign_in(&tenant).await;
        let person = signed_in(&tenant, &mut panel).await;
        let name = tenant.name("enrolled");
        let words = [
            "create",
            &name,
            "-t",
            "kubernetes-local",
            "--keypair",
            "ops",
            "--workers",
            "1",
            "--wait",
        ];
        let ran = cluster(&person, &words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let made = tenant.named(&name).await.remove(0);
        let ran = cluster(&person, &["import", "--all", "--dry-run"]).await;
        assert_eq!(ran.code, 1, "{}", ran.err);
        assert!(ran.out.contains("would be enrolled"), "{}", ran.out);
        let events = cluster(&person, &["events", &name, "-o", "json"]).await;
        assert!(!events.out.contains("\"enrol\""), "{}", events.out);
        let ran = cluster(
            &person,
            &["import", "--all", "--reason", "CHG-16", "-o", "json"],
        )
        .await;
        assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
        assert_eq!(json(&ran)[0]["result"], "enrolled", "{}", ran.out);
        // the gateway reads the new record some seconds later
        let deadline = Instant::now() + PATIENCE;
        let ran = loop {
            let ran = cluster(&person, &["import", "--all", "--dry-run"]).await;
            if ran.code == 0 {
                break ran;
            }
            assert!(Instant::now() < deadline, "{} {}", ran.out, ran.err);
            sleep(PAUSE).await;
        };
        assert!(!ran.out.contains("would be"), "{}", ran.out);
        let events = cluster(&person, &["events", &name, "-o", "json"]).await;
        assert!(events.out.contains("\"enrol\""), "{}", events.out);
        assert!(events.out.contains("CHG-16"), "{}", events.out);

        // direct access sends nothing
        let ran = tenant.cluster(&["import", &name]).await;
        assert_eq!(ran.code, 13, "{}", ran.err);
        // a browser's cookie is not accepted there
        let below = format!("portico/clusters/{}/enrolment", made.uuid);
        let status = panel.cloud_api(&below).await;
        assert!(status.is_client_error(), "{status}");

        // the record stays while Magnum has the cluster
        let forget = ["delete", &name, "--force-record", "--yes"];
        let ran = cluster(&person, &forget).await;
        assert_eq!(ran.code, 4, "{}", ran.err);
        // deleted elsewhere, so that the record is left
        let ran = tenant.cluster(&["delete", &name, "--yes", "--wait"]).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let uuid = made.uuid.to_string();
        let ran = cluster(&person, &["delete", &uuid, "--force-record", "--yes"]).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.err.contains("record"), "{}", ran.err);
    })
    .await;
}

//! The story of a user after the first day: with the session of `portico login`, a cluster gets nodes, is
//! upgraded and deleted, and its journal has each request with the user and the reason, and what differs after
//! it. The second story has a cluster that answers, one of whose nodes is drained.
use crate::creation::new_template;
use crate::gateway::signed_in;
use crate::local::{Kubectl, enrolled, nodes_of_kubernetes};
use crate::panel::Panel;
use crate::tenant::{Tenant, cluster, create, json};
use crate::upgrade::difference;
use portico_openstack::magnum::NewClusterTemplate;
use portico_testkit::{CommandOutput, Person};
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};
use uuid::Uuid;

/// The template of the next minor version.
const NEXT: &str = "kubernetes-1.32";
/// How long a command waits for what the simulated driver does in some seconds.
const WAIT: &str = "60s";
/// Maximum time of the sign-in and of each command. It is longer than [`WAIT`], so that the command reports
/// what it waits for. A replacement waits twice.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(150);

/// Pause between two looks.
const PAUSE: Duration = Duration::from_secs(1);
/// Maximum time until the panel has observed what Magnum and Kubernetes report.
const PATIENCE: Duration = Duration::from_secs(90);

/// A request in the journal: action, target and reason.
type Request = (String, String, String);

async fn run(person: &Person, words: &[&str]) -> CommandOutput {
    let ran = timeout(COMMAND_TIMEOUT, cluster(person, words)).await;
    ran.unwrap_or_else(|_| panic!("{words:?} has not ended"))
}

/// Runs a change with its reason.
async fn change(person: &Person, words: &[&str], reason: &str) -> CommandOutput {
    let more = ["--timeout", WAIT, "--reason", reason];
    let words: Vec<_> = words.iter().chain(&more).copied().collect();
    let ran = run(person, &words).await;
    assert_eq!(ran.code, 0, "{words:?}: {}", ran.err);
    ran
}

/// Returns the IDs of the servers of the default workers.
async fn workers(person: &Person, name: &str) -> BTreeSet<String> {
    let words = ["nodes", "list", name, "-g", "default-worker", "-o", "json"];
    let ran = run(person, &words).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let nodes = json(&ran);
    let nodes = nodes.as_array().unwrap().iter();
    nodes
        .map(|node| node["server_id"].as_str().unwrap().to_owned())
        .collect()
}

/// Returns the requests in the journal of a cluster, each of which a user has made and Magnum has accepted.
async fn requests(person: &Person, wanted: &str, user: &str) -> Vec<Request> {
    let ran = run(person, &["events", wanted, "-o", "json"]).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let entries: Vec<Value> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let sequences = entries.iter().map(|entry| entry["sequence"].as_i64());
    assert!(sequences.is_sorted(), "{}", ran.out);
    let requests = entries.iter().filter(|entry| entry["source"] == "request");
    requests
        .map(|entry| {
            let content = &entry["content"];
            assert_eq!(content["user_name"], user, "{entry}");
            assert_eq!(content["outcome"], "accepted", "{entry}");
            let text = |field: &str| content[field].as_str().unwrap_or_default().to_owned();
            (text("action"), text("target"), text("reason"))
        })
        .collect()
}

fn expected(requests: &[(&str, &str, &str)]) -> Vec<Request> {
    let requests = requests.iter();
    requests
        .map(|(action, target, reason)| {
            let (action, target) = ((*action).to_owned(), (*target).to_owned());
            (action, target, (*reason).to_owned())
        })
        .collect()
}

/// Looks at a cluster until the journal has what is expected of one source, and returns these entries.
async fn observed(
    (panel, person): (&mut Panel, &Person),
    uuid: Uuid,
    source: &str,
    is_complete: impl Fn(&str) -> bool,
) -> String {
    let deadline = Instant::now() + PATIENCE;
    let wanted = uuid.to_string();
    let words = ["events", &wanted, "--source", source, "-o", "json"];
    loop {
        panel.look(uuid).await;
        // its page reads the nodes
        panel.journal(uuid).await;
        let ran = run(person, &words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        if is_complete(&ran.out) {
            return ran.out;
        }
        assert!(Instant::now() < deadline, "{source}: {}", ran.out);
        sleep(PAUSE).await;
    }
}

/// Returns whether one of the entries is a change of this kind of a node.
fn is_about(entries: &str, node: &str, change: &str) -> bool {
    entries.lines().any(|line| {
        let entry: Value = serde_json::from_str(line).unwrap();
        entry["content"]["node"] == node && entry["content"]["change"] == change
    })
}

/// Writes a certificate request on the machine of a user, and returns its path.
fn certificate_request(person: &Person) -> String {
    let key = rcgen::KeyPair::generate().unwrap();
    let mut params = rcgen::CertificateParams::default();
    let name = (rcgen::DnType::CommonName, "ops");
    params.distinguished_name.push(name.0, name.1);
    let request = params.serialize_request(&key).unwrap().pem().unwrap();
    let path = person.write("ops.csr", &request).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Makes a template of a version that skips one.
async fn skipping_template(tenant: &Tenant) -> String {
    let name = tenant.name("skipping");
    let mut template = NewClusterTemplate {
        name: Some(name.clone()),
        ..new_template()
    };
    let version = ("kube_tag".to_owned(), "v1.33.0".to_owned());
    template.labels.extend([version]);
    let (magnum, token) = (&tenant.magnum, &tenant.token);
    magnum.create_template(token, &template).await.unwrap();
    name
}

#[tokio::test]
async fn story_a_cluster_is_changed_upgraded_and_deleted_and_its_journal_has_every_request() {
    Tenant::run(|tenant| async move {
        let mut panel = Panel::sign_in(&tenant).await;
        let signed_in = timeout(COMMAND_TIMEOUT, signed_in(&tenant, &mut panel)).await;
        let person = signed_in.expect("the sign-in ends");
        let name = tenant.name("day-two");
        let words = create(&name, &["--masters", "1", "--wait"]);
        change(&person, &words, "CHG-1").await;
        let made = tenant.named(&name).await.remove(0);
        let uuid = made.uuid.to_string();
        // a page is open, so that the panel observes the cluster
        panel.look(made.uuid).await;

        // nodes
        let words = [
            "nodegroup",
            "create",
            &name,
            "more",
            "--nodes",
            "1",
            "--wait",
        ];
        change(&person, &words, "CHG-2").await;
        change(&person, &["resize", &name, "2", "--wait"], "CHG-3").await;
        let before = workers(&person, &name).await;
        assert_eq!(before.len(), 2, "{before:?}");
        let leaves = before.first().unwrap();
        let words = ["nodes", "replace", &name, leaves, "--yes"];
        change(&person, &words, "CHG-4").await;
        let after = workers(&person, &name).await;
        assert_eq!(after.len(), 2, "{after:?}");
        assert!(!after.contains(leaves), "{after:?}");

        // the plan of an upgrade, of one that is refused, and the upgrade
        let ran = run(&person, &["upgrade", &name, "--to", NEXT, "--plan"]).await;
        assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
        let skipping = skipping_template(&tenant).await;
        let ran = run(&person, &["upgrade", &name, "--to", &skipping, "--plan"]).await;
        assert_eq!(ran.code, 1, "{} {}", ran.out, ran.err);
        let text = "Kubernetes moves up one minor version at a time";
        assert!(ran.out.contains(text), "{}", ran.out);
        let words = ["upgrade", &name, "--to", NEXT, "--approve", "--wait"];
        change(&person, &words, "CHG-5").await;
        let words = ["wait", &name, "--for", "version=v1.32", "--timeout", "10s"];
        let ran = run(&person, &words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);

        let ran = run(&person, &["ca", "show", &name, "-o", "json"]).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let shown = json(&ran);
        assert!(shown["days_left"].as_i64().unwrap() > 0, "{shown}");
        let request = certificate_request(&person);
        let words = ["cert", "sign", &name, "--csr", &request];
        let words: Vec<_> = words.into_iter().chain(["--reason", "CHG-6"]).collect();
        let ran = run(&person, &words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.out.starts_with("-----BEGIN CERT"), "{}", ran.out);
        let words = ["ca", "rotate", &name, "--yes", "--wait"];
        change(&person, &words, "CHG-7").await;
        let ran = run(&person, &["ca", "show", &name, "-o", "json"]).await;
        assert_ne!(json(&ran)["fingerprint"], shown["fingerprint"]);

        // plans and reads are not in it
        let template = tenant.template(NEXT).await.uuid.to_string();
        let mut journal = expected(&[
            ("create_cluster", name.as_str(), "CHG-1"),
            ("create_node_group", "more", "CHG-2"),
            ("resize_node_group", "default-worker", "CHG-3"),
            ("resize_node_group", "default-worker", "CHG-4"),
            ("resize_node_group", "default-worker", "CHG-4"),
            ("upgrade_cluster", template.as_str(), "CHG-5"),
            ("sign_certificate", "", "CHG-6"),
            ("rotate_ca", "", "CHG-7"),
        ]);
        let user = &tenant.member.name;
        assert_eq!(requests(&person, &name, user).await, journal);

        // what differs after the requests, which explain all of it
        let fields = ["Nodes of default-worker", "Template", "Kubernetes version"];
        let both = (&mut panel, &person);
        let differences = observed(both, made.uuid, "magnum", |events| {
            fields.iter().all(|one| difference(events, one).is_some())
        });
        let differences = differences.await;
        let (nodes, _) = difference(&differences, fields[0]).unwrap();
        assert_eq!(nodes, "1", "{differences}");
        let rows = panel.journal(made.uuid).await.rows;
        assert!(!rows.iter().any(|row| row.is_outside), "{rows:#?}");

        change(&person, &["delete", &name, "--yes", "--wait"], "CHG-8").await;
        assert!(tenant.named(&name).await.is_empty());
        journal.extend(expected(&[("delete_cluster", "", "CHG-8")]));
        assert_eq!(requests(&person, &uuid, user).await, journal);
    })
    .await;
}

#[tokio::test]
async fn story_a_node_is_drained_and_replaced_and_the_journal_has_requests_differences_and_nodes() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("drained");
        let (made, mut panel) = enrolled(&tenant, &name).await;
        let kubectl = Kubectl::administrator(&tenant, &name).await;
        kubectl.permit_all().await;
        let signed_in = timeout(COMMAND_TIMEOUT, signed_in(&tenant, &mut panel)).await;
        let person = signed_in.expect("the sign-in ends");
        let nodes = nodes_of_kubernetes(&person, &name).await;
        let is_worker = |node: &&Value| node["nodegroup"] == "default-worker";
        let worker = nodes.iter().find(is_worker).unwrap();
        let leaves = worker["server_id"].as_str().unwrap();
        let node = worker["name"].as_str().unwrap().to_lowercase();
        kubectl.make_pod(&node).await;
        // the nodes as they were
        let both = (&mut panel, &person);
        observed(both, made.uuid, "kubernetes", |events| {
            is_about(events, &node, "joined")
        })
        .await;

        let words = ["nodes", "replace", &name, leaves, "--yes", "--drain"];
        let words: Vec<_> = words.into_iter().chain(["--accept-pending-pods"]).collect();
        let ran = change(&person, &words, "CHG-1").await;
        assert!(ran.err.contains("Draining "), "{}", ran.err);
        let pods = kubectl.run(&["get", "pods", "-o", "name"]).await;
        assert!(!pods.contains("pod/web"), "{pods}");
        let after = workers(&person, &name).await;
        assert!(after.len() == 1 && !after.contains(leaves), "{after:?}");

        // a request for each step, what differs after them, and the nodes
        let words = ["events", &name, "--source", "request", "-o", "json"];
        let ran = run(&person, &words).await;
        let requests = ran.out.lines().filter(|line| line.contains("CHG-1"));
        let requests: Vec<_> = requests.collect();
        assert_eq!(requests.len(), 2, "{}", ran.out);
        for part in ["resize_node_group", "default-worker", "accepted"] {
            let has_part = |line: &&str| line.contains(part);
            assert!(requests.iter().all(has_part), "{part}: {requests:?}");
        }
        let both = (&mut panel, &person);
        let state = observed(both, made.uuid, "observation", |events| {
            difference(events, "State").is_some()
        });
        state.await;
        let both = (&mut panel, &person);
        observed(both, made.uuid, "kubernetes", |events| {
            is_about(events, &node, "left")
        })
        .await;

        let words = ["delete", &name, "--yes", "--wait"];
        change(&person, &words, "CHG-2").await;
        assert!(panel.remove_record(made.uuid).await);
    })
    .await;
}

//! What happens to the nodes of a real API server is in the journal, and remains when the cluster is deleted.
use crate::gateway::signed_in;
use crate::panel::Panel;
use crate::tenant::{Tenant, cluster};
use portico_domain::panel::lifecycle::JournalSource;
use portico_testkit::Person;
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::{Instant, sleep};
use uuid::Uuid;

/// Pause between two looks.
const PAUSE: Duration = Duration::from_secs(2);
/// Maximum time until the journal has what the driver has done: the panel may learn later that the cluster is
/// enrolled.
const PATIENCE: Duration = Duration::from_secs(90);

/// Returns the names of the nodes about which the journal has a change of this kind.
async fn nodes(person: &Person, wanted: &str, change: &str) -> BTreeSet<String> {
    let words = ["events", wanted, "--source", "kubernetes", "-o", "json"];
    let ran = cluster(person, &words).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let entries = ran.out.lines();
    let entries = entries.map(|line| serde_json::from_str::<Value>(line).unwrap());
    let changes: Vec<Value> = entries
        .map(|entry| entry["content"].clone())
        .filter(|content| content["change"] == change)
        .collect();
    let names = changes.iter().map(|content| content["node"].as_str());
    let names: BTreeSet<String> = names.map(|name| name.unwrap().to_owned()).collect();
    // each once, although the page and the command line have read them
    assert_eq!(names.len(), changes.len(), "{changes:?}");
    names
}

/// Looks until the journal has a number of such nodes.
async fn until(
    (panel, person): (&mut Panel, &Person),
    uuid: Uuid,
    change: &str,
    count: usize,
) -> BTreeSet<String> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let gaps = panel.journal(uuid).await.gaps;
        let found = nodes(person, &uuid.to_string(), change).await;
        if found.len() == count {
            return found;
        }
        assert!(Instant::now() < deadline, "{change}: {found:?} {gaps:?}");
        sleep(PAUSE).await;
    }
}

#[tokio::test]
async fn nodes_that_join_and_leave_are_in_the_journal_and_remain_after_the_deletion() {
    Tenant::run(|tenant| async move {
        // in an enrolled cluster this role is bound
        let role = tenant.env.get("ROLE_ID_K8S_DEVELOPER").unwrap();
        let granted = tenant.admin.grant(&tenant.member.id, &tenant.project, role);
        granted.await.unwrap();
        let name = tenant.name("nodes");
        let words = [
            "create",
            &name,
            "-t",
            "kubernetes-local",
            "--keypair",
            "ops",
        ];
        let more = ["--workers", "1", "--wait", "--timeout", "120s"];
        let words: Vec<_> = words.iter().chain(&more).copied().collect();
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let uuid = tenant.named(&name).await.remove(0).uuid;
        let mut panel = Panel::sign_in(&tenant).await;
        panel.enrol(uuid).await;
        let person = signed_in(&tenant, &mut panel).await;

        // the worker, and the node of the control plane if the driver makes one
        let deadline = Instant::now() + PATIENCE;
        let first = loop {
            panel.look(uuid).await;
            let found = nodes(&person, &name, "joined").await;
            if !found.is_empty() {
                break found;
            }
            assert!(Instant::now() < deadline, "{:?}", panel.journal(uuid).await);
            sleep(PAUSE).await;
        };
        let words = ["resize", &name, "2", "--wait", "--timeout", "120s"];
        let ran = cluster(&person, &words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let both = (&mut panel, &person);
        let joined = until(both, uuid, "joined", first.len() + 1).await;
        assert!(joined.is_superset(&first), "{joined:?}");
        let words = ["resize", &name, "1", "--yes", "--wait", "--timeout", "120s"];
        let ran = cluster(&person, &words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let both = (&mut panel, &person);
        let left = until(both, uuid, "left", 1).await;
        assert!(left.is_subset(&joined), "{left:?}");

        // in words
        let ran = cluster(&person, &["events", &name, "--source", "kubernetes"]).await;
        let line = format!("Node {} left", left.first().unwrap());
        assert!(ran.out.contains(&line), "{}", ran.out);
        let rows = panel.journal(uuid).await.rows;
        let is_row = |source| {
            rows.iter()
                .any(|row| row.source == source && row.title == line)
        };
        assert!(is_row(JournalSource::Kubernetes), "{rows:#?}");

        let words = ["delete", &name, "--yes", "--wait", "--timeout", "60s"];
        let ran = cluster(&person, &words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(panel.remove_record(uuid).await);
        let wanted = uuid.to_string();
        assert_eq!(nodes(&person, &wanted, "joined").await, joined);
        assert!(nodes(&person, &wanted, "left").await.is_superset(&left));
    })
    .await;
}

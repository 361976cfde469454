use super::reading::of_list;
use super::room::{MAX_ENTRIES, MAX_SHARE};
use super::*;
use portico_lifecycle::journal::NodeChange;
use portico_store::KeyRing;
use serde_json::{Value, json};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

fn node(name: &str, ready: &str, version: &str) -> Value {
    json!({"metadata": {"name": name, "uid": name, "creationTimestamp": "2026-11-21T11:13:55Z"},
           "spec": {"unschedulable": false},
           "status": {"nodeInfo": {"kubeletVersion": version}, "conditions": [
               {"type": "MemoryPressure", "status": "False"},
               {"type": "Ready", "status": ready, "reason": "Test", "message": "as asked",
                "lastTransitionTime": "2026-11-21T11:14:00Z"}]}})
}

fn list(nodes: &[Value]) -> ObservedNodes {
    of_list(&json!({"metadata": {}, "items": nodes})).unwrap()
}

struct Written {
    _directory: tempfile::TempDir,
    store: Store,
    key: JournalKey,
}

impl Written {
    async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", directory.path().join("portico.db").display());
        let store = Store::connect(&url, 2, KeyRing::random().unwrap()).await;
        let store = store.unwrap();
        store.migrate(jiff::Timestamp::UNIX_EPOCH).await.unwrap();
        Self {
            _directory: directory,
            store,
            key: JournalKey {
                project_id: "acme".to_owned(),
                cluster: Uuid::from_u128(1),
            },
        }
    }

    async fn look(&self, nodes: &ObservedNodes, second: i64) {
        let compared = compare(&self.store, &self.key, nodes.clone(), at(second)).await;
        assert!(compared.is_ok());
    }

    /// Returns the recorded events, the oldest entry first.
    async fn recorded(&self) -> Vec<NodeEvent> {
        let journal = self.store.cluster_journal();
        let entries = journal.list(&self.key, None, 500).await.unwrap();
        let events = entries.iter().rev().map(|entry| {
            assert_eq!(entry.source, JournalSource::Kubernetes);
            serde_json::from_str(&entry.content).unwrap()
        });
        events.collect()
    }
}

#[tokio::test]
async fn a_change_of_a_node_is_recorded_once_whichever_replica_looks() {
    let written = Written::new().await;
    let first = list(&[node("n1", "True", "v1.31.0"), node("n2", "True", "v1.31.0")]);
    written.look(&first, 0).await;
    // another replica, and the next look
    written.look(&first, 1).await;
    assert_eq!(written.recorded().await.len(), 2);
    let next = list(&[node("n1", "Unknown", "v1.32.0")]);
    let (one, two) = futures::join!(
        compare(&written.store, &written.key, next.clone(), at(20)),
        compare(&written.store, &written.key, next.clone(), at(20)),
    );
    assert!(one.is_ok() && two.is_ok());
    let changes: Vec<_> = written
        .recorded()
        .await
        .iter()
        .map(|one| one.change)
        .collect();
    assert_eq!(changes.len(), 5, "{changes:?}");
    for change in [NodeChange::Left, NodeChange::Version, NodeChange::NotReady] {
        assert!(changes.contains(&change), "{changes:?}");
    }
    // an older look of a slow replica
    written.look(&first, 10).await;
    assert_eq!(written.recorded().await.len(), 5);
}

#[tokio::test]
async fn the_time_before_a_change_is_that_of_the_last_look() {
    let written = Written::new().await;
    let nodes = list(&[node("n1", "True", "v1.31.0")]);
    written.look(&nodes, 0).await;
    written.look(&nodes, 300).await;
    written.look(&list(&[]), 310).await;
    let left = written.recorded().await.pop().unwrap();
    assert_eq!(left.change, NodeChange::Left);
    assert_eq!((left.since, left.at), (Some(at(300)), at(310)));
}

/// Returns so many events of a node.
fn many(count: u32) -> Vec<NewJournalEvent> {
    let event = NodeEvent::reported(at(0), "n1", true, "Rebooted", "", "kubelet");
    (0..count)
        .map(|number| new_event(number.to_string(), &event))
        .collect()
}

#[tokio::test]
async fn events_of_nodes_take_half_of_a_journal_at_most_and_one_entry_states_it() {
    let written = Written::new().await;
    let journal = written.store.cluster_journal();
    let request = NewJournalEntry {
        source: JournalSource::Request,
        content: "{}".to_owned(),
    };
    journal.append(&written.key, &request, at(0)).await.unwrap();
    journal
        .append_events(&written.key, &many(MAX_SHARE), at(0))
        .await
        .unwrap();
    let nodes = list(&[node("n1", "True", "v1.31.0")]);
    // on another day, as often as the nodes are looked at
    for second in [0, 10, 20] {
        let now = at(48 * 3600 + second);
        let refused = compare(&written.store, &written.key, nodes.clone(), now).await;
        assert!(matches!(refused, Err(Failure::ShareUsed)));
    }
    let entries = journal.list(&written.key, None, 2).await.unwrap();
    let newest: NodeEvent = serde_json::from_str(&entries[0].content).unwrap();
    assert_eq!(newest.change, NodeChange::Stopped);
    assert_eq!(entries[0].sequence, i64::from(MAX_SHARE) + 2);
    assert!(entries[0].follows(&written.key, &entries[1].hash));
}

#[tokio::test]
async fn a_journal_with_too_many_events_of_nodes_gets_no_more() {
    let written = Written::new().await;
    let many = many(MAX_ENTRIES);
    let journal = written.store.cluster_journal();
    journal
        .append_events(&written.key, &many, at(0))
        .await
        .unwrap();
    let nodes = list(&[node("n1", "True", "v1.31.0")]);
    let refused = compare(&written.store, &written.key, nodes.clone(), at(60)).await;
    assert!(matches!(refused, Err(Failure::Full)));
    // a day later there is room, and nothing was lost
    written.look(&nodes, 24 * 3600 + 1).await;
    let entries = journal.list(&written.key, None, 1).await.unwrap();
    assert!(
        entries[0].content.contains("joined"),
        "{}",
        entries[0].content
    );
}

#[test]
fn a_cluster_that_another_project_may_use_has_no_events_in_the_journal_of_that_project() {
    let record: ClusterRecord = serde_json::from_value(json!({
        "id": Uuid::from_u128(1), "name": "shop", "owner_project": "acme",
        "accepted_projects": ["acme", "globex"], "api_url": "https://127.0.0.1:6443",
        "sealing_key_file": "key.pub",
    }))
    .unwrap();
    assert!(is_own(&record, "acme"));
    assert!(!is_own(&record, "globex"));
}

#[test]
fn a_node_has_its_condition_and_why_it_is_not_ready() {
    let found = list(&[
        node("n1", "True", "v1.31.0"),
        node("n2", "False", "v1.31.0"),
        json!({"metadata": {"name": "new"}}),
    ]);
    let [ready, lost, new] = ["n1", "n2", "new"].map(|name| &found.nodes[name]);
    assert!(ready.is_ready && ready.reason.is_none() && ready.ready_since.is_some());
    assert_eq!(lost.reason.as_deref(), Some("Test"));
    assert_eq!(lost.message.as_deref(), Some("as asked"));
    assert!(!new.is_ready && new.ready_since.is_none());
    let cut = json!({"metadata": {"continue": "next"}, "items": []});
    assert!(of_list(&cut).unwrap().is_cut);
    assert!(of_list(&json!({})).is_err());
}

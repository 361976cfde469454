//! What happens to nodes of a real API server is in the journal once, and remains.
use crate::{
    own_namespace::{OwnNamespace, Removal},
    stack::Stack,
};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Event, Node};
use kube::{
    Api,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use portico_clock::Clock;
use portico_lifecycle::journal::{NodeChange, NodeEvent};
use portico_store::{JournalKey, JournalSource, KeyRing, Store};
use portico_test_support::time::eventually;
use serde_json::{Value, json};
use server::service::lifecycle::{Journal, NodeEvents};
use std::collections::BTreeSet;

/// Makes a node with a kubelet of this version that is ready, and on which nothing is scheduled.
async fn make(own: &OwnNamespace, nodes: &Api<Node>, version: &str) {
    let node = json!({"metadata": {"name": own.name},
        "spec": {"taints": [{"key": "portico.dev/test", "effect": "NoSchedule"}]}});
    let node = serde_json::from_value(node).unwrap();
    nodes.create(&PostParams::default(), &node).await.unwrap();
    set_status(own, nodes, version, "True").await;
}

async fn set_status(own: &OwnNamespace, nodes: &Api<Node>, version: &str, ready: &str) {
    let now = Timestamp::now().to_string();
    let info = json!({"kubeletVersion": version, "architecture": "amd64", "bootID": "", "machineID": "",
        "containerRuntimeVersion": "", "kernelVersion": "", "kubeProxyVersion": "",
        "operatingSystem": "linux", "osImage": "", "systemUUID": ""});
    let status = json!({"status": {"nodeInfo": info, "conditions": [{"type": "Ready", "status": ready,
        "reason": "Test", "message": "as asked", "lastHeartbeatTime": now,
        "lastTransitionTime": now}]}});
    let patch = Patch::Merge(&status);
    nodes
        .patch_status(&own.name, &PatchParams::default(), &patch)
        .await
        .unwrap();
}

/// Reports that the node was rebooted, as its kubelet does.
async fn report(own: &OwnNamespace) -> (Api<Event>, String) {
    let events = Api::<Event>::namespaced(own.client.clone(), "default");
    let name = format!("{}.rebooted", own.name);
    let now = Timestamp::now().to_string();
    let event: Value = json!({"metadata": {"name": name, "namespace": "default"}, "type": "Warning",
        "reason": "Rebooted", "message": "Node was rebooted", "source": {"component": "kubelet"},
        "involvedObject": {"kind": "Node", "name": own.name, "uid": own.name, "apiVersion": "v1"},
        "firstTimestamp": now, "lastTimestamp": now, "count": 1});
    let event = serde_json::from_value(event).unwrap();
    events.create(&PostParams::default(), &event).await.unwrap();
    (events, name)
}

struct Recorded {
    _directory: tempfile::TempDir,
    store: Store,
    key: JournalKey,
}

impl Recorded {
    async fn new(stack: &Stack) -> Self {
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
                cluster: stack.acme(),
            },
        }
    }

    /// Returns what is recorded of a node, the oldest entry first.
    async fn of(&self, node: &str) -> Vec<NodeEvent> {
        let journal = self.store.cluster_journal();
        let source = JournalSource::Kubernetes;
        let entries = journal.list_events(&self.key, source, None, 500).await;
        let events = entries.unwrap().into_iter().rev();
        events
            .map(|entry| serde_json::from_str::<NodeEvent>(&entry.content).unwrap())
            .filter(|event| event.node == node)
            .collect()
    }
}

#[tokio::test]
async fn what_happens_to_a_node_is_recorded_once_among_replicas_and_remains() {
    let stack = Stack::open();
    let own = stack.namespace("nodes").await;
    // the scheduler counts it in what it reports about the pods of other tests
    let _node = Removal::at_acme(&stack, &["node", &own.name]);
    let nodes = Api::<Node>::all(own.client.clone());
    let recorded = Recorded::new(&stack).await;
    let replicas = [0, 1]
        .map(|_| NodeEvents::new(Journal::new(Some(recorded.store.clone())), Clock::system()));
    let api = stack.api("ada").await;
    let look = async || {
        let [one, two] = &replicas;
        let gaps = futures::join!(one.read(&recorded.key, &api), two.read(&recorded.key, &api));
        assert_eq!(gaps, (None, None));
        // the store has the time of a look in seconds
        let second = Timestamp::now().as_second();
        eventually("the next second", async || {
            Timestamp::now().as_second() > second
        })
        .await;
    };
    look().await;
    make(&own, &nodes, "v1.31.0").await;
    look().await;
    let (events, event) = report(&own).await;
    let cordon = json!({"spec": {"unschedulable": true}});
    nodes
        .patch(&own.name, &PatchParams::default(), &Patch::Merge(&cordon))
        .await
        .unwrap();
    set_status(&own, &nodes, "v1.32.0", "False").await;
    look().await;
    look().await;
    nodes
        .delete(&own.name, &DeleteParams::default())
        .await
        .unwrap();
    events
        .delete(&event, &DeleteParams::default())
        .await
        .unwrap();
    look().await;
    let found = recorded.of(&own.name).await;
    let changes: Vec<NodeChange> = found.iter().map(|one| one.change).collect();
    // the control plane sees no lease of this node: it may change the condition and cordon it by itself
    let expected = [
        NodeChange::Joined,
        NodeChange::Version,
        NodeChange::Cordoned,
        NodeChange::NotReady,
        NodeChange::Warned,
        NodeChange::Left,
    ];
    for change in expected {
        let count = changes.iter().filter(|one| **one == change).count();
        assert_eq!(count, 1, "{change:?}: {found:#?}");
    }
    let ids: BTreeSet<_> = found.iter().map(|one| (one.at, one.title())).collect();
    assert_eq!(ids.len(), found.len(), "{found:#?}");
    let lost = found.iter().find(|one| one.change == NodeChange::NotReady);
    assert_eq!(lost.unwrap().lines(), ["Test", "as asked"]);
    let upgraded = found.iter().find(|one| one.change == NodeChange::Version);
    assert_eq!(upgraded.unwrap().lines(), ["Kubelet: v1.31.0 → v1.32.0"]);
    own.done().await;
}

//! What the panel's shared watches show, beside what each viewer's own kubectl lists: row by row, while the
//! viewers of different rights look at one list.
use crate::{
    flaws::calls::query_of,
    stack::{PUBLIC_URL, Stack},
    tab::{Socket, connect_with},
    terminal::Terminal,
};
use futures::{SinkExt as _, StreamExt as _};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::Api;
use serde_json::{Value, json};
use std::{collections::BTreeSet, time::Duration};
use tokio_tungstenite::tungstenite;

const USERS: [&str; 4] = ["ada", "devi", "vera", "nora"];

impl Terminal<'_> {
    /// The UIDs that `kubectl get` lists; `None` if the API server refuses.
    async fn get(&self, kind: &str, namespace: Option<&str>) -> Option<BTreeSet<String>> {
        let output = self
            .kubectl()
            .args(["get", kind, "-o", "jsonpath={.items[*].metadata.uid}"])
            .args(namespace.map_or(vec!["--all-namespaces"], |name| vec!["-n", name]))
            .output()
            .await
            .unwrap();
        if output.status.success() {
            let text = String::from_utf8(output.stdout).unwrap();
            return Some(text.split_whitespace().map(str::to_owned).collect());
        }
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(
            error.contains("Forbidden"),
            "{kind} in {namespace:?}: {error}"
        );
        None
    }
}

/// The UIDs of a live list's rows; `None` if it is refused.
async fn shown(
    socket: &mut Socket,
    id: u32,
    stack: &Stack,
    query: &Value,
) -> Option<BTreeSet<String>> {
    let watch = json!({ "watch": { "id": id, "cluster": stack.acme(), "view": { "turn": 1, "query": query, "range": { "offset": 0, "limit": 200 },
            "is_paused": false } } });
    let text = tungstenite::Message::Text(watch.to_string().into());
    socket.send(text).await.unwrap();
    let found = async {
        loop {
            let frame = socket.next().await.expect("an open stream").unwrap();
            let tungstenite::Message::Text(text) = frame else {
                continue;
            };
            let message: Value = serde_json::from_str(&text).unwrap();
            let of_this = |name: &str| message.get(name).filter(|message| message["id"] == id);
            if let Some(snapshot) = of_this("snapshot") {
                let rows = snapshot.pointer("/window/rows");
                let uid = |row: &Value| row["uid"].as_str().unwrap().to_owned();
                return Some(
                    rows.and_then(Value::as_array)
                        .unwrap()
                        .iter()
                        .map(uid)
                        .collect(),
                );
            }
            if of_this("ended").is_some() {
                return None;
            }
            assert!(of_this("stale").is_none(), "{text}");
        }
    };
    let within = tokio::time::timeout(Duration::from_secs(20), found);
    within.await.expect("an answer in time")
}

/// The UIDs of the ConfigMaps that kubectl shows in each namespace.
async fn in_each_namespace(client: &kube::Client, terminal: &Terminal<'_>) -> BTreeSet<String> {
    let names = Api::<Namespace>::all(client.clone());
    let mut uids = BTreeSet::new();
    for namespace in names.list(&Default::default()).await.unwrap() {
        let name = namespace.metadata.name.unwrap();
        let found = terminal.get("configmaps", Some(&name)).await;
        uids.extend(found.unwrap_or_default());
    }
    uids
}

#[tokio::test]
async fn shared_watches_show_each_viewer_exactly_the_rows_of_their_own_kubectl() {
    let stack = Stack::open();
    let own = stack.namespace("rows").await;
    let address = stack.serve().await;
    let maps = Api::<ConfigMap>::namespaced(own.client.clone(), &own.name);
    let make = async |name: &str| {
        let map = serde_json::from_value(json!({ "metadata": { "name": name } })).unwrap();
        maps.create(&Default::default(), &map).await.unwrap();
    };
    make("before").await;
    let mut viewers = Vec::new();
    for user in USERS {
        let headers = stack.headers(user, stack.var("PROJECT_ID_ACME")).await;
        let terminal = Terminal::of(&stack, user).await;
        let path = format!("/projects/{}/stream", stack.var("PROJECT_ID_ACME"));
        let tab = connect_with(headers, &address, &path, PUBLIC_URL).await;
        viewers.push((user, tab.unwrap(), terminal));
    }
    let in_namespaces = [
        ("", "pods"),
        ("", "configmaps"),
        ("", "services"),
        ("", "secrets"),
        ("apps", "deployments"),
        ("rbac.authorization.k8s.io", "rolebindings"),
    ];
    let places = [Some(own.name.as_str()), Some("shop"), Some("kube-system")];
    let mut lists: Vec<(&str, &str, Option<&str>)> = Vec::new();
    for (group, plural) in in_namespaces {
        lists.extend(places.map(|place| (group, plural, place)));
    }
    for (group, plural) in [("", "nodes"), ("", "persistentvolumes"), ("", "namespaces")] {
        lists.push((group, plural, None));
    }
    let (mut equal, mut refused) = (0, 0);
    for (number, (group, plural, namespace)) in lists.iter().enumerate() {
        let id = u32::try_from(number).unwrap() + 1;
        let namespaces: Vec<&str> = namespace.iter().copied().collect();
        let query = query_of(group, plural, &namespaces, "");
        let kind = if group.is_empty() {
            (*plural).to_owned()
        } else {
            format!("{plural}.{group}")
        };
        for (user, socket, terminal) in &mut viewers {
            let what = format!("{kind} in {namespace:?} for {user}");
            // an object that another test deletes is a row until the watch has its event: a list
            // that differs is read again, and a row that the viewer may not see would still be there
            let mut attempt = 0;
            loop {
                let before = terminal.get(&kind, *namespace).await;
                let rows = shown(socket, id + attempt * 1_000, &stack, &query).await;
                let after = terminal.get(&kind, *namespace).await;
                match (before, rows, after) {
                    (Some(before), Some(rows), Some(after)) => {
                        let may: BTreeSet<_> = before.union(&after).cloned().collect();
                        let must: BTreeSet<_> = before.intersection(&after).cloned().collect();
                        if rows.is_subset(&may) && must.is_subset(&rows) {
                            equal += 1;
                            break;
                        }
                        assert!(
                            attempt < 2,
                            "{what}: shown only {:?}, missing {:?}",
                            rows.difference(&may).collect::<Vec<_>>(),
                            must.difference(&rows).collect::<Vec<_>>()
                        );
                        attempt += 1;
                    }
                    (None, None, None) => {
                        refused += 1;
                        break;
                    }
                    (before, rows, after) => panic!("{what}: {before:?} {rows:?} {after:?}"),
                }
            }
        }
    }
    assert!(
        equal > 25 && refused > 15,
        "the control case: {equal} and {refused}"
    );

    // all namespaces at once: never a row that no namespace of theirs has
    let all = Terminal::of(&stack, "ada").await;
    for (user, socket, terminal) in &mut viewers {
        let query = query_of("", "configmaps", &[], "");
        let before = all.get("configmaps", None).await.unwrap();
        // other tests create and delete namespaces meanwhile: what was there only for a moment is in neither
        let mut may = in_each_namespace(&own.client, terminal).await;
        let Some(rows) = shown(socket, 100, &stack, &query).await else {
            continue;
        };
        may.extend(in_each_namespace(&own.client, terminal).await);
        let after = all.get("configmaps", None).await.unwrap();
        let lasting: BTreeSet<_> = before.union(&after).cloned().collect();
        let shown: BTreeSet<_> = rows.intersection(&lasting).cloned().collect();
        let beyond: Vec<_> = shown.difference(&may).collect();
        assert!(beyond.is_empty(), "{user}: {beyond:?}");
        if *user != "ada" {
            let hidden = before.intersection(&after).any(|uid| !rows.contains(uid));
            assert!(hidden, "{user} sees all of them");
        }
    }
    own.done().await;
}

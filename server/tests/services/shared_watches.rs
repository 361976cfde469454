//! Shared watches at a real API server: one for many viewers, and no row for a viewer whose own list
//! would not have it.
use crate::{
    own_namespace::OwnNamespace,
    queries::{self, query},
    stack::Stack,
    tab::{Socket, ask, tab_at, tab_of, until, within},
};
use futures::StreamExt as _;
use jiff::Timestamp;
use k8s_openapi::api::{
    core::v1::ConfigMap, core::v1::PersistentVolumeClaim, rbac::v1::RoleBinding,
};
use kube::{Api, Client, api::PostParams};
use portico_domain::{
    panel::{ListScope, ResourceRef},
    stream::{Message, Request},
};
use portico_runtime::metrics::Metrics;
use portico_test_support::time::{advance, eventually};
use portico_testkit::{KeystoneAdmin, TestEnv};
use serde_json::json;
use server::kube::KubeError;
use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

const ID: u32 = 7;

fn watch(stack: &Stack, plural: &str, namespace: &str) -> Request {
    let query = query(ResourceRef::core(plural), &[namespace]);
    queries::watch(stack, ID, query)
}

/// Opens a list and waits for its rows.
async fn opened(mut socket: Socket, request: &Request) -> Socket {
    ask(&mut socket, request).await;
    let answer = until(&mut socket, |message| match message {
        Message::Snapshot { id: ID, .. } => Some(Ok(())),
        Message::Ended { reason, .. } | Message::Stale { reason, .. } => Some(Err(reason)),
        _ => None,
    })
    .await;
    answer.expect("a list");
    socket
}

/// Waits for a row; panics if the list is interrupted meanwhile.
async fn row_appears(socket: &mut Socket, name: &str) {
    until(socket, |message| match message {
        Message::Rows { changed, .. } => changed.iter().any(|row| row.name == name).then_some(()),
        Message::Snapshot { .. } | Message::Stale { .. } | Message::Ended { .. } => {
            panic!("interrupted: {message:?}")
        }
        _ => None,
    })
    .await;
}

async fn config_map(own: &OwnNamespace, name: &str) {
    let object = serde_json::from_value(json!({ "metadata": { "name": name } })).unwrap();
    Api::<ConfigMap>::namespaced(own.client.clone(), &own.name)
        .create(&PostParams::default(), &object)
        .await
        .unwrap();
}

/// The watches of claims in single namespaces that the API server has open. Kubernetes' own
/// controllers watch all namespaces at once.
async fn open_watches(admin: &Client) -> usize {
    let request = http::Request::get("/metrics").body(Vec::new()).unwrap();
    let text = admin.request_text(request).await.unwrap();
    text.lines()
        .filter(|line| line.starts_with("apiserver_longrunning_"))
        .filter(|line| {
            [
                "resource=\"persistentvolumeclaims\"",
                "scope=\"namespace\"",
                "verb=\"WATCH\"",
            ]
            .iter()
            .all(|label| line.contains(label))
        })
        .filter_map(|line| line.rsplit(' ').next()?.parse::<usize>().ok())
        .sum()
}

#[tokio::test]
async fn viewers_with_different_rights_share_one_watch_of_what_all_may_see() {
    let stack = Stack::open();
    let own = stack.namespace("shared").await;
    let address = stack.serve().await;
    let before = open_watches(&own.client).await;
    let request = watch(&stack, "persistentvolumeclaims", &own.name);
    let mut tabs = Vec::new();
    for user in ["vera", "devi", "ada"].iter().cycle().take(12) {
        tabs.push(opened(tab_at(&stack, &address, user).await, &request).await);
    }
    assert_eq!(open_watches(&own.client).await - before, 1);
    let claim = serde_json::from_value(json!({
        "metadata": { "name": "data" },
        "spec": { "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1Mi" } } },
    }))
    .unwrap();
    Api::<PersistentVolumeClaim>::namespaced(own.client.clone(), &own.name)
        .create(&PostParams::default(), &claim)
        .await
        .unwrap();
    for tab in &mut tabs {
        row_appears(tab, "data").await;
    }
    drop(tabs);
    own.done().await;
}

#[tokio::test]
async fn a_user_without_the_right_to_list_never_joins_the_watch_of_others() {
    let stack = Stack::open();
    let address = stack.serve().await;
    let request = watch(&stack, "pods", "kube-system");
    let _ada = opened(tab_at(&stack, &address, "ada").await, &request).await;
    for user in ["vera", "devi"] {
        let mut tab = tab_at(&stack, &address, user).await;
        ask(&mut tab, &request).await;
        let reason = until(&mut tab, |message| match message {
            Message::Snapshot { .. } | Message::Rows { .. } => panic!("{user} sees {message:?}"),
            Message::Ended { reason, retry, .. } => Some((reason, retry)),
            _ => None,
        })
        .await;
        assert!(reason.0.contains("forbidden"), "{}", reason.0);
        assert!(!reason.1, "nothing to try again");
    }
}

#[tokio::test]
async fn each_user_watches_secrets_alone() {
    let stack = Stack::open();
    let own = stack.namespace("secrets").await;
    let address = stack.serve().await;
    let request = watch(&stack, "secrets", &own.name);
    let _ada = opened(tab_at(&stack, &address, "ada").await, &request).await;
    let api = stack.api("ada").await;
    let secrets = ResourceRef::core("secrets");
    let scope = |resource: ResourceRef| {
        let api = api.clone();
        let watches = stack.services.watches.clone();
        async move { watches.scope(&api, &resource, Some("shop")).await.unwrap() }
    };
    assert!(!scope(secrets.clone()).await.is_shared());
    assert_ne!(scope(secrets.clone()).await, scope(secrets).await);
    let pods = ResourceRef::core("pods");
    assert!(scope(pods.clone()).await.is_shared());
    assert_eq!(scope(pods.clone()).await, scope(pods).await);
    own.done().await;
}

/// Returns how often the watches of this process have got another lender.
fn lender_changes(metrics: &Metrics) -> u64 {
    let text = metrics.render();
    let count = text
        .lines()
        .find_map(|line| line.strip_prefix("portico_panel_shared_watch_lender_changes_total "));
    count.map_or(0, |count| count.parse().unwrap())
}

#[tokio::test]
async fn others_see_no_interruption_when_the_lender_leaves() {
    let metrics = Metrics::install(Timestamp::UNIX_EPOCH).unwrap();
    let stack = Stack::open();
    let own = stack.namespace("lender").await;
    let address = stack.serve().await;
    let request = watch(&stack, "configmaps", &own.name);
    let mut lender = opened(tab_at(&stack, &address, "vera").await, &request).await;
    let mut other = opened(tab_at(&stack, &address, "devi").await, &request).await;
    config_map(&own, "first").await;
    row_appears(&mut other, "first").await;
    let before = lender_changes(&metrics);
    lender.close(None).await.unwrap();
    while let Some(Ok(_)) = lender.next().await {}
    // the grace period of the viewer that left ends
    eventually("another viewer lends its token", async || {
        advance(Duration::from_secs(1)).await;
        lender_changes(&metrics) > before
    })
    .await;
    config_map(&own, "second").await;
    row_appears(&mut other, "second").await;
    own.done().await;
}

/// Binds the `view` role to one user, in a namespace of the test's own.
async fn bind(own: &OwnNamespace, user: &str) -> Api<RoleBinding> {
    let bindings = Api::<RoleBinding>::namespaced(own.client.clone(), &own.name);
    let binding = serde_json::from_value(json!({
        "metadata": { "name": "of-one-user" },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view" },
        "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user }],
    }))
    .unwrap();
    bindings
        .create(&PostParams::default(), &binding)
        .await
        .unwrap();
    bindings
}

#[tokio::test]
async fn rows_end_within_a_minute_after_a_role_binding_was_deleted() {
    let stack = Stack::open();
    let own = stack.namespace("unbound").await;
    let bindings = bind(&own, "nora@Default").await;
    let address = stack.serve().await;
    let request = watch(&stack, "configmaps", &own.name);
    // nora lends, vera joins
    let mut nora = opened(tab_at(&stack, &address, "nora").await, &request).await;
    let mut vera = opened(tab_at(&stack, &address, "vera").await, &request).await;
    let start = Instant::now();
    bindings
        .delete("of-one-user", &Default::default())
        .await
        .unwrap();
    let (reason, retry) = within(
        Duration::from_secs(60),
        &mut nora,
        |message| match message {
            Message::Ended { reason, retry, .. } => Some((reason, retry)),
            _ => None,
        },
    )
    .await;
    assert!(reason.contains("no longer include"), "{reason}");
    assert!(!retry);
    assert!(start.elapsed() < Duration::from_secs(60));
    config_map(&own, "after").await;
    row_appears(&mut vera, "after").await;
    let later = tokio::time::timeout(
        Duration::from_secs(3),
        until(&mut nora, |message| {
            matches!(message, Message::Rows { .. } | Message::Snapshot { .. }).then_some(message)
        }),
    )
    .await;
    assert!(later.is_err(), "{later:?}");
    own.done().await;
}

#[tokio::test]
async fn rows_end_after_a_role_was_removed_in_keystone() {
    let stack = Stack::open();
    let own = stack.namespace("unassigned").await;
    let keystone = KeystoneAdmin::sign_in(&TestEnv::load().unwrap())
        .await
        .unwrap();
    let user = keystone.create_user("watcher").await.unwrap();
    let (acme, role) = (
        stack.var("PROJECT_ID_ACME"),
        stack.var("ROLE_ID_K8S_VIEWER"),
    );
    keystone.grant(&user.id, acme, role).await.unwrap();
    let address = stack.serve().await;
    let request = watch(&stack, "configmaps", &own.name);
    let mut tab = opened(tab_of(&stack, &address, &user).await, &request).await;
    let mut vera = opened(tab_at(&stack, &address, "vera").await, &request).await;
    keystone.revoke(&user.id, acme, role).await.unwrap();
    within(Duration::from_secs(110), &mut tab, |message| {
        matches!(message, Message::Ended { .. } | Message::Stale { .. }).then_some(())
    })
    .await;
    config_map(&own, "after").await;
    row_appears(&mut vera, "after").await;
    let later = tokio::time::timeout(
        Duration::from_secs(3),
        until(&mut tab, |message| {
            matches!(message, Message::Rows { .. } | Message::Snapshot { .. }).then_some(message)
        }),
    )
    .await;
    assert!(later.is_err(), "{later:?}");
    keystone.delete_user(&user.id).await.unwrap();
    own.done().await;
}

/// What the user's own requests list in these namespaces, as `namespace/name`.
async fn own_list(stack: &Stack, user: &str, namespaces: &[&str]) -> BTreeSet<String> {
    let api = stack.api(user).await;
    let mut found = BTreeSet::new();
    for namespace in namespaces {
        let path = format!("/api/v1/namespaces/{namespace}/configmaps");
        match api.get(&path).await {
            Ok(list) => {
                let names = list["items"].as_array().unwrap().iter();
                let names = names.map(|item| item["metadata"]["name"].as_str().unwrap());
                found.extend(names.map(|name| format!("{namespace}/{name}")));
            }
            Err(KubeError::Refused(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
    found
}

#[tokio::test]
async fn users_of_different_rights_see_exactly_what_their_own_requests_list() {
    let stack = Stack::open();
    let own = stack.namespace("exactly").await;
    config_map(&own, "seen").await;
    let namespaces = ["kube-public", "kube-system", &own.name];
    let address = stack.serve().await;
    let query = query(ResourceRef::core("configmaps"), &namespaces);
    let request = queries::watch(&stack, ID, query);
    let mut tabs = Vec::new();
    for user in ["ada", "vera", "devi"] {
        let mut tab = tab_at(&stack, &address, user).await;
        ask(&mut tab, &request).await;
        let seen = until(&mut tab, |message| match message {
            Message::Snapshot { window, .. } => Some(window.rows),
            Message::Ended { reason, .. } => panic!("{user}: {reason}"),
            _ => None,
        })
        .await;
        let seen: BTreeSet<_> = seen
            .into_iter()
            .map(|row| format!("{}/{}", row.namespace.unwrap(), row.name))
            .collect();
        assert_eq!(seen, own_list(&stack, user, &namespaces).await, "{user}");
        let has_system = seen.iter().any(|name| name.starts_with("kube-system/"));
        assert_eq!(has_system, user == "ada", "{user}");
        tabs.push(tab);
    }
    // a change where only ada may look
    let name = format!("{}-elsewhere", own.name);
    let system = Api::<ConfigMap>::namespaced(own.client.clone(), "kube-system");
    let object = serde_json::from_value(json!({ "metadata": { "name": name } })).unwrap();
    system
        .create(&PostParams::default(), &object)
        .await
        .unwrap();
    row_appears(&mut tabs[0], &name).await;
    config_map(&own, "later").await;
    for (tab, user) in tabs[1..].iter_mut().zip(["vera", "devi"]) {
        until(tab, |message| match message {
            Message::Rows { changed, .. } => {
                let others: Vec<_> = changed.iter().filter(|row| row.name == name).collect();
                assert!(others.is_empty(), "{user} sees {others:?}");
                changed.iter().any(|row| row.name == "later").then_some(())
            }
            _ => None,
        })
        .await;
    }
    system.delete(&name, &Default::default()).await.unwrap();
    own.done().await;
}

#[tokio::test]
async fn a_list_of_several_namespaces_continues_without_one_whose_role_binding_was_deleted() {
    let stack = Stack::open();
    let (lost, left) = (stack.namespace("lost").await, stack.namespace("left").await);
    let bindings = bind(&lost, "nora@Default").await;
    bind(&left, "nora@Default").await;
    let address = stack.serve().await;
    let namespaces = [lost.name.as_str(), left.name.as_str()];
    let query = query(ResourceRef::core("configmaps"), &namespaces);
    let mut nora = tab_at(&stack, &address, "nora").await;
    ask(&mut nora, &queries::watch(&stack, ID, query)).await;
    let namespaces_of = |message: Message| match message {
        Message::Snapshot { window, scope, .. } => {
            let rows = window.rows.into_iter().filter_map(|row| row.namespace);
            Some((rows.collect::<BTreeSet<_>>(), scope))
        }
        Message::Ended { reason, .. } => panic!("{reason}"),
        _ => None,
    };
    let (before, _) = until(&mut nora, namespaces_of).await;
    assert_eq!(before.len(), 2);
    bindings
        .delete("of-one-user", &Default::default())
        .await
        .unwrap();
    let (after, scope) = within(Duration::from_secs(60), &mut nora, namespaces_of).await;
    assert_eq!(after, BTreeSet::from([left.name.clone()]));
    assert_eq!(
        scope,
        ListScope::Namespaces {
            listed: vec![left.name.clone()],
            refused: vec![lost.name.clone()],
            all_known: true,
        }
    );
    config_map(&left, "after").await;
    row_appears(&mut nora, "after").await;
    lost.done().await;
    left.done().await;
}

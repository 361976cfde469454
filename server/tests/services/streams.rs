//! Live lists, logs and terminals over the panel's own WebSockets.
use crate::{
    queries::{query, watch},
    stack::{PUBLIC_URL, Stack},
    tab::{Socket, ask, connect, tab, tab_at, until, within},
};
use futures::{SinkExt, StreamExt};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Patch, PatchParams, PostParams};
use portico_assertion::audit_report::{self, AuditReport, ReportedOutcome};
use portico_domain::{
    panel::{ListQuery, ListScope, ObjectRef, ResourceRef},
    stream::{LogQuery, Message, Request},
};
use serde_json::json;
use server::config::panel::StreamLimits;
use std::time::{Duration, Instant};
use tokio::time::timeout;
use tokio_tungstenite::{
    connect_async,
    tungstenite::{self, client::IntoClientRequest},
};

/// What the panel reports to the gateway when a terminal is opened.
async fn reported(stack: &Stack, address: &str, user: &str, path: &str) -> Vec<AuditReport> {
    let mut request = format!("ws://{address}{path}")
        .into_client_request()
        .unwrap();
    let headers = stack.headers(user, stack.var("PROJECT_ID_ACME")).await;
    request.headers_mut().extend(headers);
    request
        .headers_mut()
        .insert("origin", PUBLIC_URL.parse().unwrap());
    let (_, answer) = connect_async(request).await.unwrap();
    let value = answer.headers().get(audit_report::HEADER);
    audit_report::decode(value.expect("a report").as_bytes()).unwrap()
}

#[tokio::test]
async fn a_new_pod_is_reported_within_two_seconds() {
    let stack = Stack::open();
    let own = stack.namespace("watch").await;
    let mut socket = tab(&stack, "vera").await;
    let watch = watch(
        &stack,
        5,
        ListQuery {
            search: "appears".to_owned(),
            ..query(ResourceRef::core("pods"), &[])
        },
    );
    ask(&mut socket, &watch).await;
    until(&mut socket, |message| {
        matches!(message, Message::Snapshot { id: 5, .. }).then_some(())
    })
    .await;
    let start = Instant::now();
    own.pod("appears-here").await;
    until(&mut socket, |message| match message {
        Message::Rows { changed, .. } => changed
            .iter()
            .any(|row| row.name == "appears-here")
            .then_some(()),
        _ => None,
    })
    .await;
    assert!(
        start.elapsed() < Duration::from_secs(2),
        "{:?}",
        start.elapsed()
    );
    own.done().await;
}

#[tokio::test]
async fn an_object_that_changed_after_its_page_was_read_is_reported_at_once() {
    let stack = Stack::open();
    let own = stack.namespace("stale").await;
    let maps: kube::Api<ConfigMap> = kube::Api::namespaced(stack.admin().await, &own.name);
    let value = |value: &str| {
        let value = json!({ "metadata": { "name": "settings" }, "data": { "value": value } });
        serde_json::from_value::<ConfigMap>(value).unwrap()
    };
    let version = |map: ConfigMap| map.metadata.resource_version.unwrap();
    let read = maps.create(&PostParams::default(), &value("read")).await;
    let read = version(read.unwrap());
    let change = async |to: &str| {
        let (how, patch) = (PatchParams::default(), Patch::Merge(value(to)));
        version(maps.patch("settings", &how, &patch).await.unwrap())
    };
    let current = change("changed meanwhile").await;
    let follow = |id: u32, version: &str| Request::Object {
        id,
        cluster: stack.acme(),
        object: ObjectRef {
            resource: ResourceRef::core("configmaps"),
            namespace: Some(own.name.clone()),
            name: "settings".to_owned(),
        },
        version: Some(version.to_owned()),
    };
    let mut socket = tab(&stack, "vera").await;
    // the control case comes first: its page shows what is there
    ask(&mut socket, &follow(1, &current)).await;
    ask(&mut socket, &follow(2, &read)).await;
    let changed = |message| match message {
        Message::Changed { id } => Some(id),
        _ => None,
    };
    assert_eq!(until(&mut socket, changed).await, 2);
    change("changed again").await;
    let mut both = [
        until(&mut socket, changed).await,
        until(&mut socket, changed).await,
    ];
    both.sort_unstable();
    assert_eq!(both, [1, 2]);
    own.done().await;
}

#[tokio::test]
async fn a_merged_list_stays_live_when_one_of_its_namespaces_is_deleted() {
    let stack = Stack::open();
    let own = stack.namespace("leaves").await;
    let gone = own.name.clone();
    let mut socket = tab(&stack, "vera").await;
    let watch = watch(&stack, 6, query(ResourceRef::core("events"), &[]));
    ask(&mut socket, &watch).await;
    let over = |message: Message| match message {
        Message::Snapshot {
            scope: ListScope::Namespaces { listed, .. },
            ..
        } => Some(listed),
        Message::Ended { reason, .. } => panic!("{reason}"),
        _ => None,
    };
    assert!(until(&mut socket, over).await.contains(&gone));
    own.done().await;
    let without = |message| over(message).filter(|listed| !listed.contains(&gone));
    within(Duration::from_secs(30), &mut socket, without).await;
}

#[tokio::test]
async fn a_log_is_followed_and_one_without_rights_is_refused() {
    let stack = Stack::open();
    let pods: kube::Api<k8s_openapi::api::core::v1::Pod> =
        kube::Api::namespaced(stack.admin().await, "shop");
    let pod = pods
        .list(&Default::default())
        .await
        .unwrap()
        .into_iter()
        .find(|pod| {
            pod.metadata
                .name
                .as_ref()
                .is_some_and(|name| name.starts_with("storefront"))
        })
        .unwrap();
    let query = |namespace: &str| LogQuery {
        namespace: namespace.to_owned(),
        pod: pod.metadata.name.clone().unwrap(),
        container: pod.spec.as_ref().unwrap().containers[0].name.clone(),
        previous: false,
        follow: true,
        timestamps: false,
        tail: 20,
        since: None,
        until: None,
    };
    let mut socket = tab(&stack, "vera").await;
    let logs = |id: u32, namespace: &str| Request::Logs {
        id,
        cluster: stack.acme(),
        query: query(namespace),
    };
    ask(&mut socket, &logs(1, "shop")).await;
    let lines = until(&mut socket, |message| match message {
        Message::Lines { id: 1, lines, .. } => Some(lines),
        _ => None,
    })
    .await;
    assert!(!lines.is_empty());
    ask(&mut socket, &logs(2, "kube-system")).await;
    let (reason, missing) = until(&mut socket, |message| match message {
        Message::Ended {
            id: 2,
            reason,
            missing,
            retry: false,
        } => Some((reason, missing)),
        _ => None,
    })
    .await;
    assert!(reason.contains("refused"), "{reason}");
    let missing = missing.map(|missing| missing.in_words());
    assert_eq!(missing.as_deref(), Some("get on pods/log in kube-system"));
}

#[tokio::test]
async fn finding_p3_the_log_of_a_pod_without_a_node_shows_why_there_is_none() {
    let stack = Stack::open();
    let own = stack.namespace("log").await;
    own.pod("waits").await;
    let mut socket = tab(&stack, "vera").await;
    let logs = Request::Logs {
        id: 3,
        cluster: stack.acme(),
        query: LogQuery {
            namespace: own.name.clone(),
            pod: "waits".to_owned(),
            container: "c".to_owned(),
            previous: false,
            follow: true,
            timestamps: false,
            tail: 20,
            since: None,
            until: None,
        },
    };
    ask(&mut socket, &logs).await;
    // the scheduler may not have looked at it yet when it is first asked for
    until(&mut socket, |message| match message {
        Message::NotStarted { id: 3, reason } => reason
            .starts_with("The container has not started: no node fits: ")
            .then_some(()),
        Message::Ended { reason, .. } => panic!("{reason}"),
        _ => None,
    })
    .await;
    own.done().await;
}

#[tokio::test]
async fn a_terminal_opens_for_a_developer_only() {
    let stack = Stack::open();
    let pods: kube::Api<k8s_openapi::api::core::v1::Pod> =
        kube::Api::namespaced(stack.admin().await, "shop");
    let pod = pods
        .list(&Default::default())
        .await
        .unwrap()
        .into_iter()
        .find(|pod| {
            pod.metadata
                .name
                .as_ref()
                .is_some_and(|name| name.starts_with("storefront"))
        })
        .unwrap();
    let path = format!(
        "/projects/{}/clusters/{}/namespaces/shop/pods/{}/exec",
        stack.var("PROJECT_ID_ACME"),
        stack.acme(),
        pod.metadata.name.unwrap()
    );
    let address = stack.serve().await;
    let mut refused = connect(&stack, &address, "vera", &path, PUBLIC_URL)
        .await
        .unwrap();
    let end = timeout(Duration::from_secs(5), refused.next())
        .await
        .unwrap()
        .unwrap()
        .unwrap();
    assert!(end.to_text().unwrap().contains("\"ended\""), "{end}");
    assert!(
        end.to_text().unwrap().contains("cannot get resource"),
        "{end}"
    );
    for (user, outcome) in [
        ("vera", ReportedOutcome::Denied),
        ("devi", ReportedOutcome::Succeeded),
    ] {
        let reports = reported(&stack, &address, user, &path).await;
        assert_eq!((&*reports[0].action, reports[0].outcome), ("exec", outcome));
        assert_eq!(reports.len(), 1);
    }
    let mut shell = connect(&stack, &address, "devi", &path, PUBLIC_URL)
        .await
        .unwrap();
    let resize = r#"{"type":"resize","columns":80,"rows":24}"#;
    shell
        .send(tungstenite::Message::Text(resize.into()))
        .await
        .unwrap();
    let typed = b"echo portico-$((40+2)); exit 3\n".to_vec();
    shell
        .send(tungstenite::Message::Binary(typed.into()))
        .await
        .unwrap();
    let (mut shown, mut end) = (String::new(), String::new());
    timeout(Duration::from_secs(10), async {
        while let Some(Ok(frame)) = shell.next().await {
            match frame {
                tungstenite::Message::Binary(bytes) => {
                    shown.push_str(&String::from_utf8_lossy(&bytes))
                }
                tungstenite::Message::Text(text) => end = text.to_string(),
                _ => {}
            }
        }
    })
    .await
    .expect("the shell ends");
    assert!(shown.contains("portico-42"), "{shown}");
    assert!(end.contains("\"exit_code\":3"), "{end}");
}

#[tokio::test]
async fn another_origin_opens_nothing() {
    let stack = Stack::open();
    let address = stack.serve().await;
    let path = format!("/projects/{}/stream", stack.var("PROJECT_ID_ACME"));
    for origin in [
        "http://evil.example",
        "null",
        "http://localhost:8081",
        "http://localhost:8080.evil.example",
    ] {
        let refused = connect(&stack, &address, "ada", &path, origin).await;
        assert!(
            matches!(refused, Err(tungstenite::Error::Http(answer)) if answer.status() == 403),
            "{origin}"
        );
    }
}

/// Asks for a live list, and waits for its first answer: whether it is live.
async fn is_live(socket: &mut Socket, stack: &Stack) -> Result<(), String> {
    let watch = watch(stack, 1, query(ResourceRef::core("pods"), &["shop"]));
    ask(socket, &watch).await;
    until(socket, |message| match message {
        Message::Snapshot { id: 1, .. } => Some(Ok(())),
        Message::Refused { reason } | Message::Stale { id: 1, reason, .. } => Some(Err(reason)),
        _ => None,
    })
    .await
}

#[tokio::test]
async fn finding_s12_a_session_has_sixteen_streams_and_the_limit_is_shown() {
    let stack = Stack::open();
    let address = stack.serve().await;
    let mut open = Vec::new();
    for _ in 0..16 {
        let mut socket = tab_at(&stack, &address, "vera").await;
        // answered: the server has counted it
        is_live(&mut socket, &stack)
            .await
            .expect("room for sixteen");
        open.push(socket);
    }
    let mut one_too_many = tab_at(&stack, &address, "vera").await;
    let reason = until(&mut one_too_many, |message| match message {
        Message::Refused { reason } => Some(reason),
        _ => None,
    })
    .await;
    assert!(reason.contains("16 live tabs"), "{reason}");
    let closed = timeout(Duration::from_secs(5), one_too_many.next()).await;
    let Ok(Some(Ok(tungstenite::Message::Close(Some(frame))))) = closed else {
        panic!("{closed:?}");
    };
    assert_eq!(u16::from(frame.code), 1013);
    // a closed tab makes room
    open.pop().unwrap().close(None).await.unwrap();
    let room = async {
        loop {
            let mut socket = tab_at(&stack, &address, "vera").await;
            if is_live(&mut socket, &stack).await.is_ok() {
                break;
            }
        }
    };
    timeout(Duration::from_secs(10), room)
        .await
        .expect("there is room again");
}

#[tokio::test]
async fn finding_s12_a_list_beyond_the_budget_shows_it_and_is_live_when_there_is_room() {
    let stack = Stack::open();
    let address = stack
        .serve_with(StreamLimits {
            max_watches: 1,
            ..StreamLimits::default()
        })
        .await;
    let mut first = tab_at(&stack, &address, "vera").await;
    is_live(&mut first, &stack).await.expect("the first list");
    let mut second = tab_at(&stack, &address, "vera").await;
    let reason = is_live(&mut second, &stack).await.unwrap_err();
    assert!(reason.contains("watch 1 places"), "{reason}");
    first.close(None).await.unwrap();
    until(&mut second, |message| {
        matches!(message, Message::Snapshot { id: 1, .. }).then_some(())
    })
    .await;
}

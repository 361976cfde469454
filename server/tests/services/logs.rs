//! Time ranges of logs, and the pods of a list whose logs are followed.
use crate::{
    queries::query,
    stack::Stack,
    tab::{Socket, ask, tab, until, within},
};
use app::{error::UiErrorKind, ports::Panel as _};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api,
    api::{Patch, PatchParams},
};
use portico_domain::{
    panel::{ListQuery, MAX_FOLLOWED_PODS, ResourceRef},
    stream::{LogQuery, Message, Request},
};
use serde_json::json;
use std::time::Duration;

/// A container that writes a line every few seconds.
async fn checkout(stack: &Stack) -> LogQuery {
    let pods: Api<Pod> = Api::namespaced(stack.admin().await, "shop");
    let is_checkout = |pod: &Pod| {
        let name = pod.metadata.name.as_deref();
        name.is_some_and(|name| name.starts_with("checkout"))
    };
    let all = pods.list(&Default::default()).await.unwrap();
    let pod = all.into_iter().find(is_checkout).unwrap();
    LogQuery {
        namespace: "shop".to_owned(),
        pod: pod.metadata.name.unwrap(),
        container: "app".to_owned(),
        previous: false,
        follow: true,
        timestamps: true,
        tail: 20,
        since: None,
        until: None,
    }
}

async fn open(stack: &Stack, socket: &mut Socket, id: u32, query: LogQuery) {
    let cluster = stack.acme();
    ask(socket, &Request::Logs { id, cluster, query }).await;
}

/// The lines of a log, and why it ended.
async fn all_lines(socket: &mut Socket, id: u32) -> (Vec<String>, String) {
    let mut found = Vec::new();
    let reason = within(Duration::from_secs(20), socket, |message| match message {
        Message::Lines { id: of, lines, .. } if of == id => {
            found.extend(lines);
            None
        }
        Message::Ended {
            id: of,
            reason,
            retry,
            ..
        } if of == id => {
            assert!(!retry, "{reason}");
            Some(reason)
        }
        _ => None,
    })
    .await;
    (found, reason)
}

fn written_at(line: &str) -> Timestamp {
    let (timestamp, _) = line.split_once(' ').unwrap();
    timestamp.parse().unwrap()
}

#[tokio::test]
async fn a_range_with_an_end_has_no_later_lines_and_ends() {
    let stack = Stack::open();
    let mut socket = tab(&stack, "vera").await;
    let query = checkout(&stack).await;
    open(&stack, &mut socket, 1, query.clone()).await;
    // the first of the last lines, and lines that are later
    let first = until(&mut socket, |message| match message {
        Message::Lines { id: 1, lines, .. } => Some(written_at(&lines[0])),
        _ => None,
    })
    .await;
    let end = first.as_second() + 1;
    within(
        Duration::from_secs(30),
        &mut socket,
        |message| match message {
            Message::Lines { id: 1, lines, .. } => lines
                .iter()
                .any(|line| written_at(line).as_second() > end)
                .then_some(()),
            _ => None,
        },
    )
    .await;
    let past = LogQuery {
        until: Some(u32::try_from(end).unwrap()),
        ..query
    };
    open(&stack, &mut socket, 2, past.clone()).await;
    let (lines, reason) = all_lines(&mut socket, 2).await;
    assert_eq!(reason, "The time range ends here.");
    assert!(!lines.is_empty() && lines.len() <= 20, "{lines:?}");
    let end = Timestamp::from_second(end).unwrap();
    assert!(
        lines.iter().all(|line| written_at(line) <= end),
        "{lines:?}"
    );
    // the timestamps that the end needs are not shown if they are not wanted
    let plain = LogQuery {
        timestamps: false,
        ..past
    };
    open(&stack, &mut socket, 3, plain).await;
    let (without, _) = all_lines(&mut socket, 3).await;
    let texts: Vec<_> = lines
        .iter()
        .map(|line| line.split_once(' ').unwrap().1)
        .collect();
    assert_eq!(without, texts);
}

#[tokio::test]
async fn a_range_with_an_end_in_the_future_is_followed_until_then() {
    let stack = Stack::open();
    let mut socket = tab(&stack, "vera").await;
    let now = Timestamp::now().as_second();
    let query = LogQuery {
        until: Some(u32::try_from(now + 3).unwrap()),
        ..checkout(&stack).await
    };
    open(&stack, &mut socket, 1, query).await;
    let (lines, reason) = all_lines(&mut socket, 1).await;
    assert_eq!(reason, "The time range ends here.");
    assert!(Timestamp::now().as_second() >= now + 3);
    assert!(!lines.is_empty());
}

#[tokio::test]
async fn a_range_that_ends_before_it_begins_is_refused_with_the_reason() {
    let stack = Stack::open();
    let mut socket = tab(&stack, "vera").await;
    let query = LogQuery {
        since: Some(300),
        until: Some(u32::try_from(Timestamp::now().as_second() - 3_600).unwrap()),
        ..checkout(&stack).await
    };
    open(&stack, &mut socket, 1, query).await;
    let (lines, reason) = all_lines(&mut socket, 1).await;
    assert!(lines.is_empty());
    assert!(reason.contains("ends before it begins"), "{reason}");
}

#[tokio::test]
async fn the_pods_of_a_label_selector_are_those_that_its_list_shows() {
    let stack = Stack::open();
    let own = stack.namespace("selected").await;
    let pods: Api<Pod> = Api::namespaced(own.client.clone(), &own.name);
    for number in 0..=MAX_FOLLOWED_PODS {
        own.pod(&format!("web-{number:02}")).await;
    }
    let restarted = json!({ "containerStatuses": [{
        "name": "c", "image": "none", "imageID": "", "ready": false, "restartCount": 1,
        "state": { "waiting": { "reason": "CrashLoopBackOff" } },
        "lastState": { "terminated": { "exitCode": 1 } },
    }] });
    own.pod_with_status("db-0", restarted).await;
    for name in ["db-0", "web-00"] {
        let labels = json!({ "metadata": { "labels": { "logs": "yes" } } });
        pods.patch(name, &PatchParams::default(), &Patch::Merge(labels))
            .await
            .unwrap();
    }
    let panel = stack.panel("vera").await;
    let all = query(ResourceRef::core("pods"), &[&own.name]);
    let labelled = ListQuery {
        labels: "logs=yes".to_owned(),
        ..all.clone()
    };
    let found = panel.pods_of_list(stack.acme(), labelled).await.unwrap();
    let names: Vec<_> = found.pods.iter().map(|pod| &*pod.object.name).collect();
    assert_eq!((names, found.total), (vec!["db-0", "web-00"], 2));
    assert_eq!(found.pods[0].containers, ["c"]);
    assert_eq!(found.pods[0].previous, ["c"]);
    assert!(found.pods[1].previous.is_empty());

    let many = panel.pods_of_list(stack.acme(), all).await.unwrap();
    assert_eq!(many.pods.len(), MAX_FOLLOWED_PODS);
    assert_eq!(many.total, MAX_FOLLOWED_PODS + 2);

    let other = query(ResourceRef::core("configmaps"), &[&own.name]);
    let error = panel.pods_of_list(stack.acme(), other).await.unwrap_err();
    assert_eq!(error.kind, UiErrorKind::Invalid);
    own.done().await;
}

//! Lists as a real API server answers them: events, label selectors, namespaces to choose from.
use crate::{
    queries::{FIRST_ROWS, query},
    stack::Stack,
};
use app::ports::Panel;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::{ConfigMap, Event};
use kube::{
    Api,
    api::{ListParams, PostParams},
};
use portico_domain::panel::{
    Health, LabelCount, ListQuery, ListScope, ObjectRef, ResourceRef, Row, RowRange, label_selector,
};
use serde_json::json;

#[tokio::test]
async fn finding_p2_events_of_both_groups_have_times_objects_and_the_newest_first() {
    let stack = Stack::open();
    let own = stack.namespace("events").await;
    let events = Api::<Event>::namespaced(own.client.clone(), &own.name);
    for (name, kind, api_version, seen) in [
        ("old.1", "Pod", "v1", "2026-01-01T10:00:00Z"),
        ("new.1", "Deployment", "apps/v1", "2026-01-01T12:00:00Z"),
        ("between.1", "Unicorn", "x.org/v1", "2026-01-01T11:00:00Z"),
    ] {
        let event = serde_json::from_value(json!({
            "metadata": { "name": name }, "type": "Warning", "reason": "Why", "message": "That is why.",
            "involvedObject": { "kind": kind, "apiVersion": api_version, "namespace": own.name,
                "name": name.trim_end_matches(".1") },
            "lastTimestamp": seen, "count": 3,
        }))
        .unwrap();
        events.create(&PostParams::default(), &event).await.unwrap();
    }
    // a viewer's role need not have the newer group
    for (user, group) in [("vera", ""), ("ada", "events.k8s.io")] {
        let panel = stack.panel(user).await;
        let resource = ResourceRef::new(group, "v1", "events");
        let list = panel
            .list(stack.acme(), query(resource, &[&own.name]), FIRST_ROWS)
            .await
            .unwrap();
        let names: Vec<_> = list
            .columns
            .iter()
            .map(|column| column.name.as_str())
            .collect();
        assert_eq!(names, ["Last seen", "Type", "Reason", "Object", "Message"]);
        let rows: Vec<_> = list
            .window
            .rows
            .iter()
            .filter(|row| row.cells[2] == "Why")
            .collect();
        let order: Vec<_> = rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(order, ["new.1", "between.1", "old.1"], "{group}");
        assert_eq!(
            rows[0].cells[1..],
            ["Warning", "Why", "Deployment new", "That is why."]
        );
        let event = rows[0].event.as_ref().unwrap();
        assert_eq!((event.last_seen, event.count), (Some(1_767_268_800), 3));
        assert_eq!(
            event.object,
            Some(ObjectRef {
                resource: ResourceRef::new("apps", "v1", "deployments"),
                namespace: Some(own.name.clone()),
                name: "new".to_owned(),
            })
        );
        // a kind that the cluster does not serve leads nowhere
        assert_eq!(rows[1].event.as_ref().unwrap().object, None);
    }
    own.done().await;
}

#[tokio::test]
async fn finding_p8_only_kinds_with_namespaces_have_namespaces_to_choose_from() {
    let stack = Stack::open();
    let vera = stack.panel("vera").await;
    let of =
        async |resource: ResourceRef| vera.namespaces_for(stack.acme(), resource).await.unwrap();
    assert_eq!(of(ResourceRef::core("nodes")).await, None);
    assert_eq!(of(ResourceRef::core("persistentvolumes")).await, None);
    let names = of(ResourceRef::core("pods")).await.unwrap();
    assert!(names.contains(&"shop".to_owned()), "{names:?}");
}

/// What is marked in the field before a cluster is asked is exactly what the cluster would refuse.
#[tokio::test]
async fn finding_p13_the_api_server_takes_and_refuses_the_same_label_selectors() {
    let stack = Stack::open();
    let pods = Api::<k8s_openapi::api::core::v1::Pod>::namespaced(stack.admin().await, "shop");
    for text in [
        "app",
        "!app",
        "! app",
        "app=",
        "app=,tier=db",
        "app==web",
        "app = web",
        "app!=web",
        "tier in (web, db)",
        "tier notin(web)",
        "tier in (,web)",
        "tier in (web,)",
        "in in (in)",
        "app.kubernetes.io/name=shop",
        "count>3",
        "==nope(",
        "app in",
        "app in (",
        "app in (web",
        "app in ()",
        "app web",
        "app=web,",
        "app=web tier=db",
        ",",
        "=web",
        "app=-web",
        "-app=web",
        "a/b/c=web",
        "App.Io/x=web",
        "count>many",
        "!app=web",
    ] {
        let answer = pods
            .list(&ListParams::default().labels(text).limit(1))
            .await;
        let checked = label_selector::check(text);
        assert_eq!(
            checked.is_ok(),
            answer.is_ok(),
            "{text:?}: {checked:?}, {:?}",
            answer.err()
        );
    }
}

/// A container that runs again after an end so many seconds ago.
fn restarted(seconds_ago: i64) -> serde_json::Value {
    let at = |ago: i64| {
        let now = Timestamp::from_second(Timestamp::now().as_second()).unwrap();
        (now - SignedDuration::from_secs(ago)).to_string()
    };
    json!({
        "phase": "Running",
        "containerStatuses": [{
            "name": "c", "image": "none", "imageID": "", "ready": true, "restartCount": 4,
            "state": { "running": { "startedAt": at(seconds_ago - 5) } },
            "lastState": { "terminated": { "exitCode": 1, "reason": "Error",
                "startedAt": at(seconds_ago + 10), "finishedAt": at(seconds_ago) } },
        }],
    })
}

#[tokio::test]
async fn finding_p11_a_pod_between_two_crashes_stays_failed_in_its_list() {
    let stack = Stack::open();
    let own = stack.namespace("crashes").await;
    own.pod_with_status("loops", restarted(30)).await;
    // the control case: it has run for an hour since
    own.pod_with_status("recovered", restarted(3600)).await;
    let vera = stack.panel("vera").await;
    let pods = query(ResourceRef::core("pods"), &[&own.name]);
    let list = vera.list(stack.acme(), pods, FIRST_ROWS).await.unwrap();
    let rows: Vec<_> = list
        .window
        .rows
        .iter()
        .map(|row| (row.name.as_str(), row.cells[2].as_str(), row.health))
        .collect();
    assert_eq!(
        rows,
        [
            ("loops", "Running", Some(Health::Failed)),
            ("recovered", "Running", Some(Health::Ok)),
        ]
    );
    own.done().await;
}

/// The rows that Portico selects from a shared watch are those that the API server itself would.
#[tokio::test]
async fn label_selectors_select_what_the_api_server_does() {
    let stack = Stack::open();
    let own = stack.namespace("labels").await;
    let objects = Api::<ConfigMap>::namespaced(own.client.clone(), &own.name);
    for (name, labels) in [
        (
            "web",
            json!({ "app": "web", "tier": "front", "count": "7" }),
        ),
        ("db", json!({ "app": "db", "tier": "" })),
        (
            "app",
            json!({ "app.kubernetes.io/name": "shop", "count": "many" }),
        ),
        ("bare", json!({})),
    ] {
        let metadata = json!({ "metadata": { "name": name, "labels": labels } });
        let object = serde_json::from_value(metadata).unwrap();
        objects
            .create(&PostParams::default(), &object)
            .await
            .unwrap();
    }
    let panel = stack.panel("vera").await;
    for text in [
        "",
        "app",
        "!app",
        "app=web",
        "app==db",
        "app!=web",
        "tier=",
        "tier in (front, back)",
        "tier in (,front)",
        "tier notin (front)",
        "tier notin (,)",
        "app in (web,db),!count",
        "app.kubernetes.io/name=shop",
        "count>6",
        "count>7",
        "count<8",
        "missing notin (x)",
    ] {
        let expected = objects
            .list(&ListParams::default().labels(text))
            .await
            .unwrap();
        let expected: Vec<_> = expected
            .into_iter()
            .filter_map(|object| object.metadata.name)
            .collect();
        let listed = panel
            .list(
                stack.acme(),
                ListQuery {
                    labels: text.to_owned(),
                    ..query(ResourceRef::core("configmaps"), &[&own.name])
                },
                FIRST_ROWS,
            )
            .await
            .unwrap();
        let listed: Vec<_> = listed.window.rows.into_iter().map(|row| row.name).collect();
        assert_eq!(listed, expected, "{text:?}");
    }
    own.done().await;
}

/// Names of the rows of a list.
async fn listed(panel: &impl Panel, stack: &Stack, query: ListQuery) -> Vec<String> {
    let table = panel.list(stack.acme(), query, FIRST_ROWS).await.unwrap();
    table.window.rows.into_iter().map(|row| row.name).collect()
}

#[tokio::test]
async fn a_list_of_chosen_namespaces_has_those_that_the_user_may_list() {
    let stack = Stack::open();
    let (one, two) = (stack.namespace("one").await, stack.namespace("two").await);
    one.pod("first").await;
    two.pod("second").await;
    let chosen = query(
        ResourceRef::core("pods"),
        &["kube-system", &one.name, &two.name, "t-does-not-exist"],
    );
    for (user, refuses) in [
        ("vera", vec!["kube-system", "t-does-not-exist"]),
        ("ada", vec!["t-does-not-exist"]),
    ] {
        let panel = stack.panel(user).await;
        let table = panel
            .list(stack.acme(), chosen.clone(), FIRST_ROWS)
            .await
            .unwrap();
        let ListScope::Namespaces {
            listed, refused, ..
        } = &table.scope
        else {
            panic!("{:?}", table.scope);
        };
        assert_eq!(*refused, refuses, "{user}");
        assert!(listed.contains(&one.name) && listed.contains(&two.name));
        let names: Vec<_> = table.window.rows.iter().map(|row| &*row.name).collect();
        assert!(names.contains(&"first") && names.contains(&"second"));
        let is_chosen = |row: &Row| listed.contains(row.namespace.as_ref().unwrap());
        assert!(table.window.rows.iter().all(is_chosen), "{names:?}");
    }
    let none = query(ResourceRef::core("pods"), &["kube-public", "kube-system"]);
    let error = stack
        .panel("vera")
        .await
        .list(stack.acme(), none, FIRST_ROWS)
        .await
        .unwrap_err();
    assert!(error.message.contains("in any of these 2"), "{error:?}");
    one.done().await;
    two.done().await;
}

#[tokio::test]
async fn rows_are_filtered_counted_and_sorted_over_the_whole_list() {
    let stack = Stack::open();
    let own = stack.namespace("facets").await;
    let running = json!({ "phase": "Running", "containerStatuses": [
        { "name": "c", "image": "none", "imageID": "", "ready": true, "restartCount": 0,
          "state": { "running": { "startedAt": "2026-01-01T10:00:00Z" } } },
    ]});
    let waiting = |reason: &str, restarts: u32| {
        json!({ "phase": "Running", "containerStatuses": [
            { "name": "c", "image": "none", "imageID": "", "ready": false,
              "restartCount": restarts, "state": { "waiting": { "reason": reason } } },
        ]})
    };
    own.pod_with_status("web-1", running.clone()).await;
    own.pod_with_status("web-2", waiting("CrashLoopBackOff", 12))
        .await;
    own.pod_with_status("web-3", waiting("ImagePullBackOff", 0))
        .await;
    own.pod_with_status("db-1", running).await;
    let panel = stack.panel("vera").await;
    let pods = || query(ResourceRef::core("pods"), &[&own.name]);
    let sort = "status".to_owned();
    assert_eq!(
        listed(&panel, &stack, ListQuery { sort, ..pods() }).await,
        ["web-2", "web-3", "db-1", "web-1"]
    );
    for (search, fields, names) in [
        ("web -image", "", vec!["web-1", "web-2"]),
        ("", "status=*BackOff,restarts>3", vec!["web-2"]),
        ("", "age>1h", vec![]),
        ("", "age<1h,metadata.name!=web-*", vec!["db-1"]),
        ("", "status.phase=Running", vec!["db-1", "web-1"]),
    ] {
        let query = ListQuery {
            search: search.to_owned(),
            fields: fields.to_owned(),
            ..pods()
        };
        assert_eq!(
            listed(&panel, &stack, query).await,
            names,
            "{search} {fields}"
        );
    }
    let failing = ListQuery {
        search: "web".to_owned(),
        status: vec!["CrashLoopBackOff".to_owned()],
        ..pods()
    };
    let range = RowRange {
        offset: 0,
        limit: 1,
    };
    let table = panel
        .list(stack.acme(), failing.clone(), range)
        .await
        .unwrap();
    let counts: Vec<_> = table
        .statuses
        .iter()
        .map(|one| (one.status.as_str(), one.count))
        .collect();
    assert_eq!(
        counts,
        [
            ("CrashLoopBackOff", 1),
            ("ImagePullBackOff", 1),
            ("Running", 1)
        ]
    );
    assert_eq!((table.window.total, table.window.unfiltered), (1, 4));
    let wrong = ListQuery {
        fields: "color=red".to_owned(),
        ..pods()
    };
    let error = panel.list(stack.acme(), wrong, range).await.unwrap_err();
    assert!(error.message.contains("no column \"color\""), "{error:?}");

    let selected = panel.select(stack.acme(), failing).await.unwrap();
    assert_eq!((selected.targets.len(), selected.total), (1, 1));
    assert_eq!(selected.targets[0].name, "web-2");
    own.done().await;
}

#[tokio::test]
async fn labels_of_a_list_complete_what_was_typed() {
    let stack = Stack::open();
    let own = stack.namespace("suggest").await;
    let objects = Api::<ConfigMap>::namespaced(own.client.clone(), &own.name);
    for (name, labels) in [
        ("1", json!({ "app": "web", "tier": "front" })),
        ("2", json!({ "app": "web" })),
        ("3", json!({ "app": "db" })),
    ] {
        let metadata = json!({ "metadata": { "name": name, "labels": labels } });
        let object = serde_json::from_value(metadata).unwrap();
        objects
            .create(&PostParams::default(), &object)
            .await
            .unwrap();
    }
    let panel = stack.panel("vera").await;
    let suggested = async |labels: &str, typed: &str| {
        let query = ListQuery {
            labels: labels.to_owned(),
            ..query(ResourceRef::core("configmaps"), &[&own.name])
        };
        let answer = panel
            .label_suggestions(stack.acme(), query, typed.to_owned())
            .await
            .unwrap();
        let text = |one: LabelCount| match one.value {
            Some(value) => format!("{}={value} {}", one.key, one.count),
            None => format!("{} {}", one.key, one.count),
        };
        answer.into_iter().map(text).collect::<Vec<_>>()
    };
    assert_eq!(suggested("", "").await, ["app 3", "tier 1"]);
    assert_eq!(suggested("", "app=").await, ["app=web 2", "app=db 1"]);
    assert_eq!(suggested("app=web", "t").await, ["tier 1"]);
    // what is being typed is not a selector yet
    assert_eq!(suggested("app in (", "app=d").await, ["app=db 1"]);
    own.done().await;
}

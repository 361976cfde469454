//! Views of a live list: other filters and windows without another watch, and the pause.
use crate::{
    own_namespace::OwnNamespace,
    queries::{first_rows, query, watch},
    stack::Stack,
    tab::{Socket, ask, tab_at, until, within},
};
use futures::{StreamExt, stream};
use k8s_openapi::api::{
    core::v1::ConfigMap,
    rbac::v1::{Role, RoleBinding},
};
use kube::{
    Api,
    api::{Patch, PatchParams, PostParams},
};
use portico_domain::{
    panel::{ListQuery, ListScope, ResourceRef, RowRange, RowWindow},
    stream::{ListView, Message, Request},
};
use serde_json::json;
use server::config::panel::StreamLimits;
use std::time::{Duration, Instant};

const ID: u32 = 3;

async fn config_map(own: &OwnNamespace, name: &str) {
    let object = serde_json::from_value(json!({ "metadata": { "name": name } })).unwrap();
    Api::<ConfigMap>::namespaced(own.client.clone(), &own.name)
        .create(&PostParams::default(), &object)
        .await
        .unwrap();
}

async fn change(own: &OwnNamespace, name: &str, value: &str) {
    let patch = Patch::Merge(json!({ "data": { "key": value } }));
    Api::<ConfigMap>::namespaced(own.client.clone(), &own.name)
        .patch(name, &PatchParams::default(), &patch)
        .await
        .unwrap();
}

fn config_maps(own: &OwnNamespace, search: &str) -> ListQuery {
    ListQuery {
        search: search.to_owned(),
        ..query(ResourceRef::core("configmaps"), &[&own.name])
    }
}

/// The window of the next snapshot, which has to be of this turn.
async fn snapshot(socket: &mut Socket, turn: u32) -> (RowWindow, ListScope) {
    until(socket, |message| match message {
        Message::Snapshot {
            turn: of,
            window,
            scope,
            ..
        } => {
            assert_eq!(of, turn);
            Some((window, scope))
        }
        Message::Ended { reason, .. } | Message::Stale { reason, .. } => panic!("{reason}"),
        _ => None,
    })
    .await
}

fn names(window: &RowWindow) -> Vec<&str> {
    window.rows.iter().map(|row| row.name.as_str()).collect()
}

async fn show(socket: &mut Socket, view: ListView) -> (RowWindow, ListScope) {
    let turn = view.turn;
    ask(socket, &Request::View { id: ID, view }).await;
    snapshot(socket, turn).await
}

/// How many watches of these objects the API server has open.
async fn open_watches(own: &OwnNamespace) -> usize {
    let request = http::Request::get("/metrics").body(Vec::new()).unwrap();
    let text = own.client.request_text(request).await.unwrap();
    let labels = [
        "resource=\"configmaps\"",
        "scope=\"namespace\"",
        "verb=\"WATCH\"",
    ];
    text.lines()
        .filter(|line| line.starts_with("apiserver_longrunning_"))
        .filter(|line| labels.iter().all(|label| line.contains(label)))
        .filter_map(|line| line.rsplit(' ').next()?.parse::<usize>().ok())
        .sum()
}

#[tokio::test]
async fn another_view_of_an_open_list_is_answered_at_once_and_opens_no_watch() {
    let stack = Stack::open();
    let own = stack.namespace("views").await;
    for name in ["a-1", "a-2", "a-3", "b-1"] {
        config_map(&own, name).await;
    }
    let address = stack.serve().await;
    let mut tab = tab_at(&stack, &address, "vera").await;
    ask(&mut tab, &watch(&stack, ID, config_maps(&own, "a-"))).await;
    let (window, _) = snapshot(&mut tab, 1).await;
    assert_eq!(names(&window), ["a-1", "a-2", "a-3"]);
    let watches = open_watches(&own).await;

    let start = Instant::now();
    let views = 20;
    for turn in 2..2 + views {
        let search = ["b-1", "a-2"][turn as usize % 2];
        let view = ListView {
            turn,
            ..first_rows(config_maps(&own, search))
        };
        let (window, _) = show(&mut tab, view).await;
        assert_eq!(names(&window), [search]);
    }
    // a batch of changes alone would wait for up to 200 ms
    let each = start.elapsed() / views;
    assert!(each < Duration::from_millis(100), "{each:?}");
    assert!(open_watches(&own).await <= watches);

    // windows of the same query
    let range = RowRange {
        offset: 1,
        limit: 1,
    };
    let view = ListView {
        turn: 40,
        range,
        ..first_rows(config_maps(&own, "a-"))
    };
    let (window, _) = show(&mut tab, view).await;
    assert_eq!(names(&window), ["a-2"]);
    assert_eq!((window.offset, window.total), (1, 3));
    // a row before the window moves it
    config_map(&own, "a-0").await;
    until(&mut tab, |message| match message {
        Message::Rows {
            turn,
            changed,
            order,
            total,
            ..
        } => {
            assert_eq!((turn, total), (40, 4));
            assert_eq!(changed[0].name, "a-1");
            assert_eq!(order.unwrap(), [changed[0].uid.clone()]);
            Some(())
        }
        _ => None,
    })
    .await;
    own.done().await;
}

#[tokio::test]
async fn a_view_of_other_namespaces_opens_the_list_there() {
    let stack = Stack::open();
    let (one, two) = (stack.namespace("from").await, stack.namespace("to").await);
    config_map(&one, "in-one").await;
    config_map(&two, "in-two").await;
    let address = stack.serve().await;
    let mut tab = tab_at(&stack, &address, "vera").await;
    ask(&mut tab, &watch(&stack, ID, config_maps(&one, "in-"))).await;
    assert_eq!(names(&snapshot(&mut tab, 1).await.0), ["in-one"]);
    let mut view = ListView {
        turn: 2,
        ..first_rows(config_maps(&two, "in-"))
    };
    let (window, scope) = show(&mut tab, view.clone()).await;
    assert_eq!(names(&window), ["in-two"]);
    assert_eq!(scope, ListScope::Namespace(two.name.clone()));
    view.turn = 3;
    view.query.namespaces = vec![one.name.clone(), two.name.clone(), "kube-system".to_owned()];
    view.query.namespaces.sort();
    let (window, scope) = show(&mut tab, view).await;
    assert_eq!(names(&window).len(), 2);
    let mut listed = vec![one.name.clone(), two.name.clone()];
    listed.sort();
    let refused = vec!["kube-system".to_owned()];
    let expected = ListScope::Namespaces {
        listed,
        refused,
        all_known: true,
    };
    assert_eq!(scope, expected);
    one.done().await;
    two.done().await;
}

#[tokio::test]
async fn a_view_of_another_kind_is_ignored() {
    let stack = Stack::open();
    let own = stack.namespace("kind").await;
    config_map(&own, "first").await;
    let address = stack.serve().await;
    let mut tab = tab_at(&stack, &address, "vera").await;
    ask(&mut tab, &watch(&stack, ID, config_maps(&own, "first"))).await;
    snapshot(&mut tab, 1).await;
    let view = ListView {
        turn: 2,
        ..first_rows(query(ResourceRef::core("pods"), &[&own.name]))
    };
    ask(&mut tab, &Request::View { id: ID, view }).await;
    config_map(&own, "first-2").await;
    until(&mut tab, |message| match message {
        Message::Rows { turn, .. } => {
            assert_eq!(turn, 1);
            Some(())
        }
        Message::Snapshot { .. } => panic!("{message:?}"),
        _ => None,
    })
    .await;
    own.done().await;
}

#[tokio::test]
async fn rows_that_the_filter_leaves_out_are_not_sent() {
    let stack = Stack::open();
    let own = stack.namespace("filtered").await;
    config_map(&own, "web-1").await;
    let address = stack.serve().await;
    let mut tab = tab_at(&stack, &address, "vera").await;
    ask(&mut tab, &watch(&stack, ID, config_maps(&own, "web"))).await;
    let (window, _) = snapshot(&mut tab, 1).await;
    assert_eq!(names(&window), ["web-1"]);
    config_map(&own, "db-1").await;
    change(&own, "db-1", "x").await;
    // the control case ends the test: it was made last
    config_map(&own, "web-2").await;
    until(&mut tab, |message| match message {
        Message::Rows { changed, .. } => {
            let sent: Vec<_> = changed.iter().map(|row| row.name.as_str()).collect();
            assert!(!sent.contains(&"db-1"), "{sent:?}");
            sent.contains(&"web-2").then_some(())
        }
        Message::Snapshot { window, .. } => {
            assert!(!names(&window).contains(&"db-1"));
            names(&window).contains(&"web-2").then_some(())
        }
        _ => None,
    })
    .await;
    own.done().await;
}

#[tokio::test]
async fn a_paused_list_keeps_its_rows_and_counts_what_changed() {
    let stack = Stack::open();
    let own = stack.namespace("pause").await;
    for name in ["a-1", "a-2", "b-1"] {
        config_map(&own, name).await;
    }
    let address = stack.serve().await;
    let mut tab = tab_at(&stack, &address, "vera").await;
    ask(&mut tab, &watch(&stack, ID, config_maps(&own, "a-"))).await;
    snapshot(&mut tab, 1).await;
    let mut view = ListView {
        turn: 2,
        is_paused: true,
        ..first_rows(config_maps(&own, "a-"))
    };
    let (before, _) = show(&mut tab, view.clone()).await;
    // one object twice, a new one, and one that the filter leaves out
    change(&own, "a-1", "x").await;
    config_map(&own, "a-0").await;
    change(&own, "b-1", "x").await;
    change(&own, "a-1", "y").await;
    until(&mut tab, |message| match message {
        Message::Rows {
            changed,
            order,
            pending,
            total,
            ..
        } => {
            assert!(changed.is_empty() && order.is_none() && total == 2);
            assert!(pending <= 2, "{pending}");
            (pending == 2).then_some(())
        }
        _ => None,
    })
    .await;
    // another filter and another window work over the rows of the pause
    view.turn = 3;
    let (window, _) = show(&mut tab, view.clone()).await;
    assert_eq!(window, before);
    view.turn = 4;
    view.query.search = "-a-".to_owned();
    let (window, _) = show(&mut tab, view.clone()).await;
    assert!(names(&window).contains(&"b-1") && !names(&window).contains(&"a-0"));
    let b = window.rows.iter().find(|row| row.name == "b-1").unwrap();
    assert_eq!(b.cells[1], "0", "as it was before its change");
    until(&mut tab, |message| match message {
        Message::Rows { pending, .. } => {
            assert_eq!(pending, 1);
            Some(())
        }
        _ => None,
    })
    .await;
    // resumed
    view.turn = 5;
    view.is_paused = false;
    view.query.search = "a-".to_owned();
    let (window, _) = show(&mut tab, view).await;
    assert_eq!(names(&window), ["a-0", "a-1", "a-2"]);
    own.done().await;
}

/// Binds a role to nora, who has none otherwise.
async fn bind(own: &OwnNamespace, kind: &str, role: &str) -> Api<RoleBinding> {
    let bindings = Api::<RoleBinding>::namespaced(own.client.clone(), &own.name);
    let binding = serde_json::from_value(json!({
        "metadata": { "name": "of-one-user" },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role },
        "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User",
            "name": "nora@Default" }],
    }))
    .unwrap();
    bindings
        .create(&PostParams::default(), &binding)
        .await
        .unwrap();
    bindings
}

#[tokio::test]
async fn a_paused_list_ends_within_a_minute_after_its_role_binding_was_deleted() {
    let stack = Stack::open();
    let own = stack.namespace("unpaused").await;
    let bindings = bind(&own, "ClusterRole", "view").await;
    let address = stack.serve().await;
    let mut tab = tab_at(&stack, &address, "nora").await;
    ask(&mut tab, &watch(&stack, ID, config_maps(&own, ""))).await;
    snapshot(&mut tab, 1).await;
    let view = ListView {
        turn: 2,
        is_paused: true,
        ..first_rows(config_maps(&own, ""))
    };
    show(&mut tab, view).await;
    bindings
        .delete("of-one-user", &Default::default())
        .await
        .unwrap();
    let reason = within(Duration::from_secs(60), &mut tab, |message| match message {
        Message::Ended { reason, .. } => Some(reason),
        _ => None,
    })
    .await;
    assert!(reason.contains("no longer include"), "{reason}");
    own.done().await;
}

#[tokio::test]
async fn a_list_that_was_refused_starts_again_with_a_view_that_is_not() {
    let stack = Stack::open();
    let own = stack.namespace("refused").await;
    config_map(&own, "first").await;
    let address = stack.serve().await;
    let mut tab = tab_at(&stack, &address, "vera").await;
    let mut view = first_rows(config_maps(&own, "first"));
    let ended = |message: Message| match message {
        Message::Ended { reason, retry, .. } => Some((reason, retry)),
        Message::Snapshot { .. } => panic!("{message:?}"),
        _ => None,
    };
    // at the start: a namespace where she may list nothing
    view.query.namespaces = vec!["kube-system".to_owned()];
    let cluster = stack.acme();
    let start = Request::Watch {
        id: ID,
        cluster,
        view: view.clone(),
    };
    ask(&mut tab, &start).await;
    let (reason, retry) = until(&mut tab, ended).await;
    assert!(reason.contains("forbidden") && !retry, "{reason}");
    view.turn = 2;
    view.query.namespaces = vec![own.name.clone()];
    let (window, _) = show(&mut tab, view.clone()).await;
    assert_eq!(names(&window), ["first"]);
    // later: a filter that does not fit the columns
    view.turn = 3;
    view.query.fields = "color=red".to_owned();
    let wrong = view.clone();
    ask(
        &mut tab,
        &Request::View {
            id: ID,
            view: wrong,
        },
    )
    .await;
    let (reason, retry) = until(&mut tab, ended).await;
    assert!(reason.contains("no column \"color\"") && !retry, "{reason}");
    view.turn = 4;
    view.query.fields = "name=fir*".to_owned();
    let (window, _) = show(&mut tab, view).await;
    assert_eq!(names(&window), ["first"]);
    own.done().await;
}

#[tokio::test]
async fn a_list_that_the_user_may_not_watch_has_views_and_a_pause_too() {
    let stack = Stack::open();
    let own = stack.namespace("polled").await;
    config_map(&own, "a-1").await;
    config_map(&own, "b-1").await;
    let role = serde_json::from_value(json!({
        "metadata": { "name": "lists-only" },
        "rules": [{ "apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"] }],
    }))
    .unwrap();
    Api::<Role>::namespaced(own.client.clone(), &own.name)
        .create(&PostParams::default(), &role)
        .await
        .unwrap();
    bind(&own, "Role", "lists-only").await;
    let address = stack.serve().await;
    let mut tab = tab_at(&stack, &address, "nora").await;
    ask(&mut tab, &watch(&stack, ID, config_maps(&own, "a-"))).await;
    assert_eq!(names(&snapshot(&mut tab, 1).await.0), ["a-1"]);
    let mut view = ListView {
        turn: 2,
        ..first_rows(config_maps(&own, "b-"))
    };
    assert_eq!(names(&show(&mut tab, view.clone()).await.0), ["b-1"]);
    config_map(&own, "b-2").await;
    until(&mut tab, |message| match message {
        Message::Rows { changed, total, .. } => {
            assert_eq!((changed[0].name.as_str(), total), ("b-2", 2));
            Some(())
        }
        _ => None,
    })
    .await;
    view.turn = 3;
    view.is_paused = true;
    show(&mut tab, view.clone()).await;
    config_map(&own, "b-3").await;
    until(&mut tab, |message| match message {
        Message::Rows { pending, total, .. } => {
            assert_eq!((pending, total), (1, 2));
            Some(())
        }
        _ => None,
    })
    .await;
    view.turn = 4;
    view.is_paused = false;
    let (window, _) = show(&mut tab, view).await;
    assert_eq!(names(&window), ["b-1", "b-2", "b-3"]);
    own.done().await;
}

#[tokio::test]
async fn finding_s12_a_list_of_more_namespaces_than_are_watched_is_merged_and_stays_current() {
    let stack = Stack::open();
    let many = StreamLimits::MAX_WATCHES_PER_LIST + 2;
    let own: Vec<OwnNamespace> = stream::iter(0..many)
        .map(|_| stack.namespace("many"))
        .buffered(6)
        .collect()
        .await;
    config_map(&own[0], "in-the-first").await;
    config_map(&own[many - 1], "in-the-last").await;
    let names_of: Vec<&str> = own.iter().map(|own| own.name.as_str()).collect();
    let merged = ListQuery {
        search: "in-the-".to_owned(),
        ..query(ResourceRef::core("configmaps"), &names_of)
    };
    let address = stack.serve().await;
    let mut tab = tab_at(&stack, &address, "vera").await;
    ask(&mut tab, &watch(&stack, ID, merged)).await;
    let (window, scope) = snapshot(&mut tab, 1).await;
    let mut found = names(&window);
    found.sort_unstable();
    assert_eq!(found, ["in-the-first", "in-the-last"]);
    let ListScope::Namespaces {
        listed, refused, ..
    } = scope
    else {
        panic!("merged over namespaces: {scope:?}");
    };
    assert_eq!((listed.len(), refused.len()), (many, 0));
    config_map(&own[1], "in-the-second").await;
    // it is read again every five seconds
    within(Duration::from_secs(20), &mut tab, |message| {
        let rows = match message {
            Message::Rows { changed, .. } => changed,
            Message::Snapshot { window, .. } => window.rows,
            Message::Ended { reason, .. } | Message::Stale { reason, .. } => panic!("{reason}"),
            _ => return None,
        };
        rows.iter()
            .any(|row| row.name == "in-the-second")
            .then_some(())
    })
    .await;
    for own in own {
        own.done().await;
    }
}

//! The namespaces of users who may not list them.
use crate::{
    own_namespace::OwnNamespace,
    queries::{FIRST_ROWS, query},
    stack::Stack,
};
use app::{error::UiErrorKind, ports::Panel as _};
use k8s_openapi::api::rbac::v1::RoleBinding;
use kube::{Api, api::PostParams};
use portico_domain::panel::{ListScope, ResourceRef};
use serde_json::json;

/// Gives nora the right to read in a namespace. She may not list namespaces.
async fn bind(own: &OwnNamespace) {
    let binding = serde_json::from_value(json!({
        "metadata": { "name": "of-nora" },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view" },
        "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "nora@Default" }],
    }))
    .unwrap();
    Api::<RoleBinding>::namespaced(own.client.clone(), &own.name)
        .create(&PostParams::default(), &binding)
        .await
        .unwrap();
}

#[tokio::test]
async fn the_namespaces_of_a_user_who_may_not_list_them_are_the_confirmed_candidates() {
    let stack = Stack::open();
    let (own, foreign) = (
        stack.namespace("own").await,
        stack.namespace("foreign").await,
    );
    bind(&own).await;
    own.pod("mine").await;
    foreign.pod("not-mine").await;
    let nora = stack
        .panel_with_namespaces("nora", &[&own.name, &foreign.name, "does-not-exist"])
        .await;
    let visible = nora.visible_namespaces(stack.acme()).await.unwrap();
    assert!(!visible.all_known);
    assert!(visible.names.contains(&own.name), "{visible:?}");
    for not_theirs in [
        &foreign.name,
        "does-not-exist",
        stack.var("PROJECT_ID_ACME"),
    ] {
        let is_shown = visible.names.iter().any(|name| name == not_theirs);
        assert!(!is_shown, "{not_theirs} in {visible:?}");
    }

    let pods = query(ResourceRef::core("pods"), &[]);
    let table = nora.list(stack.acme(), pods, FIRST_ROWS).await.unwrap();
    let names: Vec<_> = table.window.rows.iter().map(|row| &*row.name).collect();
    assert!(
        names.contains(&"mine") && !names.contains(&"not-mine"),
        "{names:?}"
    );
    let ListScope::Namespaces {
        listed, all_known, ..
    } = &table.scope
    else {
        panic!("{:?}", table.scope);
    };
    assert!(listed.contains(&own.name) && !all_known);
    let found = nora.search(stack.acme(), "mine".to_owned()).await.unwrap();
    assert!(
        found.hits.iter().any(|hit| hit.object.name == "mine"),
        "{found:?}"
    );

    // the control case: a user who may list namespaces needs no candidates
    let vera = stack
        .panel_with_namespaces("vera", &["does-not-exist"])
        .await;
    let visible = vera.visible_namespaces(stack.acme()).await.unwrap();
    assert!(visible.all_known && visible.names.contains(&foreign.name));
    own.done().await;
    foreign.done().await;
}

#[tokio::test]
async fn a_namespace_is_added_only_with_a_right_in_it() {
    let stack = Stack::open();
    let (own, foreign) = (
        stack.namespace("own").await,
        stack.namespace("foreign").await,
    );
    bind(&own).await;
    let nora = stack.panel("nora").await;
    let add = async |name: &str| nora.add_namespace(stack.acme(), name.to_owned()).await;
    add(&own.name).await.unwrap();
    let refused = add(&foreign.name).await.unwrap_err();
    assert_eq!(refused.kind, UiErrorKind::NotPermitted);
    assert!(refused.message.contains("no rights in the namespace"));
    for name in ["", "Shop", "a/b", "-a", &"a".repeat(64)] {
        let invalid = add(name).await.unwrap_err();
        assert_eq!(invalid.kind, UiErrorKind::Invalid, "{name:?}");
    }
    own.done().await;
    foreign.done().await;
}

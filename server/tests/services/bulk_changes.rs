//! Changes of many objects at once, at a real API server.
use crate::{
    queries::{FIRST_ROWS, query},
    stack::Stack,
};
use app::{error::UiErrorKind, ports::Panel};
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Namespace},
};
use kube::{Api, api::PostParams};
use portico_domain::panel::{BulkAction, BulkTarget, ResourceRef};
use serde_json::json;

fn target(metadata: &k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta) -> BulkTarget {
    BulkTarget {
        uid: metadata.uid.clone().unwrap(),
        namespace: metadata.namespace.clone(),
        name: metadata.name.clone().unwrap(),
    }
}

/// The same object, as if it had been made again since.
fn former(target: &BulkTarget) -> BulkTarget {
    BulkTarget {
        uid: "00000000-0000-4000-8000-000000000000".to_owned(),
        ..target.clone()
    }
}

fn delete(typed: &str) -> BulkAction {
    BulkAction::Delete {
        typed: typed.to_owned(),
    }
}

#[tokio::test]
async fn workloads_are_restarted_and_scaled_each_with_an_outcome_of_its_own() {
    let stack = Stack::open();
    let own = stack.namespace("bulk").await;
    let deployments = Api::<Deployment>::namespaced(own.client.clone(), &own.name);
    let mut targets = Vec::new();
    for name in ["one", "two"] {
        let labels = json!({ "app": name });
        let object = serde_json::from_value(json!({
            "metadata": { "name": name },
            "spec": {
                "replicas": 0,
                "selector": { "matchLabels": labels },
                "template": {
                    "metadata": { "labels": labels },
                    "spec": { "containers": [{ "name": "c", "image": "none" }] },
                },
            },
        }))
        .unwrap();
        let made = deployments
            .create(&PostParams::default(), &object)
            .await
            .unwrap();
        targets.push(target(&made.metadata));
    }
    targets.push(BulkTarget {
        uid: "gone".to_owned(),
        name: "gone".to_owned(),
        ..targets[0].clone()
    });
    let resource = ResourceRef::new("apps", "v1", "deployments");
    let change = async |user: &str, action: BulkAction, targets: &[BulkTarget]| {
        let panel = stack.panel(user).await;
        panel
            .change_many(stack.acme(), resource.clone(), action, targets.to_vec())
            .await
    };
    let errors = |outcomes: Vec<portico_domain::panel::BulkOutcome>| {
        outcomes
            .into_iter()
            .map(|outcome| outcome.error)
            .collect::<Vec<_>>()
    };
    let gone = Some("gone no longer exists.".to_owned());

    let outcomes = change("devi", BulkAction::Restart, &targets).await.unwrap();
    assert_eq!(errors(outcomes), [None, None, gone.clone()]);
    let one = deployments.get("one").await.unwrap();
    let annotations = one.spec.unwrap().template.metadata.unwrap().annotations;
    assert!(
        annotations
            .unwrap()
            .contains_key("kubectl.kubernetes.io/restartedAt")
    );

    let scale = BulkAction::Scale { replicas: 3 };
    let outcomes = change("devi", scale.clone(), &targets).await.unwrap();
    assert_eq!(errors(outcomes), [None, None, gone]);
    let two = deployments.get("two").await.unwrap();
    assert_eq!(two.spec.unwrap().replicas, Some(3));

    // made again since they were selected
    let before = deployments.get("one").await.unwrap().metadata.generation;
    let former: Vec<_> = targets[..1].iter().map(former).collect();
    for action in [
        BulkAction::Restart,
        BulkAction::Scale { replicas: 1 },
        delete(""),
    ] {
        let outcomes = change("devi", action.clone(), &former).await.unwrap();
        let error = outcomes[0].error.as_ref().unwrap();
        assert!(
            error.starts_with("Another one has been made"),
            "{action:?}: {error}"
        );
    }
    assert_eq!(
        deployments.get("one").await.unwrap().metadata.generation,
        before
    );

    // a viewer is refused, object by object
    let outcomes = change("vera", scale, &targets[..2]).await.unwrap();
    for outcome in outcomes {
        assert!(outcome.error.unwrap().contains("refused"));
    }
    own.done().await;
}

#[tokio::test]
async fn labels_are_set_and_removed_and_objects_deleted() {
    let stack = Stack::open();
    let own = stack.namespace("label").await;
    let objects = Api::<ConfigMap>::namespaced(own.client.clone(), &own.name);
    let mut targets = Vec::new();
    for name in ["a", "b"] {
        let labels = json!({ "old": "x", "kept": "y" });
        let metadata = json!({ "metadata": { "name": name, "labels": labels } });
        let object = serde_json::from_value(metadata).unwrap();
        let made = objects
            .create(&PostParams::default(), &object)
            .await
            .unwrap();
        targets.push(target(&made.metadata));
    }
    let panel = stack.panel("devi").await;
    let change = async |action: BulkAction, targets: Vec<BulkTarget>| {
        let resource = ResourceRef::core("configmaps");
        panel
            .change_many(stack.acme(), resource, action, targets)
            .await
    };
    let label = BulkAction::Label {
        set: vec![("tier".to_owned(), "front".to_owned())],
        remove: vec!["old".to_owned()],
    };
    let outcomes = change(label.clone(), vec![targets[0].clone(), former(&targets[1])])
        .await
        .unwrap();
    assert_eq!(outcomes[0].error, None);
    let error = outcomes[1].error.as_ref().unwrap();
    assert!(error.starts_with("Another b has been made"), "{error}");
    let labels = async |name: &str| {
        let labels = objects.get(name).await.unwrap().metadata.labels.unwrap();
        labels.into_keys().collect::<Vec<_>>()
    };
    assert_eq!(labels("a").await, ["kept", "tier"]);
    assert_eq!(labels("b").await, ["kept", "old"]);

    let outcomes = change(delete(""), targets.clone()).await.unwrap();
    assert!(outcomes.iter().all(|outcome| outcome.error.is_none()));
    let query = query(ResourceRef::core("configmaps"), &[&own.name]);
    let left = async || {
        let table = panel.list(stack.acme(), query.clone(), FIRST_ROWS).await;
        table.unwrap().window.rows
    };
    while left()
        .await
        .iter()
        .any(|row| ["a", "b"].contains(&&*row.name))
    {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }

    // what would fail for each object is refused as a whole
    for (action, targets) in [
        (BulkAction::Restart, targets.clone()),
        (BulkAction::Scale { replicas: 1 }, targets.clone()),
        (label, Vec::new()),
    ] {
        let error = change(action, targets).await.unwrap_err();
        assert_eq!(error.kind, UiErrorKind::Invalid, "{error:?}");
    }
    own.done().await;
}

#[tokio::test]
async fn namespaces_are_deleted_only_with_their_name_or_number_typed() {
    let stack = Stack::open();
    let own = stack.namespace("typed").await;
    let namespaces = Api::<Namespace>::all(own.client.clone());
    let mut targets = Vec::new();
    for suffix in ["a", "b", "c"] {
        let name = format!("{}-{suffix}", own.name);
        let object = serde_json::from_value(json!({ "metadata": { "name": name } })).unwrap();
        let made = namespaces
            .create(&PostParams::default(), &object)
            .await
            .unwrap();
        targets.push(target(&made.metadata));
    }
    let panel = stack.panel("ada").await;
    let change = async |typed: &str, targets: &[BulkTarget]| {
        let resource = ResourceRef::core("namespaces");
        panel
            .change_many(stack.acme(), resource, delete(typed), targets.to_vec())
            .await
    };
    let is_terminating = async |at: usize| {
        let found = namespaces.get_opt(&targets[at].name).await.unwrap();
        found.is_none_or(|found| found.metadata.deletion_timestamp.is_some())
    };
    let (single, both) = targets.split_at(1);
    for (typed, targets) in [
        ("", single),
        ("1", single),
        ("", both),
        ("3", both),
        (both[0].name.as_str(), both),
    ] {
        let error = change(typed, targets).await.unwrap_err();
        assert_eq!(error.kind, UiErrorKind::Invalid, "{typed}: {error:?}");
    }
    for at in 0..3 {
        assert!(!is_terminating(at).await, "{at}");
    }
    let outcomes = change(&single[0].name, single).await.unwrap();
    assert!(outcomes.iter().all(|outcome| outcome.error.is_none()));
    assert!(is_terminating(0).await && !is_terminating(1).await);
    let outcomes = change("2", both).await.unwrap();
    assert!(outcomes.iter().all(|outcome| outcome.error.is_none()));
    assert!(is_terminating(1).await && is_terminating(2).await);
    own.done().await;
}

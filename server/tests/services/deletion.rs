//! What a deletion would do, and how it is confirmed.
use crate::stack::Stack;
use app::ports::Objects as _;
use k8s_openapi::api::{
    apps::v1::{Deployment, StatefulSet},
    core::v1::{PersistentVolumeClaim, Secret},
};
use kube::{Api, Client, Resource, api::PostParams};
use portico_domain::panel::{BulkTarget, DeletionGrade, DeletionPlan, ObjectRef, ResourceRef};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::fmt::Debug;

async fn create<T>(client: &Client, namespace: &str, object: Value)
where
    T: Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>
        + Clone
        + Debug
        + DeserializeOwned
        + Serialize,
{
    let object: T = serde_json::from_value(object).unwrap();
    Api::<T>::namespaced(client.clone(), namespace)
        .create(&PostParams::default(), &object)
        .await
        .unwrap();
}

fn template(app: &str, extra: &Value) -> Value {
    let mut container = json!({ "name": "c", "image": "none" });
    if let Some(fields) = extra.as_object() {
        for (key, value) in fields {
            container[key] = value.clone();
        }
    }
    json!({
        "metadata": { "labels": { "app": app } },
        "spec": { "containers": [container] },
    })
}

fn named(plan: &DeletionPlan) -> Vec<String> {
    plan.affected
        .iter()
        .map(|kind| format!("{} {}", kind.kind, kind.names.join(",")))
        .collect()
}

#[tokio::test]
async fn a_deletion_is_graded_by_what_is_lost_and_lists_it() {
    let stack = Stack::open();
    let own = stack.namespace("grades").await;
    let (client, name) = (own.client.clone(), own.name.as_str());
    let selector = |app: &str| json!({ "matchLabels": { "app": app } });
    for secret in ["used", "unused"] {
        create::<Secret>(&client, name, json!({ "metadata": { "name": secret } })).await;
    }
    let reads = json!({ "envFrom": [{ "secretRef": { "name": "used" } }] });
    let web = json!({
        "metadata": { "name": "web" },
        "spec": { "replicas": 0, "selector": selector("web"), "template": template("web", &reads) },
    });
    create::<Deployment>(&client, name, web).await;
    let claim = json!({
        "accessModes": ["ReadWriteOnce"],
        "resources": { "requests": { "storage": "1Mi" } },
    });
    let database = |set: &str, templates: Value| {
        json!({
            "metadata": { "name": set },
            "spec": { "replicas": 0, "serviceName": set, "selector": selector(set),
                "template": template(set, &json!({})), "volumeClaimTemplates": templates },
        })
    };
    let templates = json!([{ "metadata": { "name": "data" }, "spec": claim }]);
    create::<StatefulSet>(&client, name, database("db", templates)).await;
    create::<StatefulSet>(&client, name, database("cache", json!([]))).await;
    // of a class that does not exist, so that it is never bound
    let mut unbound = claim.clone();
    unbound["storageClassName"] = json!("no-such-class");
    let unbound = json!({ "metadata": { "name": "unbound" }, "spec": unbound });
    create::<PersistentVolumeClaim>(&client, name, unbound).await;

    let ada = stack.panel("ada").await;
    let plan = async |group: &str, plural: &str, object: &str| {
        let object = ObjectRef {
            resource: ResourceRef::new(group, "v1", plural),
            namespace: Some(own.name.clone()),
            name: object.to_owned(),
        };
        ada.plan_deletion(stack.acme(), object).await.unwrap()
    };
    let used = plan("", "secrets", "used").await;
    assert_eq!(used.grade, DeletionGrade::TypedName);
    assert_eq!(named(&used), ["Deployment web"]);
    let unused = plan("", "secrets", "unused").await;
    assert_eq!(unused.grade, DeletionGrade::Consequences, "{unused:?}");
    let db = plan("apps", "statefulsets", "db").await;
    assert_eq!(db.grade, DeletionGrade::TypedName);
    assert!(
        db.notes.iter().any(|note| note.contains("their data stay")),
        "{:?}",
        db.notes
    );
    let cache = plan("apps", "statefulsets", "cache").await;
    assert_eq!(cache.grade, DeletionGrade::Consequences);
    let unbound = plan("", "persistentvolumeclaims", "unbound").await;
    assert_eq!(unbound.grade, DeletionGrade::Consequences);
    assert!(unbound.notes[0].contains("deletes no data"), "{unbound:?}");

    let namespace = ObjectRef {
        resource: ResourceRef::core("namespaces"),
        namespace: None,
        name: own.name.clone(),
    };
    let whole = ada.plan_deletion(stack.acme(), namespace).await.unwrap();
    assert_eq!(whole.grade, DeletionGrade::TypedName);
    let sets = whole.deleted.iter().find(|kind| kind.kind == "StatefulSet");
    assert_eq!(sets.map(|kind| kind.total), Some(2), "{whole:?}");
    own.done().await;
}

#[tokio::test]
async fn secrets_of_a_list_are_deleted_only_after_their_number_was_typed() {
    use app::{error::UiErrorKind, ports::Panel as _};
    use portico_domain::panel::BulkAction;
    let stack = Stack::open();
    let own = stack.namespace("typed").await;
    let secrets = Api::<Secret>::namespaced(own.client.clone(), &own.name);
    let mut targets = Vec::new();
    for name in ["one", "two"] {
        let secret = serde_json::from_value(json!({ "metadata": { "name": name } })).unwrap();
        let made = secrets
            .create(&PostParams::default(), &secret)
            .await
            .unwrap();
        targets.push(BulkTarget {
            uid: made.metadata.uid.unwrap(),
            namespace: Some(own.name.clone()),
            name: name.to_owned(),
        });
    }
    let ada = stack.panel("ada").await;
    let delete = async |typed: &str| {
        let action = BulkAction::Delete {
            typed: typed.to_owned(),
        };
        let resource = ResourceRef::core("secrets");
        ada.change_many(stack.acme(), resource, action, targets.clone())
            .await
    };
    let refused = delete("").await.unwrap_err();
    assert_eq!(refused.kind, UiErrorKind::Invalid);
    assert!(refused.message.contains("Type 2 to confirm"));
    assert!(secrets.get_opt("one").await.unwrap().is_some());
    let outcomes = delete("2").await.unwrap();
    assert!(outcomes.iter().all(|outcome| outcome.error.is_none()));
    own.done().await;
}

//! Relations from what selects, limits, scales and defines to what it is about.
use crate::{
    stack::Stack,
    workloads::{create, deployment, names, object},
};
use app::ports::Objects as _;
use portico_domain::panel::{Health, ObjectRef, Refusal, RelatedView, Relation, ResourceRef};
use serde_json::json;

fn of_cluster(group: &str, plural: &str, name: &str) -> ObjectRef {
    ObjectRef {
        resource: ResourceRef::new(group, "v1", plural),
        namespace: None,
        name: name.to_owned(),
    }
}

#[tokio::test]
async fn need_28_budgets_policies_autoscalers_and_quotas_lead_to_what_they_are_about() {
    let stack = Stack::open();
    let own = stack.namespace("about").await;
    let (client, name) = (&own.client, own.name.as_str());
    let labels = json!({"matchLabels": {"app": "web"}});
    let scaler = |scaler: &str, target: &str| {
        json!({"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler", "metadata": {"name": scaler},
            "spec": {"maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": target}}})
    };
    for object in [
        deployment("web:1"),
        json!({"apiVersion": "policy/v1beta1", "kind": "PodDisruptionBudget", "metadata": {"name": "web"},
            "spec": {"minAvailable": 1, "selector": labels}}),
        json!({"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "web"},
            "spec": {"podSelector": labels, "policyTypes": ["Ingress"]}}),
        json!({"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "all"},
            "spec": {"podSelector": {}, "policyTypes": ["Ingress"]}}),
        json!({"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "other"},
            "spec": {"podSelector": {"matchLabels": {"app": "other"}}, "policyTypes": ["Ingress"]}}),
        scaler("web", "web"),
        scaler("lost", "absent"),
        json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "small"},
            "spec": {"hard": {"pods": "10"}}}),
        json!({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "defaults"},
            "spec": {"limits": [{"type": "Container", "default": {"memory": "64Mi"}}]}}),
    ] {
        create(client, name, object).await;
    }
    let panel = stack.panel("devi").await;
    let related = async |group: &str, version: &str, plural: &str, of: &str| -> RelatedView {
        let object = object(group, version, plural, name, of);
        panel.related(stack.acme(), object).await.unwrap()
    };
    let budget = related("policy", "v1beta1", "poddisruptionbudgets", "web").await;
    assert_eq!(names(&budget, Relation::Protects), ["Deployment web"]);
    for (policy, restricted) in [
        ("web", vec!["Deployment web"]),
        ("all", vec!["Deployment web"]),
        ("other", vec![]),
    ] {
        let view = related("networking.k8s.io", "v1", "networkpolicies", policy).await;
        assert_eq!(names(&view, Relation::Restricts), restricted, "{policy}");
        assert_eq!(
            view.notes.iter().any(|note| note.contains("every pod")),
            policy == "all"
        );
    }
    let scalers = ("autoscaling", "v1", "horizontalpodautoscalers");
    let web = related(scalers.0, scalers.1, scalers.2, "web").await;
    assert_eq!(names(&web, Relation::Scales), ["Deployment web"]);
    let lost = related(scalers.0, scalers.1, scalers.2, "lost").await;
    let target = &lost.groups[0].objects[0];
    assert_eq!(
        (target.health, target.status.as_str()),
        (Some(Health::Failed), "Does not exist")
    );
    for (plural, of) in [("resourcequotas", "small"), ("limitranges", "defaults")] {
        let view = related("", "v1", plural, of).await;
        assert_eq!(
            names(&view, Relation::AppliesTo),
            [format!("Namespace {name}")]
        );
    }
    own.done().await;
}

#[tokio::test]
async fn need_28_a_storage_class_leads_to_its_claims_and_volumes() {
    let stack = Stack::open();
    let class = of_cluster("storage.k8s.io", "storageclasses", "local-disk");
    let ada = stack.panel("ada").await;
    let view = ada.related(stack.acme(), class.clone()).await.unwrap();
    let used = names(&view, Relation::UsedBy);
    for kind in ["PersistentVolumeClaim ", "PersistentVolume "] {
        assert!(used.iter().any(|name| name.starts_with(kind)), "{used:?}");
    }
    // a viewer may not list the claims of the whole cluster
    let vera = stack.panel("vera").await;
    let view = vera.related(stack.acme(), class).await.unwrap();
    let named = |gap: &Refusal| {
        gap.reason
            .contains("list on persistentvolumeclaims in the whole cluster")
    };
    assert!(view.gaps.iter().any(named), "{:?}", view.gaps);
}

#[tokio::test]
async fn need_24_a_definition_leads_to_its_instances_and_they_lead_to_it() {
    let stack = Stack::open();
    let own = stack.namespace("defined").await;
    let backup = json!({"apiVersion": "data.example.org/v1", "kind": "Backup", "metadata": {"name": "daily"},
        "spec": {"source": "orders", "schedule": "0 3 * * *", "keep": 3}});
    create(&own.client, &own.name, backup).await;
    let panel = stack.panel("ada").await;
    let definition = of_cluster(
        "apiextensions.k8s.io",
        "customresourcedefinitions",
        "backups.data.example.org",
    );
    let view = panel.related(stack.acme(), definition).await.unwrap();
    let instances = view.instances.unwrap();
    assert_eq!(instances.resource.plural, "backups");
    assert_eq!(instances.title, "Backups");
    assert!(instances.count.unwrap() >= 1);
    let daily = object("data.example.org", "v1", "backups", &own.name, "daily");
    let view = panel.related(stack.acme(), daily).await.unwrap();
    assert_eq!(
        names(&view, Relation::DefinedBy),
        ["CustomResourceDefinition backups.data.example.org"]
    );
    own.done().await;
}

//! What belongs to a workload: related objects, revisions, and the changes of its state.
use crate::stack::Stack;
use app::{
    error::UiErrorKind,
    ports::{Objects as _, Panel},
};
use k8s_openapi::api::{apps::v1::Deployment, batch::v1::Job};
use kube::{
    Api, Client, Resource, ResourceExt,
    api::{DynamicObject, Patch, PatchParams, PostParams},
    discovery::ApiResource,
};
use portico_domain::panel::{
    Action, DetailCell, Health, ObjectRef, ObjectView, RelatedView, Relation, ResourceRef,
    StateChange,
};
use serde_json::{Value, json};
use std::time::Duration;

/// Creates an object of any kind.
pub async fn create(client: &Client, namespace: &str, object: Value) {
    let object: DynamicObject = serde_json::from_value(object).unwrap();
    let types = object.types.clone().unwrap();
    let gvk = kube::core::GroupVersionKind::try_from(&types).unwrap();
    let resource = ApiResource::from_gvk(&gvk);
    let resource = if resource.kind == "NetworkPolicy" {
        ApiResource {
            plural: "networkpolicies".to_owned(),
            ..resource
        }
    } else {
        resource
    };
    Api::<DynamicObject>::namespaced_with(client.clone(), namespace, &resource)
        .create(&PostParams::default(), &object)
        .await
        .unwrap();
}

pub fn object(group: &str, version: &str, plural: &str, namespace: &str, name: &str) -> ObjectRef {
    ObjectRef {
        resource: ResourceRef::new(group, version, plural),
        namespace: Some(namespace.to_owned()),
        name: name.to_owned(),
    }
}

/// A Deployment without replicas, so that no node has to run it.
pub fn deployment(image: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": image,
                "envFrom": [{"configMapRef": {"name": "settings"}}, {"configMapRef": {"name": "absent"}},
                    {"secretRef": {"name": "password"}}]}]}}},
    })
}

pub fn names(view: &RelatedView, relation: Relation) -> Vec<String> {
    let group = view.groups.iter().find(|group| group.relation == relation);
    let objects = group
        .map(|group| group.objects.as_slice())
        .unwrap_or_default();
    objects
        .iter()
        .map(|related| format!("{} {}", related.kind, related.object.name))
        .collect()
}

fn offers(view: &ObjectView, action: Action) -> Option<bool> {
    let state = view.actions.iter().find(|state| state.action == action);
    state.map(|state| state.allowed)
}

#[tokio::test]
async fn need_28_a_workload_leads_to_what_selects_routes_scales_protects_and_feeds_it_and_back() {
    let stack = Stack::open();
    let own = stack.namespace("related").await;
    let (client, name) = (&own.client, own.name.as_str());
    let labels = json!({"matchLabels": {"app": "web"}});
    for object in [
        deployment("web:1"),
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"a": "b"}}),
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "password"}, "stringData": {"p": "s3cr3t"}}),
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"},
            "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}}),
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "other"},
            "spec": {"selector": {"app": "other"}, "ports": [{"port": 80}]}}),
        json!({"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "shop"},
            "spec": {"rules": [{"host": "shop.example.org", "http": {"paths": [{"path": "/", "pathType": "Prefix",
                "backend": {"service": {"name": "web", "port": {"number": 80}}}}]}}]}}),
        json!({"apiVersion": "policy/v1beta1", "kind": "PodDisruptionBudget", "metadata": {"name": "web"},
            "spec": {"minAvailable": 1, "selector": labels}}),
        json!({"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "web"},
            "spec": {"podSelector": labels, "policyTypes": ["Ingress"]}}),
        json!({"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "web"},
            "spec": {"maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}}}),
    ] {
        create(client, name, object).await;
    }
    let panel = stack.panel("devi").await;
    let related = async |object: ObjectRef| panel.related(stack.acme(), object).await.unwrap();
    let web = related(object("apps", "v1", "deployments", name, "web")).await;
    assert_eq!(names(&web, Relation::SelectedBy), ["Service web"]);
    assert_eq!(names(&web, Relation::RoutedBy), ["Ingress shop"]);
    assert_eq!(
        names(&web, Relation::ScaledBy),
        ["HorizontalPodAutoscaler web"]
    );
    assert_eq!(
        names(&web, Relation::ProtectedBy),
        ["PodDisruptionBudget web"]
    );
    assert_eq!(names(&web, Relation::RestrictedBy), ["NetworkPolicy web"]);
    assert_eq!(
        names(&web, Relation::Uses),
        ["ConfigMap absent", "ConfigMap settings", "Secret password"]
    );
    let uses = web
        .groups
        .iter()
        .find(|group| group.relation == Relation::Uses);
    let absent = &uses.unwrap().objects[0];
    assert_eq!(
        (absent.health, absent.status.as_str()),
        (Some(Health::Failed), "Does not exist")
    );
    // and in the other direction
    let service = related(object("", "v1", "services", name, "web")).await;
    assert_eq!(names(&service, Relation::RoutedBy), ["Ingress shop"]);
    let ingress = related(object("networking.k8s.io", "v1", "ingresses", name, "shop")).await;
    assert_eq!(names(&ingress, Relation::RoutesTo), ["Service web"]);
    assert_eq!(
        ingress.tables[0].rows[0][0].text,
        "http://shop.example.org/"
    );
    for (plural, of) in [("configmaps", "settings"), ("secrets", "password")] {
        let view = related(object("", "v1", plural, name, of)).await;
        assert_eq!(
            names(&view, Relation::UsedBy),
            ["Deployment web"],
            "{plural}"
        );
    }
    own.done().await;
}

/// Returns the texts of a table by its title.
fn rows<'v>(view: &'v RelatedView, title: &str) -> Vec<Vec<&'v str>> {
    let table = view.tables.iter().find(|table| table.title == title);
    let table = table.unwrap_or_else(|| panic!("no table {title} in {:?}", view.tables));
    let texts = |row: &'v Vec<DetailCell>| row.iter().map(|cell| cell.text.as_str()).collect();
    table.rows.iter().map(texts).collect()
}

#[tokio::test]
async fn need_19_an_ingress_shows_hosts_tls_and_backends_and_a_service_its_endpoints() {
    let stack = Stack::open();
    let own = stack.namespace("routes").await;
    let (client, name) = (&own.client, own.name.as_str());
    let path = |path: &str, service: &str, port: u16| {
        json!({"path": path, "pathType": "Prefix",
            "backend": {"service": {"name": service, "port": {"number": port}}}})
    };
    for object in [
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"},
            "spec": {"ports": [{"name": "http", "port": 80, "targetPort": 8080}]}}),
        json!({"apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": "web"}, "subsets": [{
            "ports": [{"name": "http", "port": 8080}], "addresses": [{"ip": "192.0.2.7"}],
            "notReadyAddresses": [{"ip": "192.0.2.8"}]}]}),
        json!({"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "shop"},
        "spec": {
            "tls": [{"hosts": ["shop.example.org"], "secretName": "shop-tls"}],
            "rules": [
                {"host": "shop.example.org", "http": {"paths": [path("/", "web", 80), path("/api", "api", 8000)]}},
                {"host": "old.example.org", "http": {"paths": [path("/", "web", 80)]}},
            ]}}),
    ] {
        create(client, name, object).await;
    }
    let panel = stack.panel("devi").await;
    let related = async |object: ObjectRef| panel.related(stack.acme(), object).await.unwrap();
    let ingress = related(object("networking.k8s.io", "v1", "ingresses", name, "shop")).await;
    assert_eq!(
        rows(&ingress, "Routes"),
        [
            [
                "https://shop.example.org/",
                "Prefix",
                "web",
                "80",
                "shop-tls"
            ],
            [
                "https://shop.example.org/api",
                "Prefix",
                "api",
                "8000",
                "shop-tls"
            ],
            ["http://old.example.org/", "Prefix", "web", "80", ""],
        ]
    );
    let service = related(object("", "v1", "services", name, "web")).await;
    assert_eq!(rows(&service, "Ports"), [["http", "80/TCP", "8080", ""]]);
    assert_eq!(
        rows(&service, "Endpoints"),
        [
            ["192.0.2.7:8080", "", "Ready"],
            ["192.0.2.8:8080", "", "Not ready, gets no requests"],
        ]
    );
    own.done().await;
}

#[tokio::test]
async fn need_24_a_custom_resource_shows_its_specification_and_status() {
    let stack = Stack::open();
    let own = stack.namespace("custom").await;
    let (client, name) = (&own.client, own.name.as_str());
    let backup = json!({"apiVersion": "data.example.org/v1", "kind": "Backup", "metadata": {"name": "daily"},
        "spec": {"source": "orders", "schedule": "0 3 * * *", "keep": 3},
        "status": {"phase": "Completed", "lastBackup": "orders-17"}});
    create(client, name, backup).await;
    let panel = stack.panel("devi").await;
    let backup = object("data.example.org", "v1", "backups", name, "daily");
    let view = panel.related(stack.acme(), backup).await.unwrap();
    assert_eq!(
        rows(&view, "Specification"),
        [
            ["keep", "3"],
            ["schedule", "0 3 * * *"],
            ["source", "orders"],
        ]
    );
    assert_eq!(
        rows(&view, "Status"),
        [["lastBackup", "orders-17"], ["phase", "Completed"]]
    );
    own.done().await;
}

#[tokio::test]
async fn what_a_viewer_may_not_list_is_named_and_the_rest_is_shown() {
    let stack = Stack::open();
    let own = stack.namespace("gaps").await;
    create(&own.client, &own.name, deployment("web:1")).await;
    let web = object("apps", "v1", "deployments", &own.name, "web");
    let nora = stack.panel("nora").await;
    let error = nora.related(stack.acme(), web.clone()).await.unwrap_err();
    assert_eq!(error.kind, UiErrorKind::NotPermitted);
    let view = stack
        .panel("vera")
        .await
        .related(stack.acme(), web)
        .await
        .unwrap();
    assert_eq!(view.rollout.unwrap().desired, 0);
    let map = object("", "v1", "configmaps", &own.name, "kube-root-ca.crt");
    let values = stack
        .panel("vera")
        .await
        .values(stack.acme(), map)
        .await
        .unwrap();
    assert!(
        values[0]
            .text
            .as_deref()
            .unwrap()
            .contains("BEGIN CERTIFICATE")
    );
    own.done().await;
}

#[tokio::test]
async fn need_21_the_values_of_a_secret_are_revealed_to_those_who_may_read_it() {
    let stack = Stack::open();
    let own = stack.namespace("values").await;
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db"},
        "stringData": {"password": "s3cr3t"}});
    create(&own.client, &own.name, secret).await;
    let secret = object("", "v1", "secrets", &own.name, "db");
    let values = stack
        .panel("devi")
        .await
        .values(stack.acme(), secret.clone())
        .await
        .unwrap();
    assert_eq!(values[0].text.as_deref(), Some("s3cr3t"));
    let refused = stack
        .panel("vera")
        .await
        .values(stack.acme(), secret)
        .await
        .unwrap_err();
    assert_eq!(refused.kind, UiErrorKind::NotPermitted);
    let pod = object("", "v1", "pods", &own.name, "db");
    let error = stack
        .panel("devi")
        .await
        .values(stack.acme(), pod)
        .await
        .unwrap_err();
    assert_eq!(error.kind, UiErrorKind::Invalid);
    own.done().await;
}

#[tokio::test]
async fn need_06_a_rollout_is_paused_resumed_and_rolled_back_with_a_diff() {
    let stack = Stack::open();
    let own = stack.namespace("rollback").await;
    create(&own.client, &own.name, deployment("web:1")).await;
    let deployments = Api::<Deployment>::namespaced(own.client.clone(), &own.name);
    let web = object("apps", "v1", "deployments", &own.name, "web");
    let panel = stack.panel("devi").await;
    wait_for_revisions(&panel, &stack, &web, 1).await;
    let image = json!({"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "web:2"}]}}}});
    deployments
        .patch("web", &PatchParams::default(), &Patch::Strategic(image))
        .await
        .unwrap();
    let revisions = wait_for_revisions(&panel, &stack, &web, 2).await.revisions;
    let words: Vec<_> = revisions
        .iter()
        .map(|revision| {
            (
                revision.number,
                revision.images[0].as_str(),
                revision.is_current,
            )
        })
        .collect();
    assert_eq!(words, [(2, "web:2", true), (1, "web:1", false)]);
    let diff = panel
        .revision_diff(stack.acme(), web.clone(), 1)
        .await
        .unwrap();
    assert_eq!((diff.added, diff.removed), (1, 1), "{diff:?}");
    let view = panel.object(stack.acme(), web.clone()).await.unwrap();
    assert_eq!(offers(&view, Action::Pause), Some(true));
    assert_eq!(offers(&view, Action::Resume), None);
    let change = async |change| {
        let uid = view.uid.clone();
        panel
            .change_state(stack.acme(), web.clone(), uid, change)
            .await
            .unwrap()
    };
    change(StateChange::Pause).await;
    let paused = panel.object(stack.acme(), web.clone()).await.unwrap();
    assert_eq!(offers(&paused, Action::RollBack), Some(false));
    let roll_back = async |uid: &str| {
        panel
            .roll_back(stack.acme(), web.clone(), uid.to_owned(), 1)
            .await
    };
    let refused = roll_back(&view.uid).await.unwrap_err();
    assert!(refused.message.contains("paused"), "{}", refused.message);
    change(StateChange::Resume).await;
    let other = roll_back("another").await.unwrap_err();
    assert_eq!(other.kind, UiErrorKind::Conflict);
    roll_back(&view.uid).await.unwrap();
    let image = || async {
        let web = deployments.get("web").await.unwrap();
        web.spec.unwrap().template.spec.unwrap().containers[0]
            .image
            .clone()
    };
    assert_eq!(image().await.as_deref(), Some("web:1"));
    let gone = panel
        .roll_back(stack.acme(), web.clone(), view.uid.clone(), 77)
        .await;
    assert_eq!(gone.unwrap_err().kind, UiErrorKind::NotFound);
    let vera = stack.panel("vera").await;
    let refused = vera
        .roll_back(stack.acme(), web, view.uid, 2)
        .await
        .unwrap_err();
    assert_eq!(refused.kind, UiErrorKind::NotPermitted);
    assert_eq!(image().await.as_deref(), Some("web:1"));
    own.done().await;
}

async fn wait_for_revisions(
    panel: &impl Panel,
    stack: &Stack,
    object: &ObjectRef,
    count: usize,
) -> RelatedView {
    for _ in 0..100 {
        let view = panel.related(stack.acme(), object.clone()).await.unwrap();
        if view.revisions.len() == count {
            return view;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    panic!("not {count} revisions in time");
}

#[tokio::test]
async fn need_17_a_cron_job_is_suspended_resumed_and_run_now() {
    let stack = Stack::open();
    let own = stack.namespace("cron").await;
    let cron_job = json!({"apiVersion": "batch/v1beta1", "kind": "CronJob", "metadata": {"name": "report"},
        "spec": {"schedule": "0 3 1 1 *", "jobTemplate": {"metadata": {"labels": {"app": "report"}},
            "spec": {"parallelism": 0, "template": {"spec": {"restartPolicy": "Never",
                "containers": [{"name": "c", "image": "none"}]}}}}}});
    create(&own.client, &own.name, cron_job).await;
    let report = object("batch", "v1beta1", "cronjobs", &own.name, "report");
    let panel = stack.panel("devi").await;
    let view = panel.object(stack.acme(), report.clone()).await.unwrap();
    assert_eq!(offers(&view, Action::Suspend), Some(true));
    let change = async |change| {
        let uid = view.uid.clone();
        panel
            .change_state(stack.acme(), report.clone(), uid, change)
            .await
    };
    change(StateChange::Suspend).await.unwrap();
    let suspended = panel.object(stack.acme(), report.clone()).await.unwrap();
    assert_eq!(offers(&suspended, Action::Unsuspend), Some(true));
    assert_eq!(offers(&suspended, Action::Suspend), None);
    change(StateChange::Unsuspend).await.unwrap();
    let done = change(StateChange::RunNow).await.unwrap();
    let jobs = Api::<Job>::namespaced(own.client.clone(), &own.name);
    let made = jobs.list(&Default::default()).await.unwrap().items;
    assert_eq!(made.len(), 1);
    assert!(
        done.message.contains(&made[0].name_any()),
        "{}",
        done.message
    );
    assert_eq!(
        made[0].meta().owner_references.as_ref().unwrap()[0].uid,
        view.uid
    );
    let related = panel.related(stack.acme(), report.clone()).await.unwrap();
    assert_eq!(names(&related, Relation::Owns).len(), 1);
    let wrong = change(StateChange::Cordon).await.unwrap_err();
    assert_eq!(wrong.kind, UiErrorKind::Invalid);
    let vera = stack.panel("vera").await;
    for change in [StateChange::RunNow, StateChange::Suspend] {
        let refused = vera
            .change_state(stack.acme(), report.clone(), view.uid.clone(), change)
            .await
            .unwrap_err();
        assert_eq!(refused.kind, UiErrorKind::NotPermitted);
    }
    own.done().await;
}

#[tokio::test]
async fn need_23_a_namespace_shows_its_quota_limits_and_who_has_access() {
    let stack = Stack::open();
    let own = stack.namespace("quota").await;
    let quota = json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "small"},
        "spec": {"hard": {"configmaps": "10"}}});
    create(&own.client, &own.name, quota).await;
    let limits = json!({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "defaults"},
        "spec": {"limits": [{"type": "Container", "default": {"memory": "64Mi"}}]}});
    create(&own.client, &own.name, limits).await;
    let namespace = ObjectRef {
        resource: ResourceRef::core("namespaces"),
        namespace: None,
        name: own.name.clone(),
    };
    let panel = stack.panel("ada").await;
    let view = panel.related(stack.acme(), namespace).await.unwrap();
    let table = |title: &str| {
        let table = view.tables.iter().find(|table| table.title == title);
        table.unwrap_or_else(|| panic!("{title}: {:?}", view.tables))
    };
    assert_eq!(table("Quota").rows[0][1].text, "configmaps");
    assert_eq!(table("Limits").rows[0][5].text, "64Mi");
    let roles: Vec<_> = table("Who has access")
        .rows
        .iter()
        .map(|row| row[2].text.as_str())
        .collect();
    assert!(roles.contains(&"portico-developer"), "{roles:?}");
    own.done().await;
}

#[tokio::test]
async fn need_20_a_claim_names_its_users_and_what_its_deletion_does_to_the_data() {
    let stack = Stack::open();
    let own = stack.namespace("claims").await;
    let claim = |name: &str, volume: Value| {
        json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
            "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "", "volumeName": volume,
                "resources": {"requests": {"storage": "1Gi"}}}})
    };
    create(&own.client, &own.name, claim("unbound", Value::Null)).await;
    create(&own.client, &own.name, claim("bound", json!("pv-unknown"))).await;
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "db"},
        "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "db"}}, "template": {
            "metadata": {"labels": {"app": "db"}}, "spec": {"containers": [{"name": "db", "image": "db"}],
                "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "bound"}}]}}}});
    create(&own.client, &own.name, deployment).await;
    let panel = stack.panel("devi").await;
    let view = async |name: &str| {
        let claim = object("", "v1", "persistentvolumeclaims", &own.name, name);
        panel.related(stack.acme(), claim).await.unwrap()
    };
    let unbound = view("unbound").await;
    assert!(
        unbound.notes[0].contains("deletes no data"),
        "{:?}",
        unbound.notes
    );
    let bound = view("bound").await;
    assert_eq!(names(&bound, Relation::UsedBy), ["Deployment db"]);
    assert_eq!(
        names(&bound, Relation::BoundTo),
        ["PersistentVolume pv-unknown"]
    );
    assert!(
        bound.notes[0].contains("assume that its data is deleted"),
        "{:?}",
        bound.notes
    );
    own.done().await;
}

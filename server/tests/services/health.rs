//! The health of objects that depends on others.
use crate::{
    stack::Stack,
    workloads::{create, object},
};
use app::ports::Objects;
use portico_domain::panel::{Health, ObjectRef, ObjectView};
use serde_json::json;
use std::time::Duration;

/// How long a controller of the cluster may take.
const PATIENCE: Duration = Duration::from_secs(60);

async fn view(panel: &impl Objects, stack: &Stack, object: &ObjectRef) -> ObjectView {
    panel.object(stack.acme(), object.clone()).await.unwrap()
}

/// Reads an object until it has a status.
async fn wait_for(
    panel: &impl Objects,
    stack: &Stack,
    object: &ObjectRef,
    status: &str,
) -> ObjectView {
    let reading = async {
        loop {
            let found = view(panel, stack, object).await;
            if found.status == status {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
    };
    tokio::time::timeout(PATIENCE, reading)
        .await
        .unwrap_or_else(|_| panic!("{} has no status {status}", object.name))
}

#[tokio::test]
async fn a_service_and_an_ingress_show_why_requests_fail() {
    let stack = Stack::open();
    let own = stack.namespace("reach").await;
    let (client, name) = (&own.client, own.name.as_str());
    let backend = |service: &str, port: u16| {
        json!({"path": format!("/{service}"), "pathType": "Prefix",
            "backend": {"service": {"name": service, "port": {"number": port}}}})
    };
    let ingress = |ingress: &str, path: serde_json::Value| {
        json!({"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": ingress},
            "spec": {"tls": [{"secretName": "absent-tls"}], "rules": [{"http": {"paths": [path]}}]}})
    };
    let service = |service: &str, spec: serde_json::Value| json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": service}, "spec": spec});
    let ports = json!([{"name": "http", "port": 80}]);
    for object in [
        service(
            "empty",
            json!({"selector": {"app": "none"}, "ports": ports}),
        ),
        service(
            "public",
            json!({"type": "LoadBalancer", "selector": {"app": "none"}, "ports": ports}),
        ),
        service("ready", json!({"ports": ports})),
        json!({"apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": "ready"}, "subsets": [{
            "ports": [{"name": "http", "port": 8080}], "addresses": [{"ip": "192.0.2.7"}],
            "notReadyAddresses": [{"ip": "192.0.2.8"}]}]}),
        ingress("lost", backend("absent", 80)),
        ingress("port", backend("ready", 81)),
        ingress("well", backend("ready", 80)),
    ] {
        create(client, name, object).await;
    }
    let panel = stack.panel("devi").await;
    let services = |of: &str| object("", "v1", "services", name, of);
    let empty = view(&panel, &stack, &services("empty")).await;
    assert_eq!(
        (empty.health, empty.status.as_str()),
        (Health::Warning, "Matches no pods")
    );
    let ready = view(&panel, &stack, &services("ready")).await;
    assert_eq!(
        (ready.health, ready.status.as_str()),
        (Health::Ok, "1 of 2 endpoints ready")
    );
    let public = view(&panel, &stack, &services("public")).await;
    assert_eq!(public.health, Health::Warning);
    assert!(public.reason.unwrap().contains("load balancer"));

    let ingresses = |of: &str| object("networking.k8s.io", "v1", "ingresses", name, of);
    for (of, health, status) in [
        ("lost", Health::Failed, "Service missing"),
        ("port", Health::Failed, "Port missing"),
        ("well", Health::Warning, "Certificate missing"),
    ] {
        let found = view(&panel, &stack, &ingresses(of)).await;
        assert_eq!((found.health, found.status.as_str()), (health, status));
    }
    // what a viewer may not read is named, and not taken as missing
    let vera = stack.panel("vera").await;
    let well = view(&vera, &stack, &ingresses("well")).await;
    assert_ne!(well.status, "Certificate missing");
    let reason = well.reason.unwrap();
    assert!(reason.contains("list on secrets"), "{reason}");
    own.done().await;
}

#[tokio::test]
async fn budgets_quotas_autoscalers_and_cron_jobs_show_their_state() {
    let stack = Stack::open();
    let own = stack.namespace("state").await;
    let (client, name) = (&own.client, own.name.as_str());
    for object in [
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}}),
        json!({"apiVersion": "policy/v1beta1", "kind": "PodDisruptionBudget", "metadata": {"name": "none"},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "none"}}}}),
        json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "full"},
            "spec": {"hard": {"configmaps": "2"}}}),
        json!({"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "lost"},
            "spec": {"maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "absent"}}}),
        json!({"apiVersion": "batch/v1beta1", "kind": "CronJob", "metadata": {"name": "never"},
            "spec": {"schedule": "0 0 29 2 *", "suspend": true, "jobTemplate": {"spec": {"template": {
                "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "none"}]}}}}}}),
    ] {
        create(client, name, object).await;
    }
    let panel = stack.panel("devi").await;
    let budget = object("policy", "v1beta1", "poddisruptionbudgets", name, "none");
    let budget = wait_for(&panel, &stack, &budget, "Matches no pods").await;
    assert_eq!(budget.health, Health::Warning);
    let cron_job = object("batch", "v1beta1", "cronjobs", name, "never");
    assert_eq!(view(&panel, &stack, &cron_job).await.status, "Suspended");
    // with the ConfigMap of the cluster's own certificate that every namespace has
    let quota = object("", "v1", "resourcequotas", name, "full");
    let quota = wait_for(&panel, &stack, &quota, "Exhausted").await;
    assert!(quota.reason.unwrap().contains("configmaps is used up"));
    let scaler = object(
        "autoscaling",
        "v1",
        "horizontalpodautoscalers",
        name,
        "lost",
    );
    let scaler = wait_for(&panel, &stack, &scaler, "Cannot scale").await;
    assert_eq!(scaler.health, Health::Failed);
    assert!(!scaler.conditions.is_empty());
    own.done().await;
}

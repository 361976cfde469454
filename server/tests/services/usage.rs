//! Usage of CPU and memory: from the stack's Prometheus, which scrapes real kubelets, and from
//! `metrics.k8s.io`.
//!
//! No metrics-server runs here, as its image cannot be had without a network. Custom resources of its
//! group, kinds and shape in a real API server are the stand-in: discovery, authorization and the
//! responses are those of the API server, and only the figures are the test's own.
use crate::{
    own_namespace::{OwnNamespace, Removal},
    stack::Stack,
};
use app::{
    error::UiErrorKind,
    ports::{Objects, Panel},
};
use k8s_openapi::{
    api::{
        core::v1::{Namespace, Pod},
        rbac::v1::{Role, RoleBinding},
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client,
    api::{DynamicObject, Patch, PatchParams, PostParams},
    core::GroupVersionKind,
    discovery::ApiResource,
};
use portico_domain::panel::{
    CpuMemory, ObjectRef, Reading, ResourceRef, RowUsage, UsageBoundKind, UsageRow, UsageSource,
    UsageView,
};
use serde_json::{Value, json};
use std::time::Duration;
use uuid::Uuid;

fn object(group: &str, plural: &str, namespace: Option<&str>, name: &str) -> ObjectRef {
    ObjectRef {
        resource: ResourceRef::new(group, "v1", plural),
        namespace: namespace.map(str::to_owned),
        name: name.to_owned(),
    }
}

/// Waits until Prometheus has scraped an object's kubelets often enough.
async fn measured(panel: &impl Objects, cluster: Uuid, of: &ObjectRef) -> UsageView {
    let mut last = None;
    for _ in 0..60 {
        let reading = panel.usage(cluster, of.clone()).await.unwrap();
        if let Reading::Known(usage) = &reading
            && usage.cpu.used > 0
            && !usage.cpu.history.is_empty()
        {
            return usage.clone();
        }
        last = Some(reading);
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
    panic!("no usage of {of:?}: {last:?}");
}

fn bounds(usage: &UsageView) -> Vec<UsageBoundKind> {
    usage.cpu.bounds.iter().map(|bound| bound.kind).collect()
}

#[tokio::test]
async fn need_07_prometheus_has_the_usage_of_pods_workloads_namespaces_and_nodes() {
    let stack = Stack::open();
    let vera = stack.panel("vera").await;
    let acme = stack.acme();
    let deployment = object("apps", "deployments", Some("shop"), "checkout");
    let workload = measured(&vera, acme, &deployment).await;
    assert_eq!(workload.source, UsageSource::Prometheus);
    assert!(workload.memory.used > 0, "{workload:?}");
    assert!(bounds(&workload).contains(&UsageBoundKind::Requests));
    assert!(
        workload.parts.len() >= 2,
        "a part for each pod: {workload:?}"
    );

    let pod_name = &workload.parts[0].name;
    let pod = object("", "pods", Some("shop"), pod_name);
    let pod = measured(&vera, acme, &pod).await;
    let mut containers: Vec<_> = pod.parts.iter().map(|part| part.name.as_str()).collect();
    containers.sort_unstable();
    assert_eq!(containers, ["app", "session-cache"]);
    assert!(pod.memory.used < workload.memory.used);

    let namespace = measured(&vera, acme, &object("", "namespaces", None, "shop")).await;
    assert!(namespace.memory.used >= pod.memory.used, "{namespace:?}");

    let node = measured(&vera, acme, &object("", "nodes", None, "acme-node-1")).await;
    assert_eq!(bounds(&node), [UsageBoundKind::Allocatable]);
    let page = vera.cluster(acme, true).await.unwrap();
    assert!(
        matches!(page.usage, Reading::Known(CpuMemory { cpu, memory }) if cpu > 0 && memory > 0),
        "{:?}",
        page.usage
    );
}

/// Gives nora rules in a namespace; she has no other right in the cluster.
pub async fn grant(own: &OwnNamespace, rules: Value) {
    let role = json!({ "metadata": { "name": "of-nora" }, "rules": rules });
    let binding = json!({
        "metadata": { "name": "of-nora" },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "of-nora" },
        "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "nora@Default" }],
    });
    Api::<Role>::namespaced(own.client.clone(), &own.name)
        .create(
            &PostParams::default(),
            &serde_json::from_value(role).unwrap(),
        )
        .await
        .unwrap();
    Api::<RoleBinding>::namespaced(own.client.clone(), &own.name)
        .create(
            &PostParams::default(),
            &serde_json::from_value(binding).unwrap(),
        )
        .await
        .unwrap();
}

#[tokio::test]
async fn need_07_prometheus_is_asked_only_for_users_who_may_get_the_pods() {
    let stack = Stack::open();
    let (closed, open) = (
        stack.namespace("usage").await,
        stack.namespace("usage").await,
    );
    let see = json!({ "apiGroups": [""], "resources": ["namespaces"], "verbs": ["get"] });
    let pods = json!({ "apiGroups": [""], "resources": ["pods"], "verbs": ["get"] });
    grant(&closed, json!([see])).await;
    grant(&open, json!([see, pods])).await;
    let nora = stack.panel("nora").await;
    let usage = async |namespace: &str| {
        let namespace = object("", "namespaces", None, namespace);
        nora.usage(stack.acme(), namespace).await
    };
    // the object may be read, its pods may not
    let refused = usage(&closed.name).await.unwrap();
    let Reading::NotPermitted(refusal) = &refused else {
        panic!("{refused:?}");
    };
    assert!(refusal.reason.contains("get on pods"), "{refusal:?}");
    // the control case: the same question is asked, and has no answer in an empty namespace
    let empty = usage(&open.name).await.unwrap();
    assert!(
        matches!(&empty, Reading::Unavailable(reason) if reason.contains("no recent samples")),
        "{empty:?}"
    );
    // where not even the object may be read, there is nothing
    let error = usage("shop").await.unwrap_err();
    assert_eq!(error.kind, UiErrorKind::NotPermitted);
    let node = object("", "nodes", None, "acme-node-1");
    let error = nora.usage(stack.acme(), node).await.unwrap_err();
    assert_eq!(error.kind, UiErrorKind::NotPermitted);
    closed.done().await;
    open.done().await;
}

#[tokio::test]
async fn need_07_a_source_that_fails_leaves_the_usage_unknown_with_the_reason() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent = format!("http://{}", silent.local_addr().unwrap());
    let pod = |own: &OwnNamespace| object("", "pods", Some(&own.name), "web");
    let mut own = None;
    for (url, expected) in [
        // the discard port: nothing listens
        (Some("http://127.0.0.1:9".to_owned()), "cannot be reached"),
        (Some(silent), "did not answer within"),
        (None, "does not serve metrics.k8s.io"),
    ] {
        let stack = Stack::open_with_prometheus(|prometheus| match url {
            Some(url) => {
                if let Some(prometheus) = prometheus {
                    prometheus.url = url.parse().unwrap();
                }
            }
            None => *prometheus = None,
        });
        if own.is_none() {
            let made = stack.namespace("unmeasured").await;
            made.pod("web").await;
            own = Some(made);
        }
        let vera = stack.panel("vera").await;
        let web = pod(own.as_ref().unwrap());
        let reading = vera.usage(stack.acme(), web).await.unwrap();
        assert!(
            matches!(&reading, Reading::Unavailable(reason) if reason.contains(expected)),
            "{expected}: {reading:?}"
        );
        let page = vera.cluster(stack.acme(), true).await.unwrap();
        assert!(
            matches!(&page.usage, Reading::Unavailable(reason) if reason.contains(expected)),
            "{expected}: {:?}",
            page.usage
        );
        assert!(matches!(page.capacity, Reading::Known(_)));
    }
    if let Some(own) = own {
        own.done().await;
    }
}

/// The definitions of PodMetrics and NodeMetrics as custom resources.
fn stand_in(plural: &str, kind: &str, scope: &str) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("{plural}.metrics.k8s.io"), "annotations": {
            "api-approved.kubernetes.io": "unapproved, stands in for metrics-server in tests" } },
        "spec": { "group": "metrics.k8s.io", "scope": scope,
            "names": { "plural": plural, "singular": kind.to_lowercase(), "kind": kind,
                "listKind": format!("{kind}List") },
            "versions": [{ "name": "v1beta1", "served": true, "storage": true, "schema": {
                "openAPIV3Schema": { "type": "object", "x-kubernetes-preserve-unknown-fields": true } } }] },
    })
}

const DEFINITIONS: [(&str, &str, &str); 2] = [
    ("pods", "PodMetrics", "Namespaced"),
    ("nodes", "NodeMetrics", "Cluster"),
];

async fn install(client: &Client) {
    let definitions = Api::<CustomResourceDefinition>::all(client.clone());
    for (plural, kind, scope) in DEFINITIONS {
        let name = format!("{plural}.metrics.k8s.io");
        let patch = Patch::Apply(stand_in(plural, kind, scope));
        let parameters = PatchParams::apply("portico-tests").force();
        definitions.patch(&name, &parameters, &patch).await.unwrap();
        let is_established = async || {
            let status = definitions.get(&name).await.unwrap().status;
            let conditions = status.and_then(|status| status.conditions);
            let mut conditions = conditions.into_iter().flatten();
            conditions.any(|one| one.type_ == "Established" && one.status == "True")
        };
        for _ in 0..100 {
            if is_established().await {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

async fn uninstall(client: &Client) {
    let definitions = Api::<CustomResourceDefinition>::all(client.clone());
    for (plural, ..) in DEFINITIONS {
        let name = format!("{plural}.metrics.k8s.io");
        let _ = definitions.delete(&name, &Default::default()).await;
    }
}

/// Creates the figures of a pod or node, as soon as their kind is served.
async fn measure(client: &Client, (plural, kind): (&str, &str), value: Value) {
    let resource = ApiResource {
        plural: plural.to_owned(),
        ..ApiResource::from_gvk(&GroupVersionKind::gvk("metrics.k8s.io", "v1beta1", kind))
    };
    let object: DynamicObject = serde_json::from_value(value).unwrap();
    let all = match &object.metadata.namespace {
        Some(namespace) => {
            Api::<DynamicObject>::namespaced_with(client.clone(), namespace, &resource)
        }
        None => Api::<DynamicObject>::all_with(client.clone(), &resource),
    };
    let mut tries = 0;
    while let Err(error) = all.create(&PostParams::default(), &object).await {
        assert!(tries < 50, "{error}");
        tries += 1;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// A namespace of globex's cluster, which has no nodes, with devi's role bound in it.
async fn namespace(stack: &Stack) -> OwnNamespace {
    let path = stack.var("KUBE2_ADMIN_KUBECONFIG");
    let kubeconfig = kube::config::Kubeconfig::read_from(path).unwrap();
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &Default::default())
        .await
        .unwrap();
    let client = Client::try_from(config).unwrap();
    let name = format!("t-usage-{}", &Uuid::new_v4().simple().to_string()[..6]);
    let made: Namespace = serde_json::from_value(json!({ "metadata": { "name": name } })).unwrap();
    Api::<Namespace>::all(client.clone())
        .create(&PostParams::default(), &made)
        .await
        .unwrap();
    let binding = serde_json::from_value(json!({
        "metadata": { "name": "portico-viewer" },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "portico-viewer" },
        "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "Group",
            "name": stack.var("ROLE_ID_K8S_VIEWER") }],
    }))
    .unwrap();
    // where the stack's own bootstrap runs, it may have been faster
    let _ = Api::<RoleBinding>::namespaced(client.clone(), &name)
        .create(&PostParams::default(), &binding)
        .await;
    let removal = Removal::new(
        stack,
        "KUBE2_ADMIN_KUBECONFIG",
        &["namespace", &name, "--wait=false"],
    );
    OwnNamespace::new(name, client, removal)
}

#[tokio::test]
async fn need_07_metrics_k8s_io_is_read_with_the_viewers_own_token() {
    let stack = Stack::open_with_prometheus(|prometheus| *prometheus = None);
    let own = namespace(&stack).await;
    let client = &own.client;
    let definitions = DEFINITIONS.map(|(plural, ..)| format!("crd/{plural}.metrics.k8s.io"));
    let [pods, nodes] = &definitions;
    let _definitions = Removal::new(
        &stack,
        "KUBE2_ADMIN_KUBECONFIG",
        &[pods, nodes, "--timeout=60s"],
    );
    install(client).await;
    own.pod("web").await;
    let container = |name: &str, cpu: &str, memory: &str| json!({ "name": name, "usage": { "cpu": cpu, "memory": memory } });
    let containers = [
        container("c", "12345678n", "11264Ki"),
        container("log", "500u", "1Mi"),
    ];
    let pod = json!({
        "apiVersion": "metrics.k8s.io/v1beta1", "kind": "PodMetrics",
        "metadata": { "name": "web", "namespace": own.name },
        "timestamp": "2026-01-01T00:00:00Z", "window": "30s", "containers": containers,
    });
    measure(client, ("pods", "PodMetrics"), pod).await;
    let node_name = own.name.clone();
    let node = json!({
        "apiVersion": "metrics.k8s.io/v1beta1", "kind": "NodeMetrics",
        "metadata": { "name": node_name }, "timestamp": "2026-01-01T00:00:00Z", "window": "30s",
        "usage": { "cpu": "250m", "memory": "2Gi" },
    });
    measure(client, ("nodes", "NodeMetrics"), node).await;

    let globex: Uuid = stack.var("CLUSTER2_ID").parse().unwrap();
    let panel = async |user: &str| {
        let headers = stack.headers(user, stack.var("PROJECT_ID_GLOBEX")).await;
        stack.panel_of_caller(stack.admit(&headers))
    };
    let otto = panel("otto").await;
    let web = object("", "pods", Some(&own.name), "web");
    let reading = otto.usage(globex, web.clone()).await.unwrap();
    let Reading::Known(usage) = &reading else {
        panic!("{reading:?}");
    };
    assert_eq!(usage.source, UsageSource::MetricsApi);
    assert_eq!(usage.cpu.used, 14);
    assert_eq!(usage.memory.used, 11_264 * 1_024 + 1_048_576);
    assert_eq!(usage.parts[0].name, "c");
    assert!(usage.cpu.history.is_empty(), "it has no history");
    let all = object("", "namespaces", None, &own.name);
    let reading = otto.usage(globex, all).await.unwrap();
    assert!(
        matches!(&reading, Reading::Known(usage) if usage.cpu.used == 14),
        "{reading:?}"
    );
    let rows = || {
        vec![UsageRow {
            namespace: Some(own.name.clone()),
            name: "web".to_owned(),
        }]
    };
    let pods = ResourceRef::core("pods");
    let reading = otto.rows_usage(globex, pods.clone(), rows()).await;
    let reading = reading.unwrap();
    assert!(
        matches!(&reading, Reading::Known(usage) if usage.source == UsageSource::MetricsApi
            && matches!(&usage.rows[..], [RowUsage::Known(web)] if web.cpu.used == 14)),
        "{reading:?}"
    );
    let page = otto.cluster(globex, true).await.unwrap();
    assert!(
        matches!(page.usage, Reading::Known(CpuMemory { cpu, .. }) if cpu >= 250),
        "{:?}",
        page.usage
    );

    // devi may read the pod, and her role does not include its metrics
    let devi = panel("devi").await;
    let reading = devi.usage(globex, web).await.unwrap();
    assert!(
        matches!(&reading, Reading::NotPermitted(refusal) if refusal.reason.contains("pods.metrics.k8s.io")),
        "{reading:?}"
    );
    let reading = devi.rows_usage(globex, pods, rows()).await.unwrap();
    assert!(
        matches!(&reading, Reading::NotPermitted(refusal) if refusal.reason.contains("pods.metrics.k8s.io")),
        "{reading:?}"
    );
    let pods = Api::<Pod>::namespaced(client.clone(), &own.name);
    let _ = pods.delete("web", &Default::default()).await;
    uninstall(client).await;
    own.done().await;
}

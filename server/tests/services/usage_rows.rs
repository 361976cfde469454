//! Usage of the rows of lists, from the stack's Prometheus. Those of `metrics.k8s.io` are in `usage.rs`,
//! as one test installs its stand-in.
use crate::{stack::Stack, usage::grant};
use app::{
    error::UiErrorKind,
    ports::{Objects, Panel},
};
use portico_domain::panel::{
    ListQuery, MAX_USAGE_ROWS, Reading, ResourceRef, ResourceTable, RowFigures, RowRange, RowUsage,
    RowsUsage, UsageBoundKind, UsageRow, UsageSource,
};
use serde_json::json;
use std::time::Duration;
use uuid::Uuid;

fn deployments() -> ResourceRef {
    ResourceRef::new("apps", "v1", "deployments")
}

fn row(namespace: Option<&str>, name: &str) -> UsageRow {
    UsageRow {
        namespace: namespace.map(str::to_owned),
        name: name.to_owned(),
    }
}

async fn list(panel: &impl Panel, cluster: Uuid, resource: ResourceRef) -> ResourceTable {
    let query = ListQuery {
        resource,
        namespaces: vec!["shop".to_owned()],
        search: "checkout".to_owned(),
        labels: String::new(),
        fields: String::new(),
        status: Vec::new(),
        sort: String::new(),
    };
    let range = RowRange {
        offset: 0,
        limit: 50,
    };
    panel.list(cluster, query, range).await.unwrap()
}

/// Waits until Prometheus has scraped the first of the rows often enough, and returns all.
async fn measured(
    panel: &impl Objects,
    cluster: Uuid,
    resource: ResourceRef,
    rows: Vec<UsageRow>,
) -> RowsUsage {
    let mut last = None;
    for _ in 0..60 {
        let reading = panel
            .rows_usage(cluster, resource.clone(), rows.clone())
            .await
            .unwrap();
        if let Reading::Known(usage) = &reading
            && let Some(RowUsage::Known(first)) = usage.rows.first()
            && first.cpu.used > 0
        {
            assert_eq!(usage.rows.len(), rows.len());
            return usage.clone();
        }
        last = Some(reading);
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
    panic!("no usage of {rows:?}: {last:?}");
}

fn figures(usage: &RowsUsage, at: usize) -> &RowFigures {
    match &usage.rows[at] {
        RowUsage::Known(figures) => figures,
        RowUsage::Unknown(reason) => panic!("{reason}"),
    }
}

fn bounds(figures: &RowFigures) -> Vec<UsageBoundKind> {
    figures.cpu.bounds.iter().map(|bound| bound.kind).collect()
}

#[tokio::test]
async fn need_07_rows_of_lists_have_their_usage_with_one_request() {
    let stack = Stack::open();
    let vera = stack.panel("vera").await;
    let acme = stack.acme();
    let table = list(&vera, acme, deployments()).await;
    assert!(table.has_usage);
    let rows = vec![row(Some("shop"), "checkout"), row(Some("shop"), "missing")];
    let workloads = measured(&vera, acme, deployments(), rows).await;
    assert_eq!(workloads.source, UsageSource::Prometheus);
    let checkout = figures(&workloads, 0);
    assert!(checkout.memory.used > 0, "{checkout:?}");
    assert!(bounds(checkout).contains(&UsageBoundKind::Requests));
    assert!(
        matches!(&workloads.rows[1], RowUsage::Unknown(reason) if reason == "No pod is running."),
        "{workloads:?}"
    );

    let pods = list(&vera, acme, ResourceRef::core("pods")).await;
    let rows: Vec<_> = pods
        .window
        .rows
        .iter()
        .filter(|row| row.name.starts_with("checkout-"))
        .map(|pod| row(pod.namespace.as_deref(), &pod.name))
        .collect();
    assert!(!rows.is_empty(), "{pods:?}");
    let pods = measured(&vera, acme, ResourceRef::core("pods"), rows).await;
    let first = figures(&pods, 0);
    assert!(first.memory.used > 0, "{first:?}");
    assert!(bounds(first).contains(&UsageBoundKind::Requests));

    let node = vec![row(None, "acme-node-1")];
    let nodes = measured(&vera, acme, ResourceRef::core("nodes"), node).await;
    assert_eq!(bounds(figures(&nodes, 0)), [UsageBoundKind::Allocatable]);
    let shop = vec![row(None, "shop")];
    let namespaces = measured(&vera, acme, ResourceRef::core("namespaces"), shop).await;
    assert!(figures(&namespaces, 0).memory.used > 0);
    let none = list(&vera, acme, ResourceRef::core("configmaps")).await;
    assert!(!none.has_usage, "the control case");
}

#[tokio::test]
async fn need_07_rows_of_namespaces_whose_pods_the_viewer_may_not_get_are_unknown() {
    let stack = Stack::open();
    let (closed, open) = (stack.namespace("rows").await, stack.namespace("rows").await);
    let see = json!({ "apiGroups": [""], "resources": ["namespaces"], "verbs": ["get"] });
    let get = json!({ "apiGroups": [""], "resources": ["pods"], "verbs": ["get"] });
    grant(&closed, json!([see])).await;
    grant(&open, json!([see, get])).await;
    let nora = stack.panel("nora").await;
    let acme = stack.acme();
    let pods = ResourceRef::core("pods");
    let rows = vec![row(Some(&closed.name), "web"), row(Some(&open.name), "web")];
    let reading = nora.rows_usage(acme, pods.clone(), rows).await.unwrap();
    let Reading::Known(usage) = &reading else {
        panic!("{reading:?}");
    };
    assert!(
        matches!(&usage.rows[0], RowUsage::Unknown(reason) if reason.contains("get on pods")),
        "{usage:?}"
    );
    // the control case: the question is asked, and has no answer in an empty namespace
    assert!(
        matches!(&usage.rows[1], RowUsage::Unknown(reason) if reason.contains("no recent samples")),
        "{usage:?}"
    );
    for (resource, rows) in [
        (pods, vec![row(Some(&closed.name), "web")]),
        (deployments(), vec![row(Some("shop"), "checkout")]),
        (ResourceRef::core("namespaces"), vec![row(None, "shop")]),
        (ResourceRef::core("nodes"), vec![row(None, "acme-node-1")]),
    ] {
        let reading = nora.rows_usage(acme, resource, rows).await.unwrap();
        assert!(
            matches!(&reading, Reading::NotPermitted(refusal) if refusal.missing.is_some()),
            "{reading:?}"
        );
    }
    closed.done().await;
    open.done().await;
}

#[tokio::test]
async fn need_07_rows_of_a_source_that_fails_are_unavailable_and_the_list_is_there() {
    let rows = || vec![row(Some("shop"), "checkout")];
    for (url, has_usage, expected) in [
        // the discard port: nothing listens
        (Some("http://127.0.0.1:9"), true, "cannot be reached"),
        (None, false, "does not serve metrics.k8s.io"),
    ] {
        let stack = Stack::open_with_prometheus(|prometheus| match url {
            Some(url) => {
                if let Some(prometheus) = prometheus {
                    prometheus.url = url.parse().unwrap();
                }
            }
            None => *prometheus = None,
        });
        let vera = stack.panel("vera").await;
        let table = list(&vera, stack.acme(), deployments()).await;
        assert!(!table.window.rows.is_empty());
        assert_eq!(table.has_usage, has_usage);
        let reading = vera.rows_usage(stack.acme(), deployments(), rows()).await;
        let reading = reading.unwrap();
        assert!(
            matches!(&reading, Reading::Unavailable(reason) if reason.contains(expected)),
            "{expected}: {reading:?}"
        );
    }
}

#[tokio::test]
async fn need_07_rows_are_limited_in_number() {
    let stack = Stack::open();
    let vera = stack.panel("vera").await;
    let many = vec![row(Some("shop"), "checkout"); MAX_USAGE_ROWS + 1];
    for (resource, rows) in [
        (deployments(), many),
        (deployments(), Vec::new()),
        (ResourceRef::core("secrets"), vec![row(Some("shop"), "x")]),
    ] {
        let answer = vera.rows_usage(stack.acme(), resource, rows).await;
        assert_eq!(answer.unwrap_err().kind, UiErrorKind::Invalid);
    }
}

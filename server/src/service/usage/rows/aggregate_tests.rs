//! Rows have what belongs to them, and a reason where something is missing.
use super::*;
use crate::kube::reviews;
use portico_domain::panel::{ResourceRef, UsageBound, UsageBoundKind, UsageSource};
use serde_json::json;

fn row(namespace: Option<&str>, name: &str) -> UsageRow {
    UsageRow {
        namespace: namespace.map(str::to_owned),
        name: name.to_owned(),
    }
}

fn samples(used: &[(&str, &str, u64)]) -> Samples {
    let mut samples = Samples::of(UsageSource::Prometheus);
    for (namespace, name, cpu) in used {
        let key = ((*namespace).to_owned(), (*name).to_owned());
        let used = CpuMemory {
            cpu: *cpu,
            memory: 1_024,
        };
        samples.used.insert(key, used);
    }
    samples
}

/// Returns a pod of the Deployment web.
fn pod(namespace: &str, name: &str, phase: &str) -> Pod {
    let value = json!({
        "metadata": {"name": name, "namespace": namespace, "labels": {"pod-template-hash": "6f9d"},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-6f9d",
                "uid": "1", "controller": true}]},
        "spec": {"containers": [{"name": "app",
            "resources": {"requests": {"cpu": "500m"}, "limits": {"cpu": "1"}}}]},
        "status": {"phase": phase}});
    serde_json::from_value(value).unwrap()
}

fn figures(usage: &RowUsage) -> &RowFigures {
    match usage {
        RowUsage::Known(figures) => figures,
        RowUsage::Unknown(reason) => panic!("{reason}"),
    }
}

fn reason(usage: &RowUsage) -> &str {
    match usage {
        RowUsage::Known(figures) => panic!("{figures:?}"),
        RowUsage::Unknown(reason) => reason,
    }
}

fn requests(amount: u64) -> UsageBound {
    UsageBound {
        kind: UsageBoundKind::Requests,
        amount,
    }
}

#[test]
fn need_07_rows_of_pods_are_compared_with_requests_and_limits() {
    let rows = [
        row(Some("shop"), "web-0"),
        row(Some("shop"), "web-1"),
        row(Some("shop"), "done"),
    ];
    let read = Collected::new(vec![
        pod("shop", "web-0", "Running"),
        pod("shop", "web-1", "Pending"),
        pod("shop", "done", "Succeeded"),
        pod("bank", "web-0", "Running"),
    ]);
    // what has ended may have samples for some minutes
    let samples = samples(&[("shop", "web-0", 120), ("shop", "done", 5)]);
    let usage = of_pods(&rows, &samples, &read);
    let first = figures(&usage[0]);
    assert_eq!(first.cpu.used, 120);
    let limits = UsageBound {
        kind: UsageBoundKind::Limits,
        amount: 1_000,
    };
    assert_eq!(first.cpu.bounds, [requests(500), limits]);
    assert_eq!((first.memory.used, first.note.as_str()), (1_024, ""));
    assert!(first.memory.bounds.is_empty());
    assert_eq!(reason(&usage[1]), "Prometheus has no recent samples of it.");
    assert_eq!(reason(&usage[2]), "The pod has ended.");
}

#[test]
fn need_07_rows_of_pods_that_may_not_be_listed_have_usage_without_requests() {
    let mut read = Collected::new(Vec::new());
    let question = reviews::question("list", &ResourceRef::core("pods"), Some("shop"));
    read.failures
        .insert("shop".to_owned(), ServiceError::lacks(question));
    let samples = samples(&[("shop", "web-0", 120)]);
    let usage = of_pods(&[row(Some("shop"), "web-0")], &samples, &read);
    let first = figures(&usage[0]);
    assert_eq!(first.cpu.used, 120);
    assert!(first.cpu.bounds.is_empty());
    assert!(
        first
            .note
            .starts_with("Its requests are not known. Your roles do not include list on"),
        "{}",
        first.note
    );
    let workloads = of_workloads("deployments", &[row(Some("shop"), "web")], &samples, &read);
    assert!(reason(&workloads[0]).contains("list on pods"));
}

#[test]
fn need_07_rows_of_workloads_are_the_sums_of_their_active_pods() {
    let rows = [
        row(Some("shop"), "web"),
        row(Some("bank"), "web"),
        row(Some("shop"), "idle"),
    ];
    let read = Collected::new(vec![
        pod("shop", "web-0", "Running"),
        pod("shop", "web-1", "Running"),
        pod("shop", "old", "Failed"),
        pod("bank", "web-0", "Running"),
        pod("bank", "web-1", "Running"),
    ]);
    let samples = samples(&[
        ("shop", "web-0", 100),
        ("shop", "web-1", 50),
        ("shop", "old", 1_000),
        ("bank", "web-0", 7),
    ]);
    let usage = of_workloads("deployments", &rows, &samples, &read);
    let shop = figures(&usage[0]);
    assert_eq!((shop.cpu.used, shop.memory.used), (150, 2_048));
    assert_eq!(shop.cpu.bounds[0], requests(1_000));
    assert_eq!(shop.note, "");
    let bank = figures(&usage[1]);
    assert_eq!(
        (bank.cpu.used, bank.note.as_str()),
        (7, "1 of 2 pods are measured.")
    );
    assert_eq!(reason(&usage[2]), "No pod is running.");
}

#[test]
fn need_07_rows_of_workloads_are_unknown_if_not_all_pods_were_read() {
    let mut read = Collected::new(vec![pod("shop", "web-0", "Running")]);
    read.cut.insert("shop".to_owned());
    let samples = samples(&[("shop", "web-0", 100)]);
    let usage = of_workloads("deployments", &[row(Some("shop"), "web")], &samples, &read);
    assert!(reason(&usage[0]).contains("too many objects"));
}

#[test]
fn need_07_rows_of_namespaces_are_compared_with_their_own_quota() {
    let quota = json!({"metadata": {"name": "q", "namespace": "shop"},
        "spec": {"hard": {"requests.cpu": "2"}}});
    let read = Collected::new(vec![serde_json::from_value(quota).unwrap()]);
    let mut samples = samples(&[("", "shop", 120), ("", "bank", 7)]);
    let refused = reviews::question("get", &ResourceRef::core("pods"), Some("closed"));
    samples
        .failures
        .insert("closed".to_owned(), ServiceError::lacks(refused));
    let rows = [row(None, "shop"), row(None, "bank"), row(None, "closed")];
    let usage = of_namespaces(&rows, &samples, &read);
    let bound = UsageBound {
        kind: UsageBoundKind::QuotaRequests,
        amount: 2_000,
    };
    assert_eq!(figures(&usage[0]).cpu.bounds, [bound]);
    assert!(figures(&usage[1]).cpu.bounds.is_empty());
    assert!(reason(&usage[2]).contains("get on pods in closed"));
}

#[test]
fn need_07_rows_of_nodes_are_compared_with_what_they_can_allocate() {
    let node = json!({"metadata": {"name": "node-1"},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi"}}});
    let nodes: Vec<Node> = vec![serde_json::from_value(node).unwrap()];
    let samples = samples(&[("", "node-1", 1_500)]);
    let rows = [row(None, "node-1"), row(None, "node-2")];
    let usage = of_nodes(&rows, &samples, &Ok(nodes));
    let bound = UsageBound {
        kind: UsageBoundKind::Allocatable,
        amount: 4_000,
    };
    assert_eq!(figures(&usage[0]).cpu.bounds, [bound]);
    assert!(reason(&usage[1]).contains("no recent samples"));
    let refused = ServiceError::not_permitted("No.");
    let usage = of_nodes(&rows, &samples, &Err(refused));
    let first = figures(&usage[0]);
    assert_eq!(first.note, "What it can allocate is not known. No.");
    assert!(first.cpu.bounds.is_empty());
}

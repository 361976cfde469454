//! What selects, routes to, scales, protects, restricts and is used by the pods of a workload.
use super::{
    groups::{self, Groups},
    ingress,
    label_match::{map_selects, selects},
    pod_template::{self, Used},
    reader::{Reader, Select},
};
use portico_domain::panel::{ObjectRef, Relation};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Adds the objects around pods with these labels; `object` is the workload or the pod itself.
pub async fn add(
    reader: &Reader<'_>,
    found: &mut Groups,
    object: &ObjectRef,
    value: &Value,
    labels: &Value,
) {
    let all = Select::default();
    let (services, ingresses, budgets, policies, scalers) = tokio::join!(
        reader.list("", "services", all),
        reader.list("networking.k8s.io", "ingresses", all),
        reader.list("policy", "poddisruptionbudgets", all),
        reader.list("networking.k8s.io", "networkpolicies", all),
        reader.list("autoscaling", "horizontalpodautoscalers", all),
    );
    let services: Vec<_> = services
        .into_iter()
        .filter(|service| map_selects(&service["spec"]["selector"], labels))
        .collect();
    found.add_read(reader, Relation::SelectedBy, ("", "services"), &services);
    let names: BTreeSet<&str> = services
        .iter()
        .filter_map(|service| service["metadata"]["name"].as_str())
        .collect();
    let routing: Vec<_> = ingresses
        .into_iter()
        .filter(|ingress| {
            ingress::services(ingress)
                .iter()
                .any(|name| names.contains(name.as_str()))
        })
        .collect();
    let ingresses = ("networking.k8s.io", "ingresses");
    found.add_read(reader, Relation::RoutedBy, ingresses, &routing);
    for (relation, kind, list, field) in [
        (
            Relation::ProtectedBy,
            ("policy", "poddisruptionbudgets"),
            budgets,
            "selector",
        ),
        (
            Relation::RestrictedBy,
            ("networking.k8s.io", "networkpolicies"),
            policies,
            "podSelector",
        ),
    ] {
        let selecting: Vec<_> = list
            .into_iter()
            .filter(|one| selects(&one["spec"][field], labels))
            .collect();
        found.add_read(reader, relation, kind, &selecting);
    }
    let scaling: Vec<_> = scalers
        .into_iter()
        .filter(|scaler| {
            groups::by_kind(reader, &scaler["spec"]["scaleTargetRef"]).as_ref() == Some(object)
        })
        .collect();
    let scalers = ("autoscaling", "horizontalpodautoscalers");
    found.add_read(reader, Relation::ScaledBy, scalers, &scaling);
    if let Some(spec) = pod_template::spec_of(&object.resource.plural, value) {
        add_used(reader, found, spec).await;
    }
}

/// Adds what a pod specification uses, and marks what does not exist.
pub async fn add_used(reader: &Reader<'_>, found: &mut Groups, spec: &Value) {
    let uses = pod_template::uses(spec);
    let kinds: BTreeSet<Used> = uses.keys().map(|(kind, _)| *kind).collect();
    let mut existing = BTreeMap::new();
    for kind in kinds {
        // a list of Secrets is a list of their values, which this page does not need
        if kind != Used::Secret
            && let Some(list) = reader.read_list("", kind.plural(), Select::default()).await
        {
            existing.insert(kind, list);
        }
    }
    for ((kind, name), is_required) in uses {
        let Some(object) = reader.reference("", kind.plural(), &name) else {
            continue;
        };
        let list = existing.get(&kind);
        let read = list
            .into_iter()
            .flatten()
            .find(|value| value["metadata"]["name"] == name.as_str());
        let related = match read {
            Some(value) => groups::assessed(reader, object, value),
            None if list.is_some() && is_required => groups::missing(reader, object),
            None => groups::named(reader, object),
        };
        found.add(Relation::Uses, related);
    }
    if let Some(node) = spec["nodeName"].as_str() {
        found.add_named(reader, Relation::RunsOn, ("", "nodes"), node);
    }
}

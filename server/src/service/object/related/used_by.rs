//! The reverse direction: what uses a ConfigMap, Secret, claim, ServiceAccount or role.
use super::{
    groups::{self, Groups},
    ingress,
    pod_template::{self, Used, items},
    reader::{Reader, Select},
};
use portico_domain::panel::Relation;
use serde_json::Value;

/// Kinds with a pod template, and pods themselves.
const WITH_PODS: [(&str, &str); 6] = [
    ("apps", "deployments"),
    ("apps", "statefulsets"),
    ("apps", "daemonsets"),
    ("batch", "cronjobs"),
    ("batch", "jobs"),
    ("", "pods"),
];
const RBAC: &str = "rbac.authorization.k8s.io";

/// Adds the workloads, pods and others that use an object of the namespace.
pub async fn add(reader: &Reader<'_>, found: &mut Groups, kind: Used, name: &str) {
    let wanted = (kind, name.to_owned());
    let lists = WITH_PODS.map(|(group, plural)| reader.list(group, plural, Select::default()));
    let lists = futures::future::join_all(lists).await;
    for ((group, plural), mut list) in WITH_PODS.into_iter().zip(lists) {
        list.retain(|one| {
            let uses = pod_template::spec_of(plural, one).map(pod_template::uses);
            uses.is_some_and(|uses| uses.contains_key(&wanted))
                // what a workload or a CronJob makes is found by the workload; a claim's pods are
                // shown too, as they hold its volume
                && (kind == Used::Claim || !has_controller(one))
        });
        found.add_read(reader, Relation::UsedBy, (group, plural), &list);
    }
    match kind {
        Used::Secret => {
            let mut ingresses = reader
                .list("networking.k8s.io", "ingresses", Select::default())
                .await;
            ingresses.retain(|ingress| ingress::certificates(ingress).contains(name));
            let ingress = ("networking.k8s.io", "ingresses");
            found.add_read(reader, Relation::UsedBy, ingress, &ingresses);
        }
        Used::ServiceAccount => {
            let mut bindings = reader.list(RBAC, "rolebindings", Select::default()).await;
            let namespace = reader.namespace.clone();
            bindings.retain(|binding| {
                items(&binding["subjects"]).any(|subject| {
                    subject["kind"] == "ServiceAccount"
                        && subject["name"] == name
                        && subject["namespace"].as_str() == namespace.as_deref()
                })
            });
            found.add_read(
                reader,
                Relation::GrantedBy,
                (RBAC, "rolebindings"),
                &bindings,
            );
        }
        Used::ConfigMap | Used::Claim => {}
    }
}

pub fn has_controller(value: &Value) -> bool {
    items(&value["metadata"]["ownerReferences"]).any(|owner| owner["controller"] == true)
}

/// Adds the Services and certificates of an Ingress, and marks those that do not exist.
pub async fn of_ingress(reader: &Reader<'_>, found: &mut Groups, value: &Value) {
    let services = reader.read_list("", "services", Select::default()).await;
    for name in ingress::services(value) {
        let Some(object) = reader.reference("", "services", &name) else {
            continue;
        };
        let read = services.iter().flatten();
        let read = read
            .into_iter()
            .find(|service| service["metadata"]["name"] == name.as_str());
        let related = match read {
            Some(service) => groups::assessed(reader, object, service),
            None if services.is_some() => groups::missing(reader, object),
            None => groups::named(reader, object),
        };
        found.add(Relation::RoutesTo, related);
    }
    for name in ingress::certificates(value) {
        found.add_named(reader, Relation::Uses, ("", "secrets"), &name);
    }
    if let Some(class) = value["spec"]["ingressClassName"].as_str() {
        let kind = ("networking.k8s.io", "ingressclasses");
        found.add_named(reader, Relation::Uses, kind, class);
    }
}

/// Adds the bindings that grant a role.
pub async fn of_role(reader: &Reader<'_>, found: &mut Groups, plural: &str, name: &str) {
    let kind = if plural == "roles" {
        "Role"
    } else {
        "ClusterRole"
    };
    let is_of_role =
        |binding: &Value| binding["roleRef"]["kind"] == kind && binding["roleRef"]["name"] == name;
    let mut bindings = reader.list(RBAC, "rolebindings", Select::default()).await;
    bindings.retain(is_of_role);
    found.add_read(
        reader,
        Relation::GrantedBy,
        (RBAC, "rolebindings"),
        &bindings,
    );
    if plural == "clusterroles" {
        let mut bindings = reader
            .list(RBAC, "clusterrolebindings", Select::default())
            .await;
        bindings.retain(is_of_role);
        let kind = (RBAC, "clusterrolebindings");
        found.add_read(reader, Relation::GrantedBy, kind, &bindings);
    }
}

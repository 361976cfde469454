//! Fields shown on an object's page: those that `kubectl describe` shows, as far as no table has them.
mod pointers;

use super::{related::items, selector};
use crate::service::health;
use portico_domain::panel::ResourceRef;
use serde_json::Value;

type Field = (String, String);

/// Returns the fields of an object, in reading order; missing ones are left out.
pub fn fields(resource: &ResourceRef, value: &Value) -> Vec<Field> {
    let mut found = Vec::new();
    for (label, pointer) in pointers::of(resource) {
        if let Some(text) = value.pointer(pointer).and_then(scalar) {
            found.push(((*label).to_owned(), text));
        }
    }
    found.extend(composed(resource, value).into_iter().flatten());
    found
}

/// Returns the fields that are made of several values.
fn composed(resource: &ResourceRef, value: &Value) -> Vec<Option<Field>> {
    let strings = |label: &str, pointer: &str| list(label, value.pointer(pointer), scalar);
    let names = |label: &str, pointer: &str| {
        list(label, value.pointer(pointer), |item| scalar(&item["name"]))
    };
    match (resource.group.as_str(), resource.plural.as_str()) {
        ("", "services") => vec![
            selected(resource, value),
            list("Ports", value.pointer("/spec/ports"), port),
            strings("External IPs", "/spec/externalIPs"),
            strings("IP families", "/spec/ipFamilies"),
            strings("Allowed sources", "/spec/loadBalancerSourceRanges"),
            addresses(value),
        ],
        ("networking.k8s.io" | "extensions", "ingresses") => vec![
            list("Hosts", value.pointer("/spec/rules"), |rule| {
                scalar(&rule["host"])
            }),
            addresses(value),
        ],
        ("networking.k8s.io", "networkpolicies") => vec![
            selected(resource, value).or_else(|| field("Selector", "all pods of the namespace")),
            strings("Restricts", "/spec/policyTypes"),
        ],
        ("policy", "poddisruptionbudgets") => vec![selected(resource, value)],
        ("", "configmaps" | "secrets") => vec![keys(value)],
        ("", "persistentvolumeclaims") => vec![strings("Access modes", "/spec/accessModes")],
        ("", "persistentvolumes") => vec![
            strings("Access modes", "/spec/accessModes"),
            strings("Mount options", "/spec/mountOptions"),
        ],
        ("storage.k8s.io", "storageclasses") => vec![
            field("Default", yes_or_no(health::is_default_class(value))),
            pairs("Parameters", &value["parameters"]),
            strings("Mount options", "/mountOptions"),
        ],
        ("", "serviceaccounts") => vec![
            names("Image pull Secrets", "/imagePullSecrets"),
            names("Secrets", "/secrets"),
        ],
        ("", "limitranges") => vec![list("Limits", value.pointer("/spec/limits"), |limit| {
            scalar(&limit["type"])
        })],
        ("", "resourcequotas") => vec![strings("Scopes", "/spec/scopes")],
        ("", "nodes") => vec![list(
            "Addresses",
            value.pointer("/status/addresses"),
            |one| {
                Some(format!(
                    "{} {}",
                    scalar(&one["type"])?,
                    scalar(&one["address"])?
                ))
            },
        )],
        ("apiextensions.k8s.io", "customresourcedefinitions") => vec![
            strings("Short names", "/spec/names/shortNames"),
            strings("Categories", "/spec/names/categories"),
        ],
        ("rbac.authorization.k8s.io", "clusterroles") => vec![aggregated(value)],
        ("apps", _) => vec![selected(resource, value), images(value, "/spec/template")],
        ("batch", "jobs") => vec![images(value, "/spec/template")],
        ("batch", "cronjobs") => vec![images(value, "/spec/jobTemplate/spec/template")],
        _ => Vec::new(),
    }
}

fn field(label: &str, text: impl Into<String>) -> Option<Field> {
    Some((label.to_owned(), text.into()))
}

fn yes_or_no(value: bool) -> &'static str {
    if value { "yes" } else { "no" }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(yes_or_no(*value).to_owned()),
        _ => None,
    }
}

fn list(
    label: &str,
    value: Option<&Value>,
    item: impl Fn(&Value) -> Option<String>,
) -> Option<Field> {
    let items: Vec<_> = value?.as_array()?.iter().filter_map(item).collect();
    (!items.is_empty()).then(|| (label.to_owned(), items.join(", ")))
}

/// Returns the entries of a map as `key=value`.
fn pairs(label: &str, map: &Value) -> Option<Field> {
    let entries: Vec<_> = map
        .as_object()?
        .iter()
        .filter_map(|(key, value)| Some(format!("{key}={}", scalar(value)?)))
        .collect();
    (!entries.is_empty()).then(|| (label.to_owned(), entries.join(", ")))
}

/// Returns the selector of the pods.
fn selected(resource: &ResourceRef, value: &Value) -> Option<Field> {
    field("Selector", selector::of_pods(resource, value)?)
}

fn port(port: &Value) -> Option<String> {
    let number = port["port"].as_i64()?;
    let protocol = port["protocol"].as_str().unwrap_or("TCP");
    let target = scalar(&port["targetPort"]).unwrap_or_default();
    Some(format!("{number}/{protocol} to {target}"))
}

/// Returns the addresses of a load balancer.
fn addresses(value: &Value) -> Option<Field> {
    let entries = value.pointer("/status/loadBalancer/ingress");
    list("Addresses", entries, |entry| {
        scalar(&entry["ip"]).or_else(|| scalar(&entry["hostname"]))
    })
}

fn images(value: &Value, template: &str) -> Option<Field> {
    let containers = value.pointer(&format!("{template}/spec/containers"));
    list("Images", containers, |container| {
        scalar(&container["image"])
    })
}

/// Returns the labels of the roles whose rules a ClusterRole takes over.
fn aggregated(value: &Value) -> Option<Field> {
    let selectors = &value["aggregationRule"]["clusterRoleSelectors"];
    let labels: Vec<_> = items(selectors)
        .filter_map(|selector| pairs("", &selector["matchLabels"]))
        .map(|(_, labels)| labels)
        .collect();
    (!labels.is_empty()).then(|| ("Takes over rules of".to_owned(), labels.join("; ")))
}

/// Returns the names of the keys only: the values of a Secret are never shown.
fn keys(value: &Value) -> Option<Field> {
    let names: Vec<_> = value["data"].as_object()?.keys().cloned().collect();
    (!names.is_empty()).then(|| ("Keys".to_owned(), names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn words(resource: &ResourceRef, value: &Value) -> Vec<String> {
        fields(resource, value)
            .into_iter()
            .map(|(label, text)| format!("{label}: {text}"))
            .collect()
    }

    #[test]
    fn a_secrets_fields_are_its_keys_only() {
        let found = words(
            &ResourceRef::core("secrets"),
            &json!({"type": "Opaque", "data": {"password": "czNjcjN0"}}),
        );
        assert_eq!(found, ["Type: Opaque", "Keys: password"]);
    }

    #[test]
    fn what_is_missing_is_left_out() {
        assert!(fields(&ResourceRef::core("pods"), &json!({})).is_empty());
    }

    #[test]
    fn a_services_selector_ports_and_addresses_are_shown() {
        let service = json!({"spec": {"type": "LoadBalancer", "clusterIP": "10.0.0.1",
                "selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": "http"}]},
            "status": {"loadBalancer": {"ingress": [{"ip": "203.0.113.7"}]}}});
        assert_eq!(
            words(&ResourceRef::core("services"), &service),
            [
                "Type: LoadBalancer",
                "Cluster IP: 10.0.0.1",
                "Selector: app=web",
                "Ports: 80/TCP to http",
                "Addresses: 203.0.113.7",
            ]
        );
    }

    #[test]
    fn kinds_without_a_status_show_their_settings() {
        let class = ResourceRef::new("storage.k8s.io", "v1", "storageclasses");
        let found = words(
            &class,
            &json!({"provisioner": "cinder.csi.openstack.org", "reclaimPolicy": "Delete",
                "parameters": {"type": "ssd"}}),
        );
        assert_eq!(
            found,
            [
                "Provisioner: cinder.csi.openstack.org",
                "Reclaim policy: Delete",
                "Default: no",
                "Parameters: type=ssd",
            ]
        );
        let policy = ResourceRef::new("networking.k8s.io", "v1", "networkpolicies");
        let everything = json!({"spec": {"podSelector": {}, "policyTypes": ["Ingress"]}});
        assert_eq!(
            words(&policy, &everything),
            ["Selector: all pods of the namespace", "Restricts: Ingress"]
        );
        let account =
            json!({"imagePullSecrets": [{"name": "registry"}], "secrets": [{"name": "token-1"}]});
        assert_eq!(
            words(&ResourceRef::core("serviceaccounts"), &account),
            ["Image pull Secrets: registry", "Secrets: token-1"]
        );
    }

    #[test]
    fn no_kind_of_the_panel_has_an_empty_summary() {
        let template = json!({"spec": {"containers": [{"image": "web:1"}]}});
        for (group, plural, value) in [
            ("apps", "deployments", json!({"spec": {"replicas": 1}})),
            ("apps", "statefulsets", json!({"spec": {"replicas": 1}})),
            (
                "apps",
                "daemonsets",
                json!({"status": {"desiredNumberScheduled": 1}}),
            ),
            ("apps", "replicasets", json!({"spec": {"replicas": 1}})),
            ("batch", "jobs", json!({"spec": {"template": template}})),
            ("batch", "cronjobs", json!({"spec": {"schedule": "@daily"}})),
            ("", "pods", json!({"spec": {"restartPolicy": "Always"}})),
            ("", "nodes", json!({"spec": {"podCIDR": "10.0.0.0/24"}})),
            ("", "namespaces", json!({"status": {"phase": "Active"}})),
            ("", "services", json!({"spec": {"type": "ClusterIP"}})),
            (
                "networking.k8s.io",
                "ingresses",
                json!({"spec": {"rules": [{"host": "shop.example.org"}]}}),
            ),
            (
                "networking.k8s.io",
                "networkpolicies",
                json!({"spec": {"podSelector": {}}}),
            ),
            ("", "configmaps", json!({"data": {"a": "b"}})),
            ("", "secrets", json!({"type": "Opaque"})),
            (
                "",
                "persistentvolumeclaims",
                json!({"spec": {"volumeMode": "Filesystem"}}),
            ),
            (
                "",
                "persistentvolumes",
                json!({"spec": {"csi": {"driver": "cinder.csi.openstack.org"}}}),
            ),
            ("storage.k8s.io", "storageclasses", json!({})),
            ("", "serviceaccounts", json!({"secrets": [{"name": "t"}]})),
            (
                "rbac.authorization.k8s.io",
                "rolebindings",
                json!({"roleRef": {"kind": "Role", "name": "r"}}),
            ),
            (
                "",
                "limitranges",
                json!({"spec": {"limits": [{"type": "Container"}]}}),
            ),
            (
                "",
                "resourcequotas",
                json!({"spec": {"scopes": ["NotTerminating"]}}),
            ),
            (
                "autoscaling",
                "horizontalpodautoscalers",
                json!({"spec": {"maxReplicas": 3}}),
            ),
            (
                "policy",
                "poddisruptionbudgets",
                json!({"spec": {"minAvailable": 1}}),
            ),
            (
                "apiextensions.k8s.io",
                "customresourcedefinitions",
                json!({"spec": {"scope": "Namespaced"}}),
            ),
        ] {
            let resource = ResourceRef::new(group, "v1", plural);
            assert!(!fields(&resource, &value).is_empty(), "{plural}");
        }
    }
}

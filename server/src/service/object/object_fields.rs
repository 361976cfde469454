//! Fields shown on an object's page.
use portico_domain::panel::ResourceRef;
use serde_json::Value;

type Field = (String, String);

/// Returns the fields of an object, in reading order; missing ones are left out.
pub fn fields(resource: &ResourceRef, value: &Value) -> Vec<Field> {
    let mut found = Vec::new();
    for (label, pointer) in pointers(resource) {
        if let Some(text) = value.pointer(pointer).and_then(scalar) {
            found.push(((*label).to_owned(), text));
        }
    }
    match (resource.group.as_str(), resource.plural.as_str()) {
        ("", "services") => found.extend(list("Ports", value.pointer("/spec/ports"), port)),
        ("", "configmaps" | "secrets") => found.extend(keys(value)),
        ("", "persistentvolumeclaims" | "persistentvolumes") => {
            found.extend(list(
                "Access modes",
                value.pointer("/spec/accessModes"),
                scalar,
            ));
        }
        ("apps", _) | ("batch", "jobs") => {
            found.extend(list(
                "Images",
                value.pointer("/spec/template/spec/containers"),
                |container| container["image"].as_str().map(str::to_owned),
            ));
        }
        _ => {}
    }
    found
}

fn pointers(resource: &ResourceRef) -> &'static [(&'static str, &'static str)] {
    match (resource.group.as_str(), resource.plural.as_str()) {
        ("", "pods") => &[
            ("Node", "/spec/nodeName"),
            ("Pod IP", "/status/podIP"),
            ("ServiceAccount", "/spec/serviceAccountName"),
            ("Quality of service", "/status/qosClass"),
            ("Restart policy", "/spec/restartPolicy"),
            ("Priority class", "/spec/priorityClassName"),
        ],
        ("apps", "deployments") => &[
            ("Replicas wanted", "/spec/replicas"),
            ("Ready", "/status/readyReplicas"),
            ("Up to date", "/status/updatedReplicas"),
            ("Strategy", "/spec/strategy/type"),
        ],
        ("apps", "statefulsets") => &[
            ("Replicas wanted", "/spec/replicas"),
            ("Ready", "/status/readyReplicas"),
            ("Service", "/spec/serviceName"),
            ("Update strategy", "/spec/updateStrategy/type"),
        ],
        ("apps", "daemonsets") => &[
            ("Nodes wanted", "/status/desiredNumberScheduled"),
            ("Ready", "/status/numberReady"),
            ("Update strategy", "/spec/updateStrategy/type"),
        ],
        ("apps", "replicasets") => &[
            ("Replicas wanted", "/spec/replicas"),
            ("Ready", "/status/readyReplicas"),
        ],
        ("batch", "jobs") => &[
            ("Completions wanted", "/spec/completions"),
            ("Succeeded", "/status/succeeded"),
            ("Failed", "/status/failed"),
            ("Tries before giving up", "/spec/backoffLimit"),
        ],
        ("batch", "cronjobs") => &[
            ("Schedule", "/spec/schedule"),
            ("Suspended", "/spec/suspend"),
            ("Last run", "/status/lastScheduleTime"),
            ("Overlap", "/spec/concurrencyPolicy"),
        ],
        ("", "services") => &[
            ("Type", "/spec/type"),
            ("Cluster IP", "/spec/clusterIP"),
            ("Session affinity", "/spec/sessionAffinity"),
        ],
        ("", "persistentvolumeclaims") => &[
            ("Asked for", "/spec/resources/requests/storage"),
            ("Capacity", "/status/capacity/storage"),
            ("Storage class", "/spec/storageClassName"),
            ("Volume", "/spec/volumeName"),
        ],
        ("", "persistentvolumes") => &[
            ("Capacity", "/spec/capacity/storage"),
            ("Storage class", "/spec/storageClassName"),
            ("Reclaim policy", "/spec/persistentVolumeReclaimPolicy"),
            ("Claim", "/spec/claimRef/name"),
            ("Claim's namespace", "/spec/claimRef/namespace"),
        ],
        ("", "nodes") => &[
            ("Kubelet", "/status/nodeInfo/kubeletVersion"),
            ("Operating system", "/status/nodeInfo/osImage"),
            ("Kernel", "/status/nodeInfo/kernelVersion"),
            (
                "Container runtime",
                "/status/nodeInfo/containerRuntimeVersion",
            ),
            ("CPU for pods", "/status/allocatable/cpu"),
            ("Memory for pods", "/status/allocatable/memory"),
        ],
        ("networking.k8s.io", "ingresses") => &[("Class", "/spec/ingressClassName")],
        ("autoscaling", "horizontalpodautoscalers") => &[
            ("Minimum replicas", "/spec/minReplicas"),
            ("Maximum replicas", "/spec/maxReplicas"),
            ("Current replicas", "/status/currentReplicas"),
            ("Desired replicas", "/status/desiredReplicas"),
            ("Last scaled", "/status/lastScaleTime"),
        ],
        ("policy", "poddisruptionbudgets") => &[
            ("Minimum available", "/spec/minAvailable"),
            ("Maximum unavailable", "/spec/maxUnavailable"),
            ("Disruptions allowed now", "/status/disruptionsAllowed"),
            ("Healthy pods", "/status/currentHealthy"),
            ("Healthy pods required", "/status/desiredHealthy"),
        ],
        ("storage.k8s.io", "storageclasses") => &[
            ("Provisioner", "/provisioner"),
            ("Reclaim policy", "/reclaimPolicy"),
            ("Volume binding", "/volumeBindingMode"),
            ("Can be expanded", "/allowVolumeExpansion"),
        ],
        ("apiextensions.k8s.io", "customresourcedefinitions") => &[
            ("Group", "/spec/group"),
            ("Kind", "/spec/names/kind"),
            ("Scope", "/spec/scope"),
        ],
        ("", "secrets") => &[("Type", "/type")],
        ("", "namespaces") => &[("Phase", "/status/phase")],
        _ => &[],
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(true) => Some("yes".to_owned()),
        Value::Bool(false) => Some("no".to_owned()),
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

fn port(port: &Value) -> Option<String> {
    let number = port["port"].as_i64()?;
    let protocol = port["protocol"].as_str().unwrap_or("TCP");
    let target = scalar(&port["targetPort"]).unwrap_or_default();
    Some(format!("{number}/{protocol} to {target}"))
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

    #[test]
    fn a_secrets_fields_are_its_keys_only() {
        let found = fields(
            &ResourceRef::core("secrets"),
            &json!({"type": "Opaque", "data": {"password": "czNjcjN0"}}),
        );
        assert_eq!(
            found,
            [
                ("Type".to_owned(), "Opaque".to_owned()),
                ("Keys".to_owned(), "password".to_owned())
            ]
        );
    }

    #[test]
    fn what_is_missing_is_left_out() {
        assert!(fields(&ResourceRef::core("pods"), &json!({})).is_empty());
    }
}

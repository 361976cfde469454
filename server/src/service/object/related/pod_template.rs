//! The objects that a pod's specification refers to
//! (<https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#PodSpec>).
use serde_json::Value;
use std::collections::BTreeMap;

/// Kinds that a pod uses, by the plural of the core group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Used {
    ConfigMap,
    Secret,
    Claim,
    ServiceAccount,
}

impl Used {
    pub fn plural(self) -> &'static str {
        match self {
            Self::ConfigMap => "configmaps",
            Self::Secret => "secrets",
            Self::Claim => "persistentvolumeclaims",
            Self::ServiceAccount => "serviceaccounts",
        }
    }
}

/// The used objects by kind and name; true if the pod cannot start without one.
pub type Uses = BTreeMap<(Used, String), bool>;

/// Returns what a pod's specification uses.
pub fn uses(spec: &Value) -> Uses {
    let mut found = Uses::new();
    let mut add = |kind: Used, name: Option<&str>, optional: &Value| {
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            let is_required = optional.as_bool() != Some(true);
            *found.entry((kind, name.to_owned())).or_default() |= is_required;
        }
    };
    let none = &Value::Null;
    for volume in items(&spec["volumes"]) {
        volume_sources(volume, &mut add);
    }
    for list in ["initContainers", "containers", "ephemeralContainers"] {
        for container in items(&spec[list]) {
            for source in items(&container["envFrom"]) {
                let (map, secret) = (&source["configMapRef"], &source["secretRef"]);
                add(Used::ConfigMap, map["name"].as_str(), &map["optional"]);
                add(Used::Secret, secret["name"].as_str(), &secret["optional"]);
            }
            for variable in items(&container["env"]) {
                let from = &variable["valueFrom"];
                let (map, secret) = (&from["configMapKeyRef"], &from["secretKeyRef"]);
                add(Used::ConfigMap, map["name"].as_str(), &map["optional"]);
                add(Used::Secret, secret["name"].as_str(), &secret["optional"]);
            }
        }
    }
    for secret in items(&spec["imagePullSecrets"]) {
        // a missing one is skipped when the image is pulled
        add(Used::Secret, secret["name"].as_str(), &Value::Bool(true));
    }
    let account = spec["serviceAccountName"].as_str();
    add(Used::ServiceAccount, account, none);
    found
}

fn volume_sources(volume: &Value, add: &mut impl FnMut(Used, Option<&str>, &Value)) {
    let (map, secret) = (&volume["configMap"], &volume["secret"]);
    add(Used::ConfigMap, map["name"].as_str(), &map["optional"]);
    add(
        Used::Secret,
        secret["secretName"].as_str(),
        &secret["optional"],
    );
    let claim = &volume["persistentVolumeClaim"]["claimName"];
    add(Used::Claim, claim.as_str(), &Value::Null);
    for source in items(&volume["projected"]["sources"]) {
        let (map, secret) = (&source["configMap"], &source["secret"]);
        add(Used::ConfigMap, map["name"].as_str(), &map["optional"]);
        add(Used::Secret, secret["name"].as_str(), &secret["optional"]);
    }
}

/// Returns the pod specification of an object that has pods, or is one.
pub fn spec_of<'a>(plural: &str, value: &'a Value) -> Option<&'a Value> {
    let pointer = match plural {
        "pods" => "/spec",
        "cronjobs" => "/spec/jobTemplate/spec/template/spec",
        _ => "/spec/template/spec",
    };
    value.pointer(pointer)
}

/// Returns the labels of the pods of a workload.
pub fn labels_of<'v>(plural: &str, value: &'v Value) -> &'v Value {
    match plural {
        "cronjobs" => &value["spec"]["jobTemplate"]["spec"]["template"]["metadata"]["labels"],
        _ => &value["spec"]["template"]["metadata"]["labels"],
    }
}

/// Returns the elements of an array; none of anything else.
pub fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_reference_of_a_pod_is_found_once() {
        let spec = json!({
            "serviceAccountName": "runner",
            "imagePullSecrets": [{"name": "registry"}],
            "volumes": [
                {"name": "a", "configMap": {"name": "settings"}},
                {"name": "b", "secret": {"secretName": "tls", "optional": true}},
                {"name": "c", "persistentVolumeClaim": {"claimName": "data"}},
                {"name": "d", "projected": {"sources": [{"secret": {"name": "token"}}]}},
                {"name": "e", "emptyDir": {}},
            ],
            "initContainers": [{"envFrom": [{"configMapRef": {"name": "settings", "optional": true}}]}],
            "containers": [{"env": [
                {"name": "A", "value": "b"},
                {"name": "P", "valueFrom": {"secretKeyRef": {"name": "db", "key": "password"}}},
            ]}],
        });
        let found: Vec<_> = uses(&spec)
            .into_iter()
            .map(|((kind, name), required)| format!("{kind:?} {name} {required}"))
            .collect();
        assert_eq!(
            found,
            [
                "ConfigMap settings true",
                "Secret db true",
                "Secret registry false",
                "Secret tls false",
                "Secret token true",
                "Claim data true",
                "ServiceAccount runner true",
            ]
        );
    }

    #[test]
    fn the_specification_of_a_cron_jobs_pods_is_two_templates_deep() {
        let cron = json!({"spec": {"jobTemplate": {"spec": {"template": {"spec": {"a": 1}}}}}});
        assert_eq!(spec_of("cronjobs", &cron), Some(&json!({"a": 1})));
        assert_eq!(spec_of("deployments", &cron), None);
    }
}

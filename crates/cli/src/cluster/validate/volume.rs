//! A PersistentVolumeClaim that must be bound.
use super::objects::{Waiting, create, last_warning, of_error, suffix, until};
use super::report::Finding;
use crate::cluster::kubernetes::{ApiError, Kubernetes};
use serde_json::{Value, json};

const CLASSES: &str = "/apis/storage.k8s.io/v1/storageclasses";
/// The annotation of the default class, and its older name.
const DEFAULT: [&str; 2] = [
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
];
/// The name of the claim and of its pod.
const CLAIM: &str = "volume";
/// Need not be pulled: a claim is bound when its pod is scheduled.
const IMAGE: &str = "registry.k8s.io/pause:3.9";

/// What came out of a claim.
#[derive(Debug)]
pub struct Claimed {
    pub finding: Finding,
    /// The name of the PersistentVolume, to see that it is deleted.
    pub volume: Option<String>,
}

impl From<Finding> for Claimed {
    fn from(finding: Finding) -> Self {
        Self {
            finding,
            volume: None,
        }
    }
}

/// The default class of a cluster.
#[derive(Debug, PartialEq, Eq)]
struct Class {
    name: String,
    /// Whether a claim waits for a pod.
    waits_for_pod: bool,
    /// Whether a volume stays when its claim is deleted.
    retains: bool,
}

/// Makes a claim of the default class, and waits until it is bound.
pub async fn volume(api: &Kubernetes, namespace: &str, waiting: Waiting) -> Claimed {
    match claim(api, namespace, waiting).await {
        Ok(claimed) => claimed,
        Err(error) => of_error(&error).into(),
    }
}

async fn claim(api: &Kubernetes, namespace: &str, waiting: Waiting) -> Result<Claimed, ApiError> {
    let classes = api.list(CLASSES, &[]).await?;
    let Some(class) = default_class(&classes) else {
        return Ok(Finding::not_checked("the cluster has no default StorageClass").into());
    };
    if class.retains {
        let text = format!(
            "the default StorageClass {} retains volumes, so the one of a test would stay",
            class.name
        );
        return Ok(Finding::not_checked(text).into());
    }
    let base = format!("/api/v1/namespaces/{namespace}");
    let claims = format!("{base}/persistentvolumeclaims");
    create(api, &claims, &claim_object(&class.name), waiting).await?;
    if class.waits_for_pod {
        create(api, &format!("{base}/pods"), &pod_object(), waiting).await?;
    }
    let bound = until(api, &format!("{claims}/{CLAIM}"), waiting, volume_of).await?;
    let Some(volume) = bound else {
        let mut event = last_warning(api, namespace, "PersistentVolumeClaim", CLAIM).await;
        if event.is_none() {
            event = last_warning(api, namespace, "Pod", CLAIM).await;
        }
        let text = format!(
            "a claim of the StorageClass {} was not bound within {} s{}",
            class.name,
            waiting.timeout.as_secs(),
            suffix(event)
        );
        return Ok(Finding::failed(text).into());
    };
    let text = format!("a claim of the StorageClass {} was bound", class.name);
    Ok(Claimed {
        finding: Finding::ok(text),
        volume: Some(volume),
    })
}

fn default_class(classes: &[Value]) -> Option<Class> {
    let is_default = |class: &&Value| {
        let annotations = class.pointer("/metadata/annotations");
        annotations.is_some_and(|annotations| {
            let mut values = DEFAULT.iter().map(|key| annotations.get(*key));
            values.any(|value| value.and_then(Value::as_str) == Some("true"))
        })
    };
    let class = classes.iter().find(is_default)?;
    let text = |key: &str| class.get(key).and_then(Value::as_str);
    let name = class.pointer("/metadata/name").and_then(Value::as_str)?;
    Some(Class {
        name: name.to_owned(),
        waits_for_pod: text("volumeBindingMode") == Some("WaitForFirstConsumer"),
        retains: text("reclaimPolicy") == Some("Retain"),
    })
}

/// Returns the volume of a bound claim.
fn volume_of(claim: &Value) -> Option<String> {
    let phase = claim.pointer("/status/phase").and_then(Value::as_str);
    let volume = claim.pointer("/spec/volumeName").and_then(Value::as_str);
    volume.filter(|_| phase == Some("Bound")).map(str::to_owned)
}

fn claim_object(class: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": CLAIM},
        "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": class,
                 "resources": {"requests": {"storage": "1Gi"}}},
    })
}

/// Returns a pod that the strictest Pod Security Standard admits.
fn pod_object() -> Value {
    let container = json!({
        "name": "pause", "image": IMAGE,
        "resources": {"requests": {"cpu": "10m", "memory": "16Mi"},
                      "limits": {"cpu": "50m", "memory": "32Mi"}},
        "securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}},
        "volumeMounts": [{"name": CLAIM, "mountPath": "/volume"}],
    });
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": CLAIM},
        "spec": {
            "automountServiceAccountToken": false,
            "terminationGracePeriodSeconds": 0,
            "securityContext": {"runAsNonRoot": true, "runAsUser": 65_535,
                                "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [container],
            "volumes": [{"name": CLAIM, "persistentVolumeClaim": {"claimName": CLAIM}}],
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_class_is_found_by_its_annotation() {
        let class = |name: &str, default: &str| {
            json!({"metadata": {"name": name, "annotations": {DEFAULT[0]: default}},
                   "volumeBindingMode": "WaitForFirstConsumer", "reclaimPolicy": "Delete"})
        };
        let classes = [
            json!({"metadata": {"name": "plain"}}),
            class("slow", "false"),
            class("csi", "true"),
        ];
        let found = Class {
            name: "csi".to_owned(),
            waits_for_pod: true,
            retains: false,
        };
        assert_eq!(default_class(&classes), Some(found));
        assert_eq!(default_class(&classes[..2]), None);
        let older = json!({"metadata": {"name": "old", "annotations": {DEFAULT[1]: "true"}},
                           "reclaimPolicy": "Retain"});
        let found = default_class(&[older]).unwrap();
        assert!(found.retains && !found.waits_for_pod);
    }

    #[test]
    fn a_claim_counts_when_it_is_bound() {
        let claim =
            |phase: &str| json!({"status": {"phase": phase}, "spec": {"volumeName": "pv-1"}});
        assert_eq!(volume_of(&claim("Pending")), None);
        assert_eq!(volume_of(&claim("Bound")).as_deref(), Some("pv-1"));
    }
}

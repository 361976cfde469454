//! The health of volumes and volume claims.
use super::{Assessment, EXISTS, sentence};
use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim};
use portico_domain::panel::Health;
use serde_json::Value;

pub fn claim(claim: &PersistentVolumeClaim) -> Assessment {
    let phase = claim
        .status
        .as_ref()
        .and_then(|status| status.phase.as_deref());
    match phase.unwrap_or("Pending") {
        "Bound" => Assessment::ok("Bound"),
        "Lost" => Assessment::new(Health::Failed, "Lost")
            .because("Its volume no longer exists; what was on it cannot be reached here."),
        phase => {
            let spec = claim.spec.clone().unwrap_or_default();
            let size = spec
                .resources
                .and_then(|resources| resources.requests)
                .and_then(|requests| requests.get("storage").cloned())
                .map_or_else(String::new, |quantity| format!(" of {}", quantity.0));
            let class = match spec.storage_class_name.as_deref() {
                None | Some("") => {
                    "It names no storage class, so only a volume that exists already \
                    can be bound, and none fits"
                        .to_owned()
                }
                Some(class) => format!(
                    "Storage class {class} has not given it a volume; the class may not exist, may \
                     make none by itself, or waits for the first pod that uses the claim"
                ),
            };
            Assessment::new(Health::Warning, phase)
                .because(format!("It waits for a volume{size}. {class}."))
        }
    }
}

pub fn volume(volume: &PersistentVolume) -> Assessment {
    let status = volume.status.clone().unwrap_or_default();
    let policy = volume
        .spec
        .as_ref()
        .and_then(|spec| spec.persistent_volume_reclaim_policy.as_deref())
        .unwrap_or("Retain");
    match status.phase.as_deref().unwrap_or("Pending") {
        phase @ ("Available" | "Bound") => Assessment::ok(phase),
        "Released" => Assessment::new(Health::Warning, "Released").because(if policy == "Retain" {
            "Its claim is gone. The data is kept, and no other claim gets the volume until an \
             administrator clears it."
                .to_owned()
        } else {
            format!("Its claim is gone; it is being cleared away (reclaim policy {policy}).")
        }),
        "Failed" => Assessment::new(Health::Failed, "Failed").because(sentence(
            status
                .message
                .as_deref()
                .unwrap_or("It could not be cleared away"),
        )),
        phase => Assessment::new(Health::Progressing, phase),
    }
}

/// Assesses a storage class, which has no state of its own.
pub fn class(object: &Value) -> Assessment {
    if is_default_class(object) {
        Assessment::ok("Default")
    } else {
        Assessment::ok(EXISTS)
    }
}

/// Returns whether claims without a class get this one.
pub fn is_default_class(object: &Value) -> bool {
    let annotations = &object["metadata"]["annotations"];
    [
        "storageclass.kubernetes.io/is-default-class",
        "storageclass.beta.kubernetes.io/is-default-class",
    ]
    .iter()
    .any(|name| annotations[*name] == "true")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_default_class_is_named() {
        let annotation = json!({"storageclass.kubernetes.io/is-default-class": "true"});
        let default = json!({"metadata": {"annotations": annotation}});
        assert_eq!(class(&default).status, "Default");
        assert_eq!(class(&json!({"metadata": {}})).status, EXISTS);
    }

    #[test]
    fn a_claim_without_a_volume_names_what_it_waits_for() {
        let object = json!({"metadata": {}, "spec": {"storageClassName": "fast",
            "resources": {"requests": {"storage": "10Gi"}}}, "status": {"phase": "Pending"}});
        let assessment = claim(&serde_json::from_value(object).unwrap());
        let reason = assessment.reason.unwrap();
        assert!(
            reason.contains("10Gi") && reason.contains("fast"),
            "{reason}"
        );
    }

    #[test]
    fn a_released_volume_keeps_its_data() {
        let object = json!({"metadata": {}, "spec": {"persistentVolumeReclaimPolicy": "Retain"},
            "status": {"phase": "Released"}});
        let assessment = volume(&serde_json::from_value(object).unwrap());
        assert_eq!(assessment.health, Health::Warning);
        assert!(assessment.reason.unwrap().contains("kept"));
    }
}

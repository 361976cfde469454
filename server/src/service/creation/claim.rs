//! A claim until it is bound, or why it is not.
use super::{choices::DEFAULT_STORAGE_CLASS, events_of, is_default_class, sentence};
use crate::service::object::related::reader::{Reader, Select};
use portico_domain::panel::{CreationProgress, CreationState, EventRow, ObjectRef};
use serde_json::Value;

/// The provisioner of classes whose volumes an administrator creates.
const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";

/// What is known of the storage class of a claim.
#[derive(Debug)]
enum Class {
    /// The classes cannot be read.
    Unknown,
    /// The claim names none; whether the cluster has a default one.
    Unnamed {
        has_default: bool,
    },
    Missing,
    Found(Value),
}

pub async fn progress(reader: &Reader<'_>, object: &ObjectRef, value: &Value) -> CreationProgress {
    if value["status"]["phase"] == "Bound" {
        return describe(value, &Class::Unknown, &[]);
    }
    let (class, events) = tokio::join!(class_of(reader, value), events_of(reader, object, value));
    describe(value, &class, &events)
}

async fn class_of(reader: &Reader<'_>, value: &Value) -> Class {
    let kind = ("storage.k8s.io", "storageclasses");
    let listed = reader
        .list_in(kind.0, kind.1, None, Select::default())
        .await;
    let Some(classes) = listed else {
        return Class::Unknown;
    };
    let name = value["spec"]["storageClassName"].as_str();
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        return Class::Unnamed {
            has_default: classes
                .iter()
                .any(|class| is_default_class(class, &DEFAULT_STORAGE_CLASS)),
        };
    };
    let named = |class: &Value| class["metadata"]["name"] == name;
    classes
        .into_iter()
        .find(named)
        .map_or(Class::Missing, Class::Found)
}

fn describe(value: &Value, class: &Class, events: &[EventRow]) -> CreationProgress {
    let spec = &value["spec"];
    let name = spec["storageClassName"].as_str().unwrap_or_default();
    let as_progress = |state, summary: String, details: Vec<String>| CreationProgress {
        state,
        summary,
        details,
        gaps: Vec::new(),
    };
    match value["status"]["phase"].as_str().unwrap_or("Pending") {
        "Bound" => {
            let volume = spec["volumeName"].as_str().unwrap_or_default();
            let size = value["status"]["capacity"]["storage"].as_str();
            let size = size.map_or_else(String::new, |size| format!(" ({size})"));
            let summary = format!("Bound to the volume {volume}{size}.");
            return as_progress(CreationState::Done, summary, Vec::new());
        }
        "Lost" => {
            let summary = "The volume of the claim no longer exists.".to_owned();
            return as_progress(CreationState::Blocked, summary, Vec::new());
        }
        _ => {}
    }
    // the events of the attempts that failed are the most specific reason, of a class that exists
    let exists = !matches!(class, Class::Missing);
    if let Some(failed) = events
        .iter()
        .find(|event| exists && event.reason == "ProvisioningFailed")
    {
        return as_progress(
            CreationState::Blocked,
            "The volume could not be provisioned.".to_owned(),
            vec![sentence(&failed.reason, &failed.message)],
        );
    }
    match class {
        Class::Missing => as_progress(
            CreationState::Blocked,
            format!("The storage class {name} does not exist."),
            vec!["Delete the claim and create it with a class that exists.".to_owned()],
        ),
        Class::Unnamed { has_default: false } => as_progress(
            CreationState::Blocked,
            "The claim names no storage class, and the cluster has no default one.".to_owned(),
            vec![
                "It is bound only to an existing volume without a class. Create it with a class \
                 to get a new volume."
                    .to_owned(),
            ],
        ),
        Class::Found(class) if class["volumeBindingMode"] == "WaitForFirstConsumer" => as_progress(
            CreationState::Waiting,
            "The claim is bound when the first pod uses it (WaitForFirstConsumer).".to_owned(),
            without_provisioner(class, name).into_iter().collect(),
        ),
        Class::Found(class) => match without_provisioner(class, name) {
            Some(reason) => as_progress(
                CreationState::Blocked,
                "No free volume fits the claim.".to_owned(),
                vec![reason],
            ),
            None => {
                let provisioner = class["provisioner"].as_str().unwrap_or_default();
                let newest = events.first();
                as_progress(
                    CreationState::Waiting,
                    format!("Waiting for the provisioner {provisioner} to create the volume."),
                    newest
                        .map(|event| sentence(&event.reason, &event.message))
                        .into_iter()
                        .collect(),
                )
            }
        },
        Class::Unknown | Class::Unnamed { has_default: true } => as_progress(
            CreationState::Waiting,
            "Waiting for a volume.".to_owned(),
            events
                .first()
                .map(|event| sentence(&event.reason, &event.message))
                .into_iter()
                .collect(),
        ),
    }
}

fn without_provisioner(class: &Value, name: &str) -> Option<String> {
    (class["provisioner"] == NO_PROVISIONER).then(|| {
        format!(
            "The storage class {name} has no provisioner: an administrator creates its volumes, and \
             a free one must fit."
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{super::event, *};
    use serde_json::json;

    fn pending() -> Value {
        json!({ "spec": { "storageClassName": "disk" }, "status": { "phase": "Pending" } })
    }

    fn class(provisioner: &str, mode: &str) -> Class {
        Class::Found(json!({ "provisioner": provisioner, "volumeBindingMode": mode }))
    }

    #[test]
    fn a_bound_claim_names_its_volume() {
        let bound = json!({ "spec": { "volumeName": "pv-1" },
            "status": { "phase": "Bound", "capacity": { "storage": "10Gi" } } });
        let progress = describe(&bound, &Class::Unknown, &[]);
        assert_eq!(progress.state, CreationState::Done);
        assert_eq!(progress.summary, "Bound to the volume pv-1 (10Gi).");
    }

    #[test]
    fn a_claim_that_waits_for_a_pod_is_not_blocked() {
        let class = class("disks.example.org", "WaitForFirstConsumer");
        let waits = [event("Normal", "WaitForFirstConsumer", "waiting")];
        let progress = describe(&pending(), &class, &waits);
        assert_eq!(progress.state, CreationState::Waiting);
        assert!(progress.summary.contains("first pod"));
    }

    #[test]
    fn each_reason_that_blocks_a_claim_is_named() {
        let blocked = |class: &Class, events: &[EventRow]| {
            let progress = describe(&pending(), class, events);
            assert_eq!(progress.state, CreationState::Blocked, "{progress:?}");
            format!("{} {}", progress.summary, progress.details.join(" "))
        };
        assert!(blocked(&Class::Missing, &[]).contains("disk does not exist"));
        let none = class(NO_PROVISIONER, "Immediate");
        assert!(blocked(&none, &[]).contains("no provisioner"));
        let unnamed = Class::Unnamed { has_default: false };
        assert!(blocked(&unnamed, &[]).contains("no default"));
        let failed = [event("Warning", "ProvisioningFailed", "quota exceeded")];
        let some = class("disks.example.org", "Immediate");
        assert!(blocked(&some, &failed).ends_with("ProvisioningFailed: quota exceeded."));
    }

    #[test]
    fn a_claim_of_a_provisioner_waits_with_its_newest_event() {
        let external = [event(
            "Normal",
            "ExternalProvisioning",
            "waiting for a volume",
        )];
        let some = class("disks.example.org", "Immediate");
        let progress = describe(&pending(), &some, &external);
        assert_eq!(progress.state, CreationState::Waiting);
        assert!(progress.summary.contains("disks.example.org"));
        assert_eq!(progress.details.len(), 1);
    }
}

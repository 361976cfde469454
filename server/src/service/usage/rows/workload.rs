//! The workload that a pod belongs to.
use k8s_openapi::api::core::v1::Pod;

/// The label of a Deployment's pods with the hash of their template.
const TEMPLATE_HASH: &str = "pod-template-hash";

/// Returns the name of the workload of a kind that made a pod; `None` if none of this kind did.
///
/// A Deployment's pods belong to its ReplicaSets, whose names are those of the Deployment and the
/// template's hash (<https://kubernetes.io/docs/concepts/workloads/controllers/deployment/>).
pub fn name_of(pod: &Pod, plural: &str) -> Option<String> {
    let owners = pod.metadata.owner_references.as_ref()?;
    let owner = owners.iter().find(|owner| owner.controller == Some(true))?;
    let (group, _) = owner.api_version.split_once('/')?;
    match (plural, group, owner.kind.as_str()) {
        ("replicasets", "apps", "ReplicaSet")
        | ("statefulsets", "apps", "StatefulSet")
        | ("daemonsets", "apps", "DaemonSet")
        | ("jobs", "batch", "Job") => Some(owner.name.clone()),
        ("deployments", "apps", "ReplicaSet") => {
            let hash = pod.metadata.labels.as_ref()?.get(TEMPLATE_HASH)?;
            let name = owner.name.strip_suffix(hash.as_str())?.strip_suffix('-')?;
            (!name.is_empty()).then(|| name.to_owned())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pod(kind: &str, group: &str, owner: &str, controls: bool) -> Pod {
        let value = json!({"metadata": {
            "name": "p", "labels": {"pod-template-hash": "6f9d"},
            "ownerReferences": [{"apiVersion": format!("{group}/v1"), "kind": kind,
                "name": owner, "uid": "1", "controller": controls}]}});
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn need_07_rows_of_workloads_have_the_pods_that_they_made() {
        let web = pod("ReplicaSet", "apps", "web-6f9d", true);
        assert_eq!(name_of(&web, "deployments").as_deref(), Some("web"));
        assert_eq!(name_of(&web, "replicasets").as_deref(), Some("web-6f9d"));
        assert_eq!(name_of(&web, "statefulsets"), None);
        let job = pod("Job", "batch", "nightly", true);
        assert_eq!(name_of(&job, "jobs").as_deref(), Some("nightly"));
    }

    #[test]
    fn need_07_rows_of_workloads_leave_out_the_pods_of_others() {
        // a ReplicaSet that no Deployment made
        let alone = pod("ReplicaSet", "apps", "web", true);
        assert_eq!(name_of(&alone, "deployments"), None);
        // the kind of another group
        let other = pod("StatefulSet", "apps.example.org", "db", true);
        assert_eq!(name_of(&other, "statefulsets"), None);
        let owned = pod("StatefulSet", "apps", "db", false);
        assert_eq!(name_of(&owned, "statefulsets"), None);
        assert_eq!(name_of(&Pod::default(), "jobs"), None);
    }
}

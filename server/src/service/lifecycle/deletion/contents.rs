//! What a cluster contains that costs outside of it: Services of the type LoadBalancer, and
//! PersistentVolumeClaims. Read and deleted through Kubernetes, with the caller's own rights.
use crate::{
    caller::{
        Caller,
        audit::{self, Outcome},
    },
    kube::{Api, ClusterSnapshot, KubeError, changes},
    service::Services,
};
use portico_domain::panel::{ObjectRef, ResourceRef, lifecycle::DeletionOptions};
use portico_lifecycle::inventory::Reclaim;
use serde_json::Value;
use std::{collections::BTreeMap, time::Duration};
use uuid::Uuid;

/// Maximum number of objects that are read, and deleted, at once.
const MAX_OBJECTS: &str = "500";
/// How often it is looked whether the deleted objects are gone, and the pause before each look.
const LOOKS: u32 = 6;
const PAUSE: Duration = Duration::from_secs(2);

/// The reclaim policy of each volume, by its ID in Cinder.
pub type ReclaimPolicies = BTreeMap<String, Reclaim>;

/// An object in the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inside {
    pub object: ObjectRef,
    pub uid: String,
}

/// Returns access to the API of a cluster.
///
/// # Errors
/// Why there is none, as a sentence.
pub async fn open(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
) -> Result<Api, String> {
    if clusters.get(cluster).is_none() {
        return Err(
            "The cluster cannot be opened through Portico, so nothing can be deleted in it first."
                .to_owned(),
        );
    }
    let opened = services.api_among(clusters, caller, cluster).await;
    opened.map(|(api, _)| api).map_err(|error| {
        format!(
            "Nothing can be deleted in the cluster first. {}",
            error.message
        )
    })
}

/// Returns the reclaim policies; none for volumes that are not Cinder's.
///
/// # Errors
/// If they cannot be read.
pub async fn reclaim_policies(api: &Api) -> Result<ReclaimPolicies, KubeError> {
    let list = api.get("/api/v1/persistentvolumes?limit=500").await?;
    Ok(policies(&list))
}

fn policies(list: &Value) -> ReclaimPolicies {
    let volumes = list["items"].as_array().into_iter().flatten();
    let policies = volumes.filter_map(|volume| {
        let spec = &volume["spec"];
        let handle = spec["csi"]["volumeHandle"].as_str();
        let handle = handle.or_else(|| spec["cinder"]["volumeID"].as_str())?;
        let policy = match spec["persistentVolumeReclaimPolicy"].as_str()? {
            "Delete" => Reclaim::Delete,
            "Retain" => Reclaim::Retain,
            _ => Reclaim::Unknown,
        };
        Some((handle.to_owned(), policy))
    });
    policies.collect()
}

/// Returns the objects that the options delete first.
///
/// # Errors
/// If they cannot be read.
pub async fn find(api: &Api, options: DeletionOptions) -> Result<Vec<Inside>, KubeError> {
    let mut found = Vec::new();
    if options.services_first {
        let list = api.get(&collection("services")).await?;
        found.extend(objects(&list, "services", |object| {
            object["spec"]["type"] == "LoadBalancer"
        }));
    }
    if options.claims_first {
        let list = api.get(&collection("persistentvolumeclaims")).await?;
        found.extend(objects(&list, "persistentvolumeclaims", |_| true));
    }
    Ok(found)
}

fn collection(plural: &str) -> String {
    format!("/api/v1/{plural}?limit={MAX_OBJECTS}")
}

fn objects(list: &Value, plural: &str, is_wanted: impl Fn(&Value) -> bool) -> Vec<Inside> {
    let items = list["items"].as_array().into_iter().flatten();
    let objects = items
        .filter(|object| is_wanted(object))
        .filter_map(|object| {
            let metadata = &object["metadata"];
            Some(Inside {
                object: ObjectRef {
                    resource: ResourceRef::new("", "v1", plural),
                    namespace: Some(metadata["namespace"].as_str()?.to_owned()),
                    name: metadata["name"].as_str()?.to_owned(),
                },
                uid: metadata["uid"].as_str()?.to_owned(),
            })
        });
    objects.collect()
}

/// Deletes what the options name, and waits for some seconds until it is gone.
///
/// # Errors
/// What is left or was refused, as a sentence: the cluster must not be deleted yet.
pub async fn delete_first(
    api: &Api,
    caller: &Caller,
    options: DeletionOptions,
) -> Result<(), String> {
    let mut left = find(api, options).await.map_err(|error| error.sentence())?;
    for one in &left {
        let deleted = changes::delete(api, &one.object, &one.uid).await;
        let outcome = match &deleted {
            // it is gone already
            Ok(()) | Err(KubeError::NotFound(_)) => Outcome::Done,
            Err(KubeError::Refused(_)) => Outcome::Refused,
            Err(_) => Outcome::Failed,
        };
        let target = audit::target(&one.object);
        audit::record(caller, "delete", api.cluster(), &target, outcome);
        if let (Err(error), false) = (deleted, outcome == Outcome::Done) {
            return Err(format!("{target} was not deleted. {}", error.sentence()));
        }
    }
    for _ in 0..LOOKS {
        if left.is_empty() {
            return Ok(());
        }
        tokio::time::sleep(PAUSE).await;
        left = find(api, options).await.map_err(|error| error.sentence())?;
    }
    match left.first() {
        None => Ok(()),
        Some(first) => Err(format!(
            "{} Services and PersistentVolumeClaims are still being deleted, such as {}.",
            left.len(),
            audit::target(&first.object)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_services_with_a_load_balancer_are_deleted_first() {
        let metadata = |name: &str| json!({"name": name, "namespace": "shop", "uid": "u1"});
        let list = json!({"items": [
            {"metadata": metadata("web"), "spec": {"type": "LoadBalancer"}},
            {"metadata": metadata("db"), "spec": {"type": "ClusterIP"}}
        ]});
        let found = objects(&list, "services", |object| {
            object["spec"]["type"] == "LoadBalancer"
        });
        assert_eq!(found.len(), 1);
        assert_eq!(audit::target(&found[0].object), "shop/services/web");
    }

    #[test]
    fn a_reclaim_policy_is_found_by_the_id_of_the_volume() {
        let list = json!({"items": [
            {"spec": {"csi": {"volumeHandle": "v1"}, "persistentVolumeReclaimPolicy": "Retain"}},
            {"spec": {"cinder": {"volumeID": "v2"}, "persistentVolumeReclaimPolicy": "Delete"}},
            {"spec": {"nfs": {"path": "/"}, "persistentVolumeReclaimPolicy": "Delete"}}
        ]});
        let expected = [
            ("v1".to_owned(), Reclaim::Retain),
            ("v2".to_owned(), Reclaim::Delete),
        ];
        assert_eq!(policies(&list), ReclaimPolicies::from(expected));
    }
}

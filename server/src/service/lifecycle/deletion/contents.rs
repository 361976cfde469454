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
use portico_cluster_operations::contents::{self, CLAIMS, Lists, SERVICES, Wanted};
use portico_domain::panel::{ObjectRef, ResourceRef, lifecycle::DeletionOptions};
use portico_lifecycle::inventory::Reclaim;
use serde_json::Value;
use std::{collections::BTreeMap, time::Duration};
use tokio::time::{Instant, sleep, timeout};
use uuid::Uuid;

/// Maximum number of objects that are deleted at once: the next request deletes the others.
const MAX_DELETIONS: usize = 500;
/// How often it is looked whether the deleted objects are gone, and the pause before each look.
const LOOKS: u32 = 6;
const PAUSE: Duration = Duration::from_secs(2);
/// Maximum time for the lists of what is deleted, in seconds.
const READING_SECONDS: u64 = 15;
/// How long objects are deleted and looked for: the gateway waits for a minute, and the audit entries of what was
/// deleted are in the response.
const MAX_DURATION: Duration = Duration::from_secs(25);

/// The first PersistentVolumes of a cluster, whose reclaim policies are looked at: as many as one answer has.
const VOLUMES: &str = "/api/v1/persistentvolumes?limit=500";

/// The reclaim policy of each volume, by its ID in Cinder.
pub type ReclaimPolicies = BTreeMap<String, Reclaim>;

/// An object in the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inside {
    pub object: ObjectRef,
    pub uid: String,
}

/// What the options delete first.
#[derive(Debug, Default)]
pub struct Found {
    pub objects: Vec<Inside>,
    /// Why other namespaces may have more, as sentences; empty: the whole cluster was read.
    pub partial: Vec<String>,
}

/// What the cluster's own API states before a deletion.
#[derive(Debug, Default)]
pub struct Contents {
    /// As far as they are known.
    pub policies: ReclaimPolicies,
    /// Where the options do not reach, as sentences.
    pub partial: Vec<String>,
    /// What was not looked at, as sentences.
    pub gaps: Vec<String>,
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

/// Reads what a deletion with these options depends on.
///
/// # Errors
/// Why the reclaim policies cannot be read, as a sentence.
pub async fn read(api: &Api, options: &DeletionOptions) -> Result<Contents, String> {
    let mut gaps = Vec::new();
    let policies = match api.get(VOLUMES).await {
        Ok(list) => {
            // without the option, the policies decide nothing
            gaps.extend(not_looked_at(&list).filter(|_| options.claims_first));
            // none for volumes that are not Cinder's
            policies(&list)
        }
        // few users may list volumes; Services and claims may be theirs nonetheless
        Err(KubeError::Refused(_)) => ReclaimPolicies::new(),
        Err(error) => return Err(error.sentence()),
    };
    let partial = match find(api, options).await {
        Ok(found) => found.partial,
        Err(error) => {
            let reason = error.sentence();
            gaps.push(format!(
                "What is deleted first could not be listed. {reason}"
            ));
            Vec::new()
        }
    };
    Ok(Contents {
        policies,
        partial,
        gaps,
    })
}

/// Returns that the cluster has more volumes than a list, as a sentence; `None`: it has not.
fn not_looked_at(list: &Value) -> Option<String> {
    let metadata = &list["metadata"];
    let token = metadata["continue"].as_str();
    token.filter(|token| !token.is_empty())?;
    let read = list["items"].as_array().map_or(0, Vec::len);
    let others = match metadata["remainingItemCount"].as_u64() {
        Some(1) => "that of one more was".to_owned(),
        Some(number) => format!("those of {number} more were"),
        // an API server need not count them
        None => "those of the others were".to_owned(),
    };
    Some(format!(
        "The reclaim policies of the first {read} PersistentVolumes were looked at; {others} not, so it is not \
         known whether their data is lost."
    ))
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
/// If they cannot be read; `Timeout` if that takes too long, such as in thousands of namespaces.
pub async fn find<L>(api: &L, options: &DeletionOptions) -> Result<Found, KubeError>
where
    L: Lists<Error = KubeError>,
{
    let wanted = Wanted {
        services: options.services_first,
        claims: options.claims_first,
    };
    let limit = Duration::from_secs(READING_SECONDS);
    let found = timeout(limit, contents::find(api, wanted)).await;
    let found = found.map_err(|_| KubeError::Timeout(READING_SECONDS))??;
    let services = found.services.iter();
    let services = services.filter_map(|service| inside(service, SERVICES));
    let claims = found.claims.iter();
    let claims = claims.filter_map(|claim| inside(claim, CLAIMS));
    Ok(Found {
        objects: services.chain(claims).collect(),
        partial: found.partial,
    })
}

/// Reads an object of a list; `None` without a namespace, a name or a UID.
fn inside(object: &Value, plural: &str) -> Option<Inside> {
    let metadata = &object["metadata"];
    Some(Inside {
        object: ObjectRef {
            resource: ResourceRef::new("", "v1", plural),
            namespace: Some(metadata["namespace"].as_str()?.to_owned()),
            name: metadata["name"].as_str()?.to_owned(),
        },
        uid: metadata["uid"].as_str()?.to_owned(),
    })
}

/// Deletes what the options name, and waits for some seconds until it is gone.
///
/// # Errors
/// What is left or was refused, as a sentence: the cluster must not be deleted yet. So is one of whose namespaces
/// only some can be looked at, unless the user has accepted just that.
pub async fn delete_first(
    api: &Api,
    caller: &Caller,
    options: &DeletionOptions,
) -> Result<(), String> {
    let deadline = Instant::now() + MAX_DURATION;
    let found = find(api, options).await;
    let found = found.map_err(|error| error.sentence())?;
    if let Some(refusal) = contents::unaccepted(&found.partial, &options.accepted_partial) {
        return Err(refusal);
    }
    let (mut left, partial) = (found.objects, found.partial);
    for one in left.iter().take(MAX_DELETIONS) {
        if Instant::now() >= deadline {
            break;
        }
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
        if Instant::now() >= deadline {
            break;
        }
        sleep(PAUSE).await;
        let found = find(api, options).await;
        let found = found.map_err(|error| error.sentence())?;
        if found.partial != partial {
            return Err(contents::CHANGED.to_owned());
        }
        left = found.objects;
    }
    match left.first() {
        None => Ok(()),
        Some(first) => Err(format!(
            "{} Services and PersistentVolumeClaims are not gone yet, such as {}.",
            left.len(),
            audit::target(&first.object)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kube::Forbidden;
    use portico_cluster_operations::contents::Visible;
    use serde_json::json;
    use std::future::pending;

    /// An API server that does not end its lists.
    struct Stalled;

    impl Lists for Stalled {
        type Error = KubeError;

        async fn objects(
            &self,
            _plural: &str,
            _namespace: Option<&str>,
        ) -> Result<Vec<Value>, KubeError> {
            pending().await
        }

        async fn visible(&self) -> Result<Visible, KubeError> {
            pending().await
        }

        fn is_refusal(_error: &KubeError) -> bool {
            false
        }

        fn too_many() -> KubeError {
            KubeError::Timeout(0)
        }
    }

    #[tokio::test(start_paused = true)]
    async fn lists_that_do_not_end_are_not_waited_for() {
        let options = DeletionOptions {
            claims_first: true,
            ..DeletionOptions::default()
        };
        let found = find(&Stalled, &options).await;
        let is_timeout = matches!(found, Err(KubeError::Timeout(READING_SECONDS)));
        assert!(is_timeout, "{found:?}");
    }

    /// An API server of which the user may read one namespace.
    struct OneNamespace;

    impl Lists for OneNamespace {
        type Error = KubeError;

        async fn objects(
            &self,
            _plural: &str,
            namespace: Option<&str>,
        ) -> Result<Vec<Value>, KubeError> {
            let refusal = || KubeError::Refused(Forbidden::from("not permitted".to_owned()));
            namespace.map(|_| Vec::new()).ok_or_else(refusal)
        }

        async fn visible(&self) -> Result<Visible, KubeError> {
            Ok(Visible {
                names: vec!["dev".to_owned()],
                is_complete: false,
            })
        }

        fn is_refusal(error: &KubeError) -> bool {
            matches!(error, KubeError::Refused(_))
        }

        fn too_many() -> KubeError {
            KubeError::Timeout(0)
        }
    }

    #[tokio::test]
    async fn the_sentences_that_are_accepted_name_their_kind() {
        for (services_first, claims_first, kinds) in [
            (true, false, "services"),
            (false, true, "claims"),
            (true, true, "services,claims"),
        ] {
            let mut options = DeletionOptions {
                services_first,
                claims_first,
                accepted_partial: Vec::new(),
            };
            let found = find(&OneNamespace, &options).await.unwrap();
            options.accepted_partial = found.partial;
            assert_eq!(options.accepted_kinds(), Some(kinds));
        }
    }

    #[test]
    fn an_object_is_deleted_in_its_namespace_and_by_its_uid() {
        let web = json!({"metadata": {"name": "web", "namespace": "shop", "uid": "u1"}});
        let found = inside(&web, SERVICES).unwrap();
        assert_eq!(audit::target(&found.object), "shop/services/web");
        assert_eq!(found.uid, "u1");
        let without_uid = json!({"metadata": {"name": "web", "namespace": "shop"}});
        assert_eq!(inside(&without_uid, SERVICES), None);
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
        assert_eq!(not_looked_at(&list), None);
    }

    #[test]
    fn volumes_that_the_list_has_no_room_for_are_stated() {
        let gap =
            |metadata: Value| not_looked_at(&json!({"metadata": metadata, "items": [{}, {}]}));
        let all = json!({"resourceVersion": "7", "continue": ""});
        assert_eq!(gap(all), None);
        let counted = gap(json!({"continue": "c", "remainingItemCount": 37})).unwrap();
        assert_eq!(
            counted,
            "The reclaim policies of the first 2 PersistentVolumes were looked at; those of 37 more were \
             not, so it is not known whether their data is lost."
        );
        let one = gap(json!({"continue": "c", "remainingItemCount": 1})).unwrap();
        assert!(one.contains("that of one more was not"), "{one}");
        let uncounted = gap(json!({"continue": "c"})).unwrap();
        assert!(
            uncounted.contains("those of the others were not"),
            "{uncounted}"
        );
    }
}

//! What runs in a cluster and costs outside of it: Services of the type LoadBalancer and
//! PersistentVolumeClaims, which `--delete-lbs` and `--delete-volumes` delete first, through Kubernetes and
//! with the user's own rights.
use crate::cluster::arguments::DeleteArgs;
use crate::cluster::connection::Connection;
use crate::cluster::console::Console;
use crate::cluster::error::ClusterError;
use crate::cluster::exit_code;
use crate::cluster::kubernetes::{self, ApiError, Kubernetes};
use portico_lifecycle::inventory::{Item, Kind, Reclaim};
use serde_json::Value;
use std::time::Duration;
use uuid::Uuid;

const SERVICES: &str = "/api/v1/services";
const CLAIMS: &str = "/api/v1/persistentvolumeclaims";
const VOLUMES: &str = "/api/v1/persistentvolumes";
/// How often it is looked whether the deleted objects are gone, and the pause before each look.
const LOOKS: u32 = 60;
const PAUSE: Duration = Duration::from_secs(2);
/// Maximum number of names in a text.
const MAX_NAMES: usize = 5;

/// An object of a namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Object {
    path: String,
    /// Such as `Service web/shop`.
    text: String,
}

/// The API of a cluster, and what is deleted in it first.
pub struct Contents {
    api: Kubernetes,
    has_services: bool,
    has_claims: bool,
    volumes: Vec<Value>,
}

impl Contents {
    /// Opens the API of a cluster, if the command deletes something in it; reads nothing but the reclaim
    /// policies of its volumes.
    ///
    /// # Errors
    /// [`ClusterError::Blocked`] if this machine has no access to the cluster: nothing was sent then.
    pub async fn open(
        connection: &Connection,
        cluster: Uuid,
        args: &DeleteArgs,
    ) -> Result<Option<Self>, ClusterError> {
        if !args.delete_lbs && !args.delete_volumes {
            return Ok(None);
        }
        let access = kubernetes::find(connection, cluster).await;
        let access = access.map_err(|error| unopened(&error.to_string()))?;
        let api = Kubernetes::new(&access).map_err(|error| unopened(&error.to_string()))?;
        let volumes = match args.delete_volumes {
            true => api.list(VOLUMES, &[]).await.map_err(|error| {
                unopened(&format!("the reclaim policies could not be read: {error}"))
            })?,
            false => Vec::new(),
        };
        Ok(Some(Self {
            api,
            has_services: args.delete_lbs,
            has_claims: args.delete_volumes,
            volumes,
        }))
    }

    /// Adds the reclaim policies to the volumes among the items.
    pub fn add_policies(&self, items: &mut [Item]) {
        for item in items {
            if let Kind::PersistentVolume(reclaim) = &mut item.kind
                && let Some(found) = policy_of(&self.volumes, &item.id)
            {
                *reclaim = found;
            }
        }
    }

    /// Names the objects before the user confirms their deletion: the inventory has resources of the cloud,
    /// and a claim can have its data elsewhere.
    ///
    /// # Errors
    /// [`ClusterError::Blocked`] if they cannot be listed: nothing was sent then.
    pub async fn announce(&self, console: &mut Console) -> Result<(), ClusterError> {
        let found = self.find().await?;
        if !found.is_empty() {
            console.say("Will be deleted in the cluster first:");
        }
        for object in &found {
            console.say(format!("  {}", crate::one_line(&object.text)));
        }
        Ok(())
    }

    /// Deletes the objects, and waits until they are gone.
    ///
    /// # Errors
    /// [`ClusterError::Blocked`] if one cannot be deleted or remains: the cluster is not deleted then.
    pub async fn delete_first(&self, console: &mut Console) -> Result<(), ClusterError> {
        let mut left = self.find().await?;
        if left.is_empty() {
            console.say("Nothing in the cluster has to be deleted first.");
            return Ok(());
        }
        console.say(format!("Deleted first: {}.", names(&left)));
        for object in &left {
            match self.api.delete(&object.path).await {
                Ok(()) => {}
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(refused(&object.text, &error)),
            }
        }
        for _ in 0..LOOKS {
            tokio::time::sleep(PAUSE).await;
            left = self.find().await?;
            if left.is_empty() {
                return Ok(());
            }
        }
        Err(ClusterError::Blocked {
            exit: exit_code::TIMED_OUT,
            text: format!(
                "still there: {}; the cluster was not deleted\n  See with `kubectl describe` what they wait \
                 for, then repeat the command",
                names(&left)
            ),
        })
    }

    async fn find(&self) -> Result<Vec<Object>, ClusterError> {
        let mut found = Vec::new();
        if self.has_services {
            let services = self.list(SERVICES).await?;
            let services = services.iter().filter(|one| is_load_balancer(one));
            found.extend(services.filter_map(|one| object(one, "services", "Service")));
        }
        if self.has_claims {
            let claims = self.list(CLAIMS).await?;
            let kind = "PersistentVolumeClaim";
            let claims = claims.iter();
            found.extend(claims.filter_map(|one| object(one, "persistentvolumeclaims", kind)));
        }
        Ok(found)
    }

    async fn list(&self, path: &str) -> Result<Vec<Value>, ClusterError> {
        let listed = self.api.list(path, &[]).await;
        listed.map_err(|error| refused(path, &error))
    }
}

fn unopened(cause: &str) -> ClusterError {
    ClusterError::Blocked {
        exit: exit_code::UNAVAILABLE,
        text: format!(
            "nothing can be deleted in the cluster first, so nothing was sent: {cause}\n  Leave out \
             --delete-lbs and --delete-volumes to delete the cluster without looking into it"
        ),
    }
}

fn refused(what: &str, error: &ApiError) -> ClusterError {
    let exit = match error {
        ApiError::Forbidden(_) => exit_code::FORBIDDEN,
        ApiError::Unauthorized => exit_code::SIGN_IN,
        _ => exit_code::UNAVAILABLE,
    };
    ClusterError::Blocked {
        exit,
        text: format!("{what}: {error}; the cluster was not deleted"),
    }
}

fn is_load_balancer(service: &Value) -> bool {
    service.pointer("/spec/type").and_then(Value::as_str) == Some("LoadBalancer")
}

/// Reads an object of a list; `None` without a name or a namespace.
fn object(found: &Value, plural: &str, kind: &str) -> Option<Object> {
    let text = |path: &str| found.pointer(path).and_then(Value::as_str);
    let (namespace, name) = (text("/metadata/namespace")?, text("/metadata/name")?);
    Some(Object {
        path: format!("/api/v1/namespaces/{namespace}/{plural}/{name}"),
        text: format!("{kind} {namespace}/{name}"),
    })
}

/// Returns the reclaim policy of the volume with this ID in Cinder; `None`: Kubernetes has no such volume.
fn policy_of(volumes: &[Value], id: &str) -> Option<Reclaim> {
    let text = |volume: &Value, path: &str| -> Option<String> {
        Some(volume.pointer(path)?.as_str()?.to_owned())
    };
    let volume = volumes.iter().find(|volume| {
        let handle = text(volume, "/spec/csi/volumeHandle");
        handle
            .or_else(|| text(volume, "/spec/cinder/volumeID"))
            .as_deref()
            == Some(id)
    })?;
    Some(
        match text(volume, "/spec/persistentVolumeReclaimPolicy").as_deref() {
            Some("Delete") => Reclaim::Delete,
            Some("Retain") => Reclaim::Retain,
            _ => Reclaim::Unknown,
        },
    )
}

fn names(objects: &[Object]) -> String {
    let first = objects.iter().take(MAX_NAMES);
    let first: Vec<_> = first.map(|one| one.text.as_str()).collect();
    match objects.len().saturating_sub(first.len()) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn services_without_a_load_balancer_stay() {
        let service = |kind: &str| json!({"spec": {"type": kind}});
        assert!(is_load_balancer(&service("LoadBalancer")));
        for kind in ["ClusterIP", "NodePort", "ExternalName"] {
            assert!(!is_load_balancer(&service(kind)), "{kind}");
        }
    }

    #[test]
    fn an_object_is_deleted_in_its_namespace() {
        let web = json!({"metadata": {"namespace": "shop", "name": "web"}});
        let found = object(&web, "services", "Service").unwrap();
        assert_eq!(found.path, "/api/v1/namespaces/shop/services/web");
        assert_eq!(found.text, "Service shop/web");
        let nameless = json!({"metadata": {"name": "web"}});
        assert_eq!(object(&nameless, "services", "Service"), None);
        let many: Vec<_> = (0..7).map(|_| found.clone()).collect();
        assert!(names(&many).ends_with(" and 2 more"));
    }

    #[test]
    fn a_volume_of_cinder_has_the_policy_of_its_persistent_volume() {
        let volumes = [
            json!({"spec": {"csi": {"volumeHandle": "v1"}, "persistentVolumeReclaimPolicy": "Delete"}}),
            json!({"spec": {"cinder": {"volumeID": "v2"}, "persistentVolumeReclaimPolicy": "Retain"}}),
        ];
        assert_eq!(policy_of(&volumes, "v1"), Some(Reclaim::Delete));
        assert_eq!(policy_of(&volumes, "v2"), Some(Reclaim::Retain));
        assert_eq!(policy_of(&volumes, "v3"), None);
    }
}

//! What runs in a cluster and costs outside of it: Services of the type LoadBalancer and
//! PersistentVolumeClaims, which `--delete-lbs` and `--delete-volumes` delete first, through Kubernetes and
//! with the user's own rights.
use crate::cluster::arguments::DeleteArgs;
use crate::cluster::connection::Connection;
use crate::cluster::console::Console;
use crate::cluster::error::ClusterError;
use crate::cluster::exit_code;
use crate::cluster::kubernetes::{self, ApiError, Authorized, Kubernetes};
use portico_cluster_operations::contents::{self, CLAIMS, Lists, SERVICES, Visible, Wanted};
use portico_domain::panel::lifecycle::DeletionOptions;
use portico_lifecycle::inventory::{Item, Kind, Reclaim};
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;
use uuid::Uuid;

const NAMESPACES: &str = "/api/v1/namespaces";
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
    uid: String,
    /// Such as `Service web/shop`.
    text: String,
}

/// What is deleted first.
#[derive(Debug, Default)]
struct Found {
    objects: Vec<Object>,
    /// Why other namespaces may have more, as sentences; empty: the whole cluster was read.
    partial: Vec<String>,
}

/// The API of a cluster, and what is deleted in it first.
pub struct Contents {
    api: Kubernetes,
    options: DeletionOptions,
    /// Whether the user accepts in advance where the options do not reach.
    accepts_partial: bool,
    /// Those that the user names, for a user who may not list namespaces.
    namespaces: Vec<String>,
    volumes: Vec<Value>,
    /// Where the options do not reach, as sentences.
    partial: Vec<String>,
}

/// The lists of the API server, as the user gets them.
struct UserLists<'a> {
    api: Authorized<'a>,
    /// See [`Contents::namespaces`].
    namespaces: &'a [String],
}

impl Lists for UserLists<'_> {
    type Error = ApiError;

    async fn objects(&self, plural: &str, namespace: Option<&str>) -> Result<Vec<Value>, ApiError> {
        let path = match namespace {
            Some(namespace) => format!("{NAMESPACES}/{namespace}/{plural}"),
            None => format!("/api/v1/{plural}"),
        };
        self.api.list(&path, &[]).await
    }

    async fn visible(&self) -> Result<Visible, ApiError> {
        match self.api.list(NAMESPACES, &[]).await {
            Ok(namespaces) => {
                let names = namespaces.iter();
                let names = names.filter_map(|one| one["metadata"]["name"].as_str());
                Ok(Visible {
                    names: names.map(str::to_owned).collect(),
                    is_complete: true,
                })
            }
            Err(ApiError::Forbidden(_)) => Ok(Visible {
                names: self.namespaces.to_vec(),
                is_complete: false,
            }),
            Err(error) => Err(error),
        }
    }

    fn is_refusal(error: &ApiError) -> bool {
        matches!(error, ApiError::Forbidden(_))
    }

    fn too_many() -> ApiError {
        ApiError::TooMany
    }
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
            true => api.list(VOLUMES, &[]).await,
            false => Ok(Vec::new()),
        };
        let volumes = match volumes {
            Ok(volumes) => volumes,
            // few users may list volumes; Services and claims may be theirs nonetheless
            Err(ApiError::Forbidden(_)) => Vec::new(),
            Err(error) => {
                let cause = format!("the reclaim policies could not be read: {error}");
                return Err(unopened(&cause));
            }
        };
        Ok(Some(Self {
            api,
            options: DeletionOptions {
                services_first: args.delete_lbs,
                claims_first: args.delete_volumes,
                accepted_partial: Vec::new(),
            },
            accepts_partial: args.accept_partial,
            namespaces: once_each(&args.namespaces),
            volumes,
            partial: Vec::new(),
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
    /// and a claim can have its data elsewhere. Names also where they are left.
    ///
    /// # Errors
    /// [`ClusterError::Blocked`] if they cannot be listed: nothing was sent then.
    pub async fn announce(&mut self, console: &mut Console) -> Result<(), ClusterError> {
        let found = self.find().await?;
        if !found.objects.is_empty() {
            console.say("Will be deleted in the cluster first:");
        }
        for object in &found.objects {
            console.say(format!("  {}", crate::one_line(&object.text)));
        }
        self.partial = found.partial;
        for text in &self.partial {
            console.say(crate::one_line(text));
        }
        Ok(())
    }

    /// Asks whether the objects of other namespaces may be left, unless there are no others or the option
    /// accepts it. `--yes` does not.
    ///
    /// # Errors
    /// [`ClusterError::Blocked`] if the user does not accept it; [`ClusterError::Usage`] without a terminal.
    pub fn accept(&mut self, console: &mut Console) -> Result<(), ClusterError> {
        if self.accepts_partial {
            self.options.accepted_partial.clone_from(&self.partial);
        }
        let accepted = &self.options.accepted_partial;
        let Some(refusal) = contents::unaccepted(&self.partial, accepted) else {
            return Ok(());
        };
        let question = "Those of other namespaces may be left. Type accept to continue: ";
        match console.ask(question)? {
            Some(typed) if typed == "accept" => {
                self.options.accepted_partial.clone_from(&self.partial);
                Ok(())
            }
            Some(_) => Err(unaccepted(&refusal)),
            None => Err(ClusterError::Usage(format!(
                "{refusal} There is no terminal to ask: add --accept-partial"
            ))),
        }
    }

    /// Returns what the user has accepted to be left in other namespaces; `None`: nothing is left.
    pub fn accepted(&self) -> Option<&DeletionOptions> {
        (!self.partial.is_empty()).then_some(&self.options)
    }

    /// Deletes the objects, and waits until they are gone.
    ///
    /// # Errors
    /// [`ClusterError::Blocked`] if one cannot be deleted or remains, or if other namespaces can be read than when
    /// the user accepted that: the cluster is not deleted then.
    pub async fn delete_first(&mut self, console: &mut Console) -> Result<(), ClusterError> {
        let found = self.find().await?;
        let refusal = contents::unaccepted(&found.partial, &self.options.accepted_partial);
        if let Some(refusal) = refusal {
            return Err(unaccepted(&refusal));
        }
        self.partial = found.partial;
        let mut left = found.objects;
        if left.is_empty() {
            console.say("Nothing in the cluster has to be deleted first.");
            return Ok(());
        }
        console.say(format!("Deleted first: {}.", names(&left)));
        for object in &left {
            match self.api.delete(&object.path, Some(&object.uid)).await {
                Ok(()) => {}
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(refused(&object.text, &error)),
            }
        }
        for _ in 0..LOOKS {
            tokio::time::sleep(PAUSE).await;
            let found = self.find().await?;
            if found.partial != self.partial {
                return Err(ClusterError::Blocked {
                    exit: exit_code::UNAVAILABLE,
                    text: format!("{} The cluster was not deleted", contents::CHANGED),
                });
            }
            left = found.objects;
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

    async fn find(&self) -> Result<Found, ClusterError> {
        let api = self.api.authorized().await;
        let lists = UserLists {
            api: api.map_err(|error| unlisted(&error))?,
            namespaces: &self.namespaces,
        };
        let wanted = Wanted {
            services: self.options.services_first,
            claims: self.options.claims_first,
        };
        let found = contents::find(&lists, wanted).await;
        let found = found.map_err(|error| unlisted(&error))?;
        let services = found.services.iter();
        let services = services.filter_map(|one| object(one, SERVICES, "Service"));
        let claims = found.claims.iter();
        let claims = claims.filter_map(|one| object(one, CLAIMS, "PersistentVolumeClaim"));
        Ok(Found {
            objects: services.chain(claims).collect(),
            partial: found.partial,
        })
    }
}

/// Returns the error for objects that cannot be listed.
fn unlisted(error: &ApiError) -> ClusterError {
    let remedy = match error {
        ApiError::Forbidden(_) => {
            "\n  Name the namespaces in which you have rights with --namespace"
        }
        ApiError::TooMany => "\n  Delete some of them with kubectl first",
        _ => "",
    };
    ClusterError::Blocked {
        exit: exit_of(error),
        text: format!(
            "what is deleted first could not be listed: {error}; the cluster was not deleted{remedy}"
        ),
    }
}

fn unaccepted(refusal: &str) -> ClusterError {
    ClusterError::Blocked {
        exit: exit_code::NEGATIVE,
        text: format!("{refusal}\n  Repeat the command with --accept-partial"),
    }
}

/// Returns namespaces in the order in which they are named, each once: what is in one is listed once.
fn once_each(named: &[String]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let firsts = named.iter().filter(|name| seen.insert(name.as_str()));
    firsts.cloned().collect()
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
    ClusterError::Blocked {
        exit: exit_of(error),
        text: format!("{what}: {error}; the cluster was not deleted"),
    }
}

fn exit_of(error: &ApiError) -> u8 {
    match error {
        ApiError::Forbidden(_) => exit_code::FORBIDDEN,
        ApiError::Unauthorized => exit_code::SIGN_IN,
        _ => exit_code::UNAVAILABLE,
    }
}

/// Reads an object of a list; `None` without a namespace, a name or a UID.
fn object(found: &Value, plural: &str, kind: &str) -> Option<Object> {
    let text = |path: &str| found.pointer(path).and_then(Value::as_str);
    let (namespace, name) = (text("/metadata/namespace")?, text("/metadata/name")?);
    Some(Object {
        path: format!("/api/v1/namespaces/{namespace}/{plural}/{name}"),
        uid: text("/metadata/uid")?.to_owned(),
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
    fn a_namespace_that_is_named_twice_is_listed_once() {
        let named = ["shop", "dev", "shop"].map(str::to_owned);
        assert_eq!(once_each(&named), ["shop", "dev"]);
    }

    #[test]
    fn an_object_is_deleted_in_its_namespace_and_by_its_uid() {
        let web = json!({"metadata": {"namespace": "shop", "name": "web", "uid": "u1"}});
        let found = object(&web, "services", "Service").unwrap();
        assert_eq!(found.path, "/api/v1/namespaces/shop/services/web");
        assert_eq!(found.text, "Service shop/web");
        assert_eq!(found.uid, "u1");
        for incomplete in [
            json!({"metadata": {"name": "web", "uid": "u1"}}),
            json!({"metadata": {"namespace": "shop", "name": "web"}}),
        ] {
            assert_eq!(object(&incomplete, "services", "Service"), None);
        }
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

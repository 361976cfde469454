//! Claims, volumes and storage classes: what is bound to what, and what deletion does to the data
//! (<https://kubernetes.io/docs/concepts/storage/persistent-volumes/#reclaiming>).
use super::{
    groups::{self, Groups},
    is,
    reader::{Reader, Select},
};
use crate::kube::{Api, discovery, discovery::Catalog, objects};
use portico_domain::panel::{ObjectRef, Relation};
use serde_json::Value;

pub fn of_claim(reader: &Reader<'_>, found: &mut Groups, value: &Value) {
    if let Some(volume) = value["spec"]["volumeName"].as_str() {
        let kind = ("", "persistentvolumes");
        found.add_named(reader, Relation::BoundTo, kind, volume);
    }
    class_of(reader, found, value);
}

pub fn of_volume(reader: &Reader<'_>, found: &mut Groups, value: &Value) {
    let claim = &value["spec"]["claimRef"];
    if let (Some(namespace), Some(name)) = (claim["namespace"].as_str(), claim["name"].as_str())
        && let Some(resource) = reader.resource("", "persistentvolumeclaims")
    {
        let object = ObjectRef {
            resource,
            namespace: Some(namespace.to_owned()),
            name: name.to_owned(),
        };
        found.add(Relation::BoundTo, groups::named(reader, object));
    }
    class_of(reader, found, value);
}

fn class_of(reader: &Reader<'_>, found: &mut Groups, value: &Value) {
    let class = value["spec"]["storageClassName"].as_str();
    if let Some(class) = class.filter(|class| !class.is_empty()) {
        let kind = ("storage.k8s.io", "storageclasses");
        found.add_named(reader, Relation::Uses, kind, class);
    }
}

/// Adds the claims and volumes of a storage class, in all namespaces.
pub async fn of_class(reader: &Reader<'_>, found: &mut Groups, name: &str) {
    let kinds = ["persistentvolumeclaims", "persistentvolumes"];
    let lists = kinds.map(|plural| reader.list_in("", plural, None, Select::default()));
    let lists = futures::future::join_all(lists).await;
    for (plural, list) in kinds.into_iter().zip(lists) {
        let mut list = list.unwrap_or_default();
        list.retain(|one| one["spec"]["storageClassName"] == name);
        found.add_read(reader, Relation::UsedBy, ("", plural), &list);
    }
}

/// Returns what happens to the data of a claim or volume that is deleted.
pub async fn notes(reader: &Reader<'_>, object: &ObjectRef, value: &Value) -> Vec<String> {
    if is(object, "", "persistentvolumeclaims") {
        let note = claim_note(reader.api, &reader.catalog, value).await;
        return vec![note.unwrap_or_else(|volume| {
            format!(
                "The reclaim policy of volume {volume} cannot be read: assume that its data is \
                 deleted with the claim."
            )
        })];
    }
    if is(object, "", "persistentvolumes") {
        let text = "Deleting this object does not delete the storage behind it by itself: while it \
            is bound, deletion waits for its claim.";
        return vec![text.to_owned()];
    }
    Vec::new()
}

/// Returns what happens to the data of a claim that is deleted. `None` for other objects, and if
/// neither the reclaim policy of the claim's volume nor that of its storage class can be read.
pub async fn deletion_note(
    api: &Api,
    catalog: &Catalog,
    object: &ObjectRef,
    value: &Value,
) -> Option<String> {
    if !is(object, "", "persistentvolumeclaims") {
        return None;
    }
    claim_note(api, catalog, value).await.ok()
}

/// Does the same for a claim.
///
/// # Errors
/// The name of the volume, if no reclaim policy can be read.
async fn claim_note(api: &Api, catalog: &Catalog, claim: &Value) -> Result<String, String> {
    match reclaim(api, catalog, claim).await? {
        None => Ok("No volume is bound to this claim: deleting it deletes no data.".to_owned()),
        Some((volume, policy)) => Ok(consequence(&volume, &policy)),
    }
}

/// Returns whether the data of a claim stays when the claim is deleted; false if that cannot be read.
pub async fn keeps_data(reader: &Reader<'_>, claim: &Value) -> bool {
    match reclaim(reader.api, &reader.catalog, claim).await {
        Ok(None) => true,
        Ok(Some((_, policy))) => policy == "Retain",
        Err(_) => false,
    }
}

/// Returns the volume of a claim and its reclaim policy; `None` for a claim without a volume.
///
/// # Errors
/// The name of the volume, if no reclaim policy can be read.
async fn reclaim(
    api: &Api,
    catalog: &Catalog,
    claim: &Value,
) -> Result<Option<(String, String)>, String> {
    let named = |field: &str| {
        let name = claim["spec"][field].as_str();
        name.filter(|name| !name.is_empty())
    };
    let Some(volume) = named("volumeName") else {
        return Ok(None);
    };
    let kind = ("", "persistentvolumes");
    let pointer = "/spec/persistentVolumeReclaimPolicy";
    let mut policy = policy(api, catalog, kind, volume, pointer).await;
    if policy.is_none()
        && let Some(class) = named("storageClassName")
    {
        let kind = ("storage.k8s.io", "storageclasses");
        policy = self::policy(api, catalog, kind, class, "/reclaimPolicy").await;
    }
    let policy = policy.ok_or_else(|| volume.to_owned())?;
    Ok(Some((volume.to_owned(), policy)))
}

/// Reads a reclaim policy with the viewer's token.
async fn policy(
    api: &Api,
    catalog: &Catalog,
    (group, plural): (&str, &str),
    name: &str,
    pointer: &str,
) -> Option<String> {
    let object = ObjectRef {
        resource: discovery::reference(catalog.preferred(group, plural)?),
        namespace: None,
        name: name.to_owned(),
    };
    let value = objects::get(api, &object).await.ok()?;
    value.pointer(pointer)?.as_str().map(str::to_owned)
}

fn consequence(volume: &str, policy: &str) -> String {
    match policy {
        "Delete" => format!(
            "Deleting this claim also deletes volume {volume} and the data on it (reclaim policy \
             Delete)."
        ),
        "Retain" => format!(
            "Deleting this claim keeps volume {volume} and the data on it (reclaim policy Retain); \
             an administrator has to release the volume before another claim can use it."
        ),
        other => {
            format!("Deleting this claim applies the reclaim policy of volume {volume}: {other}.")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_consequence_of_a_deletion_follows_the_reclaim_policy() {
        assert_eq!(
            consequence("pv-1", "Delete"),
            "Deleting this claim also deletes volume pv-1 and the data on it (reclaim policy Delete)."
        );
        assert!(consequence("pv-1", "Retain").contains("keeps volume pv-1 and the data on it"));
        assert!(consequence("pv-1", "Recycle").ends_with("volume pv-1: Recycle."));
    }
}

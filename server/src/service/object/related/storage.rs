//! Claims, volumes and storage classes: what is bound to what, and what deletion does to the data
//! (<https://kubernetes.io/docs/concepts/storage/persistent-volumes/#reclaiming>).
use super::{
    groups::{self, Groups},
    is,
    reader::{Reader, Select},
};
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

pub async fn of_class(reader: &Reader<'_>, found: &mut Groups, name: &str) {
    let mut volumes = reader
        .list("", "persistentvolumes", Select::default())
        .await;
    volumes.retain(|volume| volume["spec"]["storageClassName"] == name);
    let kind = ("", "persistentvolumes");
    found.add_read(reader, Relation::UsedBy, kind, &volumes);
}

/// Returns what happens to the data of a claim or volume that is deleted.
pub async fn notes(reader: &Reader<'_>, object: &ObjectRef, value: &Value) -> Vec<String> {
    if is(object, "", "persistentvolumeclaims") {
        return vec![claim_note(reader, value).await];
    }
    if is(object, "", "persistentvolumes") {
        let text = "Deleting this object does not delete the storage behind it by itself: while it \
            is bound, deletion waits for its claim.";
        return vec![text.to_owned()];
    }
    Vec::new()
}

async fn claim_note(reader: &Reader<'_>, value: &Value) -> String {
    let Some(volume) = value["spec"]["volumeName"].as_str() else {
        return "No volume is bound to this claim: deleting it deletes no data.".to_owned();
    };
    let policy = match reader.reference("", "persistentvolumes", volume) {
        Some(volume) => policy(reader, &volume, "/spec/persistentVolumeReclaimPolicy").await,
        None => None,
    };
    let policy = match (policy, value["spec"]["storageClassName"].as_str()) {
        (Some(policy), _) => Some(policy),
        (None, Some(class)) => match reader.reference("storage.k8s.io", "storageclasses", class) {
            Some(class) => policy_of_class(reader, &class).await,
            None => None,
        },
        (None, None) => None,
    };
    consequence(volume, policy.as_deref())
}

async fn policy(reader: &Reader<'_>, object: &ObjectRef, pointer: &str) -> Option<String> {
    let value = reader.get(object).await.ok()??;
    value.pointer(pointer)?.as_str().map(str::to_owned)
}

async fn policy_of_class(reader: &Reader<'_>, class: &ObjectRef) -> Option<String> {
    policy(reader, class, "/reclaimPolicy").await
}

fn consequence(volume: &str, policy: Option<&str>) -> String {
    match policy {
        Some("Delete") => format!(
            "If this claim is deleted, volume {volume} and the data on it are deleted too (reclaim \
             policy Delete)."
        ),
        Some("Retain") => format!(
            "If this claim is deleted, volume {volume} keeps its data (reclaim policy Retain); an \
             administrator has to release it before another claim can use it."
        ),
        Some(other) => format!(
            "If this claim is deleted, the reclaim policy of volume {volume} is applied: {other}."
        ),
        None => format!(
            "You may not read the reclaim policy of volume {volume}: assume that its data is \
             deleted with the claim."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_consequence_of_a_deletion_follows_the_reclaim_policy() {
        assert!(consequence("pv-1", Some("Delete")).contains("are deleted too"));
        assert!(consequence("pv-1", Some("Retain")).contains("keeps its data"));
        assert!(consequence("pv-1", None).contains("assume that its data is deleted"));
    }
}

//! What the deletion of an object would do: what is deleted with it, what uses it, and what becomes of its
//! data. It decides how the deletion is confirmed.
use super::{
    is, pods,
    reader::{Reader, Select},
    storage,
};
use crate::{
    kube::{Api, discovery, objects},
    service::{access::Names, error::ServiceError},
};
use portico_domain::panel::{
    DeletedKind, DeletionFacts, DeletionGrade, DeletionPlan, ObjectRef, RelatedGroup, RelatedView,
    Relation,
};
use serde_json::Value;
use std::collections::BTreeMap;

/// Maximum number of objects of a kind that are named.
const MAX_NAMED: usize = 10;
/// The kinds of a namespace's content that are counted; Secrets are not, as their values would be read.
const CONTENT: [(&str, &str); 7] = [
    ("apps", "deployments"),
    ("apps", "statefulsets"),
    ("apps", "daemonsets"),
    ("", "pods"),
    ("", "services"),
    ("", "persistentvolumeclaims"),
    ("", "configmaps"),
];

/// Reads what the deletion of an object would do.
pub async fn plan(
    api: &Api,
    names: &Names<'_>,
    object: &ObjectRef,
) -> Result<DeletionPlan, ServiceError> {
    let (value, related) = tokio::join!(objects::get(api, object), super::view(api, names, object));
    let (value, related) = (value?, related?);
    let catalog = discovery::catalog(api).await?;
    let reader = Reader::new(api, names, catalog, super::namespace_of(object));
    let mut deleted = owned(object, &related);
    deleted.extend(content(&reader, object, &value).await);
    let affected = kinds_of(&related.groups, |relation| {
        matches!(relation, Relation::UsedBy | Relation::RoutedBy)
    });
    let facts = DeletionFacts {
        is_recreated: has_controller(&value) && !is(object, "batch", "jobs"),
        loses_data: is(object, "", "persistentvolumeclaims")
            && !storage::keeps_data(&reader, &value).await,
        has_claims: !claim_templates(&value).is_empty(),
        // what could not be read may use it
        is_used: !affected.is_empty() || !related.gaps.is_empty(),
    };
    let mut notes = related.notes;
    notes.extend(claims_note(object, &value));
    let mut gaps = related.gaps;
    for gap in reader.into_gaps() {
        if !gaps.contains(&gap) {
            gaps.push(gap);
        }
    }
    Ok(DeletionPlan {
        grade: DeletionGrade::of(&object.resource, facts),
        deleted,
        affected,
        notes,
        gaps,
    })
}

/// Returns what the garbage collector deletes after the object.
fn owned(object: &ObjectRef, related: &RelatedView) -> Vec<DeletedKind> {
    let mut found = kinds_of(&related.groups, |relation| relation == Relation::Owns);
    let has_own_pods = matches!(
        (
            object.resource.group.as_str(),
            object.resource.plural.as_str()
        ),
        (
            "apps",
            "deployments" | "statefulsets" | "daemonsets" | "replicasets"
        ) | ("batch", "jobs")
            | ("", "replicationcontrollers")
    );
    if has_own_pods && let Some(list) = related.pods.as_ref().filter(|list| list.total > 0) {
        let names = list.pods.iter().map(|pod| pod.object.name.clone());
        found.push(DeletedKind {
            kind: "Pod".to_owned(),
            names: names.take(MAX_NAMED).collect(),
            total: list.total,
        });
    }
    if is(object, "apps", "deployments") && !related.revisions.is_empty() {
        let names = related.revisions.iter().map(|one| one.object.name.clone());
        found.push(DeletedKind {
            kind: "ReplicaSet".to_owned(),
            names: names.take(MAX_NAMED).collect(),
            total: related.revisions.len(),
        });
    }
    found
}

/// Returns the objects in a namespace, or the custom resources of a definition.
async fn content(reader: &Reader<'_>, object: &ObjectRef, value: &Value) -> Vec<DeletedKind> {
    if is(object, "", "namespaces") {
        let lists = CONTENT.map(|(group, plural)| reader.list(group, plural, Select::default()));
        let lists = futures::future::join_all(lists).await;
        return CONTENT
            .into_iter()
            .zip(lists)
            .filter_map(|((group, plural), list)| counted(reader, group, plural, &list))
            .collect();
    }
    if object.resource.plural == "customresourcedefinitions" {
        let text = |pointer| value.pointer(pointer).and_then(Value::as_str);
        if let (Some(group), Some(plural)) = (text("/spec/group"), text("/spec/names/plural")) {
            let list = reader
                .list_in(group, plural, None, Select::default())
                .await
                .unwrap_or_default();
            return counted(reader, group, plural, &list).into_iter().collect();
        }
    }
    if is(object, "", "nodes") {
        let list = pods::on_node(reader, &object.name).await;
        return list
            .filter(|list| list.total > 0)
            .map(|list| DeletedKind {
                kind: "Pod".to_owned(),
                names: list
                    .pods
                    .iter()
                    .take(MAX_NAMED)
                    .map(|pod| pod.object.name.clone())
                    .collect(),
                total: list.total,
            })
            .into_iter()
            .collect();
    }
    Vec::new()
}

fn counted(reader: &Reader<'_>, group: &str, plural: &str, list: &[Value]) -> Option<DeletedKind> {
    let kind = reader.catalog.preferred(group, plural)?;
    let names = list
        .iter()
        .filter_map(|one| one["metadata"]["name"].as_str());
    (!list.is_empty()).then(|| DeletedKind {
        kind: kind.kind.clone(),
        names: names.take(MAX_NAMED).map(str::to_owned).collect(),
        total: list.len(),
    })
}

/// Returns the objects of some relations by kind.
fn kinds_of(groups: &[RelatedGroup], is_meant: impl Fn(Relation) -> bool) -> Vec<DeletedKind> {
    let mut kinds: BTreeMap<&str, DeletedKind> = BTreeMap::new();
    let meant = groups.iter().filter(|group| is_meant(group.relation));
    for related in meant.flat_map(|group| &group.objects) {
        let known = kinds.entry(&related.kind).or_insert_with(|| DeletedKind {
            kind: related.kind.clone(),
            names: Vec::new(),
            total: 0,
        });
        known.total += 1;
        if known.names.len() < MAX_NAMED {
            known.names.push(related.object.name.clone());
        }
    }
    kinds.into_values().collect()
}

fn has_controller(value: &Value) -> bool {
    value
        .pointer("/metadata/ownerReferences")
        .and_then(Value::as_array)
        .is_some_and(|owners| owners.iter().any(|owner| owner["controller"] == true))
}

fn claim_templates(value: &Value) -> Vec<&str> {
    value
        .pointer("/spec/volumeClaimTemplates")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|template| template["metadata"]["name"].as_str())
        .collect()
}

/// Returns what becomes of the claims of a StatefulSet
/// (<https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#persistentvolumeclaim-retention>).
fn claims_note(object: &ObjectRef, value: &Value) -> Option<String> {
    let templates = claim_templates(value);
    if !is(object, "apps", "statefulsets") || templates.is_empty() {
        return None;
    }
    let policy = value
        .pointer("/spec/persistentVolumeClaimRetentionPolicy/whenDeleted")
        .and_then(Value::as_str);
    let names = templates.join(", ");
    Some(if policy == Some("Delete") {
        format!(
            "The PersistentVolumeClaims of its pods ({names}) are deleted with it, and their data under \
             the reclaim policy of their volumes."
        )
    } else {
        format!(
            "The PersistentVolumeClaims of its pods ({names}) and their data stay. They use storage until \
             you delete them."
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::panel::{RelatedObject, ResourceRef};
    use serde_json::json;

    fn object(group: &str, plural: &str) -> ObjectRef {
        ObjectRef {
            resource: ResourceRef::new(group, "v1", plural),
            namespace: Some("shop".to_owned()),
            name: "db".to_owned(),
        }
    }

    #[test]
    fn the_claims_of_a_stateful_set_follow_its_retention_policy() {
        let set = object("apps", "statefulsets");
        let mut value = json!({ "spec": { "volumeClaimTemplates": [
            { "metadata": { "name": "data" } } ] } });
        let note = claims_note(&set, &value).unwrap();
        assert!(note.contains("(data) and their data stay"), "{note}");
        value["spec"]["persistentVolumeClaimRetentionPolicy"] = json!({ "whenDeleted": "Delete" });
        let note = claims_note(&set, &value).unwrap();
        assert!(note.contains("(data) are deleted with it"), "{note}");
        assert_eq!(claims_note(&set, &json!({ "spec": {} })), None);
        assert_eq!(claims_note(&object("", "pods"), &value), None);
    }

    #[test]
    fn related_objects_are_counted_by_kind() {
        let related = |kind: &str, name: &str| RelatedObject {
            object: ObjectRef {
                name: name.to_owned(),
                ..object("", "pods")
            },
            kind: kind.to_owned(),
            health: None,
            status: String::new(),
        };
        let group = |relation, objects: Vec<RelatedObject>| RelatedGroup {
            relation,
            total: objects.len(),
            objects,
        };
        let groups = [
            group(Relation::Uses, vec![related("Secret", "s")]),
            group(
                Relation::UsedBy,
                vec![
                    related("Pod", "a"),
                    related("Deployment", "d"),
                    related("Pod", "b"),
                ],
            ),
        ];
        let found = kinds_of(&groups, |relation| relation == Relation::UsedBy);
        let shown: Vec<_> = found
            .iter()
            .map(|one| format!("{} {} {}", one.total, one.kind, one.names.join(",")))
            .collect();
        assert_eq!(shown, ["1 Deployment d", "2 Pod a,b"]);
    }
}

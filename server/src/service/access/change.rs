//! Granting and revoking of rights, and undoing either.
use super::{
    preview, protection,
    subjects::{self, Names},
    undo::{Entry, Reverse, UndoStore},
};
use crate::{
    kube::{Api, KubeError, changes, path, rbac},
    service::error::ServiceError,
};
use portico_domain::{
    cluster::ClusterRecord,
    identity::Identity,
    panel::{BindingRef, ChangeDone, GrantRequest, RevokeRequest, SubjectKind},
};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// Refuses an invalid form.
pub fn check(grant: &GrantRequest) -> Result<(), ServiceError> {
    let id = grant.subject_id.trim();
    let well_formed = if grant.subject_kind == SubjectKind::User {
        subjects::is_keystone_user_id(id)
    } else {
        subjects::is_keystone_id(id)
    };
    if !well_formed {
        return Err(
            ServiceError::invalid("The Keystone ID must be 32 digits and letters a to f.").next(
                "Names are not unique in Keystone; `openstack role show NAME` prints the ID.",
            ),
        );
    }
    if grant.role.name.is_empty() {
        return Err(ServiceError::invalid("Choose the role to grant."));
    }
    if !grant.role.cluster && grant.namespace.is_none() {
        return Err(ServiceError::invalid(
            "A Role belongs to a namespace and can only be granted there.",
        ));
    }
    Ok(())
}

/// Returns the name of a grant's binding: the same for the same grant, so that it cannot be made
/// twice.
pub fn binding_name(grant: &GrantRequest, group: &str) -> String {
    let kind = if grant.role.cluster {
        "ClusterRole"
    } else {
        "Role"
    };
    let digest = Sha256::digest(format!("{kind}\n{}\n{group}", grant.role.name));
    let mut hash = String::with_capacity(10);
    for byte in &digest[..5] {
        // writing to a String cannot fail
        let _ = write!(hash, "{byte:02x}");
    }
    let role: String = grant.role.name.chars().take(200).collect();
    format!("portico-{role}-{hash}")
}

/// Returns the group that a grant binds.
pub fn group_of(grant: &GrantRequest, record: &ClusterRecord, identity: &Identity) -> String {
    let project = identity.project.as_ref().map(|one| one.id.as_str());
    let subject_id = grant.subject_id.trim();
    subjects::group(grant.subject_kind, subject_id, record, project)
}

/// Creates the binding.
pub async fn grant(
    api: &Api,
    record: &ClusterRecord,
    names: &Names<'_>,
    undo: &UndoStore,
    grant: &GrantRequest,
    typed: &str,
) -> Result<ChangeDone, ServiceError> {
    let rules = preview::rules(api, grant).await?;
    let (_, dangers) = preview::explain(&rules, grant.namespace.is_some());
    if !dangers.is_empty() && typed.trim() != grant.role.name {
        return Err(ServiceError::invalid(format!(
            "This role is dangerous ({}); type its name to grant it.",
            dangers.join(", ")
        )));
    }
    let group = group_of(grant, record, names.identity);
    let name = binding_name(grant, &group);
    let resource = rbac::binding_resource(grant.namespace.as_deref());
    let object = json!({
        "apiVersion": format!("{}/v1", rbac::GROUP),
        "kind": if grant.namespace.is_some() { "RoleBinding" } else { "ClusterRoleBinding" },
        "metadata": {
            "name": name,
            "labels": { "app.kubernetes.io/managed-by": "portico" },
        },
        "roleRef": {
            "apiGroup": rbac::GROUP,
            "kind": if grant.role.cluster { "ClusterRole" } else { "Role" },
            "name": grant.role.name,
        },
        "subjects": [subjects::bound_group(group)],
    });
    let collection = path::collection(&resource, grant.namespace.as_deref())?;
    let made = changes::create(api, &collection, &object)
        .await
        .map_err(|error| match error {
            KubeError::Conflict(_) => {
                ServiceError::conflict("This grant exists already; nothing was changed.")
            }
            other => other.into(),
        })?;
    api.rights_changed();
    let made_path = rbac::binding_path(&BindingRef {
        namespace: grant.namespace.clone(),
        name: name.clone(),
    })?;
    let key = undo
        .keep(entry(
            api,
            names,
            &name,
            Reverse::Remove {
                path: made_path,
                uid: text(&made, "uid"),
                resource_version: text(&made, "resourceVersion"),
            },
        ))
        .await;
    Ok(ChangeDone {
        message: format!("Granted {} ({name}).", grant.role.name),
        undo: Some(key),
    })
}

/// Removes one subject from a binding, or deletes the binding with its last one.
pub async fn revoke(
    api: &Api,
    record: &ClusterRecord,
    names: &Names<'_>,
    undo: &UndoStore,
    revoke: &RevokeRequest,
) -> Result<ChangeDone, ServiceError> {
    let changed = || {
        ServiceError::conflict(
            "Another user or controller has changed this binding in the meantime.",
        )
        .next("Reload the page, look at the change, and decide again.")
    };
    let path = rbac::binding_path(&revoke.binding)?;
    let object = api.get(&path).await.map_err(|error| match error {
        KubeError::NotFound(_) => {
            ServiceError::conflict("This binding has been deleted meanwhile.")
        }
        other => other.into(),
    })?;
    if text(&object, "uid") != revoke.uid
        || text(&object, "resourceVersion") != revoke.resource_version
    {
        return Err(changed());
    }
    let binding = rbac::Binding::deserialize(&object)
        .map_err(|error| KubeError::Protocol(error.to_string()))?;
    let index = binding
        .subjects()
        .iter()
        .position(|bound| subjects::same(&names.subject(bound), &revoke.subject))
        .ok_or_else(changed)?;
    let all = rbac::cluster_bindings(api).await.ok();
    let why = protection::typed_because(
        &binding,
        &binding.subjects()[index],
        all.as_deref(),
        names.identity,
        record.qualified_groups_only(),
    );
    if let Some(why) = why
        && revoke.typed.trim() != revoke.binding.name
    {
        return Err(
            ServiceError::invalid(format!("{why} Type the binding's name to revoke it."))
                .next(format!("The name is {}.", revoke.binding.name)),
        );
    }
    let reverse = if binding.subjects().len() == 1 {
        changes::delete_exact(api, &path, &revoke.uid, &revoke.resource_version)
            .await
            .map_err(|error| conflict_or(error, changed))?;
        let resource = rbac::binding_resource(revoke.binding.namespace.as_deref());
        Reverse::Recreate {
            collection: path::collection(&resource, revoke.binding.namespace.as_deref())?,
            object: as_new(object),
        }
    } else {
        let mut less = object.clone();
        if let Some(list) = less["subjects"].as_array_mut() {
            list.remove(index);
        }
        let replaced = changes::replace(api, &path, &less)
            .await
            .map_err(|error| conflict_or(error, changed))?;
        Reverse::Restore {
            path,
            uid: revoke.uid.clone(),
            resource_version: text(&replaced, "resourceVersion"),
            object,
        }
    };
    api.rights_changed();
    let key = undo
        .keep(entry(api, names, &revoke.binding.name, reverse))
        .await;
    Ok(ChangeDone {
        message: format!(
            "Revoked {} ({}).",
            binding.role_ref.name, revoke.binding.name
        ),
        undo: Some(key),
    })
}

/// Undoes a grant or a revocation of the last seconds. The second value of the pair is the binding.
pub async fn take_back(
    api: &Api,
    names: &Names<'_>,
    undo: &UndoStore,
    key: &str,
) -> Result<(ChangeDone, String), ServiceError> {
    let project = names
        .identity
        .project
        .as_ref()
        .map_or("", |project| project.id.as_str());
    let entry = undo
        .take(key, &names.identity.user.id, project, api.cluster())
        .await
        .ok_or_else(|| {
            ServiceError::conflict("This can no longer be undone: ten seconds are over.")
        })?;
    let changed = || {
        ServiceError::conflict(
            "Another user or controller has changed this binding since; nothing was undone.",
        )
    };
    let message = match entry.reverse {
        Reverse::Recreate { collection, object } => {
            changes::create(api, &collection, &object)
                .await
                .map_err(|error| conflict_or(error, changed))?;
            "The binding was restored."
        }
        Reverse::Restore {
            path,
            uid,
            resource_version,
            mut object,
        } => {
            object["metadata"]["uid"] = json!(uid);
            object["metadata"]["resourceVersion"] = json!(resource_version);
            changes::replace(api, &path, &object)
                .await
                .map_err(|error| conflict_or(error, changed))?;
            "The subject was added to the binding again."
        }
        Reverse::Remove {
            path,
            uid,
            resource_version,
        } => {
            changes::delete_exact(api, &path, &uid, &resource_version)
                .await
                .map_err(|error| conflict_or(error, changed))?;
            "The grant was revoked."
        }
    };
    api.rights_changed();
    let done = ChangeDone {
        message: message.to_owned(),
        undo: None,
    };
    Ok((done, entry.target))
}

fn entry(api: &Api, names: &Names<'_>, target: &str, reverse: Reverse) -> Entry {
    Entry {
        user: names.identity.user.id.clone(),
        project: names
            .identity
            .project
            .as_ref()
            .map(|project| project.id.clone())
            .unwrap_or_default(),
        cluster: api.cluster(),
        target: target.to_owned(),
        reverse,
    }
}

fn conflict_or(error: KubeError, changed: impl Fn() -> ServiceError) -> ServiceError {
    match error {
        KubeError::Conflict(_) => changed(),
        other => other.into(),
    }
}

/// Returns an object that can be created again: without the fields that only the API server may
/// set.
fn as_new(mut object: Value) -> Value {
    if let Some(metadata) = object["metadata"].as_object_mut() {
        for field in [
            "uid",
            "resourceVersion",
            "creationTimestamp",
            "generation",
            "managedFields",
            "selfLink",
        ] {
            metadata.remove(field);
        }
    }
    object
}

fn text(object: &Value, field: &str) -> String {
    object["metadata"][field]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::panel::RoleRef;

    fn request(id: &str) -> GrantRequest {
        GrantRequest {
            role: RoleRef {
                cluster: true,
                name: "view".to_owned(),
            },
            namespace: Some("shop".to_owned()),
            subject_kind: SubjectKind::Role,
            subject_id: id.to_owned(),
        }
    }

    #[test]
    fn the_same_grant_has_the_same_name() {
        let one = binding_name(&request("x"), "g1");
        assert_eq!(one, binding_name(&request("y"), "g1"));
        assert_ne!(one, binding_name(&request("x"), "g2"));
        assert!(one.starts_with("portico-view-"));
    }

    #[test]
    fn only_keystone_ids_are_bound() {
        assert!(check(&request("6cb6d48d5b224296a80909485ff68fd1")).is_ok());
        for wrong in ["", "k8s_admin", "system:masters", "portico:user:x"] {
            assert!(check(&request(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_role_of_a_namespace_is_not_granted_in_the_whole_cluster() {
        let mut grant = request("6cb6d48d5b224296a80909485ff68fd1");
        grant.role.cluster = false;
        grant.namespace = None;
        assert!(check(&grant).is_err());
    }

    #[test]
    fn a_binding_made_again_keeps_what_users_wrote() {
        let again = as_new(
            json!({"metadata": {"name": "x", "uid": "u", "resourceVersion": "1",
            "labels": {"a": "b"}, "annotations": {"c": "d"}, "creationTimestamp": "t"},
            "subjects": [{"kind": "Group", "name": "g"}]}),
        );
        assert_eq!(
            again["metadata"],
            json!({"name": "x", "labels": {"a": "b"}, "annotations": {"c": "d"}})
        );
    }
}

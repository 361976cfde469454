//! One change of many objects of a kind. Each is a request of its own with the user's token, and has
//! an outcome and an audit line of its own.
use super::{error::ServiceError, object};
use crate::{
    caller::{
        Caller,
        audit::{self, Outcome},
    },
    kube::{Api, KubeError, changes, discovery},
};
use futures::{StreamExt, stream};
use portico_domain::panel::{
    BulkAction, BulkOutcome, BulkTarget, MAX_BULK_TARGETS, ObjectRef, ResourceKind, ResourceRef,
    deletion_confirmation, label_selector,
};
use std::collections::HashSet;

const MAX_CONCURRENT_CHANGES: usize = 6;
/// Maximum number of labels in one change.
const MAX_LABELS: usize = 20;

/// Changes objects; returns one outcome each, in order.
///
/// # Errors
/// `Invalid` for a request that would fail for every object; nothing was changed then.
pub async fn change(
    caller: &Caller,
    api: &Api,
    resource: &ResourceRef,
    action: &BulkAction,
    targets: Vec<BulkTarget>,
) -> Result<Vec<BulkOutcome>, ServiceError> {
    check_targets(&targets)?;
    let kind = discovery::kind(api, resource).await?;
    check_action(&kind, resource, action, &targets)?;
    let changes: Vec<_> = targets
        .into_iter()
        .map(|target| async move {
            let object = ObjectRef {
                resource: resource.clone(),
                namespace: target.namespace.clone(),
                name: target.name.clone(),
            };
            let changed = change_one(api, &object, &target.uid, action).await;
            let outcome = match &changed {
                Ok(()) => Outcome::Done,
                Err(KubeError::Refused(_)) => Outcome::Refused,
                Err(_) => Outcome::Failed,
            };
            let (word, object) = audited(action, &object);
            audit::record(caller, word, api.cluster(), &object, outcome);
            let error = changed.err();
            BulkOutcome {
                error: error.as_ref().map(|error| sentence(error, &target.name)),
                missing: match error {
                    Some(KubeError::Refused(forbidden)) => forbidden.missing,
                    _ => None,
                },
                target,
            }
        })
        .collect();
    let outcomes: Vec<_> = stream::iter(changes)
        .buffered(MAX_CONCURRENT_CHANGES)
        .collect()
        .await;
    if resource.is_of_rbac() {
        api.rights_changed();
    }
    Ok(outcomes)
}

async fn change_one(
    api: &Api,
    object: &ObjectRef,
    uid: &str,
    action: &BulkAction,
) -> Result<(), KubeError> {
    match action {
        BulkAction::Delete { .. } => changes::delete(api, object, uid).await,
        BulkAction::Restart => changes::restart(api, object, Some(uid)).await,
        BulkAction::Scale { replicas } => changes::scale(api, object, Some(uid), *replicas).await,
        BulkAction::Label { set, remove } => changes::label(api, object, uid, set, remove).await,
    }
}

/// Returns the action and the object of an audit line: without the labels, which may be values.
fn audited(action: &BulkAction, object: &ObjectRef) -> (&'static str, String) {
    let target = audit::target(object);
    match action {
        BulkAction::Delete { .. } => ("delete", target),
        BulkAction::Restart => ("restart", target),
        BulkAction::Scale { replicas } => ("scale", format!("{target} to {replicas}")),
        BulkAction::Label { .. } => ("label", target),
    }
}

fn sentence(error: &KubeError, name: &str) -> String {
    if changes::is_of_another_object(error) {
        return format!(
            "Another {name} has been made under this name meanwhile; it was not changed."
        );
    }
    match error {
        KubeError::NotFound(_) => format!("{name} no longer exists."),
        other => other.sentence(),
    }
}

fn check_targets(targets: &[BulkTarget]) -> Result<(), ServiceError> {
    if targets.is_empty() {
        return Err(ServiceError::invalid("No objects are selected."));
    }
    if targets.len() > MAX_BULK_TARGETS {
        return Err(ServiceError::invalid(format!(
            "At most {MAX_BULK_TARGETS} objects can be changed by one request."
        )));
    }
    if targets.iter().any(|target| target.uid.is_empty()) {
        return Err(ServiceError::invalid("The UID of an object is missing."));
    }
    let different: HashSet<_> = targets.iter().map(|target| &target.uid).collect();
    if different.len() < targets.len() {
        return Err(ServiceError::invalid("An object is selected twice."));
    }
    Ok(())
}

fn check_action(
    kind: &ResourceKind,
    resource: &ResourceRef,
    action: &BulkAction,
    targets: &[BulkTarget],
) -> Result<(), ServiceError> {
    let plural = kind.plural_name();
    let has = |verb: &str| kind.verbs.iter().any(|known| known == verb);
    match action {
        BulkAction::Delete { .. } if !has("delete") => Err(ServiceError::invalid(format!(
            "{plural} cannot be deleted."
        ))),
        BulkAction::Delete { typed } => check_confirmation(typed, resource, targets),
        BulkAction::Restart if !object::restartable(resource) => Err(ServiceError::invalid(
            format!("{plural} cannot be restarted; Deployments, StatefulSets and DaemonSets can."),
        )),
        BulkAction::Restart => Ok(()),
        BulkAction::Scale { .. } if !object::scalable(resource) => {
            Err(ServiceError::invalid(format!(
                "{plural} cannot be scaled; Deployments, StatefulSets, ReplicaSets and \
                 ReplicationControllers can."
            )))
        }
        BulkAction::Scale { replicas } => object::confirm_replicas(*replicas),
        BulkAction::Label { .. } if !has("patch") => Err(ServiceError::invalid(format!(
            "The labels of {plural} cannot be changed."
        ))),
        BulkAction::Label { set, remove } => check_labels(set, remove),
    }
}

fn check_confirmation(
    typed: &str,
    resource: &ResourceRef,
    targets: &[BulkTarget],
) -> Result<(), ServiceError> {
    match deletion_confirmation(resource, targets) {
        Some(expected) if typed != expected => Err(ServiceError::invalid(format!(
            "Data or what depends on these may be lost. Type {expected} to confirm; nothing was \
             deleted."
        ))),
        _ => Ok(()),
    }
}

fn check_labels(set: &[(String, String)], remove: &[String]) -> Result<(), ServiceError> {
    let keys: Vec<_> = set.iter().map(|(key, _)| key).chain(remove).collect();
    if keys.is_empty() {
        return Err(ServiceError::invalid("No label is set or removed."));
    }
    if keys.len() > MAX_LABELS {
        return Err(ServiceError::invalid(format!(
            "At most {MAX_LABELS} labels can be changed at once."
        )));
    }
    for key in &keys {
        label_selector::check_key(key).map_err(|error| ServiceError::invalid(error.to_string()))?;
    }
    for (_, value) in set {
        label_selector::check_value(value)
            .map_err(|error| ServiceError::invalid(error.to_string()))?;
    }
    let different: HashSet<_> = keys.iter().collect();
    if different.len() < keys.len() {
        return Err(ServiceError::invalid(
            "A label is set twice, or both set and removed.",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(kind: &str, plural: &str, verbs: &[&str]) -> ResourceKind {
        ResourceKind {
            group: String::new(),
            version: "v1".to_owned(),
            plural: plural.to_owned(),
            kind: kind.to_owned(),
            namespaced: true,
            verbs: verbs.iter().map(|&verb| verb.to_owned()).collect(),
            short_names: Vec::new(),
        }
    }

    fn refusal(action: &BulkAction) -> Option<String> {
        let pods = kind("Pod", "pods", &["delete", "patch"]);
        check_action(&pods, &ResourceRef::core("pods"), action, &[])
            .err()
            .map(|error| error.message)
    }

    fn label(set: &[(&str, &str)], remove: &[&str]) -> BulkAction {
        BulkAction::Label {
            set: set
                .iter()
                .map(|&(key, value)| (key.to_owned(), value.to_owned()))
                .collect(),
            remove: remove.iter().map(|&key| key.to_owned()).collect(),
        }
    }

    fn target(uid: &str, name: &str) -> BulkTarget {
        BulkTarget {
            uid: uid.to_owned(),
            namespace: None,
            name: name.to_owned(),
        }
    }

    fn delete(typed: &str) -> BulkAction {
        BulkAction::Delete {
            typed: typed.to_owned(),
        }
    }

    #[test]
    fn the_deletion_of_what_contains_others_is_confirmed_by_its_name_or_number() {
        let [one, two] = [target("1", "shop"), target("2", "web")];
        let namespaces = kind("Namespace", "namespaces", &["delete"]);
        let refused = |typed: &str, targets: &[BulkTarget]| {
            let resource = ResourceRef::core("namespaces");
            check_action(&namespaces, &resource, &delete(typed), targets)
                .err()
                .map(|error| error.message)
        };
        let single = std::slice::from_ref(&one);
        assert_eq!(refused("shop", single), None);
        for typed in ["", "1", "web", "Shop", " shop"] {
            let message = refused(typed, single).unwrap();
            assert!(message.contains("Type shop to confirm"), "{message}");
        }
        let both = [one.clone(), two];
        assert_eq!(refused("2", &both), None);
        for typed in ["", "1", "25", "shop"] {
            let message = refused(typed, &both).unwrap();
            assert!(message.contains("Type 2 to confirm"), "{message}");
        }
        for contains in ["nodes", "persistentvolumes", "customresourcedefinitions"] {
            assert!(ResourceRef::core(contains).contains_others(), "{contains}");
        }
        assert!(!ResourceRef::new("example.org", "v1", "nodes").contains_others());
    }

    #[test]
    fn what_a_kind_cannot_do_is_refused_before_anything_is_changed() {
        assert_eq!(refusal(&delete("")), None);
        assert_eq!(
            refusal(&BulkAction::Restart).unwrap(),
            "Pods cannot be restarted; Deployments, StatefulSets and DaemonSets can."
        );
        let scale = BulkAction::Scale { replicas: 2 };
        assert!(
            refusal(&scale)
                .unwrap()
                .starts_with("Pods cannot be scaled;")
        );
        let deployments = ResourceRef::new("apps", "v1", "deployments");
        let kind = kind("Deployment", "deployments", &["get"]);
        assert!(check_action(&kind, &deployments, &scale, &[]).is_ok());
        for replicas in [-1, 1_000_000] {
            let scale = BulkAction::Scale { replicas };
            assert!(check_action(&kind, &deployments, &scale, &[]).is_err());
        }
        let error = check_action(&kind, &deployments, &delete(""), &[]).unwrap_err();
        assert_eq!(error.message, "Deployments cannot be deleted.");
        assert!(check_action(&kind, &deployments, &label(&[("a", "b")], &[]), &[]).is_err());
    }

    #[test]
    fn labels_are_checked_as_kubernetes_would() {
        for (action, valid) in [
            (label(&[("app", "web")], &[]), true),
            (label(&[("app", "")], &["example.org/tier"]), true),
            (label(&[], &[]), false),
            (label(&[("-app", "web")], &[]), false),
            (label(&[("app", "web!")], &[]), false),
            (label(&[("app", "web")], &["a b"]), false),
            (label(&[("app", "web"), ("app", "db")], &[]), false),
            (label(&[("app", "web")], &["app"]), false),
        ] {
            assert_eq!(refusal(&action).is_none(), valid, "{action:?}");
        }
    }

    #[test]
    fn targets_must_differ_and_are_limited_in_number() {
        let target = |uid: &str| target(uid, "web");
        let numbered = |count: usize| (0..count).map(|number| target(&number.to_string()));
        assert!(check_targets(&[]).is_err());
        assert!(check_targets(&[target("")]).is_err());
        assert!(check_targets(&[target("1"), target("1")]).is_err());
        let most: Vec<_> = numbered(MAX_BULK_TARGETS).collect();
        assert!(check_targets(&most).is_ok());
        let too_many: Vec<_> = numbered(MAX_BULK_TARGETS + 1).collect();
        assert!(check_targets(&too_many).is_err());
    }

    #[test]
    fn an_object_that_was_made_again_is_recognised() {
        for (error, message) in [
            (
                KubeError::Conflict("Precondition failed: UID in precondition: a".to_owned()),
                "Another web has been made under this name meanwhile; it was not changed.",
            ),
            (
                KubeError::Invalid("metadata.uid: Invalid value: field is immutable".to_owned()),
                "Another web has been made under this name meanwhile; it was not changed.",
            ),
            (
                KubeError::NotFound("deployments \"web\" not found".to_owned()),
                "web no longer exists.",
            ),
            (
                KubeError::Refused("no".to_owned().into()),
                "The cluster refused this: no.",
            ),
        ] {
            assert_eq!(sentence(&error, "web"), message);
        }
    }
}

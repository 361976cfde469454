//! The actions of an object: one access review for exactly the request that would follow.
use super::state_change;
use crate::{
    kube::{Api, KubeError, reviews},
    service::{error::ServiceError, rights},
};
use portico_domain::panel::{
    Action, ActionState, ObjectRef, ResourceKind, ResourceRef, RightQuestion, StateChange,
};
use serde_json::Value;

/// Maximum replica count of the form.
const MAX_REPLICAS: i64 = 10_000;

/// Returns every action that the kind has, each with whether this user may do it now.
pub async fn states(
    api: &Api,
    object: &ObjectRef,
    kind: &ResourceKind,
) -> Result<Vec<ActionState>, KubeError> {
    let (actions, questions): (Vec<_>, Vec<_>) = questions(object, kind).into_iter().unzip();
    let results = reviews::review_all(api, questions.clone()).await;
    actions
        .into_iter()
        .zip(questions)
        .zip(results)
        .map(|((action, question), result)| {
            let allowed = result?.allowed;
            Ok(ActionState {
                action,
                allowed,
                reason: (!allowed).then(|| rights::refusal(&question)),
                missing: (!allowed).then_some(question),
            })
        })
        .collect()
}

/// Leaves the actions that make a difference in the object's present state.
pub fn in_state(actions: Vec<ActionState>, value: &Value) -> Vec<ActionState> {
    let is_paused = value.pointer("/spec/paused") == Some(&Value::Bool(true));
    actions
        .into_iter()
        .filter(|state| {
            StateChange::of_action(state.action)
                .is_none_or(|change| state_change::applies(value, change))
        })
        .map(|state| {
            if state.action == Action::RollBack && state.allowed && is_paused {
                return ActionState {
                    allowed: false,
                    reason: Some(
                        "The rollout is paused. Resume it before you roll back.".to_owned(),
                    ),
                    ..state
                };
            }
            state
        })
        .collect()
}

fn questions(object: &ObjectRef, kind: &ResourceKind) -> Vec<(Action, RightQuestion)> {
    let resource = &object.resource;
    let ask = |verb: &str, subresource: &str| RightQuestion {
        verb: verb.to_owned(),
        group: resource.group.clone(),
        resource: resource.plural.clone(),
        subresource: subresource.to_owned(),
        namespace: object.namespace.clone(),
        name: Some(object.name.clone()),
    };
    let has = |verb: &str| kind.verbs.iter().any(|known| known == verb);
    let mut found = vec![(Action::ViewYaml, ask("get", ""))];
    found.push((
        Action::ViewEvents,
        RightQuestion {
            verb: "list".to_owned(),
            group: String::new(),
            resource: "events".to_owned(),
            subresource: String::new(),
            namespace: Some(
                object
                    .namespace
                    .clone()
                    .unwrap_or_else(|| "default".to_owned()),
            ),
            name: None,
        },
    ));
    if *resource == ResourceRef::core("pods") {
        found.push((Action::ViewLogs, ask("get", "log")));
        // a terminal is opened over WebSocket, which is a GET
        found.push((Action::OpenTerminal, ask("get", "exec")));
    }
    if has_pods(resource) {
        let of_pods = |subresource: &str| RightQuestion {
            group: String::new(),
            resource: "pods".to_owned(),
            name: None,
            ..ask("get", subresource)
        };
        found.push((Action::ViewLogs, of_pods("log")));
        found.push((Action::OpenTerminal, of_pods("exec")));
    }
    if scalable(resource) {
        found.push((Action::Scale, ask("patch", "scale")));
    }
    if restartable(resource) && has("patch") {
        found.push((Action::Restart, ask("patch", "")));
    }
    if has("patch") {
        found.push((Action::Edit, ask("patch", "")));
        let changes = [
            StateChange::Pause,
            StateChange::Resume,
            StateChange::Suspend,
            StateChange::Unsuspend,
            StateChange::Cordon,
            StateChange::Uncordon,
        ];
        let offered = changes
            .into_iter()
            .filter(|change| state_change::has(resource, *change));
        found.extend(offered.map(|change| (change.action(), ask("patch", ""))));
        if restartable(resource) {
            found.push((Action::RollBack, ask("patch", "")));
        }
    }
    if *resource == ResourceRef::core("nodes") && has("patch") {
        let evict = RightQuestion {
            verb: "create".to_owned(),
            resource: "pods".to_owned(),
            subresource: "eviction".to_owned(),
            namespace: None,
            name: None,
            ..ask("create", "")
        };
        found.push((Action::Drain, evict));
    }
    if state_change::has(resource, StateChange::RunNow) {
        let create = RightQuestion {
            resource: "jobs".to_owned(),
            name: None,
            ..ask("create", "")
        };
        found.push((Action::RunNow, create));
    }
    if has("delete") {
        found.push((Action::Delete, ask("delete", "")));
    }
    found
}

/// Returns whether a kind selects pods whose logs belong to it.
fn has_pods(resource: &ResourceRef) -> bool {
    matches!(
        (resource.group.as_str(), resource.plural.as_str()),
        (
            "apps",
            "deployments" | "statefulsets" | "daemonsets" | "replicasets"
        ) | ("batch", "jobs")
            | ("", "services")
    )
}

/// Returns whether a kind has a replica count behind a scale subresource.
pub fn scalable(resource: &ResourceRef) -> bool {
    matches!(
        (resource.group.as_str(), resource.plural.as_str()),
        ("apps", "deployments" | "statefulsets" | "replicasets") | ("", "replicationcontrollers")
    )
}

/// Returns whether a rollout replaces the pods of a kind.
pub fn restartable(resource: &ResourceRef) -> bool {
    matches!(
        (resource.group.as_str(), resource.plural.as_str()),
        ("apps", "deployments" | "statefulsets" | "daemonsets")
    )
}

/// Refuses replica counts that are out of range.
pub fn confirm_replicas(replicas: i64) -> Result<(), ServiceError> {
    if (0..=MAX_REPLICAS).contains(&replicas) {
        Ok(())
    } else {
        Err(ServiceError::invalid(format!(
            "The number of replicas must be between 0 and {MAX_REPLICAS}."
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(resource: ResourceRef) -> Vec<(Action, String)> {
        let kind = ResourceKind {
            group: resource.group.clone(),
            version: resource.version.clone(),
            plural: resource.plural.clone(),
            kind: String::new(),
            namespaced: true,
            verbs: ["get", "list", "patch", "delete"]
                .map(str::to_owned)
                .to_vec(),
            short_names: Vec::new(),
        };
        let object = ObjectRef {
            resource,
            namespace: Some("shop".to_owned()),
            name: "web".to_owned(),
        };
        questions(&object, &kind)
            .into_iter()
            .map(|(action, question)| {
                (
                    action,
                    format!(
                        "{} {}/{}",
                        question.verb, question.resource, question.subresource
                    ),
                )
            })
            .collect()
    }

    #[test]
    fn each_action_asks_for_the_verb_that_its_request_uses() {
        let pods = asked(ResourceRef::core("pods"));
        assert!(pods.contains(&(Action::OpenTerminal, "get pods/exec".to_owned())));
        assert!(pods.contains(&(Action::ViewLogs, "get pods/log".to_owned())));
        assert!(pods.contains(&(Action::Delete, "delete pods/".to_owned())));
        let deployments = asked(ResourceRef::new("apps", "v1", "deployments"));
        assert!(deployments.contains(&(Action::Scale, "patch deployments/scale".to_owned())));
        assert!(deployments.contains(&(Action::Restart, "patch deployments/".to_owned())));
    }

    #[test]
    fn replica_counts_have_bounds() {
        assert!(confirm_replicas(0).is_ok());
        assert!(confirm_replicas(-1).is_err());
        assert!(confirm_replicas(1_000_000).is_err());
    }
}

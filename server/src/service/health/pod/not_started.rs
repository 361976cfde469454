//! The reason why a container has not started, for its log page.
use super::{pod as assess, requests, scheduling};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{ContainerStatus, Pod};

/// Returns the reason in words, as the second half of a sentence with its full stop: `no node fits:
/// all 2 nodes have too little free CPU. It asks for 64 cpu for encoder.`
pub fn not_started(pod: &Pod, container: &str, now: Timestamp) -> String {
    if pod.metadata.deletion_timestamp.is_some() {
        return "its pod is being deleted.".to_owned();
    }
    if let Some(reason) = no_node(pod) {
        return reason;
    }
    if let Some(before) = init_container_before(pod, container, now) {
        return format!("init container {before} has to end first.");
    }
    let assessment = assess(pod, now);
    match assessment.reason {
        Some(reason) => lower_first(&reason),
        None => format!("its pod is in the state {}.", assessment.status),
    }
}

fn no_node(pod: &Pod) -> Option<String> {
    let conditions = pod.status.as_ref()?.conditions.as_ref()?;
    let condition = conditions
        .iter()
        .find(|condition| condition.type_ == "PodScheduled" && condition.status == "False")?;
    let message = condition.message.as_deref().unwrap_or_default();
    let mut reason = match scheduling::causes(message) {
        Some(causes) => format!("no node fits: {causes}."),
        None if message.is_empty() => "no node fits.".to_owned(),
        None => format!("no node fits: {}", super::sentence(message)),
    };
    if let Some(asks) = requests(pod) {
        reason.push_str(&asks);
    }
    Some(reason)
}

/// Returns the init container that runs or waits before this one, unless this one has the problem
/// itself.
fn init_container_before<'a>(pod: &'a Pod, container: &str, now: Timestamp) -> Option<&'a str> {
    let init = pod.spec.as_ref()?.init_containers.as_ref()?;
    // the kubelet reports them once the pod has a node
    let statuses = pod.status.as_ref()?.init_container_statuses.as_ref()?;
    let ended = |name: &str| {
        statuses
            .iter()
            .find(|status| status.name == name)
            .is_some_and(is_over)
    };
    init.iter()
        .map(|known| known.name.as_str())
        .take_while(|name| *name != container)
        .find(|name| !ended(name))
        .filter(|_| assess(pod, now).health != portico_domain::panel::Health::Failed)
}

/// Returns whether a container has completed, or is a sidecar that has started (Kubernetes 1.29).
fn is_over(status: &ContainerStatus) -> bool {
    let ended = status
        .state
        .as_ref()
        .and_then(|state| state.terminated.as_ref());
    ended.is_some_and(|ended| ended.exit_code == 0) || status.started == Some(true)
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_lowercase().chain(chars).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn reason(status: Value) -> String {
        let object = json!({
            "metadata": {"name": "web-1"},
            "spec": {"initContainers": [{"name": "migrate", "image": "m"}],
                "containers": [{"name": "web", "image": "web:1",
                    "resources": {"requests": {"cpu": "64"}}}]},
            "status": status,
        });
        let pod = serde_json::from_value(object).unwrap();
        not_started(&pod, "web", Timestamp::constant(1_800_000_000, 0))
    }

    fn status(name: &str, state: Value) -> Value {
        json!([{"name": name, "image": "web:1", "imageID": "", "ready": false, "restartCount": 0,
            "state": state}])
    }

    #[test]
    fn finding_p3_a_pod_without_a_node_shows_that_none_fits() {
        let pending = |message: &str| {
            reason(
                json!({"phase": "Pending", "conditions": [{"type": "PodScheduled",
                "status": "False", "reason": "Unschedulable", "message": message}]}),
            )
        };
        assert_eq!(
            pending("0/2 nodes are available: 2 Insufficient cpu."),
            "no node fits: all 2 nodes have too little free CPU. It asks for 64 cpu for web."
        );
        assert_eq!(
            pending("no nodes available to schedule pods"),
            "no node fits: no nodes available to schedule pods. It asks for 64 cpu for web."
        );
    }

    #[test]
    fn finding_p3_a_container_behind_an_init_container_names_it() {
        let running = json!({"running": {"startedAt": "2026-11-21T10:00:00Z"}});
        let waiting = json!({"waiting": {"reason": "PodInitializing"}});
        assert_eq!(
            reason(json!({"phase": "Pending",
                "initContainerStatuses": status("migrate", running),
                "containerStatuses": status("web", waiting)})),
            "init container migrate has to end first."
        );
    }

    #[test]
    fn finding_p3_an_image_that_cannot_be_pulled_is_the_reason() {
        let ended = json!({"terminated": {"exitCode": 0, "reason": "Completed"}});
        let pull = json!({"waiting": {"reason": "ImagePullBackOff", "message": "not found"}});
        assert_eq!(
            reason(json!({"phase": "Pending",
                "initContainerStatuses": status("migrate", ended.clone()),
                "containerStatuses": status("web", pull)})),
            "the image web:1 of container web cannot be pulled: the registry does not have it; \
             check its name and tag."
        );
        let creating = json!({"waiting": {"reason": "ContainerCreating"}});
        assert_eq!(
            reason(json!({"phase": "Pending",
                "initContainerStatuses": status("migrate", ended),
                "containerStatuses": status("web", creating)})),
            "the node pulls images and prepares volumes; the events show the progress."
        );
    }

    #[test]
    fn finding_p3_a_pod_that_is_new_or_going_has_a_reason_too() {
        assert_eq!(
            reason(json!({"phase": "Pending"})),
            "it is not scheduled to a node yet; see the events."
        );
        assert_eq!(
            reason(json!({"phase": "Failed", "reason": "Evicted",
                "message": "The node was low on resource: memory."})),
            "the node evicted it: The node was low on resource: memory."
        );
    }
}

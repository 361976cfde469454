//! A pod's containers, one line each.
use k8s_openapi::api::core::v1::{Container, ContainerState, ContainerStatus, Pod};
use portico_domain::panel::{ContainerView, Health};

/// Returns the containers of a pod for its page, init containers first.
pub fn containers(pod: &Pod) -> Vec<ContainerView> {
    let Some(spec) = &pod.spec else {
        return Vec::new();
    };
    let status = pod.status.clone().unwrap_or_default();
    let view = |container: &Container, known: &[ContainerStatus], init: bool| {
        let status = known.iter().find(|status| status.name == container.name);
        container_view(container, status, init)
    };
    let init = status.init_container_statuses.unwrap_or_default();
    let main = status.container_statuses.unwrap_or_default();
    spec.init_containers
        .iter()
        .flatten()
        .map(|container| view(container, &init, true))
        .chain(
            spec.containers
                .iter()
                .map(|container| view(container, &main, false)),
        )
        .collect()
}

fn container_view(
    container: &Container,
    status: Option<&ContainerStatus>,
    init: bool,
) -> ContainerView {
    let state = status.and_then(|status| status.state.clone());
    let ready = status.is_some_and(|status| status.ready);
    let (state_text, health, message) = describe(state.as_ref(), ready, init);
    ContainerView {
        name: container.name.clone(),
        image: container.image.clone().unwrap_or_default(),
        init,
        health,
        state: state_text,
        message,
        restarts: status.map_or(0, |status| status.restart_count),
        has_previous: status.is_some_and(|status| {
            status
                .last_state
                .as_ref()
                .is_some_and(|last| last.terminated.is_some())
        }),
        started_at: state
            .and_then(|state| state.running)
            .and_then(|running| running.started_at)
            .map(|time| time.0.as_second()),
    }
}

fn describe(
    state: Option<&ContainerState>,
    ready: bool,
    init: bool,
) -> (String, Health, Option<String>) {
    let Some(state) = state else {
        return ("Not started".to_owned(), Health::Unknown, None);
    };
    if state.running.is_some() {
        let health = match (ready, init) {
            (true, _) => Health::Ok,
            (false, true) => Health::Progressing,
            (false, false) => Health::Warning,
        };
        let text = if ready || init {
            "Running"
        } else {
            "Running, not ready"
        };
        return (text.to_owned(), health, None);
    }
    if let Some(ended) = &state.terminated {
        let reason = ended.reason.as_deref().unwrap_or("Ended");
        let health = if ended.exit_code == 0 {
            Health::Ok
        } else {
            Health::Failed
        };
        return (
            format!("Terminated: {reason} (exit code {})", ended.exit_code),
            health,
            ended.message.clone(),
        );
    }
    let waiting = state.waiting.clone().unwrap_or_default();
    let reason = waiting.reason.unwrap_or_else(|| "Waiting".to_owned());
    let health = match reason.as_str() {
        "ContainerCreating" | "PodInitializing" | "Waiting" => Health::Progressing,
        _ => Health::Failed,
    };
    (format!("Waiting: {reason}"), health, waiting.message)
}

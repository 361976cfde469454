//! Pods: the state that `kubectl get pods` shows, with the reason behind it.
mod containers;
mod crash_loop;
mod not_started;

pub use containers::containers;
pub use not_started::not_started;

use super::{Assessment, counted, rollout::PROGRESS_DEADLINE, scheduling, sentence};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{ContainerStateTerminated, ContainerStatus, Pod};
use portico_domain::panel::Health;

/// Assesses a pod by its phase, conditions and containers, the most significant first. A container
/// that crashes repeatedly is assessed as crashing for some minutes after each crash, and a new replica
/// as progress until its deadline.
pub fn pod(pod: &Pod, now: Timestamp) -> Assessment {
    let assessment = by_status(pod, now);
    if assessment.health == Health::Warning && is_new_replica(pod, now) {
        return Assessment {
            health: Health::Progressing,
            ..assessment
        };
    }
    assessment
}

/// Returns whether a controller made the pod only recently, and none of its containers has
/// terminated.
fn is_new_replica(pod: &Pod, now: Timestamp) -> bool {
    let meta = &pod.metadata;
    let is_replica = meta
        .owner_references
        .iter()
        .flatten()
        .any(|owner| owner.controller == Some(true));
    let is_young = meta
        .creation_timestamp
        .as_ref()
        .is_some_and(|made| now.duration_since(made.0) < PROGRESS_DEADLINE);
    let mut containers = pod
        .status
        .iter()
        .flat_map(|status| status.container_statuses.iter().flatten());
    is_replica && is_young && !containers.any(has_ended)
}

fn has_ended(container: &ContainerStatus) -> bool {
    let state = container.state.as_ref();
    container.restart_count > 0 || state.is_some_and(|state| state.terminated.is_some())
}

fn by_status(pod: &Pod, now: Timestamp) -> Assessment {
    let status = pod.status.clone().unwrap_or_default();
    let phase = status.phase.as_deref().unwrap_or("Unknown");
    if pod.metadata.deletion_timestamp.is_some() {
        return Assessment::new(Health::Progressing, "Terminating")
            .because("It has been asked to end and has not ended yet.");
    }
    if let Some(assessment) = unschedulable(pod) {
        return assessment;
    }
    let init = status.init_container_statuses.unwrap_or_default();
    let main = status.container_statuses.unwrap_or_default();
    if phase != "Succeeded" {
        for (containers, before) in [(&init, true), (&main, false)] {
            if let Some(assessment) = containers
                .iter()
                .find_map(|container| trouble(pod, container, before))
            {
                return assessment;
            }
        }
        let mut containers = init.iter().chain(&main);
        if let Some(assessment) =
            containers.find_map(|container| crash_loop::remembered(pod, container, now))
        {
            return assessment;
        }
    }
    match phase {
        "Succeeded" => Assessment::ok("Completed"),
        "Failed" => failed(status.reason.as_deref(), status.message.as_deref(), &main),
        "Running" => running(&main),
        "Pending" => pending(&init, &main),
        "Unknown" => Assessment::new(Health::Unknown, "Unknown")
            .because("The pod's node does not answer, so the pod's state is unknown."),
        other => Assessment::new(Health::Unknown, other),
    }
}

fn unschedulable(pod: &Pod) -> Option<Assessment> {
    let conditions = pod.status.as_ref()?.conditions.as_ref()?;
    let condition = conditions.iter().find(|condition| {
        condition.type_ == "PodScheduled"
            && condition.status == "False"
            && condition.reason.as_deref() == Some("Unschedulable")
    })?;
    let mut reason = scheduling::simplify(condition.message.as_deref().unwrap_or_default());
    if let Some(asks) = requests(pod) {
        reason.push_str(&asks);
    }
    Some(Assessment::new(Health::Failed, "Unschedulable").because(reason))
}

/// Returns the pod's requests, so that a request that is too large is visible.
fn requests(pod: &Pod) -> Option<String> {
    let asked: Vec<_> = pod
        .spec
        .as_ref()?
        .containers
        .iter()
        .filter_map(|container| {
            let requests = container.resources.as_ref()?.requests.as_ref()?;
            let list: Vec<_> = requests
                .iter()
                .map(|(name, quantity)| format!("{} {name}", quantity.0))
                .collect();
            (!list.is_empty()).then(|| format!("{} for {}", list.join(" and "), container.name))
        })
        .collect();
    (!asked.is_empty()).then(|| format!(" It asks for {}.", asked.join(", ")))
}

/// Returns the problem of a container that keeps the pod from working.
fn trouble(pod: &Pod, status: &ContainerStatus, init: bool) -> Option<Assessment> {
    let state = status.state.as_ref()?;
    let name = &status.name;
    if let Some(waiting) = &state.waiting {
        let why = waiting.reason.as_deref()?;
        let message = waiting.message.as_deref().unwrap_or_default();
        let prefix = if init { "Init:" } else { "" };
        let failed = Assessment::new(Health::Failed, format!("{prefix}{why}"));
        return match why {
            "CrashLoopBackOff" => Some(failed.because(crash_loop::waiting(pod, status))),
            "ImagePullBackOff" | "ErrImagePull" | "ErrImageNeverPull" | "InvalidImageName" => {
                Some(failed.because(image(status, message)))
            }
            "CreateContainerConfigError" => Some(failed.because(format!(
                "Container {name} cannot be set up: {}",
                sentence(message)
            ))),
            "CreateContainerError" | "RunContainerError" | "StartError" => Some(failed.because(
                format!("Container {name} cannot be started: {}", sentence(message)),
            )),
            _ => None,
        };
    }
    if init
        && let Some(ended) = &state.terminated
        && ended.exit_code != 0
    {
        return Some(
            Assessment::new(Health::Failed, "Init:Error").because(format!(
                "Init container {name} {}; the other containers wait for it. Look at its log.",
                ending(pod, name, ended)
            )),
        );
    }
    None
}

fn times(count: i32) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        count => format!("{count} times"),
    }
}

/// Returns how a container terminated: `ended with exit code 137 because ...`.
fn ending(pod: &Pod, container: &str, ended: &ContainerStateTerminated) -> String {
    if ended.reason.as_deref() == Some("OOMKilled") {
        let limit =
            memory_limit(pod, container).map_or_else(String::new, |limit| format!(" of {limit}"));
        return format!(
            "was killed because it used more memory than its limit{limit} (exit code {})",
            ended.exit_code
        );
    }
    let meaning = match ended.exit_code {
        0 => " (success), although it should keep running",
        126 => " (the command cannot be executed)",
        127 => " (the command was not found)",
        134 => " (it aborted)",
        137 => " (it was killed)",
        139 => " (it crashed with a memory fault)",
        143 => " (it was asked to stop)",
        _ => "",
    };
    format!("ended with exit code {}{meaning}", ended.exit_code)
}

fn memory_limit(pod: &Pod, container: &str) -> Option<String> {
    let spec = pod.spec.as_ref()?;
    spec.containers
        .iter()
        .chain(spec.init_containers.iter().flatten())
        .find(|known| known.name == container)?
        .resources
        .as_ref()?
        .limits
        .as_ref()?
        .get("memory")
        .map(|quantity| quantity.0.clone())
}

fn image(status: &ContainerStatus, message: &str) -> String {
    let lower = message.to_lowercase();
    let cause = if lower.contains("not found") || lower.contains("manifest unknown") {
        "the registry does not have it; check its name and tag"
    } else if lower.contains("unauthorized") || lower.contains("denied") {
        "the registry refuses it; an image pull secret may be missing"
    } else if lower.contains("no such host")
        || lower.contains("timeout")
        || lower.contains("connection refused")
    {
        "the registry cannot be reached from the node"
    } else if lower.contains("couldn't parse") || lower.contains("invalid reference") {
        "that is not an image's name"
    } else {
        "see the events"
    };
    format!(
        "The image {} of container {} cannot be pulled: {cause}.",
        status.image, status.name
    )
}

fn failed(
    reason: Option<&str>,
    message: Option<&str>,
    containers: &[ContainerStatus],
) -> Assessment {
    if reason == Some("Evicted") {
        return Assessment::new(Health::Failed, "Evicted").because(format!(
            "The node evicted it: {}",
            sentence(message.unwrap_or("it ran short of a resource"))
        ));
    }
    let ended = containers.iter().find_map(|container| {
        let ended = container.state.as_ref()?.terminated.as_ref()?;
        (ended.exit_code != 0).then_some((container, ended))
    });
    match (ended, message) {
        (Some((container, ended)), _) => {
            let status = ended.reason.clone().unwrap_or_else(|| "Error".to_owned());
            Assessment::new(Health::Failed, status).because(format!(
                "Container {} {} and is not started again. Look at its log.",
                container.name,
                ending(&Pod::default(), &container.name, ended)
            ))
        }
        (None, Some(message)) => {
            Assessment::new(Health::Failed, reason.unwrap_or("Failed")).because(sentence(message))
        }
        (None, None) => Assessment::new(Health::Failed, reason.unwrap_or("Failed")),
    }
}

fn running(containers: &[ContainerStatus]) -> Assessment {
    let total = containers.len();
    let unready: Vec<_> = containers
        .iter()
        .filter(|container| !container.ready)
        .collect();
    let Some(first) = unready.first() else {
        let assessment = Assessment::ok("Running");
        return match restarted(containers) {
            Some(note) => assessment.because(note),
            None => assessment,
        };
    };
    let ready = total - unready.len();
    let crashed = first
        .state
        .as_ref()
        .and_then(|state| state.terminated.as_ref());
    let why = match crashed {
        Some(ended) => format!(
            "Container {} {} and is about to be started again.",
            first.name,
            ending(&Pod::default(), &first.name, ended)
        ),
        None => format!(
            "Container {} runs but is not ready: its readiness probe does not pass, or it has \
             only just started. Services send it no traffic meanwhile.",
            first.name
        ),
    };
    Assessment::new(
        Health::Warning,
        format!(
            "Running, {ready} of {} ready",
            counted(i64::try_from(total).unwrap_or(i64::MAX), "container")
        ),
    )
    .because(why)
}

fn restarted(containers: &[ContainerStatus]) -> Option<String> {
    let container = containers
        .iter()
        .filter(|container| container.restart_count > 0)
        .max_by_key(|container| container.restart_count)?;
    let ended = container.last_state.as_ref()?.terminated.as_ref()?;
    Some(format!(
        "Container {} was started again {}; the last time it {}.",
        container.name,
        times(container.restart_count),
        ending(&Pod::default(), &container.name, ended)
    ))
}

fn pending(init: &[ContainerStatus], main: &[ContainerStatus]) -> Assessment {
    let done = init
        .iter()
        .filter(|container| {
            container
                .state
                .as_ref()
                .is_some_and(|s| s.terminated.is_some())
        })
        .count();
    if !init.is_empty() && done < init.len() {
        return Assessment::new(Health::Progressing, format!("Init:{done}/{}", init.len()))
            .because("Its init containers run first, one after the other.");
    }
    let creating = main
        .iter()
        .filter_map(|container| container.state.as_ref()?.waiting.as_ref()?.reason.clone())
        .next();
    match creating {
        Some(reason) => Assessment::new(Health::Progressing, reason)
            .because("The node pulls images and prepares volumes; the events show the progress."),
        None => Assessment::new(Health::Warning, "Pending")
            .because("It is not scheduled to a node yet; see the events."),
    }
}

#[cfg(test)]
mod tests;

//! Crash loops. A container in one alternates between waiting, running and terminated; the
//! assessment stays the same meanwhile. It is derived from the pod's own status, so that every
//! replica returns the same result.
use super::{Assessment, ending, times};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::{ContainerStateTerminated, ContainerStatus, Pod};
use portico_domain::panel::Health;

/// The kubelet resets a container's back-off after it has run for this long.
const BACK_OFF_RESET: SignedDuration = SignedDuration::from_mins(10);

/// Returns the reason why a container waits before its next start.
pub(super) fn waiting(pod: &Pod, status: &ContainerStatus) -> String {
    format!(
        "{} Kubernetes waits longer before each try. Look at the previous log.",
        crashes(pod, status, last_end(status))
    )
}

/// Returns the same assessment for a container that runs or has just terminated, between two waits.
pub(super) fn remembered(
    pod: &Pod,
    status: &ContainerStatus,
    now: Timestamp,
) -> Option<Assessment> {
    let current_end = status.state.as_ref()?.terminated.as_ref();
    // the first restart is without a wait: one crash is not a loop
    let (ended, restarts) = match current_end {
        Some(ended) => (ended, 1),
        None => (last_end(status)?, 2),
    };
    if status.restart_count < restarts || !is_a_crash(pod, ended) {
        return None;
    }
    let finished = ended.finished_at.as_ref()?.0;
    let ran = finished.duration_since(ended.started_at.as_ref()?.0);
    if now.duration_since(finished) > BACK_OFF_RESET || ran > BACK_OFF_RESET {
        return None;
    }
    let state = if current_end.is_some() {
        "It is about to be started again."
    } else {
        "It runs at the moment, and counts as crashing until it has run for ten minutes."
    };
    Some(
        Assessment::new(Health::Failed, "CrashLoopBackOff").because(format!(
            "{} {state} Look at the previous log.",
            crashes(pod, status, Some(ended))
        )),
    )
}

fn last_end(status: &ContainerStatus) -> Option<&ContainerStateTerminated> {
    status.last_state.as_ref()?.terminated.as_ref()
}

/// Returns whether a termination is a crash: every one under the restart policy `Always`, none
/// under `Never`, and otherwise those with an exit code other than 0.
fn is_a_crash(pod: &Pod, ended: &ContainerStateTerminated) -> bool {
    let policy = pod
        .spec
        .as_ref()
        .and_then(|spec| spec.restart_policy.as_deref());
    match policy.unwrap_or("Always") {
        "Always" => true,
        "Never" => false,
        _ => ended.exit_code != 0,
    }
}

fn crashes(
    pod: &Pod,
    status: &ContainerStatus,
    ended: Option<&ContainerStateTerminated>,
) -> String {
    let name = &status.name;
    let why = ended.map_or_else(String::new, |ended| {
        format!(": it {}", ending(pod, name, ended))
    });
    format!(
        "Container {name} keeps crashing{why}. It was started again {}.",
        times(status.restart_count)
    )
}

//! The health of a cluster: Magnum's report, and beside it Portico's own request to the API server. Both
//! are shown, each with its age, also when they contradict each other.
mod probe;
#[cfg(test)]
mod tests;

use super::{
    journal::{health_history, refresh_nodes},
    own, words,
};
use crate::{
    caller::Caller,
    kube::ClusterSnapshot,
    service::{Services, error::ServiceError},
};
use jiff::Timestamp;
use portico_domain::panel::lifecycle::{
    AUTO_HEALING_LABEL, ApiServerProbe, AutoHealing, ClusterHealth, HealthHistory, ProbeResult,
    ReportedHealth,
};
use portico_openstack::magnum::{Cluster, HealthStatus};
use uuid::Uuid;

const NO_CHANGE: &str = "Magnum cannot change it later: choose the label auto_healing_enabled when a cluster \
                         is created.";

/// Returns the health of a cluster of the caller's project.
///
/// # Errors
/// `NotFound` if the project has no such cluster; else those of [`super::list()`]. What could not be
/// measured is in the answer.
pub async fn health(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
) -> Result<ClusterHealth, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let found = own::followed(access, &viewer, cluster).await?;
    let history = async {
        refresh_nodes(services, clusters, caller, &viewer, cluster).await;
        health_history(access, &viewer, cluster).await
    };
    let probe = probe::probe(services, clusters, caller, cluster);
    let (probe, history) = tokio::join!(probe, history);
    Ok(of(&found, probe, history))
}

/// Returns the health of a cluster as Magnum has returned it, with what was measured.
fn of(found: &Cluster, probe: ApiServerProbe, history: HealthHistory) -> ClusterHealth {
    let health = found.health_status.as_ref();
    ClusterHealth {
        magnum: ReportedHealth {
            health: words::health_tone(health),
            is_measured: health.is_some(),
            status: words::health_status(health),
            parts: words::health_parts(&found.health_status_reason),
            // without a report there is none that has an age
            reported_at: found
                .updated_at
                .filter(|_| health.is_some())
                .map(Timestamp::as_second),
        },
        disagreement: disagreement(found, &probe.result).map(str::to_owned),
        probe,
        healing: healing(found),
        history,
    }
}

/// Returns how Magnum's report and the probe contradict each other, as a sentence.
fn disagreement(found: &Cluster, probe: &ProbeResult) -> Option<&'static str> {
    match (found.health_status.as_ref()?, probe) {
        (HealthStatus::Healthy, ProbeResult::Failed { .. }) => Some(
            "Magnum reports the cluster as healthy, but its API server did not answer Portico. Magnum's \
             report may be old, or Portico may not reach the network of the cluster.",
        ),
        (HealthStatus::Unhealthy, ProbeResult::Reachable { .. }) if is_api_bad(found) => Some(
            "Magnum reports that the API server is not healthy, but it answered Portico. Magnum's report \
             may be old.",
        ),
        _ => None,
    }
}

fn is_api_bad(found: &Cluster) -> bool {
    let api = found.health_status_reason.get("api");
    api.is_some_and(|text| !words::is_good(text))
}

fn healing(found: &Cluster) -> AutoHealing {
    let label = found.labels.applied.get(AUTO_HEALING_LABEL);
    let is_on = label.map(|value| value.eq_ignore_ascii_case("true"));
    let text = match (is_on, label) {
        (Some(true), Some(value)) => format!("On (label {AUTO_HEALING_LABEL}={value})"),
        (_, Some(value)) => format!("Off (label {AUTO_HEALING_LABEL}={value})"),
        (_, None) => {
            format!("Not chosen (no label {AUTO_HEALING_LABEL}): the driver's default applies")
        }
    };
    AutoHealing {
        is_on,
        text,
        note: NO_CHANGE.to_owned(),
    }
}

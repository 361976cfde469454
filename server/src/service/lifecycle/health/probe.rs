//! Portico's own request to the API server of a cluster.
use crate::{
    caller::Caller,
    kube::{Api, ClusterSnapshot, KubeError},
    service::{Services, lifecycle::enrolment_state::PROBE_TIMEOUT},
};
use portico_domain::panel::lifecycle::{ApiServerProbe, ProbeResult};
use serde_json::Value;
use std::time::Duration;
use tokio::time::Instant;
use uuid::Uuid;

/// Asks the API server of a cluster for its version, with the caller's own token. A result is reused for
/// some seconds, and requests of one user at the same time are one.
pub async fn probe(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
) -> ApiServerProbe {
    let Ok(access) = services.magnum() else {
        return not_measured("Portico has no access to Magnum here.");
    };
    if clusters.get(cluster).is_none() {
        return not_measured(
            "Portico asks the API servers of enrolled clusters only. Enrol the cluster first.",
        );
    }
    let opened = services.api_among(clusters, caller, cluster);
    let api = match tokio::time::timeout(PROBE_TIMEOUT, opened).await {
        Ok(Ok((api, _))) => api,
        Ok(Err(error)) => return not_measured(&error.message),
        Err(_) => return not_measured("Portico had no token for the cluster in time."),
    };
    let slot = (cluster, caller.identity().user.id.clone());
    access.probes.get_with(slot, measure(&api)).await
}

fn not_measured(reason: &str) -> ApiServerProbe {
    ApiServerProbe {
        result: ProbeResult::NotMeasured {
            reason: reason.to_owned(),
        },
        measured_at: None,
    }
}

async fn measure(api: &Api) -> ApiServerProbe {
    let begun = Instant::now();
    let answer = tokio::time::timeout(PROBE_TIMEOUT, api.get("/version")).await;
    let latency = begun.elapsed();
    let answer = answer.unwrap_or(Err(KubeError::Timeout(PROBE_TIMEOUT.as_secs())));
    ApiServerProbe {
        result: result(answer, latency),
        measured_at: Some(api.now().as_second()),
    }
}

/// Returns what an answer means: a refusal is an answer too.
pub fn result(answer: Result<Value, KubeError>, latency: Duration) -> ProbeResult {
    let reachable = |version, note| ProbeResult::Reachable {
        version,
        latency_micros: u64::try_from(latency.as_micros()).unwrap_or(u64::MAX),
        note,
    };
    match answer {
        Ok(body) => {
            let version = body.get("gitVersion").and_then(Value::as_str);
            reachable(version.map(str::to_owned), None)
        }
        Err(
            error @ (KubeError::Unauthenticated
            | KubeError::Refused(_)
            | KubeError::NotFound(_)
            | KubeError::Conflict(_)
            | KubeError::Expired
            | KubeError::Invalid(_)),
        ) => reachable(None, Some(error.sentence())),
        Err(error) => ProbeResult::Failed {
            reason: error.sentence(),
        },
    }
}

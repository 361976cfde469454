//! Replicas that are not ready because they are new: they count as progress until their deadline
//! has passed.
use super::{Assessment, counted, pod as assess_pod};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::Pod;
use portico_domain::panel::Health;
use serde_json::Value;

/// `spec.progressDeadlineSeconds` if a workload has none: the default of deployments
/// (<https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#progress-deadline-seconds>).
pub(super) const PROGRESS_DEADLINE: SignedDuration = SignedDuration::from_secs(600);

/// Assesses a workload whose replicas are not all ready again, by its pods: while all of those that
/// are not ready are younger than the deadline and none has failed, the workload is progressing.
pub fn starting(
    assessment: Assessment,
    workload: &Value,
    pods: &[Pod],
    now: Timestamp,
) -> Assessment {
    let Some(not_ready) = assessment.not_ready else {
        return assessment;
    };
    let deadline = workload
        .pointer("/spec/progressDeadlineSeconds")
        .and_then(Value::as_i64)
        // the API server's value for "never"
        .filter(|seconds| *seconds < i64::from(i32::MAX))
        .map_or(PROGRESS_DEADLINE, SignedDuration::from_secs);
    let is_young = |made: Timestamp| now.duration_since(made) < deadline;
    let waiting: Vec<_> = pods.iter().filter(|pod| !is_ready(pod)).collect();
    let progressing = if waiting.is_empty() {
        // they do not exist yet
        let created = workload
            .pointer("/metadata/creationTimestamp")
            .and_then(Value::as_str)
            .and_then(|text| text.parse().ok());
        has_new_spec(workload) || created.is_some_and(is_young)
    } else {
        waiting.iter().all(|pod| {
            let made = pod.metadata.creation_timestamp.as_ref();
            made.is_some_and(|made| is_young(made.0))
                && assess_pod(pod, now).health != Health::Failed
        })
    };
    if !progressing {
        return assessment;
    }
    let replicas = counted(i64::from(not_ready), "replica");
    let (verb, they) = if not_ready == 1 {
        ("is", "it is")
    } else {
        ("are", "they are")
    };
    Assessment::new(
        Health::Progressing,
        format!("Starting, {}", assessment.status),
    )
    .because(format!(
        "{replicas} {verb} starting. If {they} not ready after {}, this becomes a warning.",
        minutes(deadline)
    ))
}

/// Assesses a rollout again by its pods: one of which a pod fails is not progressing well.
pub fn failing(assessment: Assessment, pods: &[Pod], now: Timestamp) -> Assessment {
    let failed: Vec<_> = pods
        .iter()
        .map(|pod| assess_pod(pod, now))
        .filter(|pod| pod.health == Health::Failed)
        .collect();
    let Some(first) = failed.first() else {
        return assessment;
    };
    let count = counted(i64::try_from(failed.len()).unwrap_or(i64::MAX), "pod");
    let verb = if failed.len() == 1 { "fails" } else { "fail" };
    let reason = format!(
        "{count} of the rollout {verb}: {}. See the log of the pod, or roll back.",
        first.status
    );
    Assessment {
        health: Health::Warning,
        ..assessment
    }
    .because(reason)
}

fn is_ready(pod: &Pod) -> bool {
    // a terminating one is not waited for
    if pod.metadata.deletion_timestamp.is_some() {
        return true;
    }
    let conditions = pod
        .status
        .as_ref()
        .and_then(|status| status.conditions.as_ref());
    conditions
        .into_iter()
        .flatten()
        .any(|condition| condition.type_ == "Ready" && condition.status == "True")
}

/// Returns whether its controller has not yet seen the newest specification.
fn has_new_spec(workload: &Value) -> bool {
    let number = |pointer: &str| workload.pointer(pointer).and_then(Value::as_i64);
    number("/metadata/generation") > number("/status/observedGeneration")
}

fn minutes(deadline: SignedDuration) -> String {
    let seconds = deadline.as_secs();
    if seconds % 60 == 0 {
        counted(seconds / 60, "minute")
    } else {
        counted(seconds, "second")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const NOW: &str = "2026-11-21T10:20:00Z";

    fn deployment() -> Value {
        json!({"metadata": {"generation": 2, "creationTimestamp": "2026-11-20T10:00:00Z"},
            "spec": {"replicas": 3, "selector": {}, "template": {}, "progressDeadlineSeconds": 600},
            "status": {"observedGeneration": 2, "readyReplicas": 2, "updatedReplicas": 3}})
    }

    fn assessed(deployment: &Value, pods: &[Value]) -> Assessment {
        let pods: Vec<Pod> = pods
            .iter()
            .map(|pod| serde_json::from_value(pod.clone()).unwrap())
            .collect();
        let before = super::super::deployment(&serde_json::from_value(deployment.clone()).unwrap());
        starting(before, deployment, &pods, NOW.parse().unwrap())
    }

    fn pod(created: &str, ready: bool, state: Value) -> Value {
        json!({"metadata": {"name": "web", "creationTimestamp": created}, "spec": {"containers": []},
            "status": {"phase": "Pending",
                "conditions": [{"type": "Ready", "status": if ready { "True" } else { "False" }}],
                "containerStatuses": [{"name": "web", "image": "i", "imageID": "", "ready": ready,
                    "restartCount": 0, "state": state}]}})
    }

    #[test]
    fn finding_p19_a_replica_that_has_just_been_made_is_progress_until_its_deadline() {
        let creating = json!({"waiting": {"reason": "ContainerCreating"}});
        let old = pod("2026-11-20T10:00:00Z", true, json!({"running": {}}));
        let at = |created: &str| {
            assessed(
                &deployment(),
                &[old.clone(), pod(created, false, creating.clone())],
            )
        };
        let young = at("2026-11-21T10:19:30Z");
        assert_eq!(young.health, Health::Progressing);
        assert_eq!(young.status, "Starting, 2 of 3 ready");
        assert_eq!(
            young.reason.as_deref(),
            Some(
                "1 replica is starting. If it is not ready after 10 minutes, this becomes a warning."
            )
        );
        let late = at("2026-11-21T10:09:59Z");
        assert_eq!(
            (late.health, late.status.as_str()),
            (Health::Warning, "2 of 3 ready")
        );
        let mut hasty = deployment();
        hasty["spec"]["progressDeadlineSeconds"] = json!(20);
        let over = assessed(&hasty, &[pod("2026-11-21T10:19:30Z", false, creating)]);
        assert_eq!(over.health, Health::Warning);
    }

    #[test]
    fn finding_p19_a_young_replica_that_has_failed_is_not_progress() {
        let crashing = json!({"waiting": {"reason": "CrashLoopBackOff"}});
        let assessment = assessed(
            &deployment(),
            &[pod("2026-11-21T10:19:30Z", false, crashing)],
        );
        assert_eq!(assessment.health, Health::Warning);
    }

    #[test]
    fn finding_p19_replicas_that_are_not_made_yet_are_progress_while_the_scale_is_new() {
        assert_eq!(assessed(&deployment(), &[]).health, Health::Warning);
        let mut scaled = deployment();
        scaled["metadata"]["generation"] = json!(3);
        assert_eq!(assessed(&scaled, &[]).health, Health::Progressing);
        let mut new = deployment();
        new["metadata"]["creationTimestamp"] = json!("2026-11-21T10:19:59Z");
        assert_eq!(assessed(&new, &[]).health, Health::Progressing);
    }

    #[test]
    fn a_rollout_of_which_a_pod_crashes_needs_attention_and_names_the_state() {
        let assessment = Assessment::new(Health::Progressing, "Rolling out, 2 of 2 ready");
        let of = |state: Value| -> Pod {
            serde_json::from_value(pod("2026-11-21T10:19:30Z", false, state)).unwrap()
        };
        let now: Timestamp = NOW.parse().unwrap();
        let creating = of(json!({"waiting": {"reason": "ContainerCreating"}}));
        let same = failing(assessment.clone(), &[creating], now);
        assert_eq!(same, assessment);
        let crashing = of(json!({"waiting": {"reason": "CrashLoopBackOff"}}));
        let worse = failing(assessment, &[crashing], now);
        assert_eq!(worse.health, Health::Warning);
        assert_eq!(
            worse.reason.as_deref(),
            Some(
                "1 pod of the rollout fails: CrashLoopBackOff. See the log of the pod, or roll back."
            )
        );
    }

    #[test]
    fn finding_p19_a_rollout_past_its_deadline_stays_failed() {
        let mut stuck = deployment();
        stuck["status"]["conditions"] = json!([{"type": "Progressing", "status": "False",
            "reason": "ProgressDeadlineExceeded"}]);
        let creating = json!({"waiting": {"reason": "ContainerCreating"}});
        let assessment = assessed(&stuck, &[pod("2026-11-21T10:19:30Z", false, creating)]);
        assert_eq!(assessment.health, Health::Failed);
    }
}

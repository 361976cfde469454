//! The health of workloads: the number of ready replicas, and the reason for the others.
use super::{Assessment, counted, sentence};
use k8s_openapi::api::{
    apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet},
    batch::v1::Job,
};
use portico_domain::panel::Health;

pub fn deployment(deployment: &Deployment) -> Assessment {
    let status = deployment.status.clone().unwrap_or_default();
    let spec = deployment.spec.as_ref();
    let condition = |kind: &str, value: &str| {
        status
            .conditions
            .iter()
            .flatten()
            .find(|condition| condition.type_ == kind && condition.status == value)
    };
    let mut assessment = replicas(&Counts {
        desired: spec.and_then(|spec| spec.replicas).unwrap_or(1),
        ready: status.ready_replicas.unwrap_or(0),
        updated: status.updated_replicas.unwrap_or(0),
    });
    if let Some(failure) = condition("ReplicaFailure", "True") {
        assessment.health = Health::Failed;
        assessment.not_ready = None;
        assessment.reason = Some(format!(
            "Its pods cannot be made: {}",
            sentence(failure.message.as_deref().unwrap_or("no reason given"))
        ));
    } else if condition("Progressing", "False")
        .is_some_and(|c| c.reason.as_deref() == Some("ProgressDeadlineExceeded"))
    {
        assessment.health = Health::Failed;
        assessment.not_ready = None;
        assessment.reason =
            Some("The rollout exceeded its progress deadline; see its newest pods.".to_owned());
    } else if spec.and_then(|spec| spec.paused) == Some(true) {
        assessment.status.push_str(", paused");
        assessment.reason =
            Some("Its rollout is paused: changes take effect when it is resumed.".to_owned());
    }
    assessment
}

pub fn stateful_set(set: &StatefulSet) -> Assessment {
    let status = set.status.clone().unwrap_or_default();
    let desired = set
        .spec
        .as_ref()
        .and_then(|spec| spec.replicas)
        .unwrap_or(1);
    replicas(&Counts {
        desired,
        ready: status.ready_replicas.unwrap_or(0),
        // without a rollout both revisions are the same
        updated: if status.current_revision == status.update_revision {
            desired
        } else {
            status.updated_replicas.unwrap_or(0)
        },
    })
}

pub fn replica_set(set: &ReplicaSet) -> Assessment {
    let status = set.status.clone().unwrap_or_default();
    let desired = set
        .spec
        .as_ref()
        .and_then(|spec| spec.replicas)
        .unwrap_or(1);
    let mut assessment = replicas(&Counts {
        desired,
        ready: status.ready_replicas.unwrap_or(0),
        updated: desired,
    });
    if let Some(failure) = status
        .conditions
        .iter()
        .flatten()
        .find(|condition| condition.type_ == "ReplicaFailure" && condition.status == "True")
    {
        assessment.health = Health::Failed;
        assessment.not_ready = None;
        assessment.reason = Some(format!(
            "Its pods cannot be made: {}",
            sentence(failure.message.as_deref().unwrap_or("no reason given"))
        ));
    }
    assessment
}

pub fn daemon_set(set: &DaemonSet) -> Assessment {
    let status = set.status.clone().unwrap_or_default();
    let mut assessment = replicas(&Counts {
        desired: status.desired_number_scheduled,
        ready: status.number_ready,
        updated: status
            .updated_number_scheduled
            .unwrap_or(status.desired_number_scheduled),
    });
    if status.desired_number_scheduled == 0 {
        "No node matches".clone_into(&mut assessment.status);
        assessment.reason = Some("No node matches its selector, so it runs nowhere.".to_owned());
    }
    assessment
}

struct Counts {
    desired: i32,
    ready: i32,
    updated: i32,
}

fn replicas(counts: &Counts) -> Assessment {
    let Counts {
        desired,
        ready,
        updated,
    } = *counts;
    if desired == 0 {
        return if ready == 0 {
            Assessment::ok("Scaled to zero")
        } else {
            Assessment::new(
                Health::Progressing,
                format!("Scaling to zero, {ready} left"),
            )
        };
    }
    let status = format!("{ready} of {desired} ready");
    if ready >= desired && updated >= desired {
        return Assessment::ok(status);
    }
    if updated < desired {
        return Assessment::new(Health::Progressing, format!("Rolling out, {status}")).because(
            format!(
                "{updated} of {} already {} the newest version.",
                counted(i64::from(desired), "replica"),
                if updated == 1 { "runs" } else { "run" }
            ),
        );
    }
    let health = if ready == 0 {
        Health::Failed
    } else {
        Health::Warning
    };
    let assessment = Assessment::new(health, status).because(format!(
        "{} not ready; see {}.",
        if desired - ready == 1 {
            "1 replica is".to_owned()
        } else {
            format!("{} replicas are", desired - ready)
        },
        if desired - ready == 1 {
            "its pod's page and events"
        } else {
            "its pods' pages and events"
        }
    ));
    Assessment {
        not_ready: Some(desired - ready),
        ..assessment
    }
}

pub fn job(job: &Job) -> Assessment {
    let status = job.status.clone().unwrap_or_default();
    let wanted = job
        .spec
        .as_ref()
        .and_then(|spec| spec.completions)
        .unwrap_or(1);
    let succeeded = status.succeeded.unwrap_or(0);
    let condition = |kind: &str| {
        status
            .conditions
            .iter()
            .flatten()
            .find(|condition| condition.type_ == kind && condition.status == "True")
    };
    if let Some(failure) = condition("Failed") {
        let failed = status.failed.unwrap_or(0);
        let reason = match failure.reason.as_deref() {
            Some("BackoffLimitExceeded") => format!(
                "{} and it is not retried. See the log of its last pod.",
                match failed {
                    1 => "Its pod failed".to_owned(),
                    0 => "It failed as often as it may".to_owned(),
                    count => format!("Its pods failed {count} times"),
                }
            ),
            Some("DeadlineExceeded") => "It ran longer than its deadline and was ended.".to_owned(),
            _ => sentence(failure.message.as_deref().unwrap_or("No reason given")),
        };
        return Assessment::new(Health::Failed, "Failed").because(reason);
    }
    if condition("Complete").is_some() {
        return Assessment::ok("Complete");
    }
    if condition("Suspended").is_some() {
        return Assessment::ok("Suspended");
    }
    let active = status.active.unwrap_or(0);
    let assessment = Assessment::new(
        Health::Progressing,
        format!("{succeeded} of {wanted} complete"),
    );
    match status.failed.unwrap_or(0) {
        0 => assessment.because(format!("{} at work.", counted(i64::from(active), "pod"))),
        failed => Assessment {
            health: Health::Warning,
            ..assessment
        }
        .because(format!(
            "{} failed so far; it tries again.",
            counted(i64::from(failed), "pod")
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn deployed(replicas: i32, status: Value) -> Assessment {
        let object = json!({"metadata": {}, "status": status,
            "spec": {"replicas": replicas, "selector": {}, "template": {}}});
        deployment(&serde_json::from_value(object).unwrap())
    }

    #[test]
    fn deployments_are_assessed_by_their_replicas() {
        for (replicas, status, health, words) in [
            (
                3,
                json!({"readyReplicas": 3, "updatedReplicas": 3}),
                Health::Ok,
                "3 of 3 ready",
            ),
            (
                3,
                json!({"updatedReplicas": 3}),
                Health::Failed,
                "0 of 3 ready",
            ),
            (
                3,
                json!({"readyReplicas": 2, "updatedReplicas": 3}),
                Health::Warning,
                "2 of 3 ready",
            ),
            (
                3,
                json!({"readyReplicas": 3, "updatedReplicas": 1}),
                Health::Progressing,
                "Rolling out, 3 of 3 ready",
            ),
            (0, json!({}), Health::Ok, "Scaled to zero"),
        ] {
            let assessment = deployed(replicas, status);
            assert_eq!(
                (assessment.health, assessment.status.as_str()),
                (health, words)
            );
        }
    }

    #[test]
    fn pods_that_admission_refuses_are_the_deployments_trouble() {
        let assessment = deployed(
            1,
            json!({"conditions": [{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate",
                "message": "pods \"web\" is forbidden: PodSecurityPolicy: unable to admit pod"}]}),
        );
        assert_eq!(assessment.health, Health::Failed);
        assert!(assessment.reason.unwrap().contains("PodSecurityPolicy"));
    }

    #[test]
    fn a_job_that_gave_up_shows_how_often_it_tried() {
        let object = json!({"metadata": {}, "spec": {"template": {}}, "status": {"failed": 4,
            "conditions": [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}]}});
        let assessment = job(&serde_json::from_value(object).unwrap());
        assert_eq!(assessment.status, "Failed");
        assert!(assessment.reason.unwrap().contains("4 times"));
    }
}

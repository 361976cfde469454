use super::*;
use serde_json::{Value, json};

fn assessed(status: Value) -> Assessment {
    let object = json!({
        "metadata": {"name": "web-1"},
        "spec": {"containers": [{"name": "web", "image": "web:1",
            "resources": {"limits": {"memory": "64Mi"}, "requests": {"memory": "900Gi"}}}]},
        "status": status,
    });
    pod(
        &serde_json::from_value(object).unwrap(),
        NOW.parse().unwrap(),
    )
}

fn container(state: Value, last: Value, restarts: i32) -> Value {
    json!([{"name": "web", "image": "web:1", "imageID": "", "ready": false,
        "restartCount": restarts, "state": state, "lastState": last}])
}

#[test]
fn a_crash_loop_names_the_last_exit_code() {
    let assessment = assessed(json!({"phase": "Running", "containerStatuses": container(
        json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting"}}),
        json!({"terminated": {"exitCode": 3, "reason": "Error"}}), 7)}));
    assert_eq!(assessment.health, Health::Failed);
    assert_eq!(assessment.status, "CrashLoopBackOff");
    let reason = assessment.reason.unwrap();
    assert!(reason.contains("exit code 3"), "{reason}");
    assert!(reason.contains("7 times"), "{reason}");
}

#[test]
fn running_out_of_memory_names_the_limit() {
    let assessment = assessed(json!({"phase": "Running", "containerStatuses": container(
        json!({"waiting": {"reason": "CrashLoopBackOff"}}),
        json!({"terminated": {"exitCode": 137, "reason": "OOMKilled"}}), 2)}));
    assert!(assessment.reason.unwrap().contains("limit of 64Mi"));
}

#[test]
fn an_unschedulable_pod_shows_the_reason_and_its_requests() {
    let assessment = assessed(
        json!({"phase": "Pending", "conditions": [{"type": "PodScheduled",
        "status": "False", "reason": "Unschedulable",
        "message": "0/2 nodes are available: 2 Insufficient memory."}]}),
    );
    assert_eq!(assessment.status, "Unschedulable");
    assert_eq!(
        assessment.reason.unwrap(),
        "No node can take it: all 2 nodes have too little free memory. It asks for 900Gi memory for web."
    );
}

#[test]
fn an_image_that_cannot_be_pulled_is_reported_with_the_cause() {
    for (message, words) in [
        ("manifest unknown", "does not have it"),
        ("pull access denied, unauthorized", "refuses it"),
        (
            "dial tcp: lookup r.example: no such host",
            "cannot be reached",
        ),
        ("Back-off pulling image", "see the events"),
    ] {
        let assessment = assessed(json!({"phase": "Pending", "containerStatuses": container(
            json!({"waiting": {"reason": "ImagePullBackOff", "message": message}}), json!({}), 0)}));
        assert!(assessment.reason.unwrap().contains(words), "{message}");
    }
}

#[test]
fn phases_without_trouble_are_distinguished() {
    let ready = json!([{"name": "web", "image": "web:1", "imageID": "", "ready": true,
        "restartCount": 0, "state": {"running": {}}}]);
    for (status, expected, health) in [
        (json!({"phase": "Succeeded"}), "Completed", Health::Ok),
        (
            json!({"phase": "Running", "containerStatuses": ready}),
            "Running",
            Health::Ok,
        ),
        (
            json!({"phase": "Failed", "reason": "Evicted", "message": "The node was low on memory"}),
            "Evicted",
            Health::Failed,
        ),
        (json!({"phase": "Pending"}), "Pending", Health::Warning),
        (json!({"phase": "Unknown"}), "Unknown", Health::Unknown),
        (
            json!({"phase": "Running", "containerStatuses": container(json!({"running": {}}), json!({}), 0)}),
            "Running, 0 of 1 container ready",
            Health::Warning,
        ),
    ] {
        let assessment = assessed(status);
        assert_eq!(assessment.status, expected);
        assert_eq!(assessment.health, health, "{expected}");
    }
}

#[test]
fn an_object_with_nothing_in_it_is_assessed_too() {
    assert_eq!(
        pod(&Pod::default(), NOW.parse().unwrap()).health,
        Health::Unknown
    );
}

const NOW: &str = "2026-11-23T10:00:00Z";

/// A container that started and ended so many seconds before now.
fn ended(from: i64, to: i64, code: i32) -> Value {
    let at = |ago: i64| {
        let now: Timestamp = NOW.parse().unwrap();
        (now - jiff::SignedDuration::from_secs(ago)).to_string()
    };
    json!({"terminated": {"exitCode": code, "reason": "Error",
        "startedAt": at(from), "finishedAt": at(to)}})
}

fn assessed_at_now(policy: &str, containers: Value) -> Assessment {
    let pod: Pod = serde_json::from_value(json!({
        "metadata": {"name": "web-1"},
        "spec": {"restartPolicy": policy, "containers": [{"name": "web", "image": "web:1"}]},
        "status": {"phase": "Running", "containerStatuses": containers},
    }))
    .unwrap();
    super::pod(&pod, NOW.parse().unwrap())
}

#[test]
fn finding_p11_a_crash_loop_is_the_same_in_each_of_its_states() {
    let last = ended(70, 60, 3);
    let running = |ready: bool| {
        let mut containers = container(json!({"running": {}}), last.clone(), 4);
        containers[0]["ready"] = ready.into();
        containers
    };
    for containers in [
        container(
            json!({"waiting": {"reason": "CrashLoopBackOff"}}),
            last.clone(),
            4,
        ),
        running(false),
        // without a readiness probe a container is ready as soon as it runs
        running(true),
        container(ended(5, 1, 3), last.clone(), 4),
        container(ended(5, 1, 3), json!({}), 1),
    ] {
        let assessment = assessed_at_now("Always", containers.clone());
        assert_eq!(assessment.health, Health::Failed, "{containers}");
        assert_eq!(assessment.status, "CrashLoopBackOff", "{containers}");
        let reason = assessment.reason.unwrap();
        assert!(reason.contains("exit code 3"), "{reason}");
    }
}

#[test]
fn finding_p11_what_is_not_a_crash_loop_is_not_shown_as_one() {
    let running = json!({"running": {}});
    for (what, containers) in [
        ("one crash", container(running.clone(), ended(70, 60, 3), 1)),
        ("the first crash", container(ended(5, 1, 3), json!({}), 0)),
        (
            "a crash an hour ago",
            container(running.clone(), ended(3700, 3600, 3), 4),
        ),
        (
            "a crash after a day of running",
            container(running.clone(), ended(86_460, 60, 3), 4),
        ),
    ] {
        let assessment = assessed_at_now("Always", containers);
        assert_ne!(assessment.status, "CrashLoopBackOff", "{what}");
    }
    let succeeded = container(running, ended(70, 60, 0), 4);
    let of_a_job = assessed_at_now("OnFailure", succeeded);
    assert_ne!(of_a_job.status, "CrashLoopBackOff");
}

#[test]
fn finding_p19_a_replica_that_is_not_ready_yet_is_progress_until_its_deadline() {
    let waits = container(json!({"running": {}}), json!({}), 0);
    let ended = container(ended(5, 1, 1), json!({}), 0);
    let restarted = container(json!({"running": {}}), json!({}), 1);
    let running = |containers: &Value| json!({"phase": "Running", "containerStatuses": containers});
    let made = |status: Value, seconds: i64, owner: Value| {
        let now: Timestamp = NOW.parse().unwrap();
        let pod: Pod = serde_json::from_value(json!({
            "metadata": {"name": "web-1", "ownerReferences": owner,
                "creationTimestamp": (now - jiff::SignedDuration::from_secs(seconds)).to_string()},
            "spec": {"containers": [{"name": "web", "image": "web:1"}]},
            "status": status,
        }))
        .unwrap();
        super::pod(&pod, now).health
    };
    let set = json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u",
        "controller": true}]);
    for (status, seconds, owner, expected) in [
        (running(&waits), 5, &set, Health::Progressing),
        (json!({"phase": "Pending"}), 5, &set, Health::Progressing),
        (running(&waits), 601, &set, Health::Warning),
        (json!({"phase": "Pending"}), 601, &set, Health::Warning),
        (running(&ended), 5, &set, Health::Warning),
        (running(&restarted), 5, &set, Health::Warning),
        // nothing scales a pod without a controller
        (running(&waits), 5, &json!([]), Health::Warning),
    ] {
        let health = made(status.clone(), seconds, owner.clone());
        assert_eq!(health, expected, "{status} {seconds} {owner}");
    }
}

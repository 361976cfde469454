//! Classes and explanations of the failures that users report, and of other texts.
use super::reported::{TEXTS, WRITTEN};
use crate::{
    failure::{Class, Failure, NextAction, Report, classify, explain},
    status::Status,
};
use std::collections::BTreeMap;

#[test]
fn the_reported_failures_have_the_right_class() {
    let numbers: Vec<u8> = TEXTS.iter().map(|(number, ..)| *number).collect();
    assert_eq!(numbers, (1..=50).collect::<Vec<u8>>());
    let wrong: Vec<_> = TEXTS
        .iter()
        .map(|(number, text, class)| (number, as_reason(text).class, *class))
        .filter(|(_, found, expected)| found != expected)
        .collect();
    // the requirement is 45 of 50
    assert!(wrong.is_empty(), "{} wrong: {wrong:?}", wrong.len());
}

/// Explains a text as `status_reason` of a change that has failed.
fn as_reason(text: &str) -> Failure {
    let none = BTreeMap::new();
    let failure = explain(&Report {
        status: &Status::parse("UPDATE_FAILED"),
        reason: Some(text),
        faults: &none,
        health: &none,
        groups: &none,
        existing: None,
    });
    failure.unwrap()
}

#[test]
fn a_reported_failure_has_the_same_class_in_the_health_of_a_cluster_that_is_not_finished() {
    let none = BTreeMap::new();
    for (number, text, class) in TEXTS {
        let health = BTreeMap::from([("infrastructure".to_owned(), (*text).to_owned())]);
        let failure = explain(&Report {
            status: &Status::parse("CREATE_IN_PROGRESS"),
            reason: None,
            faults: &none,
            health: &health,
            groups: &none,
            existing: None,
        });
        let failure = failure.unwrap();
        assert_eq!(failure.class, *class, "{number}");
        assert_eq!(failure.part.as_deref(), Some("infrastructure"), "{number}");
    }
}

#[test]
fn forty_of_the_reported_failures_are_quoted() {
    let is_reported = |number: &u8| TEXTS.iter().any(|(one, ..)| one == number);
    assert!(WRITTEN.iter().all(is_reported));
    let quoted = TEXTS
        .iter()
        .filter(|(number, ..)| !WRITTEN.contains(number));
    assert_eq!(quoted.count(), 40);
}

#[test]
fn every_reported_failure_has_a_sentence_and_a_next_action() {
    for (number, text, _) in TEXTS {
        let failure = as_reason(text);
        let explanation = &failure.explanation;
        assert!(explanation.len() > 15, "{number}: {explanation}");
        // Magnum's text stays as it is
        assert_eq!(failure.raw, *text, "{number}");
        // the class has the most useful one first, and a failed change can be settled
        let actions = &failure.next_actions;
        assert!(
            actions.contains(&NextAction::Settle),
            "{number}: {actions:?}"
        );
        assert!(actions.iter().all(|action| !action.label().is_empty()));
    }
}

#[test]
fn other_wordings_of_the_same_failures_have_the_same_class() {
    for (text, class) in [
        (
            "ResourceInError: resources.kube_masters.resources[0].resources.kube-master: Went to status ERROR \
             due to \"Message: No valid host was found. There are not enough hosts available., Code: 500\"",
            Class::Capacity,
        ),
        (
            "Went to status ERROR due to \"Message: Exceeded maximum number of retries. Exhausted all hosts \
             available for retrying build failures\"",
            Class::Capacity,
        ),
        (
            "CREATE aborted (Task create from ResourceGroup \"kube_masters\" Stack \"k8s-eyjntm5ss3jc\" Timed out)",
            Class::Timeout,
        ),
        ("ServiceError: client error (Connect)", Class::Service),
        (
            "Command: helm upgrade --namespace magnum-system kube-7j396 Exit code: 1 Stderr: 'Error: UPGRADE \
             FAILED: release: already exists'",
            Class::Concurrent,
        ),
        (
            "ApiError: clusterresourcesets.addons.cluster.x-k8s.io \"a7f8088c\" not found: NotFound \
             (ErrorResponse { code: 404 })",
            Class::StaleRecord,
        ),
        (
            "Failed to create listener kubeapi-31991: Expected HTTP response code [201 202], but got 409 \
             instead: Load Balancer 7d690fcb is immutable and cannot be updated.",
            Class::LoadBalancer,
        ),
        (
            "failed to reconcile security groups: got 409 instead {\"NeutronError\": {\"type\": \
             \"SecurityGroupRuleExists\", \"message\": \"Security group rule already exists.\"}}",
            Class::Network,
        ),
        (
            "VolumeLimitExceeded: Maximum number of volumes allowed (10) exceeded for quota 'volumes'.",
            Class::Quota,
        ),
        (
            "VolumeSizeExceedsAvailableQuota: Requested volume or snapshot exceeds allowed gigabytes quota. \
             Requested 20G, quota is 100G and 90G has been consumed.",
            Class::Quota,
        ),
        ("simulated failure: quota exceeded for cores", Class::Quota),
        (
            "IpAddressGenerationFailureClient: No more IP addresses available on network 55c2.",
            Class::Addresses,
        ),
        ("Unable to find keypair ops.", Class::Keypair),
        ("Unable to find flavor nope.", Class::Flavor),
        (
            "Flavor m1.tiny does not have enough RAM to run Kubernetes. Minimum 2048 MB required.",
            Class::Flavor,
        ),
        (
            "Flavor with zero root volume size is not supported when boot_volume_size is zero.",
            Class::Flavor,
        ),
        (
            "Image 3f does not have a kube_version property.",
            Class::Image,
        ),
        (
            "Image ubuntu doesn't contain os_distro field.",
            Class::Image,
        ),
        ("ClusterTemplate k8s-9 could not be found.", Class::NotFound),
        ("Unable to find external network public.", Class::Network),
        (
            "master nodegroup size of 2 is invalid, size cannot be an even number.",
            Class::InvalidRequest,
        ),
        (
            "Unknown attribute for argument cluster: bogus",
            Class::InvalidRequest,
        ),
        (
            "Cluster type (vm, x, kubernetes) is not supported by any loaded cluster driver.",
            Class::Unsupported,
        ),
        (
            "Cluster Template is not valid for upgrade: unsupported version skew",
            Class::Version,
        ),
        (
            "Resizing gpu outside the allowed range: min_node_count = 1, max_node_count = 3",
            Class::Bounds,
        ),
        (
            "MessagingTimeout: Timed out waiting for a reply to message ID 9",
            Class::Service,
        ),
        (
            "Failed to create load balancer: Octavia returned 500",
            Class::LoadBalancer,
        ),
        (
            "Build of instance 1 aborted: BlockDeviceMapping is invalid",
            Class::Volume,
        ),
        ("Draining node node-3 failed", Class::Drain),
    ] {
        assert_eq!(classify(text), class, "{text}");
    }
}

#[test]
fn texts_of_success_and_other_failures_have_no_class() {
    for text in [
        "",
        "Stack CREATE completed successfully",
        "state changed",
        "simulated failure",
        "an unexpected problem",
        "ok",
    ] {
        assert_eq!(classify(text), Class::Unknown, "{text}");
    }
}

#[test]
fn a_quota_of_clusters_is_not_a_missing_right() {
    let class = classify(
        "Resource limit exceeded: You have reached the maximum clusters per project, 3. You may delete a \
         cluster to make room for a new one.",
    );
    assert_eq!(class, Class::Quota);
    assert!(!class.next_actions().contains(&NextAction::AskForRole));
}

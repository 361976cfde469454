//! Explanations of failures.
mod reported;
mod texts;

use std::collections::BTreeMap;

use crate::{
    failure::{
        Class, Existing, Failure, NextAction, Report, Responsibility, admission, explain, quota,
        sentence,
    },
    status::Status,
};

fn map(entries: &[(&str, &str)]) -> BTreeMap<String, String> {
    entries
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect()
}

/// Explains with faults, reasons of groups, and health.
fn explained(
    status: &str,
    reason: Option<&str>,
    [faults, groups, health]: [&[(&str, &str)]; 3],
    existing: Option<Existing>,
) -> Option<Failure> {
    explain(&Report {
        status: &Status::parse(status),
        reason,
        faults: &map(faults),
        groups: &map(groups),
        health: &map(health),
        existing,
    })
}

#[test]
fn a_failed_creation_is_a_card_with_cause_costs_and_next_actions() {
    let failure = explained(
        "CREATE_FAILED",
        Some("Resource CREATE failed: Quota exceeded for cores: Requested 4, but already used 18 of 20 cores"),
        [&[], &[], &[]],
        Some(Existing {
            servers: 1,
            volumes: 2,
            load_balancers: 1,
            floating_ips: 0,
        }),
    )
    .unwrap();
    assert_eq!(failure.class, Class::Quota);
    assert_eq!(
        failure.explanation,
        "The quota of cores is used up (18 of 20)."
    );
    assert_eq!(failure.responsibility, Responsibility::User);
    assert_eq!(
        failure.remains,
        "The cluster cannot be used. What was made of it exists until the cluster is deleted, and \
         costs: 1 server, 2 volumes, 1 load balancer."
    );
    assert_eq!(
        failure.next_actions,
        [
            NextAction::ShowQuota,
            NextAction::FreeResources,
            NextAction::EditAndRetry,
            NextAction::ShowLeftovers,
        ]
    );
}

#[test]
fn the_specific_text_of_a_group_is_preferred_to_a_general_one() {
    let failure = explained(
        "CREATE_FAILED",
        Some("simulated failure"),
        [
            &[
                ("default-worker", "No valid host was found."),
                ("gpu", "state changed"),
            ],
            &[],
            &[],
        ],
        None,
    )
    .unwrap();
    assert_eq!(failure.class, Class::Capacity);
    assert_eq!(failure.part.as_deref(), Some("default-worker"));
    assert_eq!(failure.raw, "No valid host was found.");
}

#[test]
fn a_health_reason_explains_a_creation_that_is_only_blocked() {
    let failure = explained(
        "CREATE_IN_PROGRESS",
        None,
        [
            &[],
            &[],
            &[
                ("cluster", "Waiting on ['InfrastructureReady']"),
                (
                    "infrastructure",
                    "Quota exceeded for resources: ['network'].",
                ),
            ],
        ],
        None,
    )
    .unwrap();
    assert_eq!(failure.class, Class::Quota);
    assert_eq!(failure.part.as_deref(), Some("infrastructure"));
    assert_eq!(failure.explanation, "The quota of network is used up.");
}

#[test]
fn the_health_of_a_failed_cluster_explains_it_only_where_there_is_no_reason() {
    let health = [("api", "The cluster is not accessible.")];
    for reason in ["No valid host was found.", "something new happened"] {
        let failure = explained("CREATE_FAILED", Some(reason), [&[], &[], &health], None).unwrap();
        assert_eq!((failure.raw.as_str(), failure.part), (reason, None));
    }
    for reason in [None, Some(" ")] {
        let failure = explained("CREATE_FAILED", reason, [&[], &[], &health], None).unwrap();
        assert_eq!(failure.part.as_deref(), Some("api"), "{reason:?}");
    }
    // a fault of a node group is a cause too
    let faults = [("gpu", "No valid host was found.")];
    let reason = Some("something new happened");
    let failure = explained("CREATE_FAILED", reason, [&faults, &[], &health], None).unwrap();
    assert_eq!(failure.part.as_deref(), Some("gpu"));
}

#[test]
fn a_failed_change_settles_the_cluster_instead_of_deleting_it() {
    let failure = explained(
        "UPDATE_FAILED",
        Some("No valid host was found."),
        [&[], &[], &[]],
        None,
    )
    .unwrap();
    assert!(!failure.next_actions.contains(&NextAction::EditAndRetry));
    assert!(failure.next_actions.contains(&NextAction::Settle));
    assert!(failure.remains.starts_with("The cluster keeps running"));
}

#[test]
fn an_unknown_text_is_shown_as_it_is() {
    let failure = explained(
        "DELETE_FAILED",
        Some("something new happened"),
        [&[], &[], &[]],
        Some(Existing::default()),
    )
    .unwrap();
    assert_eq!(failure.class, Class::Unknown);
    assert_eq!(failure.responsibility, Responsibility::Unknown);
    assert_eq!(failure.raw, "something new happened");
    assert!(failure.remains.contains("nothing was found"));
}

#[test]
fn nothing_is_explained_where_nothing_failed() {
    assert_eq!(
        explained("CREATE_COMPLETE", None, [&[], &[], &[("api", "")]], None),
        None
    );
    // Magnum gives no reason: there is a card nevertheless
    let failure = explained("CREATE_FAILED", None, [&[], &[], &[]], None).unwrap();
    assert_eq!(failure.class, Class::Unknown);
}

#[test]
fn quotas_are_read_from_the_texts_of_each_service() {
    for (text, expected) in [
        (
            "Quota exceeded for cores: 20 of 20",
            "The quota of cores is used up (20 of 20).",
        ),
        (
            "Quota exceeded for instances: Requested 1, but already used 10 of 10 instances (HTTP 403)",
            "The quota of instances is used up (10 of 10).",
        ),
        (
            "{\"NeutronError\": {\"type\": \"OverQuota\", \"message\": \"Quota exceeded for resources: \
             ['security_group'].\"}}",
            "The quota of security group is used up.",
        ),
        (
            "Resource limit exceeded: You have reached the maximum clusters per project, 3. You may \
             delete a cluster to make room for a new one.",
            "The quota of clusters is used up (3 of 3).",
        ),
        ("Quota has been met for resources", "A quota is used up."),
    ] {
        assert_eq!(quota(text).sentence(), expected, "{text}");
    }
}

#[test]
fn the_text_of_a_webhook_is_reduced_to_its_last_clause() {
    let text = "ApiError: admission webhook \"default.cluster.cluster.x-k8s.io\" denied the request: \
                Cluster.cluster.x-k8s.io \"kube-bvufq\" is invalid: \
                spec.topology.variables[apiServerLoadBalancer].value.provider: Required value: Invalid \
                (ErrorResponse { status: \"Failure\", code: 422 })";
    assert_eq!(
        admission(text),
        "spec.topology.variables[apiServerLoadBalancer].value.provider: Required value"
    );
    assert_eq!(admission("no webhook"), "no webhook");
    assert!(sentence(Class::Admission, text).ends_with("Required value"));
}

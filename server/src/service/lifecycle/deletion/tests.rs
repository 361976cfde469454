//! Deletions, with Magnum and Cinder inside of the test.
use super::{
    contents::{Contents, ReclaimPolicies},
    inventory,
    leftovers::{self, Known},
    request::{Permit, carry_out, permit},
};
use crate::service::{
    error::ServiceError,
    lifecycle::{
        changing_magnum::{CLUSTER, ChangingMagnum, cluster, error},
        fixtures::NOW,
        viewer::Viewer,
    },
};
use app::error::UiErrorKind;
use portico_domain::panel::lifecycle::{DeletionOptions, DeletionOutcome, Fate};
use portico_lifecycle::inventory::Reclaim;
use serde_json::{Value, json};

const NONE: DeletionOptions = DeletionOptions {
    services_first: false,
    claims_first: false,
    accepted_partial: Vec::new(),
};

fn wanted(options: DeletionOptions) -> inventory::Wanted {
    inventory::Wanted {
        cluster: CLUSTER,
        options,
        now: NOW,
    }
}

fn ada(magnum: &ChangingMagnum) -> Viewer {
    magnum.viewer("ada", &["member", "reader"])
}

/// Deletes a cluster without options.
async fn send(
    magnum: &ChangingMagnum,
    viewer: &Viewer,
    typed: &str,
) -> Result<DeletionOutcome, ServiceError> {
    let clients = &magnum.clients;
    match permit(clients, viewer, CLUSTER, typed, false).await? {
        Permit::Granted(doomed) => Ok(carry_out(clients, viewer, CLUSTER, &doomed, NOW).await),
        Permit::Answered(outcome) => Ok(outcome),
    }
}

fn closed() -> Result<Contents, String> {
    Err("The cluster cannot be opened.".to_owned())
}

fn shop() -> Value {
    cluster("shop", "CREATE_COMPLETE")
}

#[tokio::test]
async fn case_49_the_inventory_states_what_stays_and_what_was_not_looked_at() {
    let magnum = ChangingMagnum::with(vec![shop()]).await;
    magnum.add_volume("v1", CLUSTER);
    let ada = ada(&magnum);
    let found = inventory::read(&magnum.clients, &ada, wanted(NONE), closed(), Ok(false)).await;
    let found = found.unwrap();
    // the driver leaves volumes
    assert_eq!(found.stays[0].id, "v1");
    assert!(found.stays[0].reason.contains("cost"));
    assert!(!found.goes.is_empty());
    // the cloud has no Octavia
    assert!(found.gaps.iter().any(|gap| gap.contains("load balancers")));
    // nothing can be deleted in the cluster first
    assert!(found.options_refusal.is_some());
    assert!(found.can_be_sent("shop"));
    assert!(!found.can_be_sent("Shop"));
    assert_eq!(magnum.calls(), [""; 0]);
}

#[tokio::test]
async fn a_cluster_of_another_project_is_not_found_for_an_administrator_either() {
    let mut other = shop();
    other["project_id"] = json!("globex");
    let magnum = ChangingMagnum::with(vec![other]).await;
    let root = magnum.viewer("root", &["admin"]);
    let error = inventory::read(&magnum.clients, &root, wanted(NONE), closed(), Ok(false)).await;
    assert_eq!(error.unwrap_err().kind, UiErrorKind::NotFound);
    let error = send(&magnum, &root, "shop").await;
    assert_eq!(error.unwrap_err().kind, UiErrorKind::NotFound);
    let error = leftovers::read(&magnum.clients, &root, CLUSTER, &Known::default(), NOW).await;
    assert_eq!(error.unwrap_err().kind, UiErrorKind::NotFound);
    assert_eq!(magnum.calls(), [""; 0]);
}

#[tokio::test]
async fn only_the_typed_name_deletes_and_the_server_compares_it() {
    let magnum = ChangingMagnum::with(vec![shop()]).await;
    let ada = ada(&magnum);
    for typed in ["", "Shop", "shop ", "900e3758-8071-430e-a8cf-5c48f428dc0e"] {
        let refused = send(&magnum, &ada, typed).await;
        let DeletionOutcome::Refused { reason, .. } = refused.unwrap() else {
            panic!("{typed:?} is not the name");
        };
        assert!(reason.contains("shop"), "{reason}");
    }
    assert_eq!(magnum.calls(), [""; 0]);
    let accepted = send(&magnum, &ada, "shop").await;
    let DeletionOutcome::Accepted(record) = accepted.unwrap() else {
        panic!("the name is right");
    };
    assert_eq!(record.name, "shop");
    assert_eq!(magnum.calls(), [format!("DELETE clusters/{CLUSTER}")]);
    let again = send(&magnum, &ada, "shop").await;
    assert_eq!(again.unwrap(), DeletionOutcome::AlreadyGone);
}

#[tokio::test]
async fn case_53_a_protected_cluster_is_not_deleted_with_its_name_either() {
    let magnum = ChangingMagnum::with(vec![shop()]).await;
    let ada = ada(&magnum);
    let found = permit(&magnum.clients, &ada, CLUSTER, "shop", true).await;
    let Ok(Permit::Answered(DeletionOutcome::Refused { reason, .. })) = found else {
        panic!("it is protected");
    };
    assert!(reason.contains("protected from deletion"), "{reason}");
    let inventory = inventory::read(&magnum.clients, &ada, wanted(NONE), closed(), Ok(true));
    let inventory = inventory.await.unwrap();
    assert!(!inventory.can_be_sent("shop"));
    assert!(
        inventory
            .checks
            .iter()
            .any(|one| one.subject == "Protection")
    );
    assert_eq!(magnum.calls(), [""; 0]);
    // control case: without the protection the name is enough
    let outcome = send(&magnum, &ada, "shop").await;
    assert!(matches!(outcome, Ok(DeletionOutcome::Accepted(_))));
}

#[tokio::test]
async fn an_unknown_protection_is_a_gap_of_the_inventory() {
    let magnum = ChangingMagnum::with(vec![shop()]).await;
    let ada = ada(&magnum);
    let unknown = ServiceError::not_found("The protection is not known.");
    let found = inventory::read(&magnum.clients, &ada, wanted(NONE), closed(), Err(unknown));
    let found = found.await.unwrap();
    assert!(found.gaps.iter().any(|gap| gap.contains("protection")));
}

#[tokio::test]
async fn a_reader_is_refused() {
    let magnum = ChangingMagnum::with(vec![shop()]).await;
    let bob = magnum.viewer("bob", &["reader"]);
    let refused = send(&magnum, &bob, "shop").await;
    assert!(matches!(refused, Ok(DeletionOutcome::Refused { .. })));
    assert_eq!(magnum.calls(), [""; 0]);
}

#[tokio::test]
async fn a_deletion_that_runs_already_is_not_sent_twice() {
    let magnum = ChangingMagnum::with(vec![cluster("shop", "DELETE_IN_PROGRESS")]).await;
    let outcome = send(&magnum, &ada(&magnum), "shop").await;
    assert!(matches!(outcome, Ok(DeletionOutcome::Accepted(_))));
    assert_eq!(magnum.calls(), [""; 0]);
}

#[tokio::test]
async fn a_lost_response_is_not_a_refusal_of_magnum() {
    for (status, body, is_lost) in [
        (502, Value::String("a page of a proxy".to_owned()), true),
        (409, error("The cluster is locked."), false),
    ] {
        let magnum = ChangingMagnum::start(vec![shop()], move |request, _| {
            (request.method == "DELETE").then(|| (status, body.clone()))
        });
        let magnum = magnum.await;
        let outcome = send(&magnum, &ada(&magnum), "shop").await;
        match outcome.unwrap() {
            DeletionOutcome::Unknown { next_step, .. } => {
                assert!(is_lost);
                assert!(next_step.ends_with('.'));
            }
            DeletionOutcome::Refused {
                reason, request_id, ..
            } => {
                assert!(!is_lost);
                assert!(reason.contains("The cluster is locked."), "{reason}");
                assert_eq!(request_id.as_deref(), Some("req-1"));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn case_50_leftovers_are_compared_with_what_was_predicted() {
    let magnum = ChangingMagnum::with(vec![shop()]).await;
    magnum.add_volume("v1", CLUSTER);
    let ada = ada(&magnum);
    let accepted = send(&magnum, &ada, "shop").await;
    let DeletionOutcome::Accepted(record) = accepted.unwrap() else {
        panic!("the name is right");
    };
    // it appears after the inventory
    magnum.add_volume("v2", CLUSTER);
    let known = Known {
        record: Some(&record),
        ..Known::default()
    };
    let found = leftovers::read(&magnum.clients, &ada, CLUSTER, &known, NOW).await;
    let found = found.unwrap();
    assert!(found.is_gone);
    assert_eq!(found.cluster.name, "shop");
    let items: Vec<_> = found
        .items
        .iter()
        .map(|item| (item.id.as_str(), item.predicted))
        .collect();
    assert_eq!(items, [("v2", None), ("v1", Some(Fate::Stays))]);
    let command = found.items[0].command.as_deref();
    assert_eq!(command, Some("openstack volume delete v2"));
}

#[tokio::test]
async fn without_a_record_leftovers_are_found_by_the_uuid_alone() {
    let magnum = ChangingMagnum::with(vec![]).await;
    magnum.add_volume("v1", CLUSTER);
    let known = Known::default();
    let found = leftovers::read(&magnum.clients, &ada(&magnum), CLUSTER, &known, NOW).await;
    let found = found.unwrap();
    assert_eq!(found.items.len(), 1);
    assert_eq!(found.cluster.name, CLUSTER.to_string());
}

#[tokio::test]
async fn the_reclaim_policy_and_the_options_change_what_is_predicted() {
    let magnum = ChangingMagnum::with(vec![shop()]).await;
    magnum.add_volume("v1", CLUSTER);
    let contents = Contents {
        policies: ReclaimPolicies::from([("v1".to_owned(), Reclaim::Delete)]),
        gaps: vec!["Others were not looked at.".to_owned()],
        ..Contents::default()
    };
    let claims_first = DeletionOptions {
        claims_first: true,
        ..NONE
    };
    let ada = ada(&magnum);
    let found = inventory::read(
        &magnum.clients,
        &ada,
        wanted(claims_first.clone()),
        Ok(contents),
        Ok(false),
    );
    let found = found.await.unwrap();
    assert_eq!(found.options, claims_first);
    assert_eq!(found.options_refusal, None);
    let volume = found.goes.iter().find(|item| item.id == "v1").unwrap();
    assert!(volume.reason.contains("data is lost"), "{}", volume.reason);
    let gap = "Others were not looked at.".to_owned();
    assert!(found.gaps.contains(&gap), "{:?}", found.gaps);
}

#[tokio::test]
async fn what_the_options_do_not_reach_is_accepted_before_the_deletion() {
    let magnum = ChangingMagnum::with(vec![shop()]).await;
    let ada = ada(&magnum);
    let found = |options| {
        let contents = Contents {
            partial: vec!["Services were looked for in dev.".to_owned()],
            ..Contents::default()
        };
        let (clients, ada) = (&magnum.clients, &ada);
        async move { inventory::read(clients, ada, wanted(options), Ok(contents), Ok(false)).await }
    };
    let mut options = DeletionOptions {
        services_first: true,
        ..NONE
    };
    assert!(!found(options.clone()).await.unwrap().can_be_sent("shop"));
    // when another namespace could be read
    options.accepted_partial = vec!["Services were looked for in dev, shop.".to_owned()];
    assert!(!found(options.clone()).await.unwrap().can_be_sent("shop"));
    options.accepted_partial = vec!["Services were looked for in dev.".to_owned()];
    assert!(found(options).await.unwrap().can_be_sent("shop"));
}

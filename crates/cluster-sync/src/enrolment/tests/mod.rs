//! Whole runs against a stand-in for Magnum that signs, and one for an API server that verifies.
mod world;

use super::{EnrolmentError, bound_projects};
use world::{Call, World};

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";

#[tokio::test]
async fn a_run_binds_the_roles_and_a_second_one_changes_nothing() {
    let world = World::start().await;
    let enrolled = world.run(&|_| Ok(())).await.unwrap();
    assert_eq!(enrolled.record.id, world::CLUSTER);
    assert_eq!(enrolled.record.accepted_projects, [world::PROJECT]);
    assert_eq!(enrolled.record.api_url, world.api_url());
    assert_eq!(world.signed(), ["system:masters"]);
    let objects = world.objects();
    for expected in [
        format!("{RBAC}/clusterroles/portico-viewer"),
        format!("{RBAC}/clusterrolebindings/portico-cluster-reader"),
        format!("{RBAC}/namespaces/shop/rolebindings/portico-developer"),
        format!("{RBAC}/namespaces/shop/rolebindings/portico-viewer"),
    ] {
        assert!(objects.contains(&expected), "{expected} in {objects:?}");
    }
    assert!(
        !objects
            .iter()
            .any(|key| key.contains("kube-system/rolebindings"))
    );

    let again = world.run(&|_| Ok(())).await.unwrap();
    assert_eq!(again.record, enrolled.record);
    assert!(again.bindings.created.is_empty(), "{:?}", again.bindings);
    assert_eq!(world.objects(), objects);
    // with a new key
    assert_eq!(world.signed().len(), 2);
}

#[tokio::test]
async fn an_address_that_is_not_permitted_is_never_connected_to() {
    let world = World::start().await;
    let permit = |address: &str| Err(format!("{address} is not permitted"));
    let refused = world.run(&permit).await.unwrap_err();
    assert!(matches!(refused, EnrolmentError::Address(_)), "{refused}");
    assert!(world.signed().is_empty());
    assert_eq!(world.connections(), 0);
}

#[tokio::test]
async fn what_magnum_forbids_is_reported_and_nothing_is_made() {
    let world = World::start().await;
    let before = world.objects();
    for forbidden in [Call::ReadAuthority, Call::Sign] {
        world.forbid(forbidden);
        let refused = world.run(&|_| Ok(())).await.unwrap_err();
        assert!(refused.is_refusal(), "{forbidden:?}: {refused}");
        assert!(refused.next_step().contains("creator"), "{forbidden:?}");
    }
    assert_eq!(world.objects(), before);
}

#[tokio::test]
async fn nothing_is_signed_for_an_api_server_that_does_not_answer() {
    let world = World::start().await;
    world.move_api_server("https://127.0.0.1:1");
    let refused = world.run(&|_| Ok(())).await.unwrap_err();
    assert!(matches!(refused, EnrolmentError::NoAnswer(_)), "{refused}");
    assert!(world.signed().is_empty());
}

#[test]
fn the_roles_of_all_accepted_projects_are_bound() {
    let of = |accepted: &[&str]| {
        let accepted: Vec<_> = accepted.iter().map(|&one| one.to_owned()).collect();
        bound_projects("p1", &accepted)
    };
    assert_eq!(of(&["p2", "p1"]), ["p1", "p2"]);
    // bare role IDs
    assert!(of(&[]).is_empty() && of(&["p1"]).is_empty());
}

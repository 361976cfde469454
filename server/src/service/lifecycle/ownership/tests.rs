//! Owner and credential, with Magnum inside of the test.
use super::{
    Examined,
    owner::{Known, last_passed, standing},
    send, view,
};
use crate::service::lifecycle::{
    changing_magnum::{CLUSTER, ChangingMagnum, TEMPLATE, cluster},
    fixtures::NOW,
    journal::{RequestContent, RequestOutcome},
    viewer::Viewer,
};
use portico_domain::{
    identity::Named,
    panel::lifecycle::{ChangeOutcome, OwnerStanding, Ownership},
};
use portico_openstack::keystone::{Error, RoleAssignment};
use serde_json::{Value, json};

const HELM: &str = "k8s_capi_helm_v1";
const HEAT: &str = "k8s_fedora_coreos_v1";

/// Magnum with a cluster of ada that accepts a new credential.
async fn magnum(driver: &'static str) -> ChangingMagnum {
    let clusters = vec![cluster("shop", "CREATE_COMPLETE")];
    ChangingMagnum::start(clusters, move |request, _| {
        match (request.method.as_str(), request.path.as_str()) {
            ("GET", path) if path == format!("clustertemplates/{TEMPLATE}") => Some((
                200,
                json!({"uuid": TEMPLATE, "name": "small", "project_id": "acme", "public": true,
                       "driver": driver, "coe": "kubernetes", "labels": {}}),
            )),
            ("PATCH", path) if path == format!("credentials/{CLUSTER}") => Some((202, Value::Null)),
            _ => None,
        }
    })
    .await
}

async fn page(magnum: &ChangingMagnum, who: &Viewer) -> Ownership {
    let examined = Examined::read(&magnum.clients, who, CLUSTER).await.unwrap();
    let known = Known {
        owner: Some(Named {
            id: "ada".to_owned(),
            name: "Ada".to_owned(),
        }),
        standing: OwnerStanding::Left,
        last_passed: None,
    };
    view(&examined, who, known, NOW)
}

async fn sent(magnum: &ChangingMagnum, who: &Viewer, typed: &str) -> ChangeOutcome {
    let sent = send(&magnum.clients, who, CLUSTER, typed).await;
    sent.unwrap().outcome
}

#[tokio::test]
async fn case_44_a_colleague_takes_the_ownership_after_the_name() {
    let magnum = magnum(HELM).await;
    let bob = magnum.viewer("bob", &["member", "reader"]);
    let shown = page(&magnum, &bob).await;
    assert!(!shown.is_own);
    assert!(shown.is_orphaned());
    assert!(shown.rotation.is_offered(), "{shown:?}");
    let passes = "Ownership passes from Ada to you.".to_owned();
    assert!(shown.effects.contains(&passes), "{:?}", shown.effects);
    let refused = sent(&magnum, &bob, "other").await;
    assert!(matches!(refused, ChangeOutcome::Refused { .. }));
    assert!(magnum.calls().is_empty());
    assert_eq!(sent(&magnum, &bob, "shop").await, ChangeOutcome::Accepted);
    assert_eq!(magnum.calls(), [format!("PATCH credentials/{CLUSTER}")]);
}

#[tokio::test]
async fn the_owner_rotates_without_a_change_of_the_owner() {
    let magnum = magnum(HELM).await;
    let ada = magnum.viewer("ada", &["member", "reader"]);
    let shown = page(&magnum, &ada).await;
    assert!(shown.is_own);
    assert!(shown.effects.iter().all(|text| !text.contains("passes")));
}

#[tokio::test]
async fn without_the_driver_or_the_role_nothing_is_sent() {
    for (driver, roles, reason) in [
        (HEAT, &["member", "reader"][..], "driver"),
        (HELM, &["reader"][..], "credential:rotate"),
        // the role admin alone is not enough for Magnum
        (HELM, &["admin"][..], "credential:rotate"),
    ] {
        let magnum = magnum(driver).await;
        let bob = magnum.viewer("bob", roles);
        let shown = page(&magnum, &bob).await;
        let refusal = shown.rotation.refusal.unwrap();
        assert!(refusal.contains(reason), "{refusal}");
        let refused = sent(&magnum, &bob, "shop").await;
        assert!(matches!(refused, ChangeOutcome::Refused { .. }));
        assert!(magnum.calls().is_empty());
    }
}

#[test]
fn that_the_owner_has_left_needs_the_role_assignments_of_the_project() {
    let of = |user: &str| RoleAssignment {
        user_id: user.to_owned(),
        role: Named {
            id: "r1".to_owned(),
            name: "member".to_owned(),
        },
    };
    let listed = || Ok(Some(vec![of("bob"), of("eve")]));
    assert_eq!(standing(listed(), "eve", "bob"), OwnerStanding::Member);
    assert_eq!(standing(listed(), "ada", "bob"), OwnerStanding::Left);
    // the viewer has a role, whatever Keystone lists
    let forbidden = || Err(Error::Forbidden);
    assert_eq!(standing(forbidden(), "bob", "bob"), OwnerStanding::Member);
    let unknown = standing(forbidden(), "ada", "bob");
    assert!(matches!(unknown, OwnerStanding::Unknown(_)), "{unknown:?}");
}

#[test]
fn the_last_accepted_change_of_the_owner_is_shown() {
    let request = |target: &str, outcome| RequestContent {
        action: "rotate_credential".to_owned(),
        target: target.to_owned(),
        user_id: "bob".to_owned(),
        user_name: "bob".to_owned(),
        request_id: None,
        reason: None,
        outcome,
        answer: None,
    };
    let requests = [
        request("", RequestOutcome::Accepted),
        request("eve to bob", RequestOutcome::Refused),
        request("ada to bob", RequestOutcome::Accepted),
    ];
    let found = last_passed(&requests);
    assert_eq!(found.as_deref(), Some("Ownership passed from ada to bob."));
    assert_eq!(last_passed(&requests[..2]), None);
}

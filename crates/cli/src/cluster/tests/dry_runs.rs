use super::Machine;
use super::stand_in::{Answer, CLUSTER, Received, StandIn, TEMPLATE, cluster, error, template};
use serde_json::{Value, json};

/// A cloud whose driver can rotate a credential, and whose cluster is of another user.
async fn cloud() -> StandIn {
    let mut shop = cluster(CLUSTER, "shop", "CREATE_COMPLETE");
    shop["user_id"] = json!("u-ana");
    StandIn::start(vec![shop], reply).await
}

fn reply(request: &Received, _: &mut Vec<Value>) -> Option<Answer> {
    let mut capi = template();
    capi["driver"] = json!("k8s_capi_helm_v1");
    match (request.method.as_str(), request.path.as_str()) {
        ("GET", "clustertemplates/detail") => Some((200, json!({"clustertemplates": [capi]}))),
        ("GET", path) if path == format!("clustertemplates/{TEMPLATE}") => Some((200, capi)),
        ("PATCH", path) if path == format!("credentials/{CLUSTER}") => Some((202, Value::Null)),
        ("GET", path) if path == format!("certificates/{CLUSTER}") => Some((
            403,
            error("Policy doesn't allow certificate:get to be performed."),
        )),
        _ => None,
    }
}

#[tokio::test]
async fn case_44_a_credential_is_rotated_after_the_name_and_the_owner_before_is_named() {
    let (machine, cloud) = (Machine::new(), cloud().await);
    let rotate = ["credential", "rotate", "shop"];
    for (typed, code) in [(None, 2), (Some("other"), 1)] {
        let ran = machine.run(&cloud, &rotate, typed).await;
        assert_eq!(ran.code, code, "{}", ran.err);
        let text = "Ownership passes from the user u-ana to you";
        assert!(ran.err.contains(text), "{}", ran.err);
    }
    let words = ["credential", "rotate", "shop", "--dry-run"];
    let ran = machine.run(&cloud, &words, None).await;
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.err.contains("Nothing was sent."), "{}", ran.err);
    assert!(cloud.calls().is_empty());
    let ran = machine.run(&cloud, &rotate, Some("shop")).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(cloud.calls(), [format!("PATCH credentials/{CLUSTER}")]);
}

#[tokio::test]
async fn case_44_another_user_learns_who_gets_the_certificates() {
    let (machine, cloud) = (Machine::new(), cloud().await);
    for words in [["ca", "show", "shop"], ["ca", "list", "shop"]] {
        let ran = machine.run(&cloud, &words, None).await;
        assert_ran!(format!("ca_{}_of_a_colleague", words[1]), ran);
    }
}

#[tokio::test]
async fn a_dry_run_sends_nothing_and_ends_with_1() {
    let (machine, cloud) = (Machine::new(), StandIn::with(Vec::new()).await);
    for (words, name) in [
        (
            "template create new --from small --flavor m1.large --dry-run",
            "template_create",
        ),
        (
            "template update small --name old --dry-run=server",
            "template_update",
        ),
        ("template publish small --dry-run", "template_publish"),
        ("template hide small --undo --dry-run", "template_hide"),
        ("template delete small --dry-run", "template_delete"),
        ("quota --set 5 --dry-run=client", "quota"),
    ] {
        let all: Vec<_> = words.split(' ').collect();
        let ran = machine.run(&cloud, &all, None).await;
        assert_ran!(name, ran);
    }
    let same = ["quota", "--set", "3", "--dry-run"];
    assert_eq!(machine.run(&cloud, &same, None).await.code, 0);
    assert!(cloud.calls().is_empty());
}

use crate::keystone::Stack;
use portico_openstack::keystone::Scope;
use portico_test_support::webhook::{Reply, V1, V1BETA1};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;
use uuid::Uuid;

const TTL: Duration = Duration::from_secs(10);

fn groups(reply: &Reply) -> BTreeSet<String> {
    let groups = reply.body["status"]["user"]["groups"].as_array().unwrap();
    groups
        .iter()
        .map(|group| group.as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn each_user_gets_exactly_their_own_identity() {
    let stack = Stack::new(TTL);
    for (user, project, role, cluster) in [
        ("ada", "acme", "k8s_admin", 1),
        ("devi", "acme", "k8s_developer", 1),
        ("devi", "globex", "k8s_viewer", 2),
        ("vera", "acme", "k8s_viewer", 1),
        ("otto", "globex", "k8s_admin", 2),
    ] {
        let issued = stack.sign_in_to(user, project).await;
        let token = stack.sealed(&issued, cluster);
        let api_server = stack.webhook.api_server_of(Uuid::from_u128(cluster));
        for version in [V1, V1BETA1] {
            let reply = api_server.review(version, &token).await;
            let status = &reply.body["status"];
            assert_eq!(reply.body["apiVersion"], version, "{user} {}", reply.text);
            assert_eq!(reply.body.get("spec"), None);
            assert_eq!(status["authenticated"], true);
            assert_eq!(
                status["audiences"],
                json!(["https://kubernetes.default.svc"])
            );
            assert_eq!(status["user"]["username"], format!("{user}@Default"));
            let user_id = stack.value(&format!("USER_ID_{}", user.to_uppercase()));
            assert_eq!(status["user"]["uid"], user_id);
            let project_id = stack.value(&format!("PROJECT_ID_{}", project.to_uppercase()));
            let role_id = stack.value(&format!("ROLE_ID_{}", role.to_uppercase()));
            let expected = BTreeSet::from([
                format!("portico:user:{user_id}"),
                format!("portico:project:{project_id}"),
                format!("portico:project:{project_id}:role:{role_id}"),
                role_id,
            ]);
            assert_eq!(groups(&reply), expected, "{user} in {project}");
            let extra = &status["user"]["extra"];
            assert_eq!(extra["portico.dev/project-id"], json!([project_id]));
            assert_eq!(extra["portico.dev/project-name"], json!([project]));
            assert_eq!(extra["portico.dev/role-names"], json!([role]));
            let audit_id = &issued.details.audit_ids[0];
            assert_eq!(extra["portico.dev/credential-id"], json!([audit_id]));
            assert!(!reply.text.contains(&token));
        }
    }
}

#[tokio::test]
async fn a_member_without_a_kubernetes_role_is_a_user_without_rights() {
    let stack = Stack::new(TTL);
    let issued = stack.sign_in_to("nora", "acme").await;
    let api_server = stack.webhook.api_server_of(Uuid::from_u128(1));
    let reply = api_server.review(V1, &stack.sealed(&issued, 1)).await;
    assert_eq!(reply.body["status"]["user"]["username"], "nora@Default");
    let groups = groups(&reply);
    assert!(groups.contains(&stack.value("ROLE_ID_MEMBER")));
    for role in ["K8S_ADMIN", "K8S_DEVELOPER", "K8S_VIEWER"] {
        assert!(!groups.contains(&stack.value(&format!("ROLE_ID_{role}"))));
    }
}

#[tokio::test]
async fn another_clusters_token_is_refused_at_once() {
    let stack = Stack::new(TTL);
    let ada = stack.sign_in_to("ada", "acme").await;
    let otto = stack.sign_in_to("otto", "globex").await;
    let at = |cluster| stack.webhook.api_server_of(Uuid::from_u128(cluster));
    // sealed for the right cluster, used at the other
    assert!(
        at(2)
            .review(V1, &stack.sealed(&ada, 1))
            .await
            .is_refusal(V1)
    );
    // sealed for the other cluster, whose project the token is not of
    assert!(
        at(2)
            .review(V1, &stack.sealed(&ada, 2))
            .await
            .is_refusal(V1)
    );
    assert!(
        at(1)
            .review(V1, &stack.sealed(&otto, 1))
            .await
            .is_refusal(V1)
    );
    let own = at(1).review(V1, &stack.sealed(&ada, 1)).await;
    assert_eq!(own.body["status"]["authenticated"], true);
}

#[tokio::test]
async fn where_several_projects_are_accepted_roles_name_their_project() {
    let stack = Stack::new(TTL);
    let api_server = stack.webhook.api_server_of(Uuid::from_u128(3));
    let admin = stack.value("ROLE_ID_K8S_ADMIN");
    for (user, project) in [("ada", "acme"), ("otto", "globex")] {
        let issued = stack.sign_in_to(user, project).await;
        let reply = api_server.review(V1, &stack.sealed(&issued, 3)).await;
        let project_id = stack.value(&format!("PROJECT_ID_{}", project.to_uppercase()));
        let groups = groups(&reply);
        assert!(!groups.contains(&admin), "{groups:?}");
        assert!(groups.contains(&format!("portico:project:{project_id}:role:{admin}")));
    }
}

#[tokio::test]
async fn audiences_are_answered_as_asked() {
    let stack = Stack::new(TTL);
    let token = stack.sealed(&stack.sign_in_to("ada", "acme").await, 1);
    let api_server = stack.webhook.api_server_of(Uuid::from_u128(1));
    let own = "https://kubernetes.default.svc";
    for (asked, answered) in [
        (&[own][..], json!([own])),
        (&["other", own], json!([own])),
        (&[], Value::Null),
    ] {
        let reply = api_server.review_for(V1, &token, asked).await;
        assert_eq!(reply.body["status"]["authenticated"], true, "{asked:?}");
        assert_eq!(reply.body["status"]["audiences"], answered, "{asked:?}");
    }
    let reply = api_server.review_for(V1, &token, &["other"]).await;
    assert!(reply.is_refusal(V1));
}

#[tokio::test]
async fn a_token_without_a_project_is_refused() {
    let stack = Stack::new(TTL);
    let unscoped = stack.sign_in("ada", Scope::Unscoped).await;
    let api_server = stack.webhook.api_server_of(Uuid::from_u128(1));
    let reply = api_server.review(V1, &stack.sealed(&unscoped, 1)).await;
    assert!(reply.is_refusal(V1), "{}", reply.text);
}

#[tokio::test]
async fn a_keystone_token_by_itself_is_refused() {
    use secrecy::ExposeSecret as _;
    let stack = Stack::new(TTL);
    let issued = stack.sign_in_to("ada", "acme").await;
    let api_server = stack.webhook.api_server_of(Uuid::from_u128(1));
    let reply = api_server.review(V1, issued.token.expose_secret()).await;
    assert!(reply.is_refusal(V1), "{}", reply.text);
}

#[tokio::test]
async fn a_token_sealed_to_a_retired_key_still_works() {
    use secrecy::ExposeSecret as _;
    let stack = Stack::new(TTL);
    let issued = stack.sign_in_to("ada", "acme").await;
    let sealed = portico_assertion::cluster_token::seal(
        stack.webhook.retired.public(),
        Uuid::from_u128(1),
        &issued.token,
        issued.details.expires_at,
        jiff::Timestamp::now(),
    );
    let token = sealed.unwrap().token;
    let api_server = stack.webhook.api_server_of(Uuid::from_u128(1));
    let reply = api_server.review(V1, token.expose_secret()).await;
    assert_eq!(reply.body["status"]["authenticated"], true);
}

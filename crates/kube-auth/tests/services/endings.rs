use crate::keystone::Stack;
use portico_openstack::keystone::{AuthOutcome, Login, Revoked, Scope, UserRef};
use portico_test_support::keystone_proxy::Proxy;
use portico_test_support::webhook::{ApiServer, V1, closed_port};
use portico_testkit::{KeystoneAdmin, TestEnv};
use std::time::{Duration, Instant};
use uuid::Uuid;

const TTL: Duration = Duration::from_secs(2);
/// What a slow machine may add to a stated bound.
const SLACK: Duration = Duration::from_secs(2);

/// How long it takes until reviews of the token say `authenticated`; every answer is a clear one.
async fn until(api_server: &ApiServer, token: &str, authenticated: bool) -> Duration {
    let started = Instant::now();
    loop {
        let reply = api_server.review(V1, token).await;
        if reply.body["status"]["authenticated"] == authenticated {
            return started.elapsed();
        }
        assert_eq!(reply.status, 200, "{}", reply.text);
        assert!(
            started.elapsed() < Duration::from_secs(30),
            "still {}",
            !authenticated
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_revoked_token_is_refused_within_the_time_to_live() {
    let stack = Stack::new(TTL);
    let issued = stack.sign_in_to("vera", "acme").await;
    let token = stack.sealed(&issued, 1);
    let api_server = stack.webhook.api_server_of(Uuid::from_u128(1));
    until(&api_server, &token, true).await;
    assert_eq!(stack.client.revoke(&issued.token).await, Ok(Revoked::Now));
    let took = until(&api_server, &token, false).await;
    assert!(took <= TTL + SLACK, "{took:?}");
    assert!(api_server.review(V1, &token).await.is_refusal(V1));
}

#[tokio::test]
async fn a_role_taken_away_ends_rights_and_given_back_returns_them() {
    let env = TestEnv::load().unwrap();
    let admin = KeystoneAdmin::sign_in(&env).await.unwrap();
    let user = admin.create_user("kube-auth").await.unwrap();
    let project = stack_project(&env);
    let role = env.get("ROLE_ID_K8S_VIEWER").unwrap().to_owned();
    admin.grant(&user.id, &project, &role).await.unwrap();

    let stack = Stack::new(TTL);
    let login = Login::with_password(
        UserRef::Id(user.id.clone()),
        user.password.clone(),
        Scope::Project(project.clone()),
    );
    let outcome = stack.client.authenticate(&login).await.unwrap();
    let AuthOutcome::Token(issued) = outcome else {
        panic!("a password is enough");
    };
    let token = stack.sealed(&issued, 1);
    let api_server = stack.webhook.api_server_of(Uuid::from_u128(1));
    until(&api_server, &token, true).await;

    admin.revoke(&user.id, &project, &role).await.unwrap();
    let took = until(&api_server, &token, false).await;
    assert!(took <= TTL + SLACK, "{took:?}");

    // no bound: Keystone's threads remember a missing role for as long as each of them likes
    admin.grant(&user.id, &project, &role).await.unwrap();
    until(&api_server, &token, true).await;

    admin.delete_user(&user.id).await.unwrap();
    until(&api_server, &token, false).await;
}

fn stack_project(env: &TestEnv) -> String {
    env.get("PROJECT_ID_ACME").unwrap().to_owned()
}

#[tokio::test]
async fn without_keystone_a_known_token_works_until_the_time_to_live_and_then_is_undecided() {
    let keystone_url = TestEnv::load()
        .unwrap()
        .get("KEYSTONE_URL")
        .unwrap()
        .to_owned();
    let proxy = Proxy::start(&keystone_url).await;
    let stack = Stack::behind(&proxy.url(), TTL);
    let token = stack.sealed(&stack.sign_in_to("ada", "acme").await, 1);
    let api_server = stack.webhook.api_server_of(Uuid::from_u128(1));
    until(&api_server, &token, true).await;
    drop(proxy);
    let known = api_server.review(V1, &token).await;
    assert_eq!(known.body["status"]["authenticated"], true);
    // the cache has a clock of its own
    tokio::time::sleep(TTL).await;
    let later = api_server.review(V1, &token).await;
    assert!(later.is_undecided(), "{} {}", later.status, later.text);
}

#[tokio::test]
async fn an_unreachable_keystone_is_not_a_refusal() {
    let stack = Stack::behind(&closed_port(), TTL);
    let token = stack.sealed(&stack.sign_in_to("ada", "acme").await, 1);
    let api_server = stack.webhook.api_server_of(Uuid::from_u128(1));
    let reply = api_server.review(V1, &token).await;
    assert!(reply.is_undecided(), "{} {}", reply.status, reply.text);
}

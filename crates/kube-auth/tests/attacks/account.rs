//! 43 and 44: the account with which Keystone is asked, where it is asked with one.
use crate::reviews::{CLUSTER, seal};
use crate::world::World;
use portico_clock::Clock;
use portico_domain::cluster::{ClusterRecord, TokenKind};
use portico_openstack::KeystoneConfig;
use portico_openstack::keystone::service_account::ServiceAccountConfig;
use portico_openstack::keystone::{Client, ServiceAccount};
use portico_test_support::log::Log;
use portico_test_support::webhook::{V1, Webhook, cluster};
use portico_testkit::{CountingProxy, TestUser};
use serde_json::json;
use tokio::task::JoinSet;

const SIGN_IN: &str = "POST /v3/auth/tokens";

fn config(url: &str, user: &TestUser) -> KeystoneConfig {
    let mut config = KeystoneConfig::new(url.parse().unwrap());
    // Keystone answers one request at a time here
    config.timeout = std::time::Duration::from_secs(20);
    config.service_account = Some(ServiceAccountConfig {
        user: Some(user.name.clone()),
        password_file: Some("password".into()),
        system: true,
        ..ServiceAccountConfig::default()
    });
    config
}

fn account(config: &KeystoneConfig, user: &TestUser, client: Client) -> ServiceAccount {
    let password = user.password.clone();
    let account = ServiceAccount::new(config, client, move |_| Ok(password.clone()));
    account.unwrap().unwrap()
}

struct Asked {
    world: World,
    user: TestUser,
    proxy: CountingProxy,
    account: ServiceAccount,
    webhook: Webhook,
}

impl Asked {
    async fn with_role(role: &str) -> Self {
        let world = World::new().await;
        let user = world.admin.create_user("account").await.unwrap();
        world.admin.grant_system(&user.id, role).await.unwrap();
        let url = world.env.get("KEYSTONE_URL").unwrap();
        let proxy = CountingProxy::start(url, SIGN_IN).await.unwrap();
        let config = config(&proxy.url(), &user);
        let own = account(
            &config,
            &user,
            Client::new(&config, Clock::system()).unwrap(),
        );
        let record = ClusterRecord {
            accepted_tokens: vec![TokenKind::Trust],
            ..cluster(1, &world.project, &[])
        };
        let webhook = Webhook::with_account(vec![record], &config, |_| own.clone());
        Self {
            world,
            user,
            proxy,
            account: own,
            webhook,
        }
    }

    async fn done(self) {
        self.world.admin.delete_user(&self.user.id).await.unwrap();
        self.world.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn attack_43_a_dead_service_token_costs_one_sign_in_and_refuses_no_user() {
    let asked = Asked::with_role("service").await;
    let world = &asked.world;
    let first = world.sign_in(&world.user("tess").await).await;
    let api_server = asked.webhook.api_server_of(CLUSTER);
    let key = asked.webhook.current.public();
    let sealed = seal(key, CLUSTER, &first.token);
    api_server
        .review(V1, &sealed)
        .await
        .assert_authenticated("tess");
    assert_eq!(asked.proxy.counted(), 1);

    let own = asked
        .account
        .call(async |_, token| Ok(token))
        .await
        .unwrap();
    world.admin.revoke_token(&own).await.unwrap();
    let mut reviews = JoinSet::new();
    for _ in 0..30 {
        let another = world.client.rescope(&first.token, &world.project).await;
        let token = seal(key, CLUSTER, &another.unwrap().token);
        let api_server = api_server.clone();
        reviews.spawn(async move { api_server.review(V1, &token).await });
    }
    for reply in reviews.join_all().await {
        reply.assert_authenticated("after the account's token was revoked");
    }
    assert_eq!(asked.proxy.counted(), 2);

    // a dead token of a user's is that user's, and costs no sign-in
    world.client.revoke(&first.token).await.unwrap();
    let dead = world.client.rescope(&first.token, &world.project).await;
    assert!(dead.is_err());
    let reply = api_server
        .review(V1, &seal(key, CLUSTER, &"gAAAAABnothing".into()))
        .await;
    reply.assert_refused("a token of no user");
    assert_eq!(asked.proxy.counted(), 2);
    asked.done().await;
}

#[tokio::test]
async fn attack_43_an_account_that_may_not_ask_refuses_no_user_either() {
    let asked = Asked::with_role("k8s_viewer").await;
    let world = &asked.world;
    let issued = world.sign_in(&world.user("uma").await).await;
    let token = seal(asked.webhook.current.public(), CLUSTER, &issued.token);
    let reply = asked
        .webhook
        .api_server_of(CLUSTER)
        .review(V1, &token)
        .await;
    reply.assert_undecided("the account may not validate");
    world
        .review(&issued)
        .await
        .assert_authenticated("by the token itself");
    asked.done().await;
}

#[tokio::test]
async fn an_account_also_sees_trusts_in_the_name_of_other_users() {
    let asked = Asked::with_role("service").await;
    let world = &asked.world;
    let (trustor, trustee) = (world.user("vic").await, world.user("wes").await);
    let lender = world.sign_in(&trustor).await;
    let trust = json!({ "trust": {
        "trustor_user_id": trustor.id, "trustee_user_id": trustee.id,
        "project_id": world.project, "impersonation": true, "roles": [{ "id": world.role }],
    }});
    let made = world
        .post_as(&lender.token, "/OS-TRUST/trusts", trust)
        .await;
    let scope = json!({ "OS-TRUST:trust": { "id": made["trust"]["id"] } });
    let token = world.admin.token_with_scope(&trustee, scope).await.unwrap();
    let sealed = seal(asked.webhook.current.public(), CLUSTER, &token);
    let reply = asked
        .webhook
        .api_server_of(CLUSTER)
        .review(V1, &sealed)
        .await;
    reply.assert_authenticated("a trust, allowed");
    let extra = &reply.user()["extra"];
    assert_eq!(extra["portico.dev/trust-impersonation"], json!(["true"]));
    assert_eq!(reply.user()["uid"], trustor.id);
    asked.done().await;
}

#[tokio::test]
async fn attack_44_an_account_that_may_everything_is_warned_of() {
    for (role, warned) in [("admin", true), ("service", false)] {
        let asked = Asked::with_role(role).await;
        let log = Log::start();
        let found = asked.account.check().await.unwrap();
        assert_eq!(found.is_admin(), warned, "{role}");
        assert_eq!(log.text().contains("has the role admin"), warned, "{role}");
        drop(log);
        asked.done().await;
    }
}

use crate::keystone::Stack;
use portico_runtime::metrics::Metrics;
use portico_test_support::keystone_proxy::Proxy;
use portico_test_support::webhook::V1;
use portico_testkit::TestEnv;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Barrier;
use uuid::Uuid;

const TTL: Duration = Duration::from_secs(10);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn however_many_ask_at_once_keystone_is_asked_once() {
    let keystone_url = TestEnv::load()
        .unwrap()
        .get("KEYSTONE_URL")
        .unwrap()
        .to_owned();
    let metrics = Metrics::install(jiff::Timestamp::UNIX_EPOCH).unwrap();
    let proxy = Proxy::start(&keystone_url).await;
    let stack = Stack::behind(&proxy.url(), TTL);
    let issued = stack.sign_in_to("ada", "acme").await;
    let api_server = stack.webhook.api_server_of(Uuid::from_u128(1));
    let start = Arc::new(Barrier::new(300));
    let reviews: Vec<_> = (0..300)
        .map(|_| {
            // each sealed anew: single flight is about the token inside
            let token = stack.sealed(&issued, 1);
            let (api_server, start) = (api_server.clone(), Arc::clone(&start));
            tokio::spawn(async move {
                start.wait().await;
                api_server.review(V1, &token).await
            })
        })
        .collect();
    for review in reviews {
        let reply = review.await.unwrap();
        assert_eq!(
            reply.body["status"]["authenticated"], true,
            "{}",
            reply.text
        );
    }
    assert_eq!(proxy.validations(), 1);
    let text = metrics.render();
    let cluster = Uuid::from_u128(1);
    for (cached, count) in [("false", 1), ("true", 299)] {
        let line = format!(
            r#"portico_token_reviews_total{{cluster="{cluster}",result="authenticated",cached="{cached}"}} {count}"#
        );
        assert!(text.contains(&line), "{line}\n{text}");
    }
}

#[tokio::test]
async fn a_dead_token_is_asked_about_once_and_strange_ones_never() {
    let keystone_url = TestEnv::load()
        .unwrap()
        .get("KEYSTONE_URL")
        .unwrap()
        .to_owned();
    let proxy = Proxy::start(&keystone_url).await;
    let stack = Stack::behind(&proxy.url(), TTL);
    let issued = stack.sign_in_to("vera", "acme").await;
    let token = stack.sealed(&issued, 1);
    let foreign = stack.sealed(&issued, 2);
    stack.client.revoke(&issued.token).await.unwrap();
    let api_server = stack.webhook.api_server_of(Uuid::from_u128(1));
    for token in [
        "garbage",
        "eyJhbGciOiJSUzI1NiJ9.e30.c2ln",
        "portico_v1.x.y",
        &foreign,
    ] {
        assert!(api_server.review(V1, token).await.is_refusal(V1));
    }
    assert_eq!(proxy.validations(), 0);
    for _ in 0..20 {
        assert!(api_server.review(V1, &token).await.is_refusal(V1));
    }
    assert_eq!(proxy.validations(), 1);
}

/// The long version is `make soak`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn identities_asked_about_in_turn_are_never_mixed_up() {
    let env = TestEnv::load().unwrap();
    let proxy = Proxy::start(env.get("KEYSTONE_URL").unwrap()).await;
    // so short that both are asked about again and again
    let stack = Stack::behind(&proxy.url(), Duration::from_millis(100));
    let mut users = Vec::new();
    for user in ["ada", "devi"] {
        let issued = stack.sign_in_to(user, "acme").await;
        let id = stack.value(&format!("USER_ID_{}", user.to_uppercase()));
        users.push((id, [stack.sealed(&issued, 1), stack.sealed(&issued, 1)]));
    }
    let users = Arc::new(users);
    let api_server = stack.webhook.api_server_of(Uuid::from_u128(1));
    let callers: Vec<_> = (0..8)
        .map(|caller| {
            let (users, api_server) = (Arc::clone(&users), api_server.clone());
            tokio::spawn(async move {
                for number in 0..250 {
                    let (id, tokens) = &users[(caller + number) % 2];
                    let reply = api_server.review(V1, &tokens[number / 2 % 2]).await;
                    assert_eq!(reply.body["status"]["user"]["uid"], *id);
                    let (other, _) = &users[(caller + number + 1) % 2];
                    assert!(!reply.text.contains(other), "{}", reply.text);
                    // the cache has a clock of its own, and its entries end meanwhile
                    if number % 50 == 0 {
                        tokio::time::sleep(Duration::from_millis(40)).await;
                    }
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.unwrap();
    }
    assert!(proxy.validations() > 2, "the cache never expired");
}

//! 62, 63, 76 and 77. Refreshing: once, ahead of expiry, over replicas, and what ends a session.
use std::time::{Duration, Instant};

use futures::future::join_all;
use http::StatusCode;
use jiff::{SignedDuration, Timestamp};
use portico_store::{Lease, ProviderProfile, RefreshedTokens, Session};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::json;
use uuid::Uuid;

use crate::{
    oidc::{
        Registered, again, expires_in, gateway, open_app, registered, replica, session, signed_in,
    },
    support::{
        browser::Browser,
        stack::{MAIN, Stack},
        time::advance,
    },
};

/// A provider, a gateway that knows it, and a signed-in user.
async fn alice() -> (Registered, Stack, Browser, Session) {
    let corp = registered("corp").await;
    let stack = gateway(json!([corp.entry(&json!({}))])).await;
    let (browser, _) = signed_in(&stack, "corp", "alice").await;
    let session = session(&stack).await;
    (corp, stack, browser, session)
}

/// Parallel requests of one browser, shared out over gateways; every one must succeed.
async fn storm(browser: &Browser, stacks: &[&Stack], requests: usize) -> Duration {
    let started = Instant::now();
    let all = (0..requests).map(|number| {
        let mut browser = again(browser, stacks[number % stacks.len()]);
        async move { browser.open(&format!("{MAIN}/")).await.status }
    });
    for status in join_all(all).await {
        assert_eq!(status, StatusCode::OK);
    }
    started.elapsed()
}

async fn settled(corp: &Registered, refreshes: usize) {
    let deadline = Instant::now() + Duration::from_secs(15);
    while corp.provider.refreshes().await.expect("events") < refreshes {
        assert!(Instant::now() < deadline, "no refresh");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    // a second one would come now: a refresh that waits for another looks for it every 150 ms
    tokio::time::sleep(Duration::from_millis(400)).await;
    let events = corp.provider.events().await.expect("events");
    assert!(
        events.iter().all(|event| event.kind != "grant.error"),
        "{events:?}"
    );
    assert_eq!(corp.provider.refreshes().await.expect("events"), refreshes);
}

#[tokio::test]
async fn attack_76_parallel_requests_at_refresh_time_refresh_once() {
    let (corp, stack, browser, session) = alice().await;
    for (seconds, refreshes) in [(30, 1), (-1, 2)] {
        expires_in(&stack, &session, seconds).await;
        storm(&browser, &[&stack], 200).await;
        settled(&corp, refreshes).await;
    }
    let held = stack.store.provider_tokens().find(session.id).await;
    assert_eq!(held.expect("store").expect("tokens").version, 3);
    storm(&browser, &[&stack], 10).await;
    settled(&corp, 2).await;
}

#[tokio::test]
async fn attack_76_two_replicas_refresh_once_between_them() {
    let (corp, one, browser, session) = alice().await;
    let two = replica(json!([corp.entry(&json!({}))]), &one).await;
    for (seconds, refreshes) in [(30, 1), (-1, 2)] {
        expires_in(&one, &session, seconds).await;
        storm(&browser, &[&one, &two], 200).await;
        settled(&corp, refreshes).await;
    }
}

#[tokio::test]
async fn attack_76_no_request_waits_for_a_slow_provider_while_the_session_is_good() {
    let (corp, one, browser, session) = alice().await;
    let two = replica(json!([corp.entry(&json!({}))]), &one).await;
    corp.provider
        .control(json!({ "tokenDelay": 6000 }))
        .await
        .expect("control");
    expires_in(&one, &session, 40).await;
    // the refresh begins with the first of them and takes six seconds
    let mut first = again(&browser, &one);
    let started = Instant::now();
    assert_eq!(first.open(&format!("{MAIN}/")).await.status, StatusCode::OK);
    assert!(started.elapsed() < Duration::from_secs(4), "it waited");
    storm(&browser, &[&one, &two], 200).await;
    settled(&corp, 1).await;

    // with the tokens gone, every request waits for the one refresh, and no user is signed out
    expires_in(&one, &session, -1).await;
    storm(&browser, &[&one, &two], 200).await;
    settled(&corp, 2).await;
}

#[tokio::test]
async fn attack_76_a_holder_that_dies_before_it_asks_loses_no_user() {
    let (corp, stack, browser, session) = alice().await;
    let lease = stack
        .store
        .provider_tokens()
        .lease(
            session.id,
            Uuid::new_v4(),
            SignedDuration::from_secs(4),
            Timestamp::now(),
        )
        .await;
    assert!(matches!(lease, Ok(Lease::Yours(_))));
    expires_in(&stack, &session, 30).await;
    storm(&browser, &[&stack], 20).await;
    assert_eq!(corp.provider.refreshes().await.expect("events"), 0);
    settled(&corp, 1).await;
    storm(&browser, &[&stack], 20).await;
}

#[tokio::test]
async fn attack_76_a_holder_that_dies_with_the_new_token_loses_no_user_where_reuse_has_a_grace() {
    let corp = registered("corp").await;
    corp.provider
        .control(json!({ "reuseGrace": 60_000 }))
        .await
        .expect("control");
    let stack = gateway(json!([corp.entry(&json!({}))])).await;
    let (browser, _) = signed_in(&stack, "corp", "alice").await;
    let session = session(&stack).await;
    let lease = stack
        .store
        .provider_tokens()
        .lease(
            session.id,
            Uuid::new_v4(),
            SignedDuration::from_secs(3),
            Timestamp::now(),
        )
        .await;
    let Ok(Lease::Yours(held)) = lease else {
        panic!("free")
    };
    let token = held.refresh_token.expect("refresh token");
    let given = corp.provider.use_refresh_token(token.expose_secret()).await;
    assert!(given.expect("answer")["refresh_token"].is_string());
    expires_in(&stack, &session, -1).await;
    storm(&browser, &[&stack], 20).await;
    settled(&corp, 2).await;
}

#[tokio::test]
async fn attack_77_a_refused_token_that_was_just_replaced_signs_no_user_out() {
    let (corp, stack, browser, session) = alice().await;
    let control = json!({ "tokenDelay": 1500, "tokenError": "invalid_grant" });
    corp.provider.control(control).await.expect("control");
    expires_in(&stack, &session, -1).await;
    let replace = async {
        // the provider has the request by then, and has not answered
        tokio::time::sleep(Duration::from_millis(700)).await;
        let new = RefreshedTokens {
            refresh_token: Some(SecretString::from("of another replica")),
            access_token: SecretString::from("access"),
            id_token: None,
            profile: None,
            expires_at: Timestamp::now() + SignedDuration::from_secs(300),
        };
        let replaced = stack
            .store
            .provider_tokens()
            .replace(session.id, 1, &new, Timestamp::now())
            .await;
        assert!(replaced.expect("store"));
    };
    let one = [&stack];
    tokio::join!(storm(&browser, &one, 50), replace);
    let events = corp.provider.events().await.expect("events");
    assert!(events.iter().any(|event| event.kind == "token.error"));

    // its control case: no replica has replaced it
    expires_in(&stack, &session, -1).await;
    let mut browser = again(&browser, &stack);
    let page = browser.open(&format!("{MAIN}/")).await;
    assert!(
        page.location()
            .as_str()
            .contains("reason=refused_by_provider"),
        "{}",
        page.location()
    );
}

#[tokio::test]
async fn attack_77_a_wrong_secret_of_ours_signs_no_user_out() {
    let (corp, stack, browser, session) = alice().await;
    let wrong = json!({ "tokenError": "invalid_client" });
    corp.provider.control(wrong).await.expect("control");
    expires_in(&stack, &session, -1).await;
    storm(&browser, &[&stack], 20).await;
    // for how long no provider vouches is bounded, and then it is an outage
    expires_in(&stack, &session, -400).await;
    let mut late = again(&browser, &stack);
    let page = late.open(&format!("{MAIN}/")).await;
    assert_eq!(page.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(
        page.body.contains("corp login does not answer"),
        "{}",
        page.body
    );
    corp.provider
        .control(json!({ "tokenError": null }))
        .await
        .expect("control");
    // it is not asked again for so long after a failure
    advance(Duration::from_secs(5)).await;
    storm(&browser, &[&stack], 20).await;
    settled(&corp, 1).await;
}

#[tokio::test]
async fn attack_62_a_refresh_about_another_subject_ends_the_session() {
    let (corp, stack, browser, session) = alice().await;
    corp.provider
        .control(json!({ "refreshAs": "bob" }))
        .await
        .expect("control");
    expires_in(&stack, &session, -1).await;
    let mut browser = again(&browser, &stack);
    let page = browser.open(&format!("{MAIN}/")).await;
    assert!(
        page.location()
            .as_str()
            .contains("reason=refused_by_provider")
    );
    let ended = stack.audited("session.end").await;
    let reason = ended[0].detail.to_string() + &ended[0].target;
    assert_eq!(ended.len(), 1, "{reason}");
}

#[tokio::test]
async fn attack_63_a_group_that_is_withdrawn_is_gone_after_the_refresh() {
    let corp = registered("corp").await;
    let stack = gateway(json!([corp.entry(&json!({}))])).await;
    let (mut browser, _) = signed_in(&stack, "corp", "alice").await;
    assert_eq!(open_app(&mut browser).await.status, StatusCode::OK);
    let session = session(&stack).await;
    corp.provider
        .control(json!({ "groups": { "alice": ["k8s-admins"] } }))
        .await
        .expect("control");
    expires_in(&stack, &session, -1).await;
    let page = open_app(&mut browser).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN, "{}", page.body);
    let profile = crate::oidc::session(&stack)
        .await
        .provider
        .expect("provider")
        .profile;
    assert_eq!(
        profile,
        ProviderProfile {
            groups: vec!["k8s-admins".to_owned()],
            ..profile.clone()
        }
    );
}

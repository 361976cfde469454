//! The end of a session: here, and at the provider.
use std::time::Duration;

use http::{Method, StatusCode};
use http_body_util::BodyExt as _;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::{
    oidc::{gateway, open_app, registered, session, signed_in},
    support::stack::{APP, MAIN},
};

#[tokio::test]
async fn signing_out_ends_the_session_here_and_at_the_provider() {
    let corp = registered("corp").await;
    let stack = gateway(json!([corp.entry(&json!({}))])).await;
    let (mut browser, mut person) = signed_in(&stack, "corp", "alice").await;
    let session = session(&stack).await;
    let page = browser.open(&format!("{MAIN}/oauth2/sign_out")).await;
    let csrf = page.field("csrf_token");
    let page = browser
        .submit(
            MAIN,
            &format!("{MAIN}/oauth2/sign_out"),
            &[("csrf_token", &csrf)],
        )
        .await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.body.contains("You are signed out"));
    let refresh = page.headers["refresh"].to_str().expect("text");
    let onward = refresh.strip_prefix("0; url=").expect("address");
    assert!(onward.starts_with(&corp.provider.issuer), "{onward}");
    assert!(onward.contains("id_token_hint="));
    // the refresh token is worthless at once, and forgotten
    let events = corp.provider.events().await.expect("events");
    assert!(
        events.iter().any(|event| event.kind == "grant.revoked"),
        "{events:?}"
    );
    let held = stack.store.provider_tokens().find(session.id).await;
    assert!(held.expect("store").is_none());
    let back = person.sign_out(onward).await.expect("the way back");
    assert_eq!(back, format!("{MAIN}/oauth2/signed_out"));
    let page = browser.open(&back).await;
    assert!(page.body.contains("so has the one that you signed in with"));
    // signing in again asks for the password again
    let page = browser
        .open(&format!("{MAIN}/oauth2/start?provider=corp"))
        .await;
    let other = person.sign_in(page.location().as_str(), "bob").await;
    let page = browser.open(&other.expect("answer")).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER);
    let who = browser
        .call(Method::GET, &format!("{MAIN}/oauth2/userinfo"), "")
        .await;
    assert_eq!(who.json()["name"], "bob");
}

#[tokio::test]
async fn signing_out_at_the_provider_ends_the_session_and_its_streams_here() {
    let corp = registered("corp").await;
    let stack = gateway(json!([corp.entry(&json!({}))])).await;
    let stop = CancellationToken::new();
    let tasks = tokio::spawn({
        let (gateway, stop) = (stack.gateway.clone(), stop.clone());
        async move { gateway.run(stop).await }
    });
    corp.provider
        .control(json!({ "backchannel": format!("http://{}", stack.address) }))
        .await
        .expect("control");
    let (mut browser, mut person) = signed_in(&stack, "corp", "alice").await;
    assert_eq!(open_app(&mut browser).await.status, StatusCode::OK);
    let (mut bob, _) = signed_in(&stack, "corp", "bob").await;
    let headers = [("accept", "text/event-stream"), ("origin", APP)];
    let stream = browser
        .start(
            Method::GET,
            &format!("{APP}/stream"),
            &headers,
            String::new(),
        )
        .await;
    assert_eq!(stream.status(), StatusCode::OK);
    let mut body = stream.into_body();
    body.frame().await.expect("frame").expect("first part");

    let url = format!(
        "{}/session/end?client_id=portico&post_logout_redirect_uri={MAIN}/oauth2/signed_out",
        corp.provider.issuer
    );
    person.sign_out(&url).await.expect("signed out");
    let closed = tokio::time::timeout(Duration::from_secs(3), async {
        while let Some(Ok(_)) = body.frame().await {}
    });
    closed.await.expect("the stream was left open");
    let page = browser.open(&format!("{MAIN}/")).await;
    assert!(
        page.location()
            .as_str()
            .contains("reason=ended_by_provider"),
        "{}",
        page.location()
    );
    // another user's session continues
    assert_eq!(bob.open(&format!("{MAIN}/")).await.status, StatusCode::OK);
    stop.cancel();
    tasks.await.expect("tasks");
}

#[tokio::test]
async fn what_is_not_a_logout_token_ends_nothing() {
    let corp = registered("corp").await;
    let stack = gateway(json!([corp.entry(&json!({}))])).await;
    let (mut browser, _) = signed_in(&stack, "corp", "alice").await;
    let session = session(&stack).await;
    let held = stack.store.provider_tokens().find(session.id).await;
    let id_token = held
        .expect("store")
        .expect("tokens")
        .id_token
        .expect("ID token");
    let id_token = secrecy::ExposeSecret::expose_secret(&id_token).to_owned();
    for token in ["", "x", "a.b.c", &id_token] {
        let body = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("logout_token", token)
            .finish();
        let headers = [("content-type", "application/x-www-form-urlencoded")];
        let url = format!("{MAIN}/oauth2/backchannel_logout");
        let page = browser.send(Method::POST, &url, &headers, body).await;
        assert_eq!(page.status, StatusCode::BAD_REQUEST, "{}", page.body);
        assert_eq!(page.headers["cache-control"], "no-store");
    }
    assert_eq!(
        browser.open(&format!("{MAIN}/")).await.status,
        StatusCode::OK
    );
}

//! 74 and 75: sessions that are over.
use std::time::{Duration, Instant};

use http::{Method, Response, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use jiff::{SignedDuration, Timestamp};
use portico_store::{EndReason, NewSession};
use secrecy::{ExposeSecret as _, SecretString};
use tokio_util::sync::CancellationToken;

use crate::support::{
    browser::Browser,
    stack::{MAIN, MAIN_HOST, Stack, Wanted},
};

/// A session with these ends, in seconds from now: idle, absolute and Keystone's.
async fn ending(stack: &Stack, ends: [i64; 3]) -> SecretString {
    let (_, session) = stack.session(&[]).await;
    let now = Timestamp::now();
    let [idle, absolute, keystone] = ends.map(|in_s| now + SignedDuration::from_secs(in_s));
    let new = NewSession {
        idle_expires_at: idle,
        absolute_expires_at: absolute,
        keystone_expires_at: keystone,
        ..stack.new_session(&session)
    };
    let made = stack.store.sessions().create(&new, now).await;
    made.expect("session").0
}

#[tokio::test]
async fn attack_74_each_of_a_sessions_ends_is_an_end() {
    let stack = Stack::start(Wanted::default()).await;
    for (ends, over) in [
        ([-1, 600, 600], true),
        ([600, -1, 600], true),
        ([600, 600, -1], true),
        ([0, 0, 0], true),
        ([600, 600, 600], false),
    ] {
        let cookie = ending(&stack, ends).await;
        let mut browser = Browser::new(stack.address);
        browser.set_cookie(MAIN_HOST, "portico", cookie.expose_secret());
        let userinfo = format!("{MAIN}/oauth2/userinfo");
        let answer = browser.call(Method::GET, &userinfo, "").await;
        let expected = if over {
            StatusCode::UNAUTHORIZED
        } else {
            StatusCode::OK
        };
        assert_eq!(answer.status, expected, "{ends:?}");
        let page = browser.open(&format!("{MAIN}/projects/p1")).await;
        assert_eq!(page.status == StatusCode::SEE_OTHER, over, "{ends:?}");
        if over {
            assert!(page.location().as_str().ends_with("&reason=expired"));
        }
    }
}

/// A stream that a session with these ends has opened, after its first part.
async fn stream_of(stack: &Stack, ends: [i64; 3]) -> (Browser, Response<Incoming>) {
    let cookie = ending(stack, ends).await;
    let mut browser = Browser::new(stack.address);
    browser.set_cookie(MAIN_HOST, "portico", cookie.expose_secret());
    let url = format!("{MAIN}/stream");
    let mut open = browser.start(Method::GET, &url, &[], String::new()).await;
    assert_eq!(open.status(), StatusCode::OK, "{ends:?}");
    let first = open.body_mut().frame().await.expect("a part");
    assert_eq!(first.expect("data").into_data().expect("bytes"), "one");
    (browser, open)
}

#[tokio::test]
async fn attack_74_a_session_ends_while_its_stream_is_open() {
    let stack = Stack::start(Wanted::default()).await;
    let (gateway, stop) = (stack.gateway.clone(), CancellationToken::new());
    let _stopping = stop.clone().drop_guard();
    tokio::spawn(async move { gateway.run(stop).await });
    let (_, mut lasting) = stream_of(&stack, [600, 600, 600]).await;
    for ends in [[3, 600, 600], [600, 3, 600], [600, 600, 3]] {
        let began = Instant::now();
        let (mut browser, mut open) = stream_of(&stack, ends).await;
        let next = tokio::time::timeout(Duration::from_secs(10), open.body_mut().frame()).await;
        let next = next.expect("the stream continues after the session's end");
        assert!(
            next.is_none_or(|part| part.is_err()),
            "{ends:?}: more of it"
        );
        // the session's times are of whole seconds
        assert!(
            began.elapsed() > Duration::from_secs(1),
            "{ends:?}: at once"
        );
        let userinfo = format!("{MAIN}/oauth2/userinfo");
        let answer = browser.call(Method::GET, &userinfo, "").await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{ends:?}");
    }
    stack.panel.go_on.notify_waiters();
    let next = tokio::time::timeout(Duration::from_secs(5), lasting.body_mut().frame()).await;
    let next = next.expect("in time").expect("a part").expect("data");
    assert_eq!(next.into_data().expect("bytes"), "two", "the control case");
}

#[tokio::test]
async fn attack_75_a_revoked_session_opens_nothing_and_leaves_nothing_open() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut thief, stolen) = stack.signed_in(&["k8s_admin"]).await;
    let (mut owner, own) = stack.signed_in(&["k8s_admin"]).await;
    let url = format!("{MAIN}/stream");
    let mut open = thief.start(Method::GET, &url, &[], String::new()).await;
    let first = open.body_mut().frame().await.expect("a part");
    assert_eq!(first.expect("data").into_data().expect("bytes"), "one");

    let id = stolen.id.to_string();
    let fields = [
        ("csrf_token", own.csrf.expose_secret()),
        ("session", id.as_str()),
    ];
    let page = owner
        .submit(MAIN, &format!("{MAIN}/oauth2/sessions/end"), &fields)
        .await;
    assert_eq!(page.status, StatusCode::OK);
    let next = tokio::time::timeout(Duration::from_secs(1), open.body_mut().frame()).await;
    let next = next.expect("still open after a second");
    assert!(
        next.is_none_or(|part| part.is_err()),
        "the stream continues"
    );
    for path in ["/projects/p1", "/oauth2/userinfo", "/oauth2/auth"] {
        let answer = thief.call(Method::GET, &format!("{MAIN}{path}"), "").await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{path}");
    }
    let row = stack.store.sessions().get(stolen.id).await;
    let reason = row.expect("store").expect("row").end_reason;
    assert_eq!(reason, Some(EndReason::Revoked));
    let due = stack
        .store
        .keystone_tokens()
        .pending_revocations(stolen.id)
        .await
        .expect("pending");
    assert_eq!(due.len(), 2, "its tokens are due at Keystone");
    let answer = owner
        .call(Method::GET, &format!("{MAIN}/projects/p1"), "")
        .await;
    assert_eq!(answer.status, StatusCode::OK, "the control case");
}

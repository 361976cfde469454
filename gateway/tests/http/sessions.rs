//! The list of sessions: one's own for every user, any user's for administrators of the cloud.
use std::time::Duration;

use http::{Method, StatusCode};
use http_body_util::BodyExt as _;
use jiff::{SignedDuration, Timestamp};
use portico_store::{ChildKind, EndReason, NewChild, Outcome, Session};
use portico_testkit::snapshot_settings;
use secrecy::ExposeSecret as _;
use serde_json::json;

use crate::support::{
    browser::{Browser, Page},
    stack::{MAIN, MAIN_HOST, Stack, Wanted},
};

fn list() -> String {
    format!("{MAIN}/oauth2/sessions")
}

async fn end(browser: &mut Browser, by: &Session, fields: &[(&str, &str)]) -> Page {
    let mut all = vec![("csrf_token", by.csrf.expose_secret())];
    all.extend_from_slice(fields);
    browser
        .submit(MAIN, &format!("{MAIN}/oauth2/sessions/end"), &all)
        .await
}

async fn with_admins() -> Stack {
    Stack::start(Wanted {
        gateway: json!({
            "session": { "admins": [{ "role": "cloud_admin", "project": "p1" }] }
        }),
        ..Wanted::default()
    })
    .await
}

async fn is_live(stack: &Stack, session: &Session) -> bool {
    let now = Timestamp::now();
    let found = stack.store.sessions().get(session.id).await;
    found
        .expect("store")
        .is_some_and(|found| found.is_live(now))
}

#[tokio::test]
async fn the_list_shows_where_a_user_is_signed_in_and_marks_this_session() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, own) = stack.signed_in(&["k8s_admin"]).await;
    // used last before the command line, so that the order of the list is known
    let earlier = Timestamp::now() - SignedDuration::from_mins(5);
    let sessions = stack.store.sessions();
    let other = sessions.create(&stack.new_session(&own), earlier).await;
    let (_, other) = other.expect("session");
    let (_, strangers) = stack.session_of("u2", "vera", &[]).await;
    for kind in [
        ChildKind::App("prometheus".to_owned()),
        ChildKind::CommandLine("portico on laptop-7".to_owned()),
    ] {
        let child = NewChild {
            parent: own.id,
            kind,
            user_agent: "agent".to_owned(),
            address: "192.0.2.8".to_owned(),
        };
        let now = Timestamp::now();
        let made = stack.store.sessions().create_child(&child, now).await;
        assert!(made.expect("child").is_some());
    }
    let page = browser.open(&list()).await;
    assert_eq!(page.status, StatusCode::OK);
    assert_eq!(page.headers["cache-control"], "no-store");
    snapshot_settings().bind(|| insta::assert_snapshot!("list", page.snapshot()));
    assert!(page.body.contains(&other.id.to_string()), "{}", page.body);
    assert!(!page.body.contains(&strangers.id.to_string()));
    let cookie = browser.cookie(MAIN_HOST, "portico").expect("cookie");
    assert!(!page.body.contains(cookie), "the cookie is on the page");
}

#[tokio::test]
async fn the_list_is_for_signed_in_users() {
    let stack = Stack::start(Wanted::default()).await;
    let mut stranger = Browser::new(stack.address);
    let page = stranger.open(&list()).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER);
    assert!(
        page.location()
            .query()
            .expect("query")
            .contains("rd=%2Foauth2%2Fsessions")
    );
    let answer = stranger.call(Method::GET, &list(), "").await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn ending_another_session_ends_its_tokens_and_its_streams() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, own) = stack.signed_in(&["k8s_admin"]).await;
    let (mut other, stolen) = stack.signed_in(&["k8s_admin"]).await;
    let url = format!("{MAIN}/stream");
    let mut open = other.start(Method::GET, &url, &[], String::new()).await;
    let first = open.body_mut().frame().await.expect("a part");
    assert_eq!(first.expect("data").into_data().expect("bytes"), "one");

    let id = stolen.id.to_string();
    let page = end(&mut browser, &own, &[("session", &id)]).await;
    snapshot_settings().bind(|| insta::assert_snapshot!("session_ended", page.snapshot()));
    let next = tokio::time::timeout(Duration::from_secs(5), open.body_mut().frame()).await;
    let next = next.expect("the stream is still open");
    assert!(
        next.is_none_or(|part| part.is_err()),
        "the stream continues"
    );

    let page = other.open(&format!("{MAIN}/projects/p1")).await;
    assert!(page.location().as_str().ends_with("&reason=revoked"));
    let page = other.open(page.location().as_str()).await;
    snapshot_settings().bind(|| {
        insta::assert_snapshot!("sign_in_after_the_end_elsewhere", page.snapshot());
    });
    assert!(is_live(&stack, &own).await);
    let tokens = stack.store.keystone_tokens();
    let pending = tokens.pending_revocations(stolen.id).await;
    assert_eq!(pending.expect("pending").len(), 2);

    let events = stack.audited("session.revoke").await;
    let [event] = events.as_slice() else {
        panic!("{events:?}")
    };
    assert_eq!(event.session, Some(own.id));
    assert_eq!(event.target, id);
    assert_eq!(event.detail["subject"]["name"], "ada");
}

#[tokio::test]
async fn revocations_that_keystone_did_not_hear_of_are_shown_with_their_end() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, own) = stack.signed_in(&[]).await;
    let page = browser.open(&list()).await;
    assert!(!page.body.contains("could not be revoked yet"));
    let (_, other) = stack.session(&[]).await;
    let id = other.id.to_string();
    let page = end(&mut browser, &own, &[("session", &id)]).await;
    assert!(
        page.body
            .contains("2 Keystone tokens of ended sessions could not be revoked yet")
    );
    let page = browser.open(&list()).await;
    snapshot_settings().bind(|| {
        insta::assert_snapshot!("list_with_pending_revocations", page.snapshot());
    });
}

#[tokio::test]
async fn ending_needs_the_sessions_own_form() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, own) = stack.signed_in(&[]).await;
    let (_, other) = stack.session(&[]).await;
    let (url, id) = (format!("{MAIN}/oauth2/sessions/end"), other.id.to_string());
    let right = own.csrf.expose_secret().to_owned();
    for (origin, token) in [
        (MAIN, "x"),
        (MAIN, other.csrf.expose_secret()),
        ("https://evil.example", &right),
    ] {
        let fields = [("csrf_token", token), ("session", &id)];
        let page = browser.submit(origin, &url, &fields).await;
        assert_eq!(page.status, StatusCode::FORBIDDEN, "{origin}");
    }
    let page = browser.open(&format!("{url}?session={id}")).await;
    assert_eq!(page.status, StatusCode::OK, "the page that asks");
    assert!(is_live(&stack, &other).await);
    end(&mut browser, &own, &[("session", &id)]).await;
    assert!(!is_live(&stack, &other).await);
}

#[tokio::test]
async fn no_user_ends_another_users_session() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, own) = stack.signed_in(&[]).await;
    let (_, strangers) = stack.session_of("u2", "vera", &[]).await;
    let id = strangers.id.to_string();
    let page = end(&mut browser, &own, &[("session", &id)]).await;
    snapshot_settings().bind(|| insta::assert_snapshot!("no_session_ended", page.snapshot()));
    let page = end(&mut browser, &own, &[("session", &id), ("user", "u2")]).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN);
    let page = end(&mut browser, &own, &[("which", "all"), ("user", "u2")]).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN);
    assert!(is_live(&stack, &strangers).await);
}

#[tokio::test]
async fn ending_all_others_asks_and_spares_this_session() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, own) = stack.signed_in(&[]).await;
    let (_, second) = stack.session(&[]).await;
    let (_, third) = stack.session(&[]).await;
    let (_, strangers) = stack.session_of("u2", "vera", &[]).await;
    let url = format!("{MAIN}/oauth2/sessions/end?which=others");
    let page = browser.open(&url).await;
    snapshot_settings().bind(|| insta::assert_snapshot!("confirmation", page.snapshot()));
    assert_eq!(page.field("which"), "others");
    let page = end(&mut browser, &own, &[("which", "others")]).await;
    snapshot_settings().bind(|| insta::assert_snapshot!("others_ended", page.snapshot()));
    assert!(!is_live(&stack, &second).await && !is_live(&stack, &third).await);
    assert!(is_live(&stack, &own).await && is_live(&stack, &strangers).await);
    assert_eq!(stack.audited("session.revoke").await.len(), 2);
}

#[tokio::test]
async fn the_current_session_ends_by_sign_out() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, own) = stack.signed_in(&[]).await;
    let page = browser.open(&list()).await;
    assert!(page.body.contains("href=\"/oauth2/sign_out\""));
    let id = own.id.to_string();
    let page = end(&mut browser, &own, &[("session", &id)]).await;
    assert_eq!(page.location().path(), "/oauth2/sign_out");
    assert!(is_live(&stack, &own).await);
}

#[tokio::test]
async fn an_administrator_ends_the_sessions_of_a_user_and_the_user_sees_it() {
    let stack = with_admins().await;
    let (mut browser, admin) = stack.signed_in_as("u9", "root", &["cloud_admin"]).await;
    let (mut ada, session) = stack.signed_in(&[]).await;
    assert_eq!(ada.open(MAIN).await.status, StatusCode::OK);
    let page = browser.open(&list()).await;
    snapshot_settings().bind(|| {
        insta::assert_snapshot!("list_of_an_administrator", page.snapshot());
    });
    let page = browser.open(&format!("{}?user=ADA", list())).await;
    snapshot_settings().bind(|| insta::assert_snapshot!("list_of_a_user", page.snapshot()));
    assert!(page.body.contains(&session.id.to_string()));
    let events = stack.audited("session.list").await;
    assert_eq!(events[0].session, Some(admin.id));
    assert_eq!(events[0].detail["subject"]["id"], "u1");

    let page = browser
        .open(&format!("{MAIN}/oauth2/sessions/end?user=u1"))
        .await;
    snapshot_settings().bind(|| {
        insta::assert_snapshot!("confirmation_by_an_administrator", page.snapshot());
    });
    let page = end(&mut browser, &admin, &[("which", "all"), ("user", "u1")]).await;
    snapshot_settings().bind(|| {
        insta::assert_snapshot!("ended_by_an_administrator", page.snapshot());
    });
    let page = ada.open(&format!("{MAIN}/projects/p1")).await;
    assert!(
        page.location()
            .as_str()
            .ends_with("&reason=ended_by_administrator")
    );
    let page = ada.open(page.location().as_str()).await;
    snapshot_settings().bind(|| {
        insta::assert_snapshot!("sign_in_after_the_end_by_an_administrator", page.snapshot());
    });
    assert!(is_live(&stack, &admin).await);

    let events = stack.audited("session.revoke").await;
    assert_eq!(events[0].user_name.as_deref(), Some("root"));
    assert_eq!(events[0].detail["subject"]["name"], "ada");
    let row = stack.store.sessions().get(session.id).await;
    let reason = row.expect("store").expect("row").end_reason;
    assert_eq!(reason, Some(EndReason::EndedByAdministrator));
}

#[tokio::test]
async fn an_end_at_another_replica_is_reported_too() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut ada, session) = stack.signed_in(&[]).await;
    // this process has never seen the session live
    let reason = EndReason::EndedByAdministrator;
    let now = Timestamp::now();
    let ended = stack.store.sessions().end(session.id, reason, now).await;
    assert_eq!(ended.expect("ended").len(), 1);
    let page = ada.open(MAIN).await;
    assert!(
        page.location()
            .as_str()
            .ends_with("&reason=ended_by_administrator")
    );
}

#[tokio::test]
async fn a_user_who_is_not_an_administrator_sees_who_is() {
    let stack = with_admins().await;
    let (mut browser, own) = stack.signed_in(&["k8s_admin"]).await;
    stack.session_of("u2", "vera", &[]).await;
    let page = browser.open(&format!("{}?user=vera", list())).await;
    snapshot_settings().bind(|| insta::assert_snapshot!("refused_search", page.snapshot()));
    let events = stack.audited("session.list").await;
    assert_eq!(events[0].outcome, Outcome::Denied);
    assert_eq!(events[0].session, Some(own.id));

    let no_admins = Stack::start(Wanted::default()).await;
    let (mut browser, _) = no_admins.signed_in(&["cloud_admin"]).await;
    let page = browser.open(&format!("{}?user=vera", list())).await;
    snapshot_settings().bind(|| {
        insta::assert_snapshot!("search_without_administrators", page.snapshot());
    });
}

#[tokio::test]
async fn an_administrator_chooses_between_users_of_one_name() {
    let stack = with_admins().await;
    let (mut browser, _) = stack.signed_in_as("u9", "root", &["cloud_admin"]).await;
    stack.session_of("u2", "Vera", &[]).await;
    stack.session_of("u3", "vera", &[]).await;
    let page = browser.open(&format!("{}?user=vera", list())).await;
    assert!(page.body.contains("Choose one:"), "{}", page.body);
    assert!(page.body.contains("?user=u2") && page.body.contains("?user=u3"));
    let page = browser.open(&format!("{}?user=u3", list())).await;
    assert!(page.body.contains("Sessions of vera"));
    let page = browser.open(&format!("{}?user=%3Cscript%3E", list())).await;
    snapshot_settings().bind(|| insta::assert_snapshot!("no_user_found", page.snapshot()));
    assert!(!page.body.contains("<script>"));
}

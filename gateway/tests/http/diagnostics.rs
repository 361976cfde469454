//! When it goes wrong, it says why: cookies that are not kept, wrong hosts, loops.
use axum::{Json, Router, routing::post};
use http::{Method, StatusCode};
use jiff::{SignedDuration, Timestamp, fmt::rfc2822::DateTimePrinter};
use portico_testkit::snapshot_settings;
use serde_json::json;
use tokio::net::TcpListener;

use crate::support::{
    browser::Browser,
    stack::{APP, APP_HOST, MAIN, MAIN_HOST, Stack, Wanted},
};

/// An address as sign-in leads to it, so long ago.
fn arriving(stack: &Stack, path: &str, ago: SignedDuration) -> String {
    let at = (Timestamp::now() - ago).as_second().to_string();
    let mark = stack.store.browser_marks().issue("post_login", &at);
    format!("{MAIN}{path}?portico_signed_in={mark}")
}

fn redirects(stack: &Stack, count: u32) -> String {
    let now = Timestamp::now().as_second();
    let text = format!("{count}-{now}");
    stack.store.browser_marks().issue("redirects", &text)
}

#[tokio::test]
async fn a_browser_that_comes_back_without_the_cookie_learns_why() {
    let stack = Stack::start(Wanted::default()).await;
    let mut browser = Browser::new(stack.address);
    let now = arriving(&stack, "/projects/p1", SignedDuration::ZERO);
    let page = browser.open(&now).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN);
    snapshot_settings().bind(|| insta::assert_snapshot!("no_cookie", page.snapshot()));
    let answer = browser.call(Method::GET, &now, "").await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);

    for usual in [
        arriving(&stack, "/projects/p1", SignedDuration::from_mins(2)),
        format!("{MAIN}/projects/p1?portico_signed_in=1.forged"),
        format!("{MAIN}/projects/p1"),
    ] {
        let page = browser.open(&usual).await;
        assert_eq!(page.status, StatusCode::SEE_OTHER, "{usual}");
        let place = page.location();
        assert_eq!(place.path(), "/oauth2/sign_in");
        assert!(!place.as_str().contains("portico_signed_in"), "{place}");
    }
}

#[tokio::test]
async fn with_the_cookie_the_address_is_cleaned() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, _) = stack.signed_in(&[]).await;
    let url = arriving(&stack, "/projects/p1", SignedDuration::ZERO);
    let page = browser.open(&format!("{url}&q=1")).await;
    assert_eq!(page.location().as_str(), format!("{MAIN}/projects/p1?q=1"));
    let page = browser.open(page.location().as_str()).await;
    assert_eq!(page.json()["target"], "/projects/p1?q=1");
}

#[tokio::test]
async fn a_form_that_comes_back_twice_without_its_cookie_gets_an_error_page() {
    let stack = Stack::start(Wanted::default()).await;
    let url = format!("{MAIN}/oauth2/sign_in");
    let fields = [("csrf_token", "x"), ("name", "ada"), ("password", "p")];
    let mut forgetful = Browser::new(stack.address);
    let page = forgetful.submit(MAIN, &url, &fields).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN);
    assert_eq!(page.field("tried"), "1");
    assert!(
        !page.body.contains("did not keep the cookie"),
        "another tab may be the cause"
    );
    let mut forgetful = Browser::new(stack.address);
    let mut again = fields.to_vec();
    again.push(("tried", "1"));
    let page = forgetful.submit(MAIN, &url, &again).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN);
    snapshot_settings().bind(|| {
        insta::assert_snapshot!("sign_in_twice_without_its_cookie", page.snapshot());
    });
}

#[tokio::test]
async fn a_loop_is_broken_with_a_page_that_names_the_cause() {
    let stack = Stack::start(Wanted::default()).await;
    let mut browser = Browser::new(stack.address);
    browser.set_cookie(MAIN_HOST, "portico-redirects", &redirects(&stack, 4));
    let page = browser.open(&format!("{MAIN}/projects/p1")).await;
    assert_eq!(
        page.status,
        StatusCode::SEE_OTHER,
        "four redirects are not a loop"
    );
    browser.set_cookie(MAIN_HOST, "portico-redirects", &redirects(&stack, 5));
    let page = browser.open(&format!("{MAIN}/projects/p1")).await;
    assert_eq!(page.status, StatusCode::LOOP_DETECTED);
    snapshot_settings().bind(|| insta::assert_snapshot!("sign_in_loop", page.snapshot()));
    // the next try counts from the start
    assert!(browser.cookie(MAIN_HOST, "portico-redirects").is_none());
    let page = browser.open(&format!("{MAIN}/projects/p1")).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER);

    let unknown = "0123456789abcdefghijABCDEFGHIJ0123456789_-x";
    browser.set_cookie(MAIN_HOST, "portico", unknown);
    browser.set_cookie(MAIN_HOST, "portico-redirects", &redirects(&stack, 5));
    let page = browser.open(&format!("{MAIN}/projects/p1")).await;
    snapshot_settings().bind(|| {
        insta::assert_snapshot!("sign_in_loop_with_an_unknown_cookie", page.snapshot());
    });
    let forged = redirects(&stack, 4).replacen('4', "9", 1);
    browser.set_cookie(MAIN_HOST, "portico-redirects", &forged);
    let page = browser.open(&format!("{MAIN}/projects/p1")).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "a forged count is none");
}

#[tokio::test]
async fn a_page_that_is_shown_ends_the_count() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, _) = stack.signed_in(&[]).await;
    browser.set_cookie(MAIN_HOST, "portico-redirects", &redirects(&stack, 5));
    let page = browser.open(&format!("{MAIN}/projects/p1")).await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(browser.cookie(MAIN_HOST, "portico-redirects").is_none());
}

#[tokio::test]
async fn an_apps_host_that_keeps_no_session_cookie_does_not_loop() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
    for _ in 0..5 {
        let page = browser.follow(&format!("{APP}/graph")).await;
        let fields = [("code", &*page.field("code"))];
        let page = browser
            .submit(MAIN, &format!("{APP}/oauth2/handover"), &fields)
            .await;
        assert_eq!(page.status, StatusCode::SEE_OTHER);
        // what a browser or a proxy in front does that drops one of the cookies
        browser.forget_cookie(APP_HOST, "portico");
    }
    let page = browser.open(&format!("{APP}/graph")).await;
    assert_eq!(page.status, StatusCode::LOOP_DETECTED);
    assert!(page.body.contains(APP), "names the host");
    snapshot_settings().bind(|| insta::assert_snapshot!("loop_at_an_app", page.snapshot()));
    assert!(browser.cookie(APP_HOST, "portico-redirects").is_none());
    let page = browser.follow(&format!("{APP}/graph")).await;
    assert_eq!(page.status, StatusCode::OK, "the next try is let through");
}

#[tokio::test]
async fn an_app_that_opens_counts_no_redirects() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
    let page = browser.follow(&format!("{APP}/graph")).await;
    let fields = [("code", &*page.field("code"))];
    browser
        .submit(MAIN, &format!("{APP}/oauth2/handover"), &fields)
        .await;
    assert!(browser.cookie(APP_HOST, "portico-redirects").is_some());
    let page = browser.open(&format!("{APP}/graph")).await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(browser.cookie(APP_HOST, "portico-redirects").is_none());
    assert!(
        !page.body.contains("portico-redirects"),
        "the app got our cookie"
    );
}

#[tokio::test]
async fn a_hand_over_without_its_cookie_names_the_host() {
    let stack = Stack::start(Wanted::default()).await;
    let mut browser = Browser::new(stack.address);
    let page = browser
        .submit(MAIN, &format!("{APP}/oauth2/handover"), &[("code", "x")])
        .await;
    assert_eq!(page.status, StatusCode::BAD_REQUEST);
    snapshot_settings().bind(|| {
        insta::assert_snapshot!("handover_without_its_cookie", page.snapshot());
    });
}

#[tokio::test]
async fn a_wrong_host_gets_the_right_address_only_where_configured() {
    let quiet = Stack::start(Wanted::default()).await;
    let telling = Stack::start(Wanted {
        gateway: json!({ "tell_address_to": ["127.0.0.0/8"] }),
        ..Wanted::default()
    })
    .await;
    let elsewhere = Stack::start(Wanted {
        gateway: json!({ "tell_address_to": ["192.0.2.0/24"] }),
        ..Wanted::default()
    })
    .await;
    for (stack, tells) in [(&quiet, false), (&telling, true), (&elsewhere, false)] {
        let mut browser = Browser::new(stack.address);
        let page = browser.open("http://other.example/").await;
        assert_eq!(page.status, StatusCode::MISDIRECTED_REQUEST);
        let name = ["unknown_host", "unknown_host_with_the_address"][usize::from(tells)];
        snapshot_settings().bind(|| insta::assert_snapshot!(name, page.snapshot()));
        assert_eq!(page.body.contains("localhost"), tells, "{}", page.body);
        let answer = browser.call(Method::GET, "http://other.example/", "").await;
        assert_eq!(answer.json()["error"], "unknown_host");
        assert_eq!(answer.body.contains("localhost"), tells, "{}", answer.body);
    }
}

#[tokio::test]
async fn an_outage_page_shows_what_still_works_and_when_to_retry() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, _) = stack.signed_in(&[]).await;
    stack.store.close().await;
    let page = browser.open(MAIN).await;
    assert!(page.headers.contains_key("retry-after"));
    snapshot_settings().bind(|| insta::assert_snapshot!("outage", page.snapshot()));
    assert!(browser.cookie(MAIN_HOST, "portico").is_some());
    let answer = browser.call(Method::GET, MAIN, "").await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(answer.json()["error"], "store_unavailable");
    assert!(answer.json()["request_id"].is_string());
}

#[tokio::test]
async fn signed_in_pages_are_never_kept_by_the_browser() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, _) = stack.signed_in(&[]).await;
    // this upstream says nothing about caching itself
    for path in [
        "/projects/p1",
        "/oauth2/sessions",
        "/oauth2/sign_out",
        "/oauth2/project",
    ] {
        let page = browser.open(&format!("{MAIN}{path}")).await;
        assert_eq!(page.status, StatusCode::OK, "{path}");
        assert_eq!(page.headers["cache-control"], "no-store", "{path}");
    }
}

/// A stand-in whose clock is two hours behind: a real Keystone's clock is the machine's.
async fn keystone_of_the_past() -> String {
    let past = || Timestamp::now() - SignedDuration::from_hours(2);
    let date = move || {
        DateTimePrinter::new()
            .timestamp_to_rfc9110_string(&past())
            .expect("date")
    };
    let issue = move || async move {
        let body = json!({ "token": {
            "methods": ["password"], "audit_ids": ["audit"],
            "user": { "id": "u1", "name": "ada", "domain": { "id": "default", "name": "Default" } },
            "issued_at": past().to_string(),
            "expires_at": (past() + SignedDuration::from_hours(1)).to_string(),
        }});
        let headers = [
            ("x-subject-token", "short-lived".to_owned()),
            ("date", date()),
        ];
        (StatusCode::CREATED, headers, Json(body))
    };
    let nothing = move || async move { (StatusCode::NO_CONTENT, [("date", date())]) };
    let router = Router::new()
        .route("/v3/auth/tokens", post(issue).delete(nothing))
        .fallback(nothing);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("port");
    let address = listener.local_addr().expect("address");
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}/v3")
}

#[tokio::test]
async fn a_session_that_would_be_born_expired_names_the_clocks() {
    let keystone = keystone_of_the_past().await;
    let stack = Stack::start(Wanted {
        keystone: &keystone,
        ..Wanted::default()
    })
    .await;
    let mut browser = Browser::new(stack.address);
    let url = format!("{MAIN}/oauth2/sign_in");
    let page = browser.open(&url).await;
    let csrf = page.field("csrf_token");
    let fields = [
        ("csrf_token", csrf.as_str()),
        ("name", "ada"),
        ("password", "right"),
    ];
    let page = browser.submit(MAIN, &url, &fields).await;
    assert_eq!(page.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(
        page.body
            .contains("Your session would end before it begins"),
        "{}",
        page.body
    );
    assert!(page.body.contains("behind Portico&#39;s") || page.body.contains("behind Portico's"));
    assert!(browser.cookie(MAIN_HOST, "portico").is_none());
}

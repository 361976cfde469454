//! A form that arrives with an expired session waits for its user, and for no other.
use http::{Method, StatusCode};
use portico_store::EndReason;
use portico_testkit::snapshot_settings;
use secrecy::ExposeSecret as _;

use crate::support::{
    browser::{Browser, Page},
    stack::{MAIN, MAIN_HOST, Stack, Wanted},
};

const FORM: &[(&str, &str)] = &[
    ("csrf_token", "of-the-old-session"),
    ("subject", "vera & <friends>"),
    ("role", "k8s_viewer"),
    ("role", "k8s_admin"),
    ("password", "not-to-be-seen"),
];

fn target() -> String {
    format!("{MAIN}/api/grant?project=p1")
}

fn kept() -> String {
    format!("{MAIN}/oauth2/saved_form")
}

/// A browser whose session has expired, and that has just sent the form.
async fn sent_too_late(stack: &Stack) -> (Browser, Page) {
    let mut browser = Browser::new(stack.address);
    let expired = stack.expired_session().await;
    browser.set_cookie(MAIN_HOST, "portico", expired.expose_secret());
    let page = browser.submit(MAIN, &target(), FORM).await;
    (browser, page)
}

async fn sign_in_as(stack: &Stack, browser: &mut Browser, id: &str, name: &str) -> String {
    let (secret, session) = stack.session_of(id, name, &[]).await;
    browser.set_cookie(MAIN_HOST, "portico", secret.expose_secret());
    session.csrf.expose_secret().to_owned()
}

#[tokio::test]
async fn a_form_of_an_expired_session_is_offered_after_sign_in_and_sent_by_a_click() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, page) = sent_too_late(&stack).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER);
    let place = page.location();
    assert_eq!(place.path(), "/oauth2/sign_in");
    let page = browser.open(place.as_str()).await;
    snapshot_settings().bind(|| insta::assert_snapshot!("sign_in_for_a_form", page.snapshot()));
    assert_eq!(page.field("rd"), "/oauth2/saved_form");

    let csrf = sign_in_as(&stack, &mut browser, "u1", "ada").await;
    let page = browser.open(&kept()).await;
    assert_eq!(page.status, StatusCode::OK);
    assert_eq!(page.headers["cache-control"], "no-store");
    snapshot_settings().bind(|| insta::assert_snapshot!("form", page.snapshot()));
    assert!(
        page.body.contains("vera &amp; &lt;friends&gt;"),
        "{}",
        page.body
    );
    assert_eq!(
        page.body.matches("not-to-be-seen").count(),
        1,
        "only in the form"
    );
    assert_eq!(page.field("csrf_token"), csrf);
    assert!(!page.body.contains("of-the-old-session"));

    let mut fields: Vec<(&str, &str)> = FORM[1..].to_vec();
    fields.push(("csrf_token", &csrf));
    let page = browser.submit(MAIN, &kept(), &fields).await;
    assert_eq!(page.status, StatusCode::TEMPORARY_REDIRECT);
    assert_eq!(page.location().as_str(), target());
    let page = browser
        .submit(MAIN, page.location().as_str(), &fields)
        .await;
    let body = page.json()["body"].as_str().expect("body").to_owned();
    assert!(body.contains("role=k8s_viewer&role=k8s_admin"), "{body}");

    let again = browser.submit(MAIN, &kept(), &fields).await;
    assert_eq!(again.status, StatusCode::OK, "sent twice");
    snapshot_settings().bind(|| insta::assert_snapshot!("no_form", again.snapshot()));
    for action in ["form.save", "form.send"] {
        assert_eq!(stack.audited(action).await.len(), 1, "{action}");
    }
}

#[tokio::test]
async fn no_other_user_sees_or_sends_it() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, _) = sent_too_late(&stack).await;
    let csrf = sign_in_as(&stack, &mut browser, "u2", "vera").await;
    let page = browser.open(&kept()).await;
    assert!(page.body.contains("Nothing is waiting"));
    assert!(!page.body.contains("api/grant"));
    let page = browser
        .submit(MAIN, &kept(), &[("csrf_token", &csrf)])
        .await;
    assert!(page.body.contains("Nothing is waiting"));

    // the same user in another browser
    let (mut elsewhere, _) = stack.signed_in(&[]).await;
    let page = elsewhere.open(&kept()).await;
    assert!(page.body.contains("Nothing is waiting"));

    // and the one whose it is still gets it
    sign_in_as(&stack, &mut browser, "u1", "ada").await;
    let page = browser.open(&kept()).await;
    assert!(page.body.contains("Send what you had entered?"));
}

#[tokio::test]
async fn sending_and_forgetting_need_the_sessions_own_token() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, _) = sent_too_late(&stack).await;
    let csrf = sign_in_as(&stack, &mut browser, "u1", "ada").await;
    let discard = format!("{}/discard", kept());
    for url in [kept(), discard.clone()] {
        for (origin, token) in [(MAIN, "x"), ("https://evil.example", csrf.as_str())] {
            let page = browser.submit(origin, &url, &[("csrf_token", token)]).await;
            assert_eq!(page.status, StatusCode::FORBIDDEN, "{url} {origin}");
        }
    }
    assert!(browser.open(&kept()).await.body.contains("Send what you"));
    let page = browser
        .submit(MAIN, &discard, &[("csrf_token", &csrf)])
        .await;
    assert_eq!(page.status, StatusCode::SEE_OTHER);
    assert!(
        browser
            .open(&kept())
            .await
            .body
            .contains("Nothing is waiting")
    );
}

#[tokio::test]
async fn only_small_plain_forms_of_expired_sessions_are_kept() {
    let stack = Stack::start(Wanted::default()).await;
    let expired = stack.expired_session().await;
    let mut browser = Browser::new(stack.address);
    browser.set_cookie(MAIN_HOST, "portico", expired.expose_secret());
    let answer = browser.call(Method::POST, &target(), "{}").await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "a script's call");
    let large = "x".repeat(65 << 10);
    for (kind, body) in [
        ("multipart/form-data; boundary=x", "--x--"),
        ("text/plain", "a=b"),
        ("application/x-www-form-urlencoded", large.as_str()),
    ] {
        let headers = [
            ("sec-fetch-mode", "navigate"),
            ("origin", MAIN),
            ("content-type", kind),
        ];
        let page = browser
            .send(Method::POST, &target(), &headers, body.to_owned())
            .await;
        assert!(!page.location().as_str().contains("form_saved"), "{kind}");
    }
    assert!(browser.cookie(MAIN_HOST, "portico-form").is_none());

    let (mut revoked, session) = stack.signed_in(&[]).await;
    let now = jiff::Timestamp::now();
    let ended = stack
        .store
        .sessions()
        .end(session.id, EndReason::Revoked, now)
        .await;
    assert_eq!(ended.expect("ended").len(), 1);
    let page = revoked.submit(MAIN, &target(), FORM).await;
    assert!(page.location().as_str().ends_with("reason=revoked"));
    let page = Browser::new(stack.address)
        .submit(MAIN, &target(), FORM)
        .await;
    assert!(
        !page.location().as_str().contains("form_saved"),
        "a stranger's"
    );
}

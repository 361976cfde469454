//! What is remembered of a browser before and beside its session.
use http::{StatusCode, header};
use secrecy::ExposeSecret as _;

use crate::support::{
    browser::{Browser, Page},
    stack::{MAIN, MAIN_HOST, Stack, Wanted},
};

/// A browser whose form of an expired session was saved, and the response.
async fn with_state(stack: &Stack) -> (Browser, Page) {
    let mut browser = Browser::new(stack.address);
    let expired = stack.expired_session().await;
    browser.set_cookie(MAIN_HOST, "portico", expired.expose_secret());
    let form = [("subject", "vera")];
    let page = browser
        .submit(MAIN, &format!("{MAIN}/api/grant?project=p1"), &form)
        .await;
    (browser, page)
}

fn state_lines(page: &Page) -> Vec<&str> {
    let lines = page.headers.get_all(header::SET_COOKIE).iter();
    lines
        .map(|line| line.to_str().expect("text"))
        .filter(|line| line.starts_with("portico-state="))
        .collect()
}

#[tokio::test]
async fn a_state_begins_with_something_to_remember_and_has_one_cookie() {
    let stack = Stack::start(Wanted::default()).await;
    let page = Browser::new(stack.address)
        .open(&format!("{MAIN}/oauth2/sign_in?rd=%2Fprojects%2Fp1"))
        .await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(state_lines(&page).is_empty(), "a page that was only opened");
    let (_, page) = with_state(&stack).await;
    let lines = state_lines(&page);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(
        lines[0].ends_with("; Path=/; HttpOnly; SameSite=Lax; Max-Age=2592000"),
        "{lines:?}"
    );
}

#[tokio::test]
async fn forms_of_a_remembered_browser_need_no_cookie_of_their_own() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, _) = with_state(&stack).await;
    let url = format!("{MAIN}/oauth2/sign_in");
    let first = browser.open(&url).await;
    let second = browser.open(&url).await;
    assert!(browser.cookie_like(MAIN_HOST, "portico-sign-in-").is_none());
    for page in [&first, &second] {
        let token = page.field("csrf_token");
        let fields = [("csrf_token", token.as_str()), ("name", "ada")];
        let answer = browser.submit(MAIN, &url, &fields).await;
        assert!(
            !answer.body.contains("open for too long"),
            "{}",
            answer.body
        );
    }
    let fields = [("csrf_token", "another"), ("name", "ada")];
    let answer = browser.submit(MAIN, &url, &fields).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN, "the control case");
    assert!(answer.body.contains("open for too long"), "{}", answer.body);
}

#[tokio::test]
async fn proxied_requests_and_other_pages_do_not_touch_the_state() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
    // a browser session that is not in the store: where it is read, its cookie is removed
    browser.set_cookie(MAIN_HOST, "portico-state", "AAAAAAAAAAAAAAAAAAAAAA");
    for path in ["/projects/p1", "/", "/oauth2/sessions", "/oauth2/userinfo"] {
        let page = browser.open(&format!("{MAIN}{path}")).await;
        assert_eq!(page.status, StatusCode::OK, "{path}");
        assert!(state_lines(&page).is_empty(), "{path}");
        assert!(!page.body.contains("AAAAAAAAAAAAAAAAAAAAAA"), "{path}");
    }
    let page = browser.open(&format!("{MAIN}/oauth2/saved_form")).await;
    let lines = state_lines(&page);
    assert_eq!(lines.len(), 1, "the control case");
    assert!(lines[0].contains("Max-Age=0"), "{lines:?}");
}

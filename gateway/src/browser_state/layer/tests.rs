use axum::{Extension, Router, body::Body, routing::get};
use http::{HeaderValue, Request};
use portico_clock::Clock;
use portico_store::{KeyRing, MAX_BROWSER_SESSION_BYTES, Store};
use secrecy::SecretString;
use tempfile::TempDir;
use tower::ServiceExt as _;

use super::*;
use crate::{
    browser_state::BrowserState,
    http::{cookies::Cookies, redirect::with_cookie, return_path::ReturnPath},
    request_context::Context,
};

/// Routes with the layer, over a store of their own.
struct Routes {
    router: Router,
    store: Store,
    _directory: TempDir,
}

async fn domain(browser: BrowserState) -> String {
    browser.domain().await.unwrap_or_default()
}

async fn remember(browser: BrowserState) {
    browser.remember_domain(Some("acme")).await;
}

async fn begin(browser: BrowserState) -> String {
    browser.begin(&ReturnPath::parse("/projects/p1")).await;
    let begun = browser.interrupted().await;
    begun.map(|path| path.to_string()).unwrap_or_default()
}

async fn begin_and_remember(browser: BrowserState) {
    browser.begin(&ReturnPath::parse("/projects/p2")).await;
    browser.remember_domain(Some("acme")).await;
}

async fn interrupted(browser: BrowserState) -> String {
    let begun = browser.interrupted().await;
    begun.map(|path| path.to_string()).unwrap_or_default()
}

async fn form(browser: BrowserState) -> Result<&'static str, Problem> {
    let secret = browser.form_secret().await?;
    Ok(if secret.is_some() { "known" } else { "unknown" })
}

async fn leave(browser: BrowserState) {
    browser.leave_notice("code_page_ended").await;
}

async fn notice(browser: BrowserState) -> String {
    browser.take_notice().await.unwrap_or_default()
}

async fn sign_in() -> Response {
    let cookie = HeaderValue::from_static("portico=an-identity; Path=/");
    with_cookie("signed in".into_response(), Some(cookie))
}

async fn overfill(browser: BrowserState) {
    let secret = SecretString::from("x".repeat(MAX_BROWSER_SESSION_BYTES));
    browser.remember_saved_form(&secret).await;
}

impl Routes {
    async fn new(secure: bool) -> Self {
        let directory = tempfile::tempdir().expect("directory");
        let url = format!("sqlite://{}", directory.path().join("portico.db").display());
        let keys = KeyRing::random().expect("keys");
        let store = Store::connect(&url, 1, keys).await.expect("store");
        store
            .migrate(jiff::Timestamp::UNIX_EPOCH)
            .await
            .expect("migrations");
        let (cookies, clock) = (Cookies { secure }, Clock::system());
        let states = Arc::new(BrowserStates::new(cookies, store.clone(), clock));
        let on = |routes| with_browser_state(routes, &states);
        let router = Router::new()
            .route("/domain", on(get(domain)))
            .route("/remember", on(get(remember)))
            .route("/form", on(get(form)))
            .route("/begin", on(get(begin)))
            .route("/begin_and_remember", on(get(begin_and_remember)))
            .route("/interrupted", on(get(interrupted)))
            .route("/leave", on(get(leave)))
            .route("/notice", on(get(notice)))
            .route("/sign_in", on(get(sign_in)))
            .route("/overfill", on(get(overfill)))
            .layer(Extension(Context::internal()))
            .with_state(Arc::clone(&states));
        Self {
            router,
            store,
            _directory: directory,
        }
    }

    /// Sends a request with this line of cookies.
    async fn get(&self, path: &str, cookies: &str) -> Response {
        let request = Request::get(path).header(header::COOKIE, cookies);
        let request = request.body(Body::empty()).expect("request");
        let answer = self.router.clone().oneshot(request).await;
        answer.expect("infallible")
    }

    async fn text(&self, path: &str, cookies: &str) -> String {
        let answer = self.get(path, cookies).await;
        let body = axum::body::to_bytes(answer.into_body(), 1 << 16).await;
        String::from_utf8(body.expect("body").to_vec()).expect("text")
    }
}

fn state_line(answer: &Response) -> Option<&str> {
    let lines = answer.headers().get_all(header::SET_COOKIE);
    let mut lines = lines.iter().map(|line| line.to_str().expect("text"));
    lines.find(|line| line.contains("portico-state="))
}

/// Returns the state's cookie of a response, as the browser sends it back.
fn state_cookie(answer: &Response) -> Option<String> {
    let line = state_line(answer)?;
    line.split(';').next().map(str::to_owned)
}

fn max_age(answer: &Response) -> Option<String> {
    let mut parts = state_line(answer)?.split("; ");
    let found = parts.find(|part| part.starts_with("Max-Age="));
    found.map(str::to_owned)
}

#[tokio::test]
async fn a_browser_has_no_cookie_before_something_is_remembered() {
    let routes = Routes::new(false).await;
    for path in ["/domain", "/interrupted", "/sign_in"] {
        let answer = routes.get(path, "").await;
        assert_eq!(state_cookie(&answer), None, "{path}");
    }
    let answer = routes.get("/remember", "").await;
    let cookie = state_cookie(&answer).expect("cookie");
    assert_eq!(routes.text("/domain", &cookie).await, "acme");
    assert_eq!(routes.text("/domain", "").await, "");
    // what has not changed is not written again
    let answer = routes.get("/remember", &cookie).await;
    assert_eq!(state_cookie(&answer), None);
}

#[tokio::test]
async fn the_cookie_has_the_attributes_of_all_our_cookies() {
    for (secure, name) in [(true, "__Host-portico-state"), (false, "portico-state")] {
        let routes = Routes::new(secure).await;
        let answer = routes.get("/remember", "").await;
        let line = &answer.headers()[header::SET_COOKIE];
        assert!(line.is_sensitive());
        let mut parts: Vec<&str> = line.to_str().expect("text").split("; ").collect();
        let value = parts.remove(0).strip_prefix(name).expect("name").to_owned();
        assert_eq!(value.len(), "=".len() + 22, "128 bits");
        parts.sort_unstable();
        let mut expected = vec!["HttpOnly", "Max-Age=2592000", "Path=/", "SameSite=Lax"];
        if secure {
            expected.push("Secure");
        }
        assert_eq!(parts, expected);
    }
}

#[tokio::test]
async fn a_browser_accepts_the_removal_of_the_cookie() {
    let routes = Routes::new(true).await;
    // one that is not in the store
    let stale = "__Host-portico-state=AAAAAAAAAAAAAAAAAAAAAA";
    let answer = routes.get("/domain", stale).await;
    let line = &answer.headers()[header::SET_COOKIE];
    assert!(line.is_sensitive());
    assert_eq!(
        line.to_str().expect("text"),
        "__Host-portico-state=; Path=/; HttpOnly; Secure; SameSite=Lax; Max-Age=0"
    );
}

#[tokio::test]
async fn attack_sign_ins_that_do_not_end_are_forgotten_early() {
    let routes = Routes::new(false).await;
    let answer = routes.get("/begin", "").await;
    assert_eq!(max_age(&answer).as_deref(), Some("Max-Age=3600"));
    let cookie = state_cookie(&answer).expect("cookie");
    let answer = routes.get("/begin_and_remember", &cookie).await;
    assert_eq!(max_age(&answer).as_deref(), Some("Max-Age=2592000"));
    let answer = routes.get("/begin", "").await;
    let cookie = state_cookie(&answer).expect("cookie");
    // one that ends is remembered, and so is what needed a sign-in
    let answer = routes.get("/sign_in", &cookie).await;
    assert_eq!(max_age(&answer).as_deref(), Some("Max-Age=2592000"));
    let cookie = state_cookie(&answer).expect("cookie");
    let answer = routes.get("/remember", &cookie).await;
    assert_eq!(max_age(&answer).as_deref(), Some("Max-Age=2592000"));
    let answer = routes.get("/begin", &cookie).await;
    assert_eq!(max_age(&answer).as_deref(), Some("Max-Age=2592000"));
}

#[tokio::test]
async fn a_sign_in_replaces_the_id_and_ends_what_was_interrupted() {
    let routes = Routes::new(false).await;
    let answer = routes.get("/remember", "").await;
    let before = state_cookie(&answer).expect("cookie");
    assert_eq!(routes.text("/begin", &before).await, "/projects/p1");
    assert_eq!(routes.text("/interrupted", &before).await, "/projects/p1");
    let answer = routes.get("/sign_in", &before).await;
    assert_eq!(answer.status(), StatusCode::OK);
    let after = state_cookie(&answer).expect("cookie");
    assert_ne!(before, after);
    assert_eq!(routes.text("/domain", &after).await, "acme");
    assert_eq!(routes.text("/interrupted", &after).await, "");
    // the old ID leads nowhere, and its cookie is removed
    let answer = routes.get("/domain", &before).await;
    let removed = state_cookie(&answer).expect("removal");
    assert_eq!(removed, "portico-state=");
    assert_eq!(routes.text("/domain", &before).await, "");
}

#[tokio::test]
async fn a_notice_is_shown_once_and_not_after_a_sign_in() {
    let routes = Routes::new(false).await;
    let answer = routes.get("/remember", "").await;
    let before = state_cookie(&answer).expect("cookie");
    routes.get("/leave", &before).await;
    assert_eq!(routes.text("/notice", &before).await, "code_page_ended");
    assert_eq!(routes.text("/notice", &before).await, "");
    routes.get("/leave", &before).await;
    let answer = routes.get("/sign_in", &before).await;
    let after = state_cookie(&answer).expect("cookie");
    assert_eq!(routes.text("/notice", &after).await, "");
}

#[tokio::test]
async fn attack_a_planted_cookie_does_not_become_the_browsers_state() {
    let routes = Routes::new(true).await;
    let answer = routes.get("/remember", "").await;
    let cookie = state_cookie(&answer).expect("cookie");
    let value = cookie.strip_prefix("__Host-portico-state=").expect("name");
    for planted in [
        // a reader that decodes names takes these for the protected name
        format!("__Host%2Dportico-state={value}"),
        format!("%5F%5FHost-portico-state={value}"),
        format!("__Host-portico-state ={value}"),
        format!("portico-state={value}"),
        format!("{cookie}; {cookie}"),
    ] {
        assert_eq!(routes.text("/domain", &planted).await, "", "{planted}");
    }
    let beside = format!("theme=dark; {cookie}; __Host%2Dportico-state=other");
    assert_eq!(
        routes.text("/domain", &beside).await,
        "acme",
        "the control case"
    );
}

#[tokio::test]
async fn attack_a_network_does_not_fill_the_store_with_browsers() {
    let routes = Routes::new(false).await;
    let mut created = 0;
    for _ in 0..305 {
        let answer = routes.get("/remember", "").await;
        assert_eq!(answer.status(), StatusCode::OK);
        created += usize::from(state_cookie(&answer).is_some());
    }
    assert_eq!(created, 300);
}

#[tokio::test]
async fn without_the_store_nothing_is_remembered_and_the_page_is_there() {
    let routes = Routes::new(false).await;
    let answer = routes.get("/remember", "").await;
    let cookie = state_cookie(&answer).expect("cookie");
    assert_eq!(routes.text("/form", &cookie).await, "known");
    routes.store.close().await;
    for cookies in ["", &cookie] {
        let answer = routes.get("/remember", cookies).await;
        assert_eq!(answer.status(), StatusCode::OK);
        // the state is there again when the store is
        assert_eq!(state_cookie(&answer), None);
    }
    // a form cannot be checked, which is no fault of the user's
    let answer = routes.get("/form", &cookie).await;
    assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(routes.text("/form", "").await, "unknown");
}

#[tokio::test]
async fn a_state_that_cannot_be_saved_is_a_problem_with_a_next_step() {
    let routes = Routes::new(false).await;
    let answer = routes.get("/remember", "").await;
    let cookie = state_cookie(&answer).expect("cookie");
    let answer = routes.get("/overfill", &cookie).await;
    assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
    let problem = answer.extensions().get::<Problem>().expect("problem");
    assert_eq!(problem.code, "state_unavailable");
    assert!(problem.leads_to.is_some() && !problem.steps.is_empty());
}

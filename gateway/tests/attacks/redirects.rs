//! 1 to 8: where a sign-in may lead.
use http::{StatusCode, header};
use portico_testkit::fuzz::seeds;
use secrecy::ExposeSecret as _;
use url::Url;

use crate::support::{
    browser::{Browser, Page},
    stack::{APP, MAIN, Stack, Wanted},
};

/// Ways to write another host that redirect checks have let through, in this and other programs: what
/// the URL standard of browsers makes of white space, backslashes and missing slashes, RFC 3986's user
/// information, letters that fold into others, and what old parsers made of them.
const ELSEWHERE: &str = include_str!("../data/open-redirects.json");

fn encoded(destination: &str) -> String {
    url::form_urlencoded::byte_serialize(destination.as_bytes()).collect()
}

/// Where a browser that follows the answer arrives.
fn arrives(page: &Page) -> Url {
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.url);
    page.location()
}

fn stays(url: &Url) -> bool {
    url.origin() == Url::parse(MAIN).expect("url").origin()
        && url.username().is_empty()
        && url.password().is_none()
}

/// Sends a destination through every endpoint that takes one, and says where each leads.
async fn through_all(stack: &Stack, destination: &str) -> Vec<(&'static str, Url)> {
    let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
    through_all_of(stack, &mut browser, destination).await
}

async fn through_all_of(
    stack: &Stack,
    browser: &mut Browser,
    destination: &str,
) -> Vec<(&'static str, Url)> {
    let rd = encoded(destination);
    let mut led = Vec::new();
    for endpoint in ["sign_in", "start"] {
        let page = browser
            .open(&format!("{MAIN}/oauth2/{endpoint}?rd={rd}"))
            .await;
        led.push((endpoint, arrives(&page)));
    }
    // the form carries the destination through the sign-in
    let mut stranger = Browser::new(stack.address);
    let page = stranger
        .open(&format!("{MAIN}/oauth2/sign_in?rd={rd}"))
        .await;
    assert_eq!(page.status, StatusCode::OK, "{destination:?}");
    let field = page.field("rd");
    led.push((
        "the form",
        Url::parse(MAIN).expect("url").join(&field).expect("url"),
    ));
    led
}

#[tokio::test]
async fn attack_01_no_spelling_of_another_host_is_led_to() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
    for destination in seeds(ELSEWHERE) {
        for (endpoint, url) in through_all_of(&stack, &mut browser, &destination).await {
            assert!(stays(&url), "{endpoint}: {destination:?} leads to {url}");
        }
    }
    for (endpoint, url) in through_all(&stack, "/projects/p1?x=%2F").await {
        assert_eq!(url.path(), "/projects/p1", "the control case: {endpoint}");
        assert_eq!(url.query(), Some("x=%2F"), "the control case: {endpoint}");
    }
}

#[tokio::test]
async fn attack_01_an_app_hands_over_to_no_other_host() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
    for destination in seeds(ELSEWHERE) {
        let rd = encoded(&destination);
        browser.open(APP).await;
        let page = browser
            .open(&format!(
                "{MAIN}/oauth2/handover?app=prometheus&rd={rd}&nonce=x"
            ))
            .await;
        assert!(
            !page.headers.contains_key(header::LOCATION) || stays(&page.location()),
            "{destination:?}"
        );
    }
    let page = browser.open(&format!("{APP}/graph")).await;
    let form = browser.open(page.location().as_str()).await;
    let code = form.field("code");
    let page = browser
        .submit(MAIN, &format!("{APP}/oauth2/handover"), &[("code", &code)])
        .await;
    assert_eq!(
        page.location().as_str(),
        format!("{APP}/graph"),
        "the control case"
    );
}

#[tokio::test]
async fn attack_02_a_host_that_only_ends_alike_is_not_ours() {
    let stack = Stack::start(Wanted::default()).await;
    for host in [
        "http://badlocalhost:8080/",
        "http://localhost:8080.evil.example/",
        "http://evilprometheus.apps.localhost:8080/",
        "http://prometheusxapps.localhost:8080/",
        "http://prometheus.apps.localhost.evil.example:8080/",
        "http://prometheus.badapps.localhost:8080/",
    ] {
        for (endpoint, url) in through_all(&stack, host).await {
            assert!(stays(&url), "{endpoint}: {host} leads to {url}");
        }
    }
    let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
    for host in [
        "badlocalhost:8080",
        "evilprometheus.apps.localhost:8080",
        "prometheus.apps.localhost.evil.example:8080",
        "prometheusxapps.localhost:8080",
        "apps.localhost:8080",
    ] {
        let cookies = browser.cookie_line("localhost");
        let headers = [
            ("host", host),
            ("cookie", cookies.as_str()),
            ("sec-fetch-mode", "navigate"),
        ];
        let bare = Browser::new(stack.address);
        let page = bare
            .raw_host(&format!("{MAIN}/projects/p1"), host, &headers[1..])
            .await;
        assert_eq!(page.status, StatusCode::MISDIRECTED_REQUEST, "{host}");
        assert!(!page.headers.contains_key(header::SET_COOKIE), "{host}");
        assert!(!page.body.contains("\"target\""), "{host} was served");
    }
    let page = browser.open(&format!("{MAIN}/projects/p1")).await;
    assert_eq!(page.status, StatusCode::OK, "the control case");
}

#[tokio::test]
async fn attack_03_user_information_and_look_alike_letters_lead_nowhere() {
    let stack = Stack::start(Wanted::default()).await;
    for destination in [
        "http://localhost:8080@evil.example/",
        "http://localhost%2eevil.example/",
        "http://localhost:8080\\.evil.example/",
        "http://localhost\u{ff0e}evil.example/",
        "http://ⓛocalhost.evil.example/",
        "//user:pass@localhost:8080/projects/p1",
        "http://user@localhost:8080/projects/p1",
        "http://lоcalhost:8080/",
        "http://localhost\u{ad}.evil.example/",
        "http://xn--localhost-evil.example/",
        "http://127.1@evil.example/",
        "//localhost:8080:80/",
    ] {
        for (endpoint, url) in through_all(&stack, destination).await {
            assert!(stays(&url), "{endpoint}: {destination:?} leads to {url}");
            assert_eq!(url.path(), "/", "{endpoint}: {destination:?}");
        }
    }
    for (endpoint, url) in through_all(&stack, "/user@localhost").await {
        assert_eq!(
            url.path(),
            "/user@localhost",
            "the control case: {endpoint}"
        );
    }
}

#[tokio::test]
async fn attack_04_no_destination_writes_a_header_line() {
    let stack = Stack::start(Wanted::default()).await;
    for destination in [
        "/%0d%0aX-Injected:%201",
        "/\r\nX-Injected: 1",
        "/\nX-Injected: 1",
        "/\rX-Injected: 1",
        "/\u{0}X-Injected: 1",
        "/\tX-Injected: 1",
        "/%00X-Injected",
        "/%0aSet-Cookie:portico=planted",
        "/嘊嘍X-Injected: 1",
        "/\u{85}X-Injected: 1",
    ] {
        let rd = encoded(destination);
        let (mut browser, _) = stack.signed_in(&[]).await;
        let before = browser.cookie_line("localhost");
        for endpoint in ["sign_in", "start", "sign_out"] {
            let page = browser
                .open(&format!("{MAIN}/oauth2/{endpoint}?rd={rd}"))
                .await;
            assert!(!page.status.is_server_error(), "{destination:?}");
            assert!(!page.headers.contains_key("x-injected"), "{destination:?}");
            assert_eq!(browser.cookie_line("localhost"), before, "{destination:?}");
        }
    }
    let (mut browser, _) = stack.signed_in(&[]).await;
    let page = browser
        .open(&format!("{MAIN}/oauth2/sign_in?rd=%2Fprojects%2Fp1"))
        .await;
    assert_eq!(arrives(&page).path(), "/projects/p1", "the control case");
}

#[tokio::test]
async fn attack_05_an_overlong_destination_is_dropped_whole() {
    let stack = Stack::start(Wanted::default()).await;
    for length in [2_049, 20_000] {
        let long = format!("/{}", "a".repeat(length - 1));
        let (mut browser, _) = stack.signed_in(&[]).await;
        let page = browser
            .open(&format!("{MAIN}/oauth2/sign_in?rd={long}"))
            .await;
        match page.status {
            StatusCode::SEE_OTHER => assert_eq!(page.location().path(), "/", "{length}"),
            status => assert!(status.is_client_error(), "{length}: {status}"),
        }
    }
    let kept = format!("/{}", "a".repeat(2_000));
    for (endpoint, url) in through_all(&stack, &kept).await {
        assert_eq!(url.path(), kept, "the control case: {endpoint}");
    }
}

#[tokio::test]
async fn attack_06_no_token_is_put_into_a_url_that_came_with_the_request() {
    let stack = Stack::start(Wanted::default()).await;
    for destination in [
        "https://evil.example/?t={id_token}",
        "/?t={id_token}",
        "/%7Bid_token%7D",
        "/?t={access_token}&r={refresh_token}",
    ] {
        let rd = encoded(destination);
        let (mut browser, session) = stack.signed_in(&["k8s_admin"]).await;
        let url = format!("{MAIN}/oauth2/sign_out?rd={rd}");
        let asked = browser.open(&url).await;
        assert_eq!(asked.status, StatusCode::OK);
        let csrf = session.csrf.expose_secret();
        let page = browser.submit(MAIN, &url, &[("csrf_token", csrf)]).await;
        assert_eq!(page.status, StatusCode::OK, "the control case: signed out");
        assert!(page.body.contains("You are signed out"));
        assert!(!page.headers.contains_key(header::LOCATION));
        for secret in ["keystone-token", "evil.example"] {
            assert!(!page.body.contains(secret), "{secret} is on the page");
        }
    }
}

#[tokio::test]
async fn attack_07_our_own_endpoints_are_no_destination() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, _) = stack.signed_in(&[]).await;
    for destination in [
        "/oauth2/start",
        "/oauth2/sign_in",
        "/oauth2/sign_in?rd=/oauth2/sign_in",
        "/oauth2/sign_out",
        "/oauth2/SIGN_OUT/../sign_out",
        "/x/../oauth2/sign_out",
        "/oauth2/callback",
        "/oauth2/token",
        "/oauth2/auth",
        "/oauth2",
        "/oauth2/",
    ] {
        let rd = encoded(destination);
        let page = browser
            .open(&format!("{MAIN}/oauth2/sign_in?rd={rd}"))
            .await;
        assert_eq!(arrives(&page).path(), "/", "{destination}");
    }
    let page = browser.open(&format!("{MAIN}/projects/p1")).await;
    assert_eq!(page.status, StatusCode::OK, "the user is still signed in");
    let page = browser
        .open(&format!(
            "{MAIN}/oauth2/sign_in?rd=%2Foauth2%2Fdevice%3Fuser_code%3DABCD-EFGH"
        ))
        .await;
    assert_eq!(
        arrives(&page).path(),
        "/oauth2/device",
        "the control case: a step"
    );
}

//! How an upstream is reached: in clear or over TLS, in which version of HTTP, over TCP or a unix
//! socket, and as whom.
use std::time::Duration;

use http::{Method, StatusCode};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::{
    browser::{Browser, Page},
    echo::Echo,
    pki::Pki,
    stack::{APP, Stack, Wanted},
};

async fn behind(url: &str, upstream: Value) -> (Stack, Browser) {
    let stack = Stack::start(Wanted {
        app: json!({ "url": url, "upstream": upstream }),
        ..Wanted::default()
    })
    .await;
    let browser = stack.in_app().await;
    (stack, browser)
}

async fn get(browser: &mut Browser) -> Page {
    browser
        .call(Method::GET, &format!("{APP}/x?y=%2F"), "")
        .await
}

async fn echoed(url: &str, upstream: Value) -> Value {
    let (_stack, mut browser) = behind(url, upstream).await;
    let page = get(&mut browser).await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    let body = page.json();
    assert_eq!(body["target"], "/x?y=%2F");
    body
}

fn header<'a>(body: &'a Value, name: &str) -> Vec<&'a str> {
    let headers = body["headers"].as_array().expect("headers").iter();
    let named = headers.filter(|pair| pair[0] == name);
    named.filter_map(|pair| pair[1].as_str()).collect()
}

#[tokio::test]
async fn plain_http_is_version_1_and_h2c_is_version_2() {
    let echo = Echo::start().await;
    assert_eq!(echoed(&echo.url(), json!({})).await["version"], "HTTP/1.1");
    let h2c = echo.url().replace("http://", "h2c://");
    let body = echoed(&h2c, json!({})).await;
    assert_eq!(body["version"], "HTTP/2.0");
    assert_eq!(body["authority"], "prometheus.apps.localhost:8080");
}

#[tokio::test]
async fn a_unix_socket_is_an_address_too() {
    let dir = tempfile::tempdir().expect("directory");
    let echo = Echo::on_socket(&dir.path().join("app.sock"));
    let body = echoed(&echo.url(), json!({})).await;
    assert_eq!(header(&body, "host"), ["prometheus.apps.localhost:8080"]);
    assert_eq!(header(&body, "portico-assertion").len(), 1);
}

#[tokio::test]
async fn over_tls_http_2_is_spoken_where_it_is_offered_and_wanted() {
    let pki = Pki::new(&["localhost"]);
    let echo = Echo::over_tls(pki.server(false)).await;
    for (protocol, version) in [
        ("auto", "HTTP/2.0"),
        ("http2", "HTTP/2.0"),
        ("http1", "HTTP/1.1"),
    ] {
        let upstream = json!({ "ca_file": pki.cert("ca"), "protocol": protocol });
        let body = echoed(&echo.url(), upstream).await;
        assert_eq!(body["version"], version, "{protocol}");
        assert_eq!(body["certificates"], 0);
    }
}

#[tokio::test]
async fn over_tls_the_body_of_a_get_arrives() {
    let pki = Pki::new(&["localhost"]);
    let echo = Echo::over_tls(pki.server(false)).await;
    for (protocol, version) in [("http1", "HTTP/1.1"), ("http2", "HTTP/2.0")] {
        let upstream = json!({ "ca_file": pki.cert("ca"), "protocol": protocol });
        let (_stack, mut browser) = behind(&echo.url(), upstream).await;
        for _ in 0..2 {
            let url = format!("{APP}/x");
            let page = browser.call(Method::GET, &url, "a body").await;
            assert_eq!(page.status, StatusCode::OK, "{}", page.body);
            let body = page.json();
            assert_eq!(body["version"], version);
            assert_eq!(body["body"], "a body", "{protocol}");
            // a server that does not read it would take it for the next request
            let closes = header(&body, "connection") == ["close"];
            assert_eq!(closes, protocol == "http1", "{protocol}");
        }
    }
}

#[tokio::test]
async fn a_server_that_is_not_known_to_the_authority_or_by_the_name_gets_nothing() {
    let pki = Pki::new(&["inside.example"]);
    let echo = Echo::over_tls(pki.server(false)).await;
    for upstream in [
        json!({}),
        json!({ "ca_file": pki.cert("stranger-ca"), "server_name": "inside.example" }),
        json!({ "ca_file": pki.cert("ca") }),
        json!({ "ca_file": pki.cert("ca"), "server_name": "outside.example" }),
    ] {
        let (_stack, mut browser) = behind(&echo.url(), upstream.clone()).await;
        let page = get(&mut browser).await;
        assert_eq!(page.status, StatusCode::BAD_GATEWAY, "{upstream}");
        assert_eq!(page.json()["error"], "upstream_unreachable");
        assert!(!page.body.contains("certificate"), "{}", page.body);
    }
    assert_eq!(echo.asked(), 0);
    let upstream = json!({ "ca_file": pki.cert("ca"), "server_name": "inside.example" });
    let body = echoed(&echo.url(), upstream).await;
    assert_eq!(body["authority"], "prometheus.apps.localhost:8080");
}

#[tokio::test]
async fn the_gateway_shows_its_certificate_to_who_asks() {
    let pki = Pki::new(&["localhost"]);
    let echo = Echo::over_tls(pki.server(true)).await;
    let identity = |name: &str| {
        json!({ "ca_file": pki.cert("ca"), "client_cert_file": pki.cert(name),
                "client_key_file": pki.key(name) })
    };
    for upstream in [json!({ "ca_file": pki.cert("ca") }), identity("stranger")] {
        let (_stack, mut browser) = behind(&echo.url(), upstream).await;
        assert_eq!(get(&mut browser).await.status, StatusCode::BAD_GATEWAY);
    }
    assert_eq!(echo.asked(), 0);
    assert_eq!(
        echoed(&echo.url(), identity("client")).await["certificates"],
        1
    );
}

#[tokio::test]
async fn changed_certificates_are_read_again_and_old_connections_given_up() {
    let pki = Pki::new(&["localhost"]);
    let echo = Echo::over_tls(pki.server(false)).await;
    let ca = pki.path().join("trusted.crt");
    std::fs::copy(pki.cert("ca"), &ca).expect("copied");
    let (stack, mut browser) = behind(&echo.url(), json!({ "ca_file": ca })).await;
    let gateway = stack.gateway.clone();
    tokio::spawn(async move { gateway.run(CancellationToken::new()).await });
    assert_eq!(get(&mut browser).await.status, StatusCode::OK);
    for (authority, status) in [
        ("stranger-ca", StatusCode::BAD_GATEWAY),
        ("ca", StatusCode::OK),
    ] {
        std::fs::copy(pki.cert(authority), &ca).expect("copied");
        let changed = async {
            while get(&mut browser).await.status != status {
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        };
        let changed = tokio::time::timeout(Duration::from_secs(12), changed).await;
        assert!(changed.is_ok(), "{authority} does not count");
    }
}

#[tokio::test]
async fn the_host_is_the_browsers_or_the_upstreams_own() {
    let echo = Echo::start().await;
    let body = echoed(&echo.url(), json!({ "host_header": "upstream" })).await;
    assert_eq!(header(&body, "host"), [echo.address.to_string()]);
    let asked = header(&body, "x-forwarded-host");
    assert_eq!(asked, ["prometheus.apps.localhost:8080"]);
}

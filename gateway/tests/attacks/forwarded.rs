//! 9 to 12: what a client says about the request in headers of proxies.
use http::{StatusCode, header};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::support::{
    browser::{Browser, Page},
    handover::open_app,
    stack::{APP, APP_HOST, MAIN, Stack, Wanted},
};

pub const AUTH: &str = "http://portico.internal/oauth2/auth";
const REDIRECT: &str = "http://portico.internal/oauth2/auth/redirect";
const GRAFANA_HOST: &str = "grafana.apps.localhost";

/// Two apps: one that the client may open, and one that they may not.
pub fn two_apps(gateway: Value) -> Wanted<'static> {
    Wanted {
        gateway,
        apps: vec![json!({
            "id": "grafana", "name": "Grafana", "project": "p1", "forward_auth": true,
            "url": "http://127.0.0.1:9",
            "allow": [{ "role": "auditor", "project": "p1" }],
        })],
        ..Wanted::default()
    }
}

pub async fn app_client(stack: &Stack) -> Browser {
    let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
    open_app(&mut browser, APP, "/").await;
    browser
}

pub async fn ask(browser: &Browser, url: &str, host: &str, headers: &[(&str, &str)]) -> Page {
    let cookies = browser.cookie_line(APP_HOST);
    let mut all = vec![("cookie", cookies.as_str())];
    all.extend_from_slice(headers);
    browser.raw_host(url, host, &all).await
}

/// Sends a head over a connection and reads the answer's.
pub async fn exchange<S>(mut stream: S, head: &str) -> String
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    stream.write_all(head.as_bytes()).await.expect("written");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.expect("an answer");
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn attack_09_a_path_that_the_client_sends_decides_nothing() {
    let stack = Stack::start(two_apps(json!({}))).await;
    let anonymous = Browser::new(stack.address);
    let mut client = app_client(&stack).await;
    for name in [
        "x-forwarded-uri",
        "x-original-uri",
        "x-original-url",
        "x-envoy-original-path",
    ] {
        // to the proxy itself: the request line counts, and the upstream never sees the header
        let headers = [
            (name, "/oauth2/static/portico.css"),
            ("accept", "application/json"),
        ];
        let answer = anonymous
            .raw_host(&format!("{APP}/adm"), "prometheus.apps.localhost", &headers)
            .await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{name}");
        let page = client
            .send(
                http::Method::GET,
                &format!("{APP}/adm"),
                &[(name, "/open")],
                String::new(),
            )
            .await;
        assert_eq!(page.status, StatusCode::OK, "{name}");
        assert_eq!(page.json()["target"], "/adm", "{name}");
        assert!(!page.body.contains(name), "{name} was passed on");
        // to the endpoint that would read it: this peer is not a trusted proxy
        let answer = ask(&client, AUTH, APP_HOST, &[(name, "/a/%2e%2e/open")]).await;
        assert_eq!(answer.status, StatusCode::ACCEPTED, "{name} was read");
    }
    let trusting = Stack::start(two_apps(json!({ "trusted_proxies": ["127.0.0.0/8"] }))).await;
    let client = app_client(&trusting).await;
    for (sent, status) in [
        (&[("x-forwarded-uri", "/a/%2e%2e/open")][..], 403),
        (&[("x-forwarded-uri", "//adm")], 403),
        (&[("x-forwarded-uri", "/adm#/open")], 403),
        (&[("x-forwarded-uri", "/adm%23/open%2f")], 403),
        (
            &[("x-forwarded-uri", "http://prometheus.apps.localhost/open")],
            403,
        ),
        // the proxy sets one name, and passes the client's other one on
        (
            &[("x-forwarded-uri", "/adm"), ("x-original-url", "/open")],
            403,
        ),
        (
            &[("x-original-uri", "/adm"), ("x-forwarded-uri", "/open")],
            403,
        ),
        (
            &[("x-forwarded-uri", "/adm"), ("x-forwarded-uri", "/open")],
            403,
        ),
        (
            &[("x-forwarded-method", "POST"), ("x-original-method", "GET")],
            403,
        ),
        (
            &[("x-forwarded-uri", "/adm"), ("x-original-uri", "/adm")],
            202,
        ),
    ] {
        let answer = ask(&client, AUTH, APP_HOST, sent).await;
        assert_eq!(answer.status.as_u16(), status, "{sent:?}");
    }
}

#[tokio::test]
async fn attack_09_a_host_that_the_client_sends_opens_no_other_app() {
    let stack = Stack::start(two_apps(json!({ "trusted_proxies": ["127.0.0.0/8"] }))).await;
    let client = app_client(&stack).await;
    let own = [("x-forwarded-host", APP_HOST)];
    let answer = ask(&client, AUTH, APP_HOST, &own).await;
    assert_eq!(answer.status, StatusCode::ACCEPTED, "the control case");
    // the proxy of Grafana keeps its own host name, and passes on what the client says of another
    for (name, value) in [
        ("x-forwarded-host", "prometheus.apps.localhost"),
        (
            "x-forwarded-host",
            "prometheus.apps.localhost, grafana.apps.localhost",
        ),
        ("x-forwarded-host", "localhost:8080"),
        ("x-forwarded-host", "evil.example"),
        ("x-original-url", "http://prometheus.apps.localhost/"),
    ] {
        for url in [AUTH, REDIRECT] {
            let answer = ask(&client, url, GRAFANA_HOST, &[(name, value)]).await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{name}: {value}");
        }
    }
    for url in [AUTH.to_owned(), format!("{AUTH}?app=prometheus")] {
        let answer = ask(&client, &url, GRAFANA_HOST, &[]).await;
        assert_eq!(
            answer.status,
            StatusCode::UNAUTHORIZED,
            "a cookie of another app"
        );
    }
}

/// The address that a request was authorized with, from the list of sessions.
async fn address_of_the_newest_session(stack: &Stack) -> String {
    let now = jiff::Timestamp::now();
    let sessions = stack.store.sessions().list_of_user("u1", now).await;
    let sessions = sessions.expect("sessions");
    let child = sessions.iter().find(|session| session.parent.is_some());
    child.expect("the app's session").address.clone()
}

/// Opens the app with headers that claim an address, at each step.
async fn arrive_with(stack: &Stack, headers: &[(&str, &str)]) -> String {
    let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
    let page = browser.open(APP).await;
    let form = browser.open(page.location().as_str()).await;
    let body = format!("code={}", form.field("code"));
    let mut all = vec![
        ("origin", MAIN),
        ("content-type", "application/x-www-form-urlencoded"),
    ];
    all.extend_from_slice(headers);
    let url = format!("{APP}/oauth2/handover");
    let page = browser.send(http::Method::POST, &url, &all, body).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    address_of_the_newest_session(stack).await
}

#[tokio::test]
async fn attack_10_no_client_chooses_its_address() {
    let spoofed: &[&[(&str, &str)]] = &[
        &[("x-real-ip", "10.0.0.1")],
        &[("x-forwarded-for", "10.0.0.1")],
        &[("forwarded", "for=10.0.0.1")],
        &[("x-client-ip", "10.0.0.1"), ("true-client-ip", "10.0.0.1")],
        &[
            ("cf-connecting-ip", "10.0.0.1"),
            ("x-cluster-client-ip", "10.0.0.1"),
        ],
    ];
    for headers in spoofed {
        let stack = Stack::start(Wanted::default()).await;
        assert_eq!(
            arrive_with(&stack, headers).await,
            "127.0.0.1",
            "{headers:?}"
        );
    }
    let trusting = || Wanted {
        gateway: json!({ "trusted_proxies": ["127.0.0.0/8", "10.0.0.0/8"] }),
        ..Wanted::default()
    };
    // behind a proxy: only its own line, from the right
    for (line, address) in [
        ("192.0.2.7", "192.0.2.7"),
        ("10.0.0.1, 192.0.2.7", "192.0.2.7"),
        ("203.0.113.5, 192.0.2.7, 10.0.0.1", "192.0.2.7"),
        ("10.0.0.1, 192.0.2.7:4711", "192.0.2.7"),
        // never the proxy's own, to which rules about networks may open
        ("10.0.0.1, nonsense", "unknown"),
        ("192.0.2.7, unknown", "unknown"),
        ("192.0.2.7,", "unknown"),
    ] {
        let stack = Stack::start(trusting()).await;
        let headers = [("x-forwarded-for", line), ("x-real-ip", "10.9.9.9")];
        assert_eq!(arrive_with(&stack, &headers).await, address, "{line}");
    }
}

const FORWARDING: &[(&str, &str)] = &[
    ("x-forwarded-for", "10.6.6.6"),
    ("x-forwarded-host", "evil.example"),
    ("x-forwarded-proto", "gopher"),
    ("x-forwarded-port", "666"),
    ("x-forwarded-prefix", "/evil"),
    ("x-forwarded-uri", "/evil"),
    ("x-forwarded-method", "DELETE"),
    ("x-forwarded-server", "evil.example"),
    ("x-forwarded-scheme", "gopher"),
    ("x_forwarded_host", "evil.example"),
    ("forwarded", "for=10.6.6.6;host=evil.example"),
    ("x-real-ip", "10.6.6.6"),
    ("x-original-host", "evil.example"),
    ("x-original-url", "/evil"),
    ("x-rewrite-url", "/evil"),
    ("x-envoy-original-path", "/evil"),
];

#[tokio::test]
async fn attack_11_an_upstream_sees_only_our_own_forwarding_headers() {
    for trusted in [json!([]), json!(["127.0.0.0/8"])] {
        let stack = Stack::start(two_apps(json!({ "trusted_proxies": trusted }))).await;
        let mut client = app_client(&stack).await;
        for (url, host) in [
            (format!("{APP}/x"), "prometheus.apps.localhost:8080"),
            (format!("{MAIN}/x"), "localhost:8080"),
        ] {
            let page = client
                .send(http::Method::GET, &url, FORWARDING, String::new())
                .await;
            assert_eq!(page.status, StatusCode::OK, "{}", page.body);
            let echo = page.json();
            let headers: Vec<(String, String)> =
                serde_json::from_value(echo["headers"].clone()).expect("headers");
            let forwarding: Vec<_> = headers
                .iter()
                .filter(|(name, _)| name.contains("forward") || name.contains("real"))
                .collect();
            for (name, value) in &headers {
                assert!(!value.contains("evil"), "{name}: {value}");
                assert!(!value.contains("gopher"), "{name}: {value}");
            }
            let value = |wanted: &str| {
                let mut found = forwarding.iter().filter(|(name, _)| name == wanted);
                let value = found.next().map(|(_, value)| value.clone());
                assert!(found.next().is_none(), "{wanted} twice");
                value
            };
            assert_eq!(
                value("x-forwarded-host").as_deref(),
                Some(host),
                "the control case"
            );
            assert_eq!(value("x-forwarded-proto").as_deref(), Some("http"));
            let address = value("x-forwarded-for").expect("the control case");
            assert!(!address.contains(','), "{address}");
            assert_eq!(echo["target"], "/x");
        }
    }
}

#[tokio::test]
async fn attack_12_no_host_that_a_client_sends_gets_into_an_address() {
    let stack = Stack::start(two_apps(json!({ "trusted_proxies": ["127.0.0.0/8"] }))).await;
    let anonymous = Browser::new(stack.address);
    let page = ("sec-fetch-mode", "navigate");
    for host in [
        "evil.example",
        "localhost.evil.example",
        "evil.example:8080",
    ] {
        for url in [
            "/",
            "/oauth2/sign_in",
            "/oauth2/auth",
            "/projects/p1",
            "/ready",
        ] {
            let answer = anonymous
                .raw_host(&format!("{MAIN}{url}"), host, &[page])
                .await;
            assert_eq!(
                answer.status,
                StatusCode::MISDIRECTED_REQUEST,
                "{host}{url}"
            );
            assert!(!answer.headers.contains_key(header::LOCATION));
        }
        for url in [
            "/projects/p1",
            "/oauth2/sign_in?rd=/x",
            "/oauth2/start?rd=/x",
        ] {
            let headers = [
                page,
                ("x-forwarded-host", host),
                ("x-forwarded-proto", "gopher"),
            ];
            let answer = anonymous
                .raw_host(&format!("{MAIN}{url}"), "localhost:8080", &headers)
                .await;
            if let Some(location) = answer.headers.get(header::LOCATION) {
                let location = location.to_str().expect("text");
                assert!(!location.contains("evil"), "{location}");
            }
            assert!(!answer.body.contains("evil"), "{url}");
        }
    }
    // what a question of a trusted proxy leads to is made from the configuration alone
    let headers = [page, ("x-forwarded-host", "prometheus.apps.localhost:666")];
    let answer = anonymous
        .raw_host(REDIRECT, "portico.internal", &headers)
        .await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "the control case");
    let location = answer.location();
    assert!(
        location
            .as_str()
            .starts_with(&format!("{MAIN}/oauth2/handover?app=prometheus"))
    );
    assert!(!location.as_str().contains("666"));
}

#[tokio::test]
async fn attack_12_a_contradicting_request_belongs_to_no_host() {
    let stack = Stack::start(Wanted::default()).await;
    for (head, status) in [
        (
            "GET http://evil.example/ping HTTP/1.1\r\nHost: localhost\r\n",
            "421",
        ),
        (
            "GET /ping HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n",
            "4",
        ),
        ("GET /ping HTTP/1.1\r\nHost: evil@localhost\r\n", "4"),
        ("GET /ping HTTP/1.1\r\n", "4"),
        ("GET /ping HTTP/1.1\r\nHost: localhost\r\n", "200"),
    ] {
        let stream = TcpStream::connect(stack.address).await.expect("gateway");
        let answer = exchange(stream, &format!("{head}Connection: close\r\n\r\n")).await;
        let start = format!("HTTP/1.1 {status}");
        assert!(answer.starts_with(&start), "{head}: {answer}");
    }
}

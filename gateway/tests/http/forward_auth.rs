//! Responses to the requests of other proxies, in the forms in which these send them. The shapes of Traefik
//! and Envoy are those that their own code sends; neither is a Debian package.
use http::{Method, StatusCode, header};
use serde_json::json;

use crate::support::{
    browser::{Browser, Page},
    handover::{open_app, pass_over},
    log::Log,
    stack::{APP, APP_HOST, MAIN, MAIN_HOST, Stack, Wanted},
};

/// A gateway that believes the proxies of this machine, and an app that such a one serves.
async fn asked() -> Stack {
    Stack::start(Wanted {
        gateway: json!({ "trusted_proxies": ["127.0.0.0/8"] }),
        ..Wanted::default()
    })
    .await
}

/// A browser with a session of the app's host too.
async fn app_client(stack: &Stack, roles: &[&str]) -> Browser {
    let (mut browser, _) = stack.signed_in(roles).await;
    open_app(&mut browser, APP, "/").await;
    browser
}

/// The question of a proxy at `address` with the cookies of a browser at the app's host.
async fn ask(browser: &Browser, url: &str, host: &str, headers: &[(&str, &str)]) -> Page {
    let cookies = browser.cookie_line(APP_HOST);
    let mut all = vec![("cookie", cookies.as_str())];
    all.extend_from_slice(headers);
    browser.raw_host(url, host, &all).await
}

/// The header that identifies a proxy that asks by itself.
const PROXY_HEADER: (&str, &str) = ("sec-portico-forward-auth", "1");
const AUTH: &str = "http://portico.internal:8080/oauth2/auth";
const REDIRECT: &str = "http://portico.internal:8080/oauth2/auth/redirect";
const TRAEFIK: &[(&str, &str)] = &[
    ("x-forwarded-for", "192.0.2.7"),
    ("x-forwarded-host", "prometheus.apps.localhost:8080"),
    ("x-forwarded-method", "GET"),
    ("x-forwarded-proto", "http"),
    ("x-forwarded-uri", "/graph?g0.expr=up"),
];

#[tokio::test]
async fn every_kind_of_proxy_gets_the_same_answer() {
    let stack = asked().await;
    let client = app_client(&stack, &["k8s_admin"]).await;
    let anonymous = Browser::new(stack.address);
    for (host, sent) in [
        // Traefik and Caddy: under our own or an internal name
        ("portico.internal:8080", TRAEFIK),
        ("localhost:8080", TRAEFIK),
        // nginx, with the app's own name and the headers of its samples
        (
            "prometheus.apps.localhost",
            &[("x-original-uri", "/graph")][..],
        ),
        (
            "portico.internal",
            &[
                (
                    "x-original-url",
                    "http://prometheus.apps.localhost/graph?a=b",
                ),
                ("x-original-method", "GET"),
            ],
        ),
        ("prometheus.apps.localhost", &[]),
    ] {
        let answer = ask(&client, AUTH, host, sent).await;
        assert_eq!(answer.status, StatusCode::ACCEPTED, "{host} {sent:?}");
        assert_eq!(answer.headers["x-auth-request-user"], "u1");
        assert_eq!(
            answer.headers["x-auth-request-preferred-username"],
            "ada@Default"
        );
        assert_eq!(answer.headers[header::CACHE_CONTROL], "no-store");
        let answer = ask(&anonymous, AUTH, host, sent).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{host} {sent:?}");
        assert!(!answer.headers.contains_key(header::LOCATION));
        assert!(!answer.headers.contains_key(header::SET_COOKIE));
    }
}

#[tokio::test]
async fn roles_that_open_nothing_are_403_and_a_lost_store_is_503() {
    let stack = asked().await;
    let (browser, _) = stack.signed_in(&["k8s_viewer"]).await;
    let main = browser.cookie_line(MAIN_HOST);
    let headers = [("cookie", main.as_str())];
    let url = format!("{MAIN}/oauth2/auth?app=prometheus");
    let answer = browser.raw_host(&url, "localhost:8080", &headers).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    let answer = browser
        .raw_host(&format!("{MAIN}/oauth2/auth?app=x"), "localhost", &headers)
        .await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    let url = format!("{MAIN}/oauth2/auth?app=prometheus&app=x");
    let answer = browser.raw_host(&url, "localhost", &headers).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    let (fresh, _) = stack.signed_in(&["k8s_admin"]).await;
    stack.store.close().await;
    let cookie = fresh.cookie_line(MAIN_HOST);
    for endpoint in ["auth", "auth/redirect"] {
        let url = format!("{MAIN}/oauth2/{endpoint}?app=prometheus");
        let answer = fresh
            .raw_host(&url, "localhost", &[("cookie", &cookie)])
            .await;
        assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE, "{endpoint}");
        assert!(!answer.headers.contains_key(header::LOCATION));
    }
}

#[tokio::test]
async fn only_a_proxy_that_asks_about_a_page_of_the_app_gets_the_identity_for_the_app() {
    let stack = asked().await;
    let mut client = app_client(&stack, &["k8s_admin"]).await;
    client.set_cookie(APP_HOST, "theme", "dark");
    let host = "prometheus.apps.localhost";
    let sent = [
        ("x-forwarded-uri", "/graph"),
        ("x-forwarded-method", "GET"),
        PROXY_HEADER,
    ];
    let answer = ask(&client, AUTH, host, &sent).await;
    assert_eq!(answer.status, StatusCode::ACCEPTED);
    assert!(answer.headers.contains_key("portico-assertion"));
    assert_eq!(answer.headers[header::COOKIE], "theme=dark");
    // a script of the app's can send every header but this one
    let answer = ask(&client, AUTH, host, &sent[..2]).await;
    assert_eq!(answer.status, StatusCode::ACCEPTED);
    assert!(!answer.headers.contains_key("portico-assertion"));
    assert!(!answer.headers.contains_key(header::COOKIE));
    // a browser that calls the endpoint through the same proxy
    for uri in ["/oauth2/auth", "/oauth2/auth?x=/graph", "/oauth2"] {
        let sent = [("x-forwarded-uri", uri), PROXY_HEADER];
        let answer = ask(&client, AUTH, host, &sent).await;
        assert_eq!(answer.status, StatusCode::ACCEPTED);
        assert!(!answer.headers.contains_key("portico-assertion"), "{uri}");
        assert!(!answer.headers.contains_key(header::COOKIE), "{uri}");
    }
    let answer = ask(&client, AUTH, host, &[PROXY_HEADER]).await;
    assert!(!answer.headers.contains_key("portico-assertion"));

    let strict = Stack::start(Wanted::default()).await;
    let (mut browser, _) = strict.signed_in(&["k8s_admin"]).await;
    open_app(&mut browser, APP, "/").await;
    let answer = ask(&browser, AUTH, host, &sent).await;
    assert_eq!(answer.status, StatusCode::ACCEPTED);
    assert!(!answer.headers.contains_key("portico-assertion"));
    assert!(!answer.headers.contains_key(header::COOKIE));
}

#[tokio::test]
async fn a_page_is_redirected_to_sign_in_and_back_and_a_call_gets_401() {
    let stack = asked().await;
    let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
    let page = [("sec-fetch-mode", "navigate"), ("accept", "text/html")];
    let mut headers = TRAEFIK.to_vec();
    headers.extend_from_slice(&page);
    let answer = ask(&browser, REDIRECT, "portico.internal", &headers).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    assert_eq!(answer.headers.get_all(header::SET_COOKIE).iter().count(), 1);
    browser.keep_cookies(APP_HOST, &answer.headers);
    let there = answer.location();
    let back = pass_over(&mut browser, APP, there.as_str()).await;
    assert_eq!(back.location().as_str(), format!("{APP}/graph?g0.expr=up"));
    headers.push(PROXY_HEADER);
    let answer = ask(&browser, REDIRECT, "portico.internal", &headers).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert!(answer.headers.contains_key("portico-assertion"));

    let anonymous = Browser::new(stack.address);
    for call in [
        &[
            ("sec-fetch-mode", "cors"),
            ("sec-fetch-site", "same-origin"),
        ][..],
        &[("accept", "application/json")],
        &[("x-forwarded-method", "POST"), ("origin", APP)],
    ] {
        let mut headers: Vec<_> = TRAEFIK.to_vec();
        headers.retain(|(name, _)| call.iter().all(|(other, _)| other != name));
        headers.extend_from_slice(call);
        let answer = ask(&anonymous, REDIRECT, "portico.internal", &headers).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{call:?}");
        assert_eq!(answer.json()["error"], "signed_out");
    }
}

#[tokio::test]
async fn who_may_not_sees_why_on_a_page() {
    let stack = asked().await;
    let (mut browser, session) = stack.signed_in(&["k8s_viewer"]).await;
    let child = portico_store::NewChild {
        parent: session.id,
        kind: portico_store::ChildKind::App("prometheus".to_owned()),
        user_agent: String::new(),
        address: String::new(),
    };
    let created = stack
        .store
        .sessions()
        .create_child(&child, jiff::Timestamp::now())
        .await;
    let (secret, _) = created.expect("store").expect("child");
    let secret = secrecy::ExposeSecret::expose_secret(&secret).to_owned();
    browser.set_cookie(APP_HOST, "portico", &secret);
    let mut headers = TRAEFIK.to_vec();
    headers.push(("sec-fetch-mode", "navigate"));
    let answer = ask(&browser, REDIRECT, "portico.internal", &headers).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    assert!(answer.body.contains("You may not open Prometheus"));
    let answer = ask(&browser, AUTH, "portico.internal", &headers).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn envoy_asks_in_the_address_and_takes_200_for_a_yes() {
    // no trusted proxy: nothing has to be believed
    let stack = Stack::start(Wanted::default()).await;
    let client = app_client(&stack, &["k8s_admin"]).await;
    let trusting = asked().await;
    let envoys = app_client(&trusting, &["k8s_admin"]).await;
    let host = "prometheus.apps.localhost:8080";
    let prefix = "http://portico.internal/oauth2/ext_authz";
    for path in ["/", "/graph?g0.expr=up", "/a/b"] {
        let url = format!("{prefix}{path}");
        let answer = ask(&client, &url, host, &[PROXY_HEADER]).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
        assert!(!answer.headers.contains_key("portico-assertion"), "{path}");
        // Envoy replaces what is there: each header is, with nothing in it if need be
        let answer = ask(&envoys, &url, host, &[PROXY_HEADER]).await;
        for name in [
            "x-auth-request-email",
            "x-auth-request-groups",
            "authorization",
            "cookie",
        ] {
            assert_eq!(answer.headers[name], "", "{name}");
        }
        assert_ne!(answer.headers["portico-assertion"], "");
    }
    let anonymous = Browser::new(stack.address);
    let page = [("sec-fetch-mode", "navigate")];
    let answer = ask(&anonymous, &format!("{prefix}/graph?a=b"), host, &page).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    let there = answer.location();
    assert!(
        there
            .query()
            .expect("query")
            .contains("rd=%2Fgraph%3Fa%3Db")
    );
    // what names our own endpoints is a path of the app's, as everything behind the prefix is
    let answer = ask(&anonymous, &format!("{prefix}/oauth2/auth"), host, &[]).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    for path in ["//adm", "/a%2fb", "/a%5cb", "/a%00b"] {
        let answer = ask(&client, &format!("{prefix}{path}"), host, &[]).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{path}");
    }
}

#[tokio::test]
async fn an_error_page_begins_the_sign_in_and_comes_back_to_the_page() {
    let stack = asked().await;
    for (url, sent) in [
        // nginx: in place of the page
        (
            "/oauth2/sign_in",
            &[("x-auth-request-redirect", "/graph?a=b&a=c")][..],
        ),
        ("/oauth2/sign_in", &[("x-forwarded-uri", "/graph?a=b&a=c")]),
        // nginx: a redirect, unescaped
        ("/oauth2/start?rd=/graph?a=b&a=c", &[]),
        (
            "/oauth2/start?rd=http://prometheus.apps.localhost:8080/graph?a=b&a=c",
            &[],
        ),
        // ingress-nginx, and Traefik's errors middleware: escaped
        ("/oauth2/start?rd=%2Fgraph%3Fa%3Db%26a%3Dc", &[]),
        (
            "/oauth2/sign_in?rd=http%3A%2F%2Fprometheus.apps.localhost%3A8080%2Fgraph%3Fa%3Db%26a%3Dc",
            &[],
        ),
    ] {
        let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
        let mut headers = vec![("sec-fetch-mode", "navigate")];
        headers.extend_from_slice(sent);
        let url = format!("{APP}{url}");
        let page = browser
            .send(Method::GET, &url, &headers, String::new())
            .await;
        assert_eq!(page.status, StatusCode::SEE_OTHER, "{url}");
        // under Traefik's status of the error only the page itself leads on
        let target = page.location();
        let refresh = page.headers["refresh"].to_str().expect("text");
        assert_eq!(refresh, format!("0; url={target}"));
        let back = pass_over(&mut browser, APP, target.as_str()).await;
        assert_eq!(
            back.location().as_str(),
            format!("{APP}/graph?a=b&a=c"),
            "{url}"
        );
        // a user with a session is redirected at once
        let page = browser
            .send(Method::GET, &url, &headers, String::new())
            .await;
        assert_eq!(page.location().as_str(), format!("{APP}/graph?a=b&a=c"));
    }
    let mut anonymous = Browser::new(stack.address);
    let call = [
        ("accept", "application/json"),
        ("x-forwarded-uri", "/graph"),
    ];
    let url = format!("{APP}/oauth2/sign_in");
    let answer = anonymous
        .send(Method::GET, &url, &call, String::new())
        .await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    let posted = [
        ("x-forwarded-method", "POST"),
        ("x-forwarded-uri", "/graph"),
    ];
    let answer = anonymous
        .send(Method::GET, &url, &posted, String::new())
        .await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn sign_in_on_the_main_host_leads_to_an_app_by_its_full_address() {
    let stack = asked().await;
    let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
    for rd in [
        "http://prometheus.apps.localhost:8080/graph?a=b&a=c",
        "http%3A%2F%2Fprometheus.apps.localhost%3A8080%2Fgraph%3Fa%3Db%26a%3Dc",
    ] {
        let page = browser.open(&format!("{MAIN}/oauth2/start?rd={rd}")).await;
        let step = page.location();
        assert_eq!(step.path(), "/oauth2/open", "{rd}");
        let page = browser.open(step.as_str()).await;
        assert_eq!(page.location().as_str(), format!("{APP}/graph?a=b&a=c"));
    }
    for rd in [
        "http://prometheus.apps.localhost:8080@evil.example/",
        "http://prometheus.apps.localhost:8080.evil.example/",
        "http://prometheus.apps.localhost/graph",
        "http://grafana.apps.localhost:8080/",
    ] {
        let page = browser.open(&format!("{MAIN}/oauth2/start?rd={rd}")).await;
        assert_eq!(page.location().as_str(), format!("{MAIN}/"), "{rd}");
    }
}

#[tokio::test]
async fn signing_in_for_a_proxy_that_loses_the_cookie_ends_with_a_page() {
    let stack = asked().await;
    let mut client = app_client(&stack, &["k8s_admin"]).await;
    let url = format!("{APP}/oauth2/sign_in?rd=/graph");
    let mut last = StatusCode::SEE_OTHER;
    for _ in 0..8 {
        last = client.open(&url).await.status;
        if last != StatusCode::SEE_OTHER {
            break;
        }
    }
    assert_eq!(last, StatusCode::LOOP_DETECTED);
}

#[tokio::test]
async fn an_app_that_another_proxy_serves_has_its_own_host_and_nothing_of_it_is_served_here() {
    let stack = Stack::start(Wanted {
        gateway: json!({ "trusted_proxies": ["127.0.0.0/8"] }),
        app: json!({ "forward_auth": true, "host": "grafana.localhost:9443" }),
        ..Wanted::default()
    })
    .await;
    let app = "http://grafana.localhost:9443";
    let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
    let page = browser.open(&format!("{app}/oauth2/sign_in?rd=/d")).await;
    let back = pass_over(&mut browser, app, page.location().as_str()).await;
    assert_eq!(back.location().as_str(), format!("{app}/d"));
    let answer = browser.open(&format!("{app}/oauth2/auth")).await;
    assert_eq!(answer.status, StatusCode::ACCEPTED, "the control case");
    let page = browser.open(&format!("{app}/d")).await;
    assert_eq!(page.status, StatusCode::MISDIRECTED_REQUEST);
    assert!(page.body.contains("Another proxy serves Prometheus"));
    assert_eq!(stack.app.asked(), 0);
    let page = browser.open(&format!("{APP}/d")).await;
    assert_eq!(page.status, StatusCode::MISDIRECTED_REQUEST);
}

#[tokio::test]
async fn a_change_or_a_socket_that_another_page_asks_for_is_refused() {
    let stack = asked().await;
    let client = app_client(&stack, &["k8s_admin"]).await;
    let host = "prometheus.apps.localhost";
    for (headers, status) in [
        (&[("x-forwarded-method", "POST"), ("origin", APP)][..], 202),
        (
            &[
                ("x-forwarded-method", "POST"),
                ("origin", "https://evil.example"),
            ],
            403,
        ),
        (&[("x-forwarded-method", "POST"), ("origin", MAIN)], 403),
        (&[("x-forwarded-method", "POST")], 403),
        (
            &[
                ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
                ("origin", APP),
            ],
            202,
        ),
        (
            &[
                ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
                ("origin", "https://evil.example"),
            ],
            403,
        ),
        (
            &[
                ("sec-fetch-site", "same-site"),
                ("sec-fetch-mode", "no-cors"),
            ],
            403,
        ),
    ] {
        let answer = ask(&client, AUTH, host, headers).await;
        assert_eq!(answer.status.as_u16(), status, "{headers:?}");
    }
}

#[tokio::test]
async fn rules_need_a_proxy_that_sends_path_and_method() {
    let stack = Stack::start(Wanted {
        gateway: json!({ "trusted_proxies": ["127.0.0.0/8"] }),
        app: json!({ "rules": [{
            "name": "kept", "effect": "deny", "paths": ["/kept/"], "methods": ["DELETE"],
        }] }),
        ..Wanted::default()
    })
    .await;
    let client = app_client(&stack, &["k8s_admin"]).await;
    for (sent, status) in [
        (
            &[
                ("x-forwarded-uri", "/kept/x"),
                ("x-forwarded-method", "GET"),
            ][..],
            202,
        ),
        (
            &[("x-original-uri", "/kept/x"), ("x-original-method", "POST")],
            202,
        ),
        (
            &[
                ("x-forwarded-uri", "/kept/x"),
                ("x-forwarded-method", "DELETE"),
            ],
            403,
        ),
        (&[("x-forwarded-uri", "/kept/x")], 403),
        (&[("x-forwarded-method", "GET")], 403),
        (&[], 403),
    ] {
        let mut headers = vec![("origin", APP)];
        headers.extend_from_slice(sent);
        let answer = ask(&client, AUTH, "prometheus.apps.localhost", &headers).await;
        assert_eq!(answer.status.as_u16(), status, "{sent:?}");
    }
}

#[tokio::test]
async fn finding_s13_an_unknown_method_is_refused() {
    let without_rules = asked().await;
    let naming_purge = Stack::start(Wanted {
        gateway: json!({ "trusted_proxies": ["127.0.0.0/8"] }),
        app: json!({ "rules": [{
            "name": "cache", "effect": "deny", "paths": ["/kept/"], "methods": ["PURGE"],
        }] }),
        ..Wanted::default()
    })
    .await;
    for (stack, purge) in [(&without_rules, 403), (&naming_purge, 202)] {
        let client = app_client(stack, &["k8s_admin"]).await;
        for (method, status) in [
            ("GET", 202),
            ("POST", 202),
            ("PATCH", 202),
            ("PROPFIND", 202),
            ("REPORT", 202),
            ("PURGE", purge),
            ("get", 403),
            ("Post", 403),
            ("FOO", 403),
            ("CONNECT", 403),
        ] {
            for (name, url) in [("x-forwarded-method", AUTH), ("x-original-method", AUTH)] {
                let headers = [("origin", APP), ("x-forwarded-uri", "/x"), (name, method)];
                let answer = ask(&client, url, "prometheus.apps.localhost", &headers).await;
                assert_eq!(answer.status.as_u16(), status, "{method}");
            }
            let headers = [
                ("origin", APP),
                ("x-forwarded-uri", "/x"),
                ("x-forwarded-method", method),
            ];
            let answer = ask(&client, REDIRECT, "prometheus.apps.localhost", &headers).await;
            let open = if status == 202 { 200 } else { 403 };
            assert_eq!(answer.status.as_u16(), open, "{method}");
        }
    }
}

#[tokio::test]
async fn finding_s13_scripts_and_upgrades_without_a_session_get_401() {
    let stack = asked().await;
    let anonymous = Browser::new(stack.address);
    let script = ("x-requested-with", "XMLHttpRequest");
    let upgrade = [
        ("connection", "Upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];
    for (base, host) in [
        (MAIN, "localhost:8080"),
        (APP, "prometheus.apps.localhost:8080"),
    ] {
        let url = format!("{base}/projects/p1");
        let page = ("accept", "text/html");
        let answer = anonymous.raw_host(&url, host, &[page]).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "the control case");
        let answer = anonymous.raw_host(&url, host, &[page, script]).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{base}: a script");
        let mut headers = vec![page, ("origin", base)];
        headers.extend_from_slice(&upgrade);
        let answer = anonymous.raw_host(&url, host, &headers).await;
        assert_eq!(
            answer.status,
            StatusCode::UNAUTHORIZED,
            "{base}: an upgrade"
        );
    }
    // and where another proxy asks
    let with = |more: &[(&'static str, &'static str)]| {
        let mut headers = TRAEFIK.to_vec();
        headers.push(("accept", "text/html"));
        headers.extend_from_slice(more);
        headers
    };
    let host = "portico.internal:8080";
    let answer = anonymous.raw_host(REDIRECT, host, &with(&[])).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "the control case");
    let answer = anonymous.raw_host(REDIRECT, host, &with(&[script])).await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "a script");
    let socket = [
        ("origin", APP),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];
    let answer = anonymous.raw_host(REDIRECT, host, &with(&socket)).await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "a WebSocket");
}

#[tokio::test]
async fn the_access_log_has_the_request_that_was_asked_about() {
    let log = Log::start();
    let stack = asked().await;
    let anonymous = Browser::new(stack.address);
    ask(&anonymous, AUTH, "portico.internal", TRAEFIK).await;
    let line = log.decision("/oauth2/auth");
    assert_eq!(line["asked"], format!("GET {APP}/graph"));
    assert_eq!(line["client"], "192.0.2.7");
    assert_eq!(line["rule"], "signed_out");
    assert!(!log.text().contains("g0.expr"));
}

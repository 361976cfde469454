//! 108 and 109: a trusted app under a path of the panel's host.
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::{
    raw::exchange,
    support::{
        browser::Browser,
        raw::{Act, Raw, Script},
        stack::{MAIN, MAIN_HOST, Stack, Wanted},
    },
};

async fn at_grafana(app: Value) -> Stack {
    let mut section = json!({ "path": "/grafana", "trusted": true });
    for (key, value) in app.as_object().expect("object") {
        section[key] = value.clone();
    }
    Stack::start(Wanted {
        app: section,
        ..Wanted::default()
    })
    .await
}

/// The claims of the assertion that an upstream has returned, and whether it got a token.
fn identity(echo: &Value) -> (Value, bool) {
    let headers = echo["headers"].as_array().expect("headers");
    let value = |name: &str| {
        let pair = headers.iter().find(|pair| pair[0] == name)?;
        pair[1].as_str()
    };
    let assertion = value("portico-assertion").expect("an assertion");
    let claims = assertion.split('.').nth(1).expect("claims");
    let claims = URL_SAFE_NO_PAD.decode(claims).expect("base64");
    let claims = serde_json::from_slice(&claims).expect("JSON");
    (claims, value("portico-token").is_some())
}

#[tokio::test]
async fn attack_108_no_spelling_of_a_path_leads_from_an_app_to_the_panel_or_back() {
    for strip in [json!({}), json!({ "strip_prefix": "/grafana" })] {
        let stack = at_grafana(json!({ "upstream": strip })).await;
        let (admin, _) = stack.signed_in(&["k8s_admin"]).await;
        let (viewer, _) = stack.signed_in_as("u2", "vic", &["k8s_viewer"]).await;
        let get = async |browser: &Browser, target: &str| {
            let request = format!(
                "GET {target} HTTP/1.1\r\nHost: localhost:8080\r\nSec-Fetch-Mode: cors\r\n\
                 Sec-Fetch-Site: same-origin\r\nCookie: {}\r\nConnection: close\r\n\r\n",
                browser.cookie_line(MAIN_HOST)
            );
            exchange(stack.address, request.as_bytes()).await
        };
        for target in [
            "/grafana/../projects/p1",
            "/grafana/..;/projects/p1",
            "/grafana/%2e%2e/projects/p1",
            "/grafana/..%2fprojects",
            "/grafana/%252e%252e/projects",
            "/grafana%2fx",
            "/grafana%5cx",
            "/grafana\\x",
            "/x/../grafana/d",
            "/./grafana/d",
            "//grafana/d",
            "//localhost/grafana/d",
        ] {
            for browser in [&admin, &viewer] {
                let answer = get(browser, target).await;
                assert!(matches!(answer.status, 400 | 421), "{target}: {answer:?}");
            }
        }
        assert_eq!((stack.app.asked(), stack.panel.asked()), (0, 0));
        // what only looks like the app's path is the panel's, for all clients
        for target in [
            "/Grafana/d",
            "/grafana2",
            "/grafana;x/d",
            "/grafana./d",
            "/grafana%20/d",
            "/%67rafana/d",
            "/x/grafana/d",
        ] {
            for browser in [&admin, &viewer] {
                let answer = get(browser, target).await;
                assert_eq!(answer.status, 200, "{target}: {answer:?}");
                let (claims, _) = identity(&answer.json());
                assert_eq!(claims["aud"], "panel", "{target}");
            }
        }
        assert_eq!(stack.app.asked(), 0);
        let of_panel = stack.panel.asked();
        for target in [
            "/grafana",
            "/grafana/",
            "/grafana/d?x=/../..",
            "/grafana/%67",
        ] {
            let answer = get(&viewer, target).await;
            assert_eq!(answer.status, 403, "{target}: {answer:?}");
            // the control case; the assertion is for this app, and no token of the panel's comes
            let answer = get(&admin, target).await;
            assert_eq!(answer.status, 200, "{target}: {answer:?}");
            let (claims, token) = identity(&answer.json());
            assert_eq!(claims["aud"], "prometheus", "{target}");
            assert!(!token, "{target}: the app got a token");
        }
        assert_eq!((stack.app.asked(), stack.panel.asked()), (4, of_panel));
    }
}

const HOSTILE: Script = |_, _| {
    Act::Answer(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/javascript\r\nService-Worker-Allowed: /\r\n\
          Set-Cookie: a=1; Path=/\r\nSet-Cookie: b=2; Path=/projects; Domain=localhost\r\n\
          Set-Cookie: c=3; Path=/grafana/x; Path=/\r\nSet-Cookie: portico=stolen; Path=/\r\n\
          Set-Cookie: __Host-portico=stolen; Path=/; Secure\r\n\
          Set-Cookie: __Host-x=4; Path=/; Secure\r\nSet-Cookie: =portico=stolen\r\n\
          Portico-Assertion: forged\r\nContent-Length: 2\r\n\r\nok",
    )
};

#[tokio::test]
async fn attack_109_what_an_app_sets_or_installs_stays_below_its_path() {
    let raw = Raw::start(HOSTILE).await;
    let stack = at_grafana(json!({ "url": raw.url() })).await;
    let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
    let session = browser.cookie_line(MAIN_HOST);
    let page = browser
        .call(Method::GET, &format!("{MAIN}/grafana/"), "")
        .await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    let lines: Vec<&str> = page
        .headers
        .get_all("set-cookie")
        .iter()
        .map(|line| line.to_str().expect("text"))
        .collect();
    assert_eq!(
        lines,
        [
            "a=1; Path=/grafana",
            "b=2; Path=/grafana",
            "c=3; Path=/grafana"
        ]
    );
    for name in ["service-worker-allowed", "portico-assertion"] {
        assert!(!page.headers.contains_key(name), "{name}");
    }
    for name in ["a", "b", "c"] {
        browser.forget_cookie(MAIN_HOST, name);
    }
    assert_eq!(browser.cookie_line(MAIN_HOST), session);

    // a worker's script at the path itself would have the whole host for its scope
    let before = raw.seen().len();
    let worker = [
        ("service-worker", "script"),
        ("sec-fetch-dest", "serviceworker"),
        ("sec-fetch-mode", "same-origin"),
        ("sec-fetch-site", "same-origin"),
    ];
    for path in ["/grafana", "/grafana?sw.js"] {
        let url = format!("{MAIN}{path}");
        let page = browser
            .send(Method::GET, &url, &worker, String::new())
            .await;
        assert_eq!(page.status, StatusCode::FORBIDDEN, "{path}: {}", page.body);
        assert_eq!(page.json()["error"], "service_worker");
    }
    assert_eq!(raw.seen().len(), before, "the app was asked");
    // the control cases: a script below the path, and the path without a worker
    for (path, headers) in [("/grafana/sw.js", &worker[..]), ("/grafana", &worker[2..])] {
        let url = format!("{MAIN}{path}");
        let page = browser
            .send(Method::GET, &url, headers, String::new())
            .await;
        assert_eq!(page.status, StatusCode::OK, "{path}: {}", page.body);
        assert!(!page.headers.contains_key("service-worker-allowed"));
    }
}

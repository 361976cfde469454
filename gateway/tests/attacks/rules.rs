//! 27, 28 and 30 to 40: requests that try to be decided on as something else than what they are.
use http::{Method, StatusCode};
use serde_json::json;

use crate::{
    path_confusion,
    raw::{Answer, exchange},
    support::{
        browser::Browser,
        stack::{APP, APP_HOST, MAIN_HOST, Stack, Wanted},
    },
};

async fn with_rules(rules: serde_json::Value) -> Stack {
    Stack::start(Wanted {
        app: json!({ "rules": rules }),
        ..Wanted::default()
    })
    .await
}

/// A developer's request, byte for byte but for the cookie and the end.
async fn send(stack: &Stack, head: &str) -> Answer {
    let (_, session) = stack.signed_in(&["k8s_developer"]).await;
    let cookies = stack.on_the_app(&session).await.cookie_line(APP_HOST);
    let request =
        format!("{head}Sec-Fetch-Mode: cors\r\nConnection: close\r\nCookie: {cookies}\r\n\r\n");
    exchange(stack.address, request.as_bytes()).await
}

async fn anonymous(stack: &Stack, head: &str) -> Answer {
    let request = format!("{head}Sec-Fetch-Mode: cors\r\nConnection: close\r\n\r\n");
    exchange(stack.address, request.as_bytes()).await
}

fn host(name: &str) -> String {
    format!("Host: {name}:8080\r\n")
}

#[tokio::test]
async fn attack_27_a_query_satisfies_no_rule() {
    let stack = path_confusion::stack().await;
    let own = host(APP_HOST);
    for target in [
        "/private?path=/open/",
        "/private?/open/x",
        "/private?x=1&next=/open/",
    ] {
        let answer = anonymous(&stack, &format!("GET {target} HTTP/1.1\r\n{own}")).await;
        assert_eq!(answer.status, 401, "{target}");
    }
    let answer = anonymous(
        &stack,
        &format!("GET /open/x?path=/private HTTP/1.1\r\n{own}"),
    )
    .await;
    assert_eq!(
        (answer.status, answer.json()["target"].as_str()),
        (200, Some("/open/x?path=/private"))
    );
}

#[tokio::test]
async fn attack_28_a_fragment_is_not_a_part_of_the_request() {
    let stack = with_rules(json!([
        { "name": "bars", "effect": "public", "paths": ["regex:^/foo/.*/bar$"] },
    ]))
    .await;
    let own = host(APP_HOST);
    // cut off before anything is decided, for rule and app alike
    let answer = anonymous(&stack, &format!("GET /foo/secret#/bar HTTP/1.1\r\n{own}")).await;
    assert_eq!(answer.status, 401);
    let answer = send(&stack, &format!("GET /foo/secret#/bar HTTP/1.1\r\n{own}")).await;
    assert_eq!(
        (answer.status, answer.json()["target"].as_str()),
        (200, Some("/foo/secret"))
    );
    // encoded it is a letter of the name, and for an app that decodes first the end of the path:
    // what is open must be so either way
    for encoded in ["%23", "%3f", "%3F", "%2523"] {
        let request = format!("GET /foo/secret{encoded}/bar HTTP/1.1\r\n{own}");
        assert_eq!(anonymous(&stack, &request).await.status, 401, "{encoded}");
        let answer = send(&stack, &request).await;
        assert_eq!(
            (answer.status, answer.json()["target"].as_str()),
            (200, Some(&*format!("/foo/secret{encoded}/bar")))
        );
    }
    // the control case
    let answer = anonymous(&stack, &format!("GET /foo/open/bar HTTP/1.1\r\n{own}")).await;
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn attack_30_slashes_are_never_read_as_an_authority() {
    let stack = path_confusion::stack().await;
    for target in [
        "//evil.example/open/x",
        "//prometheus.apps.localhost/adm/x",
        "/%2Fadm",
        "/\\adm",
        "/app%5c..%5cadm",
    ] {
        let answer = send(
            &stack,
            &format!("GET {target} HTTP/1.1\r\n{}", host(APP_HOST)),
        )
        .await;
        assert_eq!(answer.status, 400, "{target}");
    }
    assert_eq!(stack.app.asked(), 0);
    let answer = send(&stack, &format!("GET /app HTTP/1.1\r\n{}", host(APP_HOST))).await;
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn attack_32_target_and_host_name_the_same_place_or_none() {
    let stack = path_confusion::stack().await;
    let (own, host_of_main) = (host(APP_HOST), host(MAIN_HOST));
    for (target, host) in [
        ("http://other.example/open/x", own.clone()),
        ("http://localhost:8080/open/x", own.clone()),
        (
            "http://user@prometheus.apps.localhost:8080/open/x",
            own.clone(),
        ),
        (
            "http://prometheus.apps.localhost:8080/open/x",
            host_of_main.clone(),
        ),
        (
            "http://prometheus.apps.localhost:8080/open/x",
            format!("{own}{own}"),
        ),
        ("/open/x", format!("{own}Host: localhost:8080\r\n")),
        ("/open/x", String::new()),
    ] {
        let answer = anonymous(&stack, &format!("GET {target} HTTP/1.1\r\n{host}")).await;
        assert!(
            [400, 421].contains(&answer.status),
            "{target} {host}: {}",
            answer.status
        );
    }
    let absolute = "http://prometheus.apps.localhost:8080";
    let answer = send(&stack, &format!("GET {absolute}/adm/x HTTP/1.1\r\n{own}")).await;
    assert_eq!(
        answer.status, 403,
        "the rule is asked about the path of the target"
    );
    assert_eq!(stack.app.asked(), 0);
    let answer = anonymous(&stack, &format!("GET {absolute}/open/x HTTP/1.1\r\n{own}")).await;
    assert_eq!(
        (answer.status, answer.json()["target"].as_str()),
        (200, Some("/open/x"))
    );
}

#[tokio::test]
async fn attack_33_a_host_in_another_spelling_has_the_same_rules() {
    let stack = path_confusion::stack().await;
    for name in [
        "PROMETHEUS.apps.localhost:8080",
        "Prometheus.Apps.LocalHost",
        "prometheus.apps.localhost.:8080",
        "prometheus.apps.localhost:1",
    ] {
        let answer = send(&stack, &format!("GET /adm/x HTTP/1.1\r\nHost: {name}\r\n")).await;
        assert_eq!(answer.status, 403, "{name}");
        let answer = anonymous(&stack, &format!("GET /open/x HTTP/1.1\r\nHost: {name}\r\n")).await;
        assert_eq!(answer.status, 200, "{name}");
    }
    for name in [
        "prometheus.apps.localhost..",
        "xprometheus.apps.localhost",
        "prometheus%2eapps.localhost",
        "apps.localhost",
    ] {
        let answer = send(&stack, &format!("GET /open/x HTTP/1.1\r\nHost: {name}\r\n")).await;
        assert!(
            [400, 421].contains(&answer.status),
            "{name}: {}",
            answer.status
        );
    }
}

#[tokio::test]
async fn attack_34_control_bytes_reach_no_decision() {
    let stack = path_confusion::stack().await;
    let own = host(APP_HOST);
    for byte in (0..=0x1f_u8)
        .chain([0x7f])
        .filter(|byte| ![b'\r', b'\n'].contains(byte))
    {
        for request in [
            [
                b"GET /open/x",
                &[byte][..],
                b" HTTP/1.1\r\n",
                own.as_bytes(),
            ]
            .concat(),
            [
                b"GET /open/x HTTP/1.1\r\nHost: prometheus",
                &[byte][..],
                b".apps.localhost\r\n",
            ]
            .concat(),
        ] {
            let request = [&request[..], b"Connection: close\r\n\r\n"].concat();
            let answer = exchange(stack.address, &request).await;
            assert!(
                [400, 421].contains(&answer.status),
                "{byte:#x}: {}",
                answer.status
            );
        }
        let answer = anonymous(&stack, &format!("GET /open/%{byte:02x} HTTP/1.1\r\n{own}")).await;
        assert_eq!(answer.status, 400, "%{byte:02x}");
    }
    assert_eq!(stack.app.asked(), 0);
    assert_eq!(
        anonymous(&stack, &format!("GET /open/a%20b HTTP/1.1\r\n{own}"))
            .await
            .status,
        200
    );
}

#[tokio::test]
async fn attack_35_the_real_method_counts_despite_any_header() {
    let stack = with_rules(json!([{
        "name": "writes", "effect": "deny", "methods": ["POST", "DELETE"],
        "except": { "who": [{ "role": "k8s_admin", "project": "$app" }] },
    }]))
    .await;
    let own = format!("{}Origin: {APP}\r\n", host(APP_HOST));
    for method in ["POST", "post", "Delete", "dELETE"] {
        let answer = send(
            &stack,
            &format!("{method} /x HTTP/1.1\r\n{own}Content-Length: 0\r\n"),
        )
        .await;
        assert_eq!(answer.status, 403, "{method}");
    }
    assert_eq!(stack.app.asked(), 0);
    for header in [
        "X-HTTP-Method-Override",
        "X-HTTP-Method",
        "X-Method-Override",
        "X_HTTP_Method_Override",
    ] {
        let answer = send(
            &stack,
            &format!("GET /x?_method=DELETE HTTP/1.1\r\n{own}{header}: DELETE\r\n"),
        )
        .await;
        let echo = answer.json();
        assert_eq!((answer.status, echo["method"].as_str()), (200, Some("GET")));
        assert!(
            !answer.body.to_lowercase().contains("override"),
            "{header} went on"
        );
        assert!(
            !answer.body.to_lowercase().contains("x-http-method"),
            "{header} went on"
        );
    }
    let answer = send(
        &stack,
        &format!("CONNECT {APP_HOST}:8080 HTTP/1.1\r\n{own}"),
    )
    .await;
    assert!([400, 405].contains(&answer.status), "{}", answer.status);
}

#[tokio::test]
async fn attack_36_a_health_checks_name_opens_nothing() {
    let stack = with_rules(json!([
        { "name": "health", "effect": "public", "paths": ["/-/healthy"] },
    ]))
    .await;
    let own = host(APP_HOST);
    for agent in [
        "GoogleHC/1.0",
        "kube-probe/1.33",
        "ELB-HealthChecker/2.0",
        "Prometheus/2.53",
        "-",
    ] {
        for path in ["/graph", "/-/healthy/../graph", "/oauth2/auth"] {
            let answer = anonymous(
                &stack,
                &format!("GET {path} HTTP/1.1\r\n{own}User-Agent: {agent}\r\n"),
            )
            .await;
            assert!(
                // the last is asked about no path, which rules need
                [400, 401, 403].contains(&answer.status),
                "{agent} {path}: {}",
                answer.status
            );
        }
        let answer = anonymous(
            &stack,
            &format!("GET /-/healthy HTTP/1.1\r\n{own}User-Agent: {agent}\r\n"),
        )
        .await;
        assert_eq!(answer.status, 200, "{agent}");
    }
}

#[tokio::test]
async fn attack_37_options_opens_nothing_but_a_real_preflight() {
    let rules = json!([
        { "name": "api", "effect": "allow", "paths": ["/api/"], "methods": ["PUT"], "who": [{ "signed_in": true }], "preflight": true },
        { "name": "adm", "effect": "deny", "paths": ["/api/adm/"] },
    ]);
    let stack = with_rules(rules).await;
    let mut browser = Browser::new(stack.address);
    let page = ("origin", "https://ui.example.org");
    let sites = [("sec-fetch-mode", "cors"), ("sec-fetch-site", "cross-site")];
    let asks = |method: &'static str| ("access-control-request-method", method);
    let mut options = async |path: &str, headers: &[(&str, &str)], body: &str| {
        let headers: Vec<_> = headers.iter().chain(&sites).copied().collect();
        let url = format!("{APP}{path}");
        browser
            .send(Method::OPTIONS, &url, &headers, body.to_owned())
            .await
    };
    for (path, headers, body) in [
        ("/api/x", &[][..], ""),
        ("/api/x", &[page], ""),
        ("/api/x", &[asks("PUT")], ""),
        ("/api/x", &[page, asks("DELETE")], ""),
        ("/api/x", &[page, asks("PUT")], "a body"),
        ("/api/x", &[page, asks("PUT"), ("cookie", "portico=x")], ""),
        ("/other", &[page, asks("PUT")], ""),
        ("/api/adm/x", &[page, asks("PUT")], ""),
        ("/api;x/y", &[page, asks("PUT")], ""),
    ] {
        let answer = options(path, headers, body).await;
        assert!(
            [401, 403].contains(&answer.status.as_u16()),
            "{path} {headers:?}: {}",
            answer.status
        );
    }
    assert_eq!(stack.app.asked(), 0);
    let answer = options(
        "/api/x",
        &[
            page,
            asks("PUT"),
            ("x-remote-user", "admin"),
            ("authorization_", "x"),
        ],
        "",
    )
    .await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    assert_eq!(answer.json()["method"], "OPTIONS");
    for name in [
        "portico-assertion",
        "cookie",
        "authorization",
        "x-remote-user",
    ] {
        assert!(
            !answer.body.contains(&format!("\"{name}\"")),
            "{name}: {}",
            answer.body
        );
    }
    assert!(answer.body.contains("access-control-request-method"));
}

#[tokio::test]
async fn attack_38_a_rule_that_could_mean_two_things_stops_the_start() {
    for path in [
        "!=/open",
        "GET!=/open",
        "GET=/open",
        "/open/*",
        "^/open",
        "/open?x",
        "/a/../b",
    ] {
        let rules = json!([{ "name": "x", "effect": "public", "paths": [path] }]);
        let wanted = Wanted {
            app: json!({ "rules": rules }),
            ..Wanted::default()
        };
        let error = Stack::build(wanted)
            .await
            .err()
            .expect("refused")
            .to_string();
        assert!(error.contains(path) && error.contains("\"x\""), "{error}");
    }
    // an entry is one path, commas and all
    let stack = with_rules(json!([{ "name": "x", "effect": "public", "paths": ["/a,/b"] }])).await;
    let own = host(APP_HOST);
    for (path, status) in [("/a", 401), ("/b", 401), ("/a,/b", 200)] {
        let answer = anonymous(&stack, &format!("GET {path} HTTP/1.1\r\n{own}")).await;
        assert_eq!(answer.status, status, "{path}");
    }
}

#[tokio::test]
async fn attack_39_an_expression_is_matched_with_the_whole_path() {
    let stack = with_rules(json!([
        { "name": "x", "effect": "public", "paths": ["regex:/api", "regex:^/v[0-9]+/status|/other$"] },
    ]))
    .await;
    let own = host(APP_HOST);
    for (path, status) in [
        ("/api", 200),
        ("/x/api", 401),
        ("/api/x", 401),
        ("/v1/status", 200),
        ("/v1/status/x", 401),
        ("/x/other", 401),
        ("/other", 200),
    ] {
        let answer = anonymous(&stack, &format!("GET {path} HTTP/1.1\r\n{own}")).await;
        assert_eq!(answer.status, status, "{path}");
    }
}

#[tokio::test]
async fn attack_40_parameters_and_dots_at_the_end_of_a_name_are_under_the_same_rule() {
    let stack = path_confusion::stack().await;
    let own = host(APP_HOST);
    for (path, status) in [
        ("/adm;x=1/y", 403),
        ("/adm;/y", 403),
        ("/adm./y", 403),
        ("/adm%20/y", 403),
        ("/adm/.;/y", 400),
        ("/open/..;/adm/y", 400),
        ("/app;x=1", 200),
    ] {
        let answer = send(&stack, &format!("GET {path} HTTP/1.1\r\n{own}")).await;
        assert_eq!(answer.status, status, "{path}");
    }
    // what is public is so only without them
    for (path, status) in [("/open;x/y", 401), ("/open./y", 401), ("/open/y;x=1", 200)] {
        let answer = anonymous(&stack, &format!("GET {path} HTTP/1.1\r\n{own}")).await;
        assert_eq!(answer.status, status, "{path}");
    }
}

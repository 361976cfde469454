//! The client's address behind trusted proxies: what rules, logs and upstreams make of it.
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::support::{
    browser::{Browser, Page},
    log::Log,
    received_identity::header,
    stack::{APP, APP_HOST, Stack, Wanted},
};

/// A gateway behind a proxy, which is in the network that one rule opens, and that another closes.
async fn behind_a_proxy() -> Stack {
    Stack::start(Wanted {
        gateway: json!({ "trusted_proxies": ["127.0.0.0/8"] }),
        app: json!({ "rules": [
            { "name": "office", "effect": "public", "paths": ["/open/"],
              "networks": ["127.0.0.0/8", "6.6.6.0/24", "2001:db8::/64"] },
            { "name": "no guests", "effect": "deny", "paths": ["/closed/"],
              "networks": ["198.51.100.0/24"] },
            { "name": "but guests", "effect": "public", "paths": ["/closed/"] },
            { "name": "office only", "effect": "deny", "paths": ["/inner/"],
              "except": { "networks": ["127.0.0.0/8", "6.6.6.0/24"] } },
            { "name": "all within", "effect": "public", "paths": ["/inner/"] },
        ] }),
        ..Wanted::default()
    })
    .await
}

async fn get(stack: &Stack, path: &str, forwarded: Option<&str>) -> Page {
    let mut headers = vec![("accept", "application/json"), ("sec-fetch-mode", "cors")];
    headers.extend(forwarded.map(|line| ("x-forwarded-for", line)));
    Browser::new(stack.address)
        .send(
            Method::GET,
            &format!("{APP}{path}"),
            &headers,
            String::new(),
        )
        .await
}

const UNREADABLE: [&str; 6] = [
    "unknown",
    "_hidden",
    "6.6.6.6,",
    "6.6.6.6:x",
    "for=6.6.6.6",
    "",
];

#[tokio::test]
async fn finding_s2_a_hop_with_a_port_is_the_client_and_not_the_proxy() {
    let log = Log::start();
    let stack = behind_a_proxy().await;
    for (n, (hop, address)) in [
        ("6.6.6.6:1234", "6.6.6.6"),
        ("[2001:db8::6]:1234", "2001:db8::6"),
        ("[2001:db8::6]", "2001:db8::6"),
    ]
    .into_iter()
    .enumerate()
    {
        let path = format!("/open/{n}");
        let page = get(&stack, &path, Some(hop)).await;
        assert_eq!(page.status, StatusCode::OK, "{hop}: {}", page.body);
        assert_eq!(header(&page.json(), "x-forwarded-for"), [address]);
        assert_eq!(log.decision(&path)["client"], address);
    }
    let elsewhere = get(&stack, "/open/x", Some("203.0.113.5:1234")).await;
    assert_eq!(elsewhere.status, StatusCode::UNAUTHORIZED);
    let guest = get(&stack, "/closed/x", Some("198.51.100.7:1234")).await;
    assert_eq!(guest.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn finding_s2_to_an_unknown_client_networks_open_nothing_and_close_all() {
    let log = Log::start();
    let stack = behind_a_proxy().await;
    for (n, hop) in UNREADABLE.into_iter().enumerate() {
        let open = format!("/open/{n}");
        let answer = get(&stack, &open, Some(hop)).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{hop:?} opened");
        assert_eq!(log.decision(&open)["client"], "unknown", "{hop:?}");
        for path in ["/closed/x", "/inner/x"] {
            let answer = get(&stack, path, Some(hop)).await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{hop:?} at {path}");
        }
    }
    // control cases: the proxy for itself, and a client that is neither here nor there
    assert_eq!(get(&stack, "/open/own", None).await.status, StatusCode::OK);
    assert_eq!(get(&stack, "/inner/own", None).await.status, StatusCode::OK);
    let answer = get(&stack, "/closed/other", Some("203.0.113.5")).await;
    assert_eq!(answer.status, StatusCode::OK);
}

#[tokio::test]
async fn finding_s2_the_log_names_the_proxy_once_and_the_upstream_gets_unknown() {
    let log = Log::start();
    let stack = Stack::start(Wanted {
        gateway: json!({ "trusted_proxies": ["127.0.0.0/8"] }),
        app: json!({ "rules": [{ "name": "all", "effect": "public", "paths": ["prefix:/"] }] }),
        ..Wanted::default()
    })
    .await;
    for _ in 0..20 {
        let page = get(&stack, "/x", Some("_hidden")).await;
        assert_eq!(header(&page.json(), "x-forwarded-for"), ["unknown"]);
    }
    let text = log.text();
    let warnings: Vec<Value> = text
        .lines()
        .filter(|line| line.contains("X-Forwarded-For that cannot be read"))
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(warnings[0]["level"], "WARN");
    assert_eq!(warnings[0]["fields"]["proxy"], "127.0.0.1");
}

#[tokio::test]
async fn finding_s2_unknown_clients_have_a_limit_of_their_own() {
    let stack = Stack::start(Wanted {
        gateway: json!({ "trusted_proxies": ["127.0.0.0/8"] }),
        app: json!({
            "rules": [{ "name": "all", "effect": "public", "paths": ["prefix:/"] }],
            "limits": { "requests_per_second": 1, "burst": 3 },
        }),
        ..Wanted::default()
    })
    .await;
    for n in 0..20 {
        let hop = UNREADABLE[n % UNREADABLE.len()];
        let answer = get(&stack, "/x", Some(hop)).await;
        if answer.status == StatusCode::TOO_MANY_REQUESTS {
            // the proxy itself, and another client behind it
            for hop in [None, Some("192.0.2.7")] {
                let known = get(&stack, "/x", hop).await;
                assert_eq!(known.status, StatusCode::OK, "{hop:?}");
            }
            return;
        }
        assert_eq!(answer.status, StatusCode::OK);
    }
    panic!("unknown clients have no limit");
}

#[tokio::test]
async fn finding_s2_forward_auth_decides_by_the_same_address() {
    let stack = behind_a_proxy().await;
    let proxy = Browser::new(stack.address);
    let ask = async |path: &str, hop: &str| {
        let headers = [
            ("x-forwarded-uri", path),
            ("x-forwarded-method", "GET"),
            ("x-forwarded-for", hop),
            ("accept", "application/json"),
        ];
        let url = "http://portico.internal/oauth2/auth";
        proxy.raw_host(url, APP_HOST, &headers).await.status
    };
    assert_eq!(ask("/open/x", "6.6.6.6:1234").await, StatusCode::ACCEPTED);
    assert_eq!(ask("/closed/x", "6.6.6.6:1234").await, StatusCode::ACCEPTED);
    for hop in UNREADABLE.into_iter().filter(|hop| !hop.is_empty()) {
        let status = ask("/open/x", hop).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{hop:?} opened");
        let status = ask("/closed/x", hop).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{hop:?} is not closed");
    }
}

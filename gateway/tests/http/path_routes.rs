//! A trusted app under a path of the panel's host.
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::support::{
    browser::Browser,
    log::Log,
    stack::{APP, MAIN, MAIN_HOST, Stack, Wanted},
};

async fn at_grafana(upstream: Value) -> Stack {
    Stack::start(Wanted {
        app: json!({ "path": "/grafana", "trusted": true, "upstream": upstream }),
        ..Wanted::default()
    })
    .await
}

async fn get(browser: &mut Browser, path: &str) -> crate::support::browser::Page {
    browser
        .call(Method::GET, &format!("{MAIN}{path}"), "")
        .await
}

#[tokio::test]
async fn the_main_hosts_session_opens_it_and_the_panel_stays_where_it_is() {
    let log = Log::start();
    let stack = at_grafana(json!({})).await;
    assert!(log.text().contains("run on the panel's own origin"));
    let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
    for path in ["/grafana", "/grafana/", "/grafana/d/x?y=%2F"] {
        let page = get(&mut browser, path).await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.body);
        assert_eq!(page.json()["target"], path);
        assert!(page.body.contains("portico-assertion"));
        assert!(!page.body.contains("portico-token"), "{}", page.body);
    }
    let asked = (stack.app.asked(), stack.panel.asked());
    assert_eq!(asked, (3, 0));
    for path in ["/", "/grafana2", "/x/grafana", "/%67rafana"] {
        assert_eq!(get(&mut browser, path).await.json()["target"], path);
    }
    assert_eq!(stack.panel.asked(), 4);
    let page = browser.open(&format!("{APP}/")).await;
    assert_eq!(page.status, StatusCode::MISDIRECTED_REQUEST);
    let page = browser
        .open(&format!("{MAIN}/oauth2/handover?app=prometheus"))
        .await;
    assert_eq!(page.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn strangers_are_sent_to_sign_in_and_back_and_the_apps_rules_hold() {
    let stack = at_grafana(json!({})).await;
    let mut stranger = Browser::new(stack.address);
    let page = stranger.open(&format!("{MAIN}/grafana/d/x")).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER);
    let there = page.location();
    assert!(
        there
            .as_str()
            .starts_with(&format!("{MAIN}/oauth2/sign_in"))
    );
    assert!(there.as_str().ends_with("rd=%2Fgrafana%2Fd%2Fx"));
    let page = get(&mut stranger, "/grafana/api").await;
    assert_eq!(page.status, StatusCode::UNAUTHORIZED);
    let (mut viewer, _) = stack.signed_in(&["k8s_viewer"]).await;
    let page = viewer.open(&format!("{MAIN}/grafana/")).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN);
    assert!(page.body.contains("You may not open Prometheus"));
    let (mut admin, _) = stack.signed_in(&["k8s_admin"]).await;
    let url = format!("{MAIN}/grafana/api");
    let page = admin.submit("https://evil.example", &url, &[]).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN);
    assert_eq!(stack.app.asked(), 0);
    let page = admin.submit(MAIN, &url, &[("a", "b")]).await;
    assert_eq!(page.json()["body"], "a=b");
}

#[tokio::test]
async fn its_answers_reach_no_further_than_its_path() {
    let stack = at_grafana(json!({ "strip_prefix": "/grafana" })).await;
    let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
    let before = browser.cookie(MAIN_HOST, "portico").map(str::to_owned);
    let page = get(&mut browser, "/grafana/cookies").await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    let lines: Vec<_> = page.headers.get_all("set-cookie").iter().collect();
    assert_eq!(lines, ["theme=dark; Path=/grafana"]);
    for name in [
        "service-worker-allowed",
        "clear-site-data",
        "strict-transport-security",
    ] {
        assert!(!page.headers.contains_key(name), "{name}");
    }
    assert_eq!(browser.cookie(MAIN_HOST, "portico"), before.as_deref());
}

#[tokio::test]
async fn an_app_that_does_not_know_its_path_gets_the_rewritten_one() {
    let stack = at_grafana(json!({ "strip_prefix": "/grafana", "add_prefix": "/base" })).await;
    let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
    for (path, target) in [
        ("/grafana/d/x?y=%2F", "/base/d/x?y=%2F"),
        ("/grafana", "/base/"),
        ("/grafana?q", "/base/?q"),
    ] {
        let echo = get(&mut browser, path).await.json();
        assert_eq!(echo["target"], target);
        let headers = echo["headers"].to_string();
        assert!(
            headers.contains(r#"["x-forwarded-prefix","/grafana"]"#),
            "{headers}"
        );
    }
}

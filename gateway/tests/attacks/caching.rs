//! 89: a proxy in front that caches what it may.
use http::{StatusCode, header};
use portico_testkit::FrontProxy;
use serde_json::json;

use crate::support::{
    browser::Browser,
    fronts,
    handover::open_app,
    stack::{APP, APP_HOST, MAIN, MAIN_HOST, Stack, Wanted},
};

/// An upstream whose pages may be kept by any cache that wants to.
async fn keepable() -> std::net::SocketAddr {
    use axum::{Router, routing::any};
    let page = |headers: http::HeaderMap| async move {
        let who = headers
            .get("portico-assertion")
            .map_or("nobody", |value| value.to_str().expect("text"));
        (
            [(header::CACHE_CONTROL, "public, max-age=600")],
            who.to_owned(),
        )
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("port");
    let address = listener.local_addr().expect("address");
    let router = Router::new().fallback(any(page));
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

#[tokio::test]
async fn attack_89_a_caching_proxy_never_gives_one_persons_answer_to_another() {
    let upstream = keepable().await;
    let stack = Stack::start(Wanted {
        gateway: json!({ "trusted_proxies": ["127.0.0.0/8"] }),
        app: json!({ "url": format!("http://{upstream}") }),
        ..Wanted::default()
    })
    .await;
    let mut front = FrontProxy::reserve().expect("a port");
    let directory = front.directory().display().to_string();
    // keeps what it may, by the address alone, and asks with the cookies of the client that comes
    let http = format!(
        "proxy_cache_path {directory}/cache keys_zone=all:1m;\n\
         server {{\nlisten {};\nproxy_cache all;\nproxy_cache_key $host$request_uri;\n\
         proxy_cache_valid 200 202 303 10m;\nproxy_http_version 1.1;\n\
         add_header X-Kept $upstream_cache_status always;\n\
         location / {{ proxy_pass http://{}; proxy_set_header Host $host:8080; }}\n\
         location /bare/ {{ proxy_pass http://{upstream}; }}\n}}",
        front.address(),
        stack.address,
    );
    fronts::start_nginx(&mut front, &http);
    let mut people = Vec::new();
    for (id, name) in [("u1", "ada"), ("u2", "bob")] {
        let (mut browser, _) = stack.signed_in_as(id, name, &["k8s_admin"]).await;
        open_app(&mut browser, APP, "/").await;
        for host in [MAIN_HOST, APP_HOST] {
            browser.find(host, front.address());
        }
        people.push((id, name, browser));
    }
    for _ in 0..2 {
        let mut pages = Vec::new();
        for (id, name, browser) in &mut people {
            for url in [
                format!("{APP}/oauth2/auth"),
                format!("{APP}/oauth2/auth/redirect"),
                format!("{APP}/oauth2/ext_authz/x"),
                format!("{MAIN}/oauth2/auth?app=prometheus"),
            ] {
                let answer = browser.open(&url).await;
                assert!(answer.status.is_success(), "{url}: {}", answer.status);
                assert_eq!(answer.headers["x-auth-request-user"], *id, "{url}");
                assert_eq!(answer.headers[header::CACHE_CONTROL], "no-store");
                let vary = answer.headers[header::VARY].to_str().expect("text");
                assert!(vary.contains("Cookie"), "{vary}");
                assert_ne!(answer.headers["x-kept"], "HIT", "{url}");
            }
            let userinfo = browser.open(&format!("{MAIN}/oauth2/userinfo")).await;
            assert_eq!(userinfo.json()["name"], *name);
            let page = browser.open(&format!("{APP}/page")).await;
            assert_eq!(page.status, StatusCode::OK);
            assert_ne!(page.headers["x-kept"], "HIT", "an app's page was kept");
            pages.push(page.body);
        }
        assert_ne!(pages[0], pages[1], "one person's page was shown to another");
        let mut anonymous = Browser::new(front.address());
        for url in ["/page", "/oauth2/auth", "/oauth2/sign_in"] {
            let answer = anonymous.open(&format!("{APP}{url}")).await;
            assert!(
                !answer.status.is_success(),
                "{url} was served without a session"
            );
        }
    }
    // the control case: this nginx keeps what it may, and gives it to every client
    let mut anonymous = Browser::new(front.address());
    let url = format!("{MAIN}/bare/page");
    anonymous.open(&url).await;
    let kept = anonymous.open(&url).await;
    assert_eq!(kept.headers["x-kept"], "HIT");
}

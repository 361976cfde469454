//! Limits on attempts: reserved before anything is asked, by network.
use http::{Method, StatusCode, header};
use serde_json::{Value, json};

use crate::support::{
    browser::{Browser, Page},
    form::enter,
    forwarded::submit_from,
    stack::{MAIN, Stack, Wanted},
};

async fn behind_a_proxy() -> Stack {
    Stack::start(Wanted {
        gateway: json!({
            "trusted_proxies": ["127.0.0.0/8"],
            "keystone": { "refusal_time": "0s" },
        }),
        ..Wanted::default()
    })
    .await
}

#[tokio::test]
async fn finding_s3_an_outage_gives_the_places_back() {
    let stack = behind_a_proxy().await;
    let mut browser = Browser::new(stack.address);
    // more than an account, and than its network, may fail in a minute
    for n in 0..70 {
        let page = enter(&mut browser, "/", "ada", "x").await;
        assert_eq!(page.status, StatusCode::SERVICE_UNAVAILABLE, "attempt {n}");
    }
    for n in 0..40 {
        let headers = [("accept", "application/json"), ("x-auth-token", "gAAAA")];
        let url = format!("{MAIN}/api/v1/clusters");
        let answer = browser.send(Method::GET, &url, &headers, String::new());
        let status = answer.await.status;
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "token {n}");
    }
}

async fn start_device(stack: &Stack, address: &str) -> Page {
    let mut terminal = Browser::new(stack.address);
    let fields = [("client_id", "portico-cli")];
    submit_from(&mut terminal, address, "/oauth2/device", &fields).await
}

#[tokio::test]
async fn finding_s5_device_requests_of_one_ipv6_64_count_together() {
    let stack = behind_a_proxy().await;
    for n in 0..30 {
        let begun = start_device(&stack, &format!("2001:db8:1:2::{n:x}")).await;
        assert_eq!(begun.status, StatusCode::OK, "{n}: {}", begun.body);
    }
    let refused = start_device(&stack, "2001:db8:1:2:ffff::1").await;
    assert_eq!(refused.json()["error"], "slow_down");
    for other in ["2001:db8:1:3::1", "192.0.2.7"] {
        assert_eq!(start_device(&stack, other).await.status, StatusCode::OK);
    }
}

#[tokio::test]
async fn finding_s2_unknown_clients_use_up_their_own_limit_only() {
    let stack = behind_a_proxy().await;
    let mut refused = 0;
    for n in 0..40 {
        let hop = ["unknown", "_hidden", "192.0.2.7,"][n % 3];
        let begun = start_device(&stack, hop).await;
        refused += usize::from(begun.status != StatusCode::OK);
    }
    assert_eq!(refused, 10);
    for known in ["127.0.0.1", "192.0.2.7"] {
        assert_eq!(start_device(&stack, known).await.status, StatusCode::OK);
    }
}

#[tokio::test]
async fn finding_s3_guesses_at_user_codes_count_before_they_are_looked_up() {
    let stack = behind_a_proxy().await;
    let (browser, _) = stack.signed_in(&["k8s_admin"]).await;
    let cookie = browser.cookie_line("localhost");
    let guesses = (0..40).map(|n| {
        let (cookie, address) = (cookie.clone(), stack.address);
        tokio::spawn(async move {
            let url = format!("{MAIN}/oauth2/device?user_code=BBBB-BB{n:02}");
            let headers = [
                ("cookie", cookie.as_str()),
                ("sec-fetch-mode", "navigate"),
                ("accept", "text/html"),
            ];
            let mut browser = Browser::new(address);
            browser
                .send(Method::GET, &url, &headers, String::new())
                .await
        })
    });
    let mut looked_up = 0;
    for guess in guesses.collect::<Vec<_>>() {
        let page = guess.await.expect("answer");
        match page.status {
            StatusCode::NOT_FOUND => looked_up += 1,
            status => {
                assert_eq!(status, StatusCode::TOO_MANY_REQUESTS);
                assert!(page.headers.contains_key(header::RETRY_AFTER));
            }
        }
    }
    assert_eq!(looked_up, 10);
}

#[tokio::test]
async fn finding_s3_codes_cannot_be_guessed_by_decisions_about_them() {
    let stack = behind_a_proxy().await;
    let (mut browser, session) = stack.signed_in(&["k8s_admin"]).await;
    let csrf = secrecy::ExposeSecret::expose_secret(&session.csrf).to_owned();
    let url = format!("{MAIN}/oauth2/device/decision");
    let mut statuses = Vec::new();
    for n in 0..12 {
        let code = format!("BBBB-BB{n:02}");
        let fields = [
            ("csrf_token", csrf.as_str()),
            ("user_code", &code),
            ("decision", "deny"),
        ];
        statuses.push(browser.submit(MAIN, &url, &fields).await.status);
    }
    let (looked_up, refused) = statuses.split_at(10);
    assert!(
        looked_up
            .iter()
            .all(|status| *status == StatusCode::NOT_FOUND)
    );
    let too_many = StatusCode::TOO_MANY_REQUESTS;
    assert!(
        refused.iter().all(|status| *status == too_many),
        "{statuses:?}"
    );
}

#[tokio::test]
async fn a_code_that_a_terminal_waits_with_counts_as_no_guess() {
    let stack = behind_a_proxy().await;
    let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
    let device: Value = start_device(&stack, "192.0.2.7").await.json();
    let page = device["verification_uri_complete"].as_str().expect("URL");
    for _ in 0..15 {
        assert_eq!(browser.open(page).await.status, StatusCode::OK);
    }
}

//! Limits of sign-in against the real Keystone.
use std::time::{Duration, Instant};

use http::{Method, StatusCode, header};
use jiff::Timestamp;
use portico_testkit::{CountingProxy, KeystoneAdmin, TestEnv, TestUser};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};
use url::Url;

use crate::{
    keystone::{Running, running_for, running_with, totp},
    support::{
        browser::{Browser, Page},
        form::enter,
        forwarded::{enter_from, open_from, submit_from},
        stack::{APP, MAIN, Stack, Wanted},
    },
};

/// Behind a proxy that names the clients' addresses.
fn behind_a_proxy() -> Value {
    json!({
        "trusted_proxies": ["127.0.0.0/8"],
        "keystone": { "refusal_time": "0s" },
    })
}

fn unique(name: &str) -> String {
    format!("{name}-{}", uuid::Uuid::new_v4().simple())
}

fn wait_of(page: &Page) -> u64 {
    let wait = page.headers[header::RETRY_AFTER].to_str().expect("text");
    wait.parse().expect("seconds")
}

/// How many of the answers have which status.
fn count(all: &[StatusCode], status: StatusCode) -> usize {
    all.iter().filter(|one| **one == status).count()
}

#[tokio::test]
async fn finding_s3_guesses_at_once_ask_keystone_no_more_often_than_a_network_may_fail() {
    let env = TestEnv::load().expect("the stack's env file");
    let url = env.get("KEYSTONE_URL").expect("address");
    let kind = "POST /v3/auth/tokens";
    let keystone = CountingProxy::start(url, kind).await.expect("proxy");
    let stack = Stack::start(Wanted {
        keystone: &keystone.url(),
        gateway: json!({ "keystone": { "refusal_time": "0s" } }),
        ..Wanted::default()
    })
    .await;
    let guesses = (0..120).map(|_| {
        let address = stack.address;
        tokio::spawn(async move {
            let mut browser = Browser::new(address);
            enter(&mut browser, "/", &unique("guess"), "x").await.status
        })
    });
    let mut statuses = Vec::new();
    for guess in guesses.collect::<Vec<_>>() {
        statuses.push(guess.await.expect("answer"));
    }
    let refused = count(&statuses, StatusCode::UNAUTHORIZED);
    // where a busy Keystone did not answer in time, the place was free again
    let undecided = count(&statuses, StatusCode::SERVICE_UNAVAILABLE);
    let throttled = count(&statuses, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(refused + undecided + throttled, 120, "{statuses:?}");
    assert!((1..=60).contains(&refused), "{refused} were asked about");
    assert!(throttled + undecided >= 60, "{statuses:?}");
    let asked = keystone.counted();
    assert!(asked <= 60 + undecided, "Keystone was asked {asked} times");
}

async fn bearer(stack: &Stack, token: &str) -> StatusCode {
    let line = format!("Bearer {token}");
    let url = format!("{APP}/api/v1/query");
    let headers = [("authorization", line.as_str())];
    Browser::new(stack.address)
        .send(Method::GET, &url, &headers, String::new())
        .await
        .status
}

async fn clusters(stack: &Stack, token: &str) -> StatusCode {
    let headers = [("accept", "application/json"), ("x-auth-token", token)];
    let url = format!("{MAIN}/api/v1/clusters");
    Browser::new(stack.address)
        .send(Method::GET, &url, &headers, String::new())
        .await
        .status
}

#[tokio::test]
async fn finding_s3_tokens_at_once_ask_keystone_no_more_often_than_a_network_may_fail() {
    let running = running_for(json!({}), &["keystone"]).await;
    let stack = &running.stack;
    let bearers = (0..90).map(|n| async move { bearer(stack, &format!("gAAAA-{n}")).await });
    let tokens = (0..90).map(|n| async move { clusters(stack, &format!("gAAAA-{n}")).await });
    for statuses in [
        futures::future::join_all(bearers).await,
        futures::future::join_all(tokens).await,
    ] {
        let refused = count(&statuses, StatusCode::UNAUTHORIZED);
        let undecided = count(&statuses, StatusCode::SERVICE_UNAVAILABLE);
        let throttled = count(&statuses, StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(refused + undecided + throttled, 90, "{statuses:?}");
        assert!((1..=30).contains(&refused), "{refused} were asked about");
        assert!(throttled + undecided >= 60, "{statuses:?}");
    }
}

#[tokio::test]
async fn finding_s3_good_tokens_do_not_use_the_limit_up() {
    let running = running_for(json!({}), &["keystone"]).await;
    let admin = KeystoneAdmin::sign_in(&running.env).await.expect("admin");
    let user = admin.create_user("busy").await.expect("user");
    let role = running.env.get("ROLE_ID_K8S_DEVELOPER").expect("role");
    let granted = admin.grant(&user.id, &running.acme, role).await;
    granted.expect("granted");
    let token = admin.token_of(&user, &running.acme).await.expect("token");
    for n in 0..35 {
        let status = clusters(&running.stack, token.expose_secret()).await;
        assert_eq!(status, StatusCode::OK, "{n}");
    }
    admin.delete_user(&user.id).await.expect("deleted");
}

/// Fails from several networks, as often from each as an account may.
async fn guess(running: &Running, name: &str, networks: std::ops::Range<u8>) {
    for network in networks {
        let address = format!("198.51.100.{network}");
        let mut browser = Browser::new(running.stack.address);
        for n in 0..8 {
            let page = enter_from(&mut browser, &address, "/", name, "x").await;
            assert_eq!(page.status, StatusCode::UNAUTHORIZED, "{address} {n}");
        }
        let page = enter_from(&mut browser, &address, "/", name, "x").await;
        assert_eq!(page.status, StatusCode::TOO_MANY_REQUESTS, "{address}");
        assert!((1..=30).contains(&wait_of(&page)), "{address}");
    }
}

async fn signs_in(browser: &mut Browser, user: &TestUser) -> Page {
    let (address, password) = ("192.0.2.50", user.password.expose_secret());
    let page = enter_from(browser, address, "/projects/x", &user.name, password).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    page
}

/// The page to which a sign-in has led.
async fn reported(browser: &mut Browser, link: &Url) -> Page {
    assert_eq!(link.path(), "/oauth2/failed_attempts");
    let page = open_from(browser, "192.0.2.50", link.as_str()).await;
    assert_eq!(
        page.status,
        StatusCode::SEE_OTHER,
        "the mark of the sign-in goes"
    );
    let page = open_from(browser, "192.0.2.50", page.location().as_str()).await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    page
}

#[tokio::test]
async fn finding_s4_guesses_from_many_networks_slow_the_account_and_not_its_owner() {
    let running = running_with(behind_a_proxy()).await;
    let admin = KeystoneAdmin::sign_in(&running.env).await.expect("admin");
    let user = admin.create_user("owner").await.expect("user");
    let mut own = Browser::new(running.stack.address);
    let page = signs_in(&mut own, &user).await;
    assert_eq!(page.location().path(), "/projects/x", "the first sign-in");

    guess(&running, &user.name, 1..4).await;
    // 24 failed over all networks: a further network does not get its own eight
    let password = user.password.expose_secret();
    let mut other = Browser::new(running.stack.address);
    let slowed = enter_from(&mut other, "203.0.113.9", "/", &user.name, password).await;
    assert_eq!(slowed.status, StatusCode::TOO_MANY_REQUESTS);
    assert!((1..=60).contains(&wait_of(&slowed)), "no lock");
    assert!(slowed.body.contains("Too many attempts failed. Wait"));

    // the browser that its owner has signed in with stays signed in, and shows it
    let page = signs_in(&mut own, &user).await;
    let link = page.location();
    let page = reported(&mut own, &link).await;
    let message = "24 failed attempts to sign in since";
    assert!(page.body.contains(message), "{}", page.body);
    assert!(page.body.contains("href=\"/projects/x\""), "{}", page.body);
    // another session shows nothing of it, and it is shown once
    let mut stranger = Browser::new(running.stack.address);
    enter(&mut stranger, "/", "ada", running.password()).await;
    let elsewhere = stranger.open(link.as_str()).await;
    assert!(!elsewhere.body.contains(message));
    let page = signs_in(&mut own, &user).await;
    assert_eq!(page.location().path(), "/projects/x");
    admin.delete_user(&user.id).await.expect("deleted");
}

/// The store knows the times of sign-ins by the second.
async fn next_second() {
    let now = Timestamp::now().as_second();
    while Timestamp::now().as_second() == now {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn finding_s4_mistakes_just_before_a_sign_in_are_not_shown_in_their_browser() {
    let running = running_with(behind_a_proxy()).await;
    let admin = KeystoneAdmin::sign_in(&running.env).await.expect("admin");
    let user = admin.create_user("mistaken").await.expect("user");
    let browser = || Browser::new(running.stack.address);
    let fails = async |browser: &mut Browser| {
        let page = enter_from(browser, "192.0.2.50", "/", &user.name, "x").await;
        assert_eq!(page.status, StatusCode::UNAUTHORIZED);
    };
    signs_in(&mut browser(), &user).await;

    // one's own, in a browser that the account has not signed in with
    let mut fresh = browser();
    for _ in 0..3 {
        fails(&mut fresh).await;
    }
    let page = signs_in(&mut fresh, &user).await;
    assert_eq!(page.location().path(), "/projects/x");

    // the control case: of two, one was made elsewhere
    let (mut elsewhere, mut another) = (browser(), browser());
    fails(&mut elsewhere).await;
    next_second().await;
    fails(&mut another).await;
    let link = signs_in(&mut another, &user).await.location();
    let page = reported(&mut another, &link).await;
    let message = "1 failed attempt to sign in since";
    assert!(page.body.contains(message), "{}", page.body);
    assert!(!page.body.contains("The last one was at"), "{}", page.body);

    // what a browser carries from before that sign-in hides nothing that came after it
    fails(&mut browser()).await;
    let link = signs_in(&mut elsewhere, &user).await.location();
    let page = reported(&mut elsewhere, &link).await;
    assert!(page.body.contains(message), "{}", page.body);
    admin.delete_user(&user.id).await.expect("deleted");
}

async fn try_code(browser: &mut Browser, address: &str, code: &str) -> Page {
    let url = format!("{MAIN}/oauth2/totp");
    let csrf = open_from(browser, address, &url).await.field("csrf_token");
    let fields = [("csrf_token", csrf.as_str()), ("passcode", code)];
    submit_from(browser, address, "/oauth2/totp", &fields).await
}

#[tokio::test]
async fn finding_s4_wrong_one_time_codes_count_over_all_networks() {
    let running = running_with(behind_a_proxy()).await;
    let admin = KeystoneAdmin::sign_in(&running.env).await.expect("admin");
    let user = admin.create_user("codes").await.expect("user");
    let mut own = Browser::new(running.stack.address);
    signs_in(&mut own, &user).await;
    let secret = admin.require_totp(&user.id).await.expect("TOTP");

    let password = user.password.expose_secret();
    for network in 1..=4 {
        let address = format!("198.51.100.{network}");
        let mut browser = Browser::new(running.stack.address);
        let page = enter_from(&mut browser, &address, "/", &user.name, password).await;
        assert_eq!(page.location().path(), "/oauth2/totp");
        for n in 0..5 {
            let page = try_code(&mut browser, &address, "000000").await;
            assert_eq!(page.status, StatusCode::UNAUTHORIZED, "{address} {n}");
        }
    }
    let address = "198.51.100.5";
    let mut browser = Browser::new(running.stack.address);
    let page = enter_from(&mut browser, address, "/", &user.name, password).await;
    assert_eq!(page.location().path(), "/oauth2/totp");
    let page = try_code(&mut browser, address, "000000").await;
    assert_eq!(page.status, StatusCode::TOO_MANY_REQUESTS);
    assert!((60..=3600).contains(&wait_of(&page)));

    // the owner's browser has a count of its own
    let page = signs_in(&mut own, &user).await;
    assert_eq!(page.location().path(), "/oauth2/totp");
    let page = try_code(&mut own, "192.0.2.50", &totp(&secret)).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    admin.delete_user(&user.id).await.expect("deleted");
}

/// Longer than Keystone may take: the client of the tests waits for three seconds.
const MIN_RESPONSE_TIME: Duration = Duration::from_secs(3);

async fn refused_after(running: &Running, name: &str, password: &str) -> Duration {
    let mut browser = Browser::new(running.stack.address);
    let url = format!("{MAIN}/oauth2/sign_in?prompt=login");
    let page = browser.open(&url).await;
    let fields = [
        ("csrf_token", page.field("csrf_token")),
        ("name", name.to_owned()),
        ("password", password.to_owned()),
        ("domain", "Default".to_owned()),
    ];
    let fields: Vec<_> = fields.iter().map(|(k, v)| (*k, v.as_str())).collect();
    let began = Instant::now();
    let url = format!("{MAIN}/oauth2/sign_in");
    let page = browser.submit(MAIN, &url, &fields).await;
    assert_eq!(page.status, StatusCode::UNAUTHORIZED, "{name}");
    began.elapsed()
}

#[tokio::test]
async fn finding_s11_a_refusal_takes_as_long_whatever_its_reason() {
    let running = running_with(json!({ "keystone": { "refusal_time": "3s" } })).await;
    let admin = KeystoneAdmin::sign_in(&running.env).await.expect("admin");
    let disabled = admin.create_user("disabled").await.expect("user");
    let change = json!({ "user": { "enabled": false } });
    let path = format!("/users/{}", disabled.id);
    admin.patch(&path, change).await.expect("disabled");
    let wrong = SecretString::from("wrong-password");
    let unknown_name = unique("unknown");
    let all = futures::future::join_all([
        refused_after(&running, &unknown_name, wrong.expose_secret()),
        refused_after(&running, "otto", wrong.expose_secret()),
        refused_after(&running, &disabled.name, disabled.password.expose_secret()),
        refused_after(&running, &disabled.name, wrong.expose_secret()),
    ]);
    for took in all.await {
        // Keystone was quicker than that, and nothing but the floor decided
        assert!(took >= MIN_RESPONSE_TIME, "{took:?}");
        assert!(took < MIN_RESPONSE_TIME * 2, "{took:?}");
    }
    // control case: who may, need not wait
    let mut browser = Browser::new(running.stack.address);
    let page = enter(&mut browser, "/", "otto", running.password()).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER);
    admin.delete_user(&disabled.id).await.expect("deleted");
}

//! Flaws that were found in the sign-in of other panels, by their number in docs/panel/flaws.md: 9, 14 to
//! 17 and 19.
use std::collections::{BTreeMap, BTreeSet};

use http::{Method, StatusCode, header};
use portico_testkit::OidcPerson;
use serde_json::{Value, json};
use sqlx::{Connection as _, Row as _, SqliteConnection};
use url::Url;

use crate::{
    oidc::{answered, gateway, registered, signed_in},
    support::{
        browser::{Browser, Page},
        database::Database,
        stack::{MAIN, MAIN_HOST, Stack, Wanted},
    },
};

fn encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

fn parameter(url: &Url, name: &str) -> String {
    let found = url.query_pairs().find(|(key, _)| key == name);
    found.expect("parameter").1.into_owned()
}

/// Calls a page that needs a session, as a program.
async fn userinfo(browser: &mut Browser) -> Page {
    let url = format!("{MAIN}/oauth2/userinfo");
    browser.call(Method::GET, &url, "").await
}

#[tokio::test]
async fn flaw_09_the_callback_echoes_no_parameter_as_markup() {
    let corp = registered("corp").await;
    let stack = gateway(json!([corp.entry(&json!({}))])).await;
    let payload = "\"'></title></script><script>alert(1)</script><img src=x onerror=alert(1)>";
    let names = [
        "code",
        "state",
        "iss",
        "error",
        "error_description",
        "error_uri",
        "session_state",
        "rd",
        "scope",
        "id_token",
        "access_token",
        "unknown",
    ];
    let mut addresses = Vec::new();
    for pending in [false, true] {
        let mut browser = Browser::new(stack.address);
        let mut state = String::new();
        if pending {
            let page = browser
                .open(&format!("{MAIN}/oauth2/start?provider=corp"))
                .await;
            state = parameter(&page.location(), "state");
        }
        for provider in ["corp", "unknown", &encoded(payload)] {
            let base = format!("{MAIN}/oauth2/callback/{provider}");
            for name in names {
                addresses.push(format!("{base}?{name}={}", encoded(payload)));
                addresses.push(format!("{base}?state={state}&{name}={}", encoded(payload)));
            }
            let all: Vec<_> = names
                .iter()
                .map(|name| format!("{name}={}", encoded(payload)))
                .collect();
            addresses.push(format!("{base}?{}", all.join("&")));
        }
        for address in addresses.drain(..) {
            let page = browser.open(&address).await;
            for markup in ["<script>alert", "<img src=x", "</title></script>"] {
                assert!(!page.body.contains(markup), "{address}: {}", page.body);
            }
            assert!(
                !page.status.is_success() && !page.status.is_server_error(),
                "{address}: {}",
                page.status
            );
            assert!(browser.cookie(MAIN_HOST, "portico").is_none(), "{address}");
        }
    }
    // the control case: what a provider says is shown, as text
    let (mut browser, mut person) = (Browser::new(stack.address), OidcPerson::default());
    let page = browser
        .open(&format!("{MAIN}/oauth2/start?provider=corp"))
        .await;
    let callback = person
        .cancel(page.location().as_str())
        .await
        .expect("answer");
    let page = browser.open(&callback).await;
    assert!(
        page.body.contains("&lt;b&gt;the user&lt;/b&gt;"),
        "the control case: {}",
        page.body
    );
}

#[tokio::test]
async fn flaw_14_a_session_ends_with_the_provider_that_vouched_for_it() {
    let (corp, partner) = (registered("corp").await, registered("partner").await);
    let (corp, partner) = (corp.entry(&json!({})), partner.entry(&json!({})));
    let stack = gateway(json!([corp, partner])).await;
    let (browser, _) = signed_in(&stack, "corp", "alice").await;
    let (other, _) = signed_in(&stack, "partner", "alice").await;
    // the same installation without the provider
    let without = Stack::start(Wanted {
        gateway: json!({ "providers": [partner] }),
        database: Database::At(&stack.database_url),
        ..Wanted::default()
    })
    .await;
    let at = |browser: &Browser, stack: &Stack| {
        let mut moved = Browser::new(stack.address);
        let cookie = browser.cookie(MAIN_HOST, "portico").expect("session");
        moved.set_cookie(MAIN_HOST, "portico", cookie);
        moved
    };
    let mut one = at(&browser, &without);
    for path in [
        "/oauth2/userinfo",
        "/projects/p1",
        "/oauth2/auth",
        "/api/session/get",
    ] {
        let page = one.call(Method::GET, &format!("{MAIN}{path}"), "").await;
        assert_eq!(
            page.status,
            StatusCode::UNAUTHORIZED,
            "{path}: {}",
            page.body
        );
    }
    let page = userinfo(&mut at(&other, &without)).await;
    assert_eq!(
        page.status,
        StatusCode::OK,
        "the control case: {}",
        page.body
    );
}

/// Each cookie of a browser before it has signed in, in each of some broken forms.
fn tampered(cookies: &BTreeMap<String, String>) -> Vec<BTreeMap<String, String>> {
    let mut all = Vec::new();
    for (name, value) in cookies {
        let mut last = value.clone();
        let swapped = if last.pop() == Some('A') { 'B' } else { 'A' };
        last.push(swapped);
        let forms = [
            String::new(),
            "x".to_owned(),
            last,
            value.chars().rev().collect(),
            value[..value.len() / 2].to_owned(),
            format!("{value}{value}"),
        ];
        for form in forms {
            let mut changed = cookies.clone();
            changed.insert(name.clone(), form);
            all.push(changed);
        }
        let mut without = cookies.clone();
        without.remove(name);
        all.push(without);
    }
    all
}

fn cookies_of(browser: &Browser) -> BTreeMap<String, String> {
    let line = browser.cookie_line(MAIN_HOST);
    let pairs = line.split("; ").filter_map(|pair| pair.split_once('='));
    pairs
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn with(stack: &Stack, cookies: &BTreeMap<String, String>) -> Browser {
    let mut browser = Browser::new(stack.address);
    for (name, value) in cookies {
        browser.set_cookie(MAIN_HOST, name, value);
    }
    browser
}

#[tokio::test]
async fn flaw_15_no_changed_cookie_of_a_first_sign_in_is_another_identity() {
    let corp = registered("corp").await;
    let stack = gateway(json!([corp.entry(&json!({}))])).await;
    let (mut browser, mut person) = (Browser::new(stack.address), OidcPerson::default());
    let callback = answered(&mut browser, &mut person, "corp", "alice", "/").await;
    let cookies = cookies_of(&browser);
    assert!(!cookies.is_empty(), "the browser is bound to its sign-in");
    for changed in tampered(&cookies) {
        let mut forger = with(&stack, &changed);
        let page = forger.open(&callback).await;
        assert_eq!(
            page.status,
            StatusCode::BAD_REQUEST,
            "{changed:?}: {}",
            page.body
        );
        assert!(forger.cookie(MAIN_HOST, "portico").is_none(), "{changed:?}");
    }
    // bob's cookies with alice's answer
    let mut other = Browser::new(stack.address);
    let theirs = answered(&mut other, &mut OidcPerson::default(), "corp", "bob", "/").await;
    let page = other.open(&callback).await;
    assert_eq!(page.status, StatusCode::BAD_REQUEST, "{}", page.body);
    let page = other.open(&theirs).await;
    assert_eq!(
        page.status,
        StatusCode::SEE_OTHER,
        "the control case: {}",
        page.body
    );
    assert_eq!(userinfo(&mut other).await.json()["name"], "bob");
    let page = with(&stack, &cookies).open(&callback).await;
    assert_eq!(
        page.status,
        StatusCode::SEE_OTHER,
        "the control case: {}",
        page.body
    );
}

#[tokio::test]
async fn flaw_16_code_and_state_of_two_browsers_do_not_mix_and_pkce_is_always_there() {
    let corp = registered("corp").await;
    let stack = gateway(json!([corp.entry(&json!({}))])).await;
    let (mut one, mut two) = (Browser::new(stack.address), Browser::new(stack.address));
    let of_one = answered(&mut one, &mut OidcPerson::default(), "corp", "alice", "/").await;
    let of_two = answered(&mut two, &mut OidcPerson::default(), "corp", "bob", "/").await;
    let (first, second) = (
        Url::parse(&of_one).expect("url"),
        Url::parse(&of_two).expect("url"),
    );
    let mixed = |address: &Url, name: &str, value: String| {
        let mut address = address.clone();
        let pairs: Vec<(String, String)> = address
            .query_pairs()
            .map(|(key, old)| {
                (
                    key.to_string(),
                    if key == name {
                        value.clone()
                    } else {
                        old.into()
                    },
                )
            })
            .collect();
        address.query_pairs_mut().clear().extend_pairs(pairs);
        address.to_string()
    };
    // the other browser's state, and the whole of its answer
    for address in [
        mixed(&first, "state", parameter(&second, "state")),
        of_two.clone(),
    ] {
        let page = one.open(&address).await;
        assert_eq!(
            page.status,
            StatusCode::BAD_REQUEST,
            "{address}: {}",
            page.body
        );
        assert!(one.cookie(MAIN_HOST, "portico").is_none(), "{address}");
    }
    // the other browser's code under one's own state: the provider checks the verifier
    let page = one
        .open(&mixed(&first, "code", parameter(&second, "code")))
        .await;
    assert!(
        !page.status.is_success() && page.status != StatusCode::SEE_OTHER,
        "{}",
        page.body
    );
    assert!(one.cookie(MAIN_HOST, "portico").is_none());
    for _ in 0..5 {
        let page = Browser::new(stack.address)
            .open(&format!(
                "{MAIN}/oauth2/start?provider=corp&code_challenge_method=plain"
            ))
            .await;
        assert_eq!(parameter(&page.location(), "code_challenge_method"), "S256");
        assert_eq!(parameter(&page.location(), "code_challenge").len(), 43);
    }
    let (mut control, _) = signed_in(&stack, "corp", "alice").await;
    assert_eq!(
        userinfo(&mut control).await.json()["name"],
        "alice",
        "the control case"
    );
}

async fn post(stack: &Stack, path: &str, fields: &[(&str, &str)]) -> Page {
    let body = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(fields)
        .finish();
    let kind = [("content-type", "application/x-www-form-urlencoded")];
    Browser::new(stack.address)
        .send(Method::POST, &format!("{MAIN}{path}"), &kind, body)
        .await
}

async fn poll(stack: &Stack, code: &str) -> Value {
    let fields = [
        ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
        ("client_id", "portico-cli"),
        ("device_code", code),
    ];
    post(stack, "/oauth2/token", &fields).await.json()
}

#[tokio::test]
async fn flaw_17_pending_sign_ins_of_command_lines_are_neither_listed_nor_guessed_nor_another_clients()
 {
    let stack = Stack::start(Wanted::default()).await;
    let fields = [
        ("client_id", "portico-cli"),
        ("client_name", "a-server-of-adas"),
    ];
    let mut codes = BTreeSet::new();
    let mut devices = Vec::new();
    for _ in 0..20 {
        let device = post(&stack, "/oauth2/device", &fields).await.json();
        let code = device["device_code"].as_str().expect("code").to_owned();
        assert!(code.len() >= 40, "{code}");
        assert!(codes.insert(code), "the same code twice");
        assert!(codes.insert(device["user_code"].as_str().expect("code").to_owned()));
        devices.push(device);
    }
    let pending = &devices[0];
    let (user_code, device_code) = (
        pending["user_code"].as_str().expect("code"),
        pending["device_code"].as_str().expect("code"),
    );
    let (mut vera, _) = stack.signed_in_as("u2", "vera", &[]).await;
    let mut stranger = Browser::new(stack.address);
    // no list, for no method
    for path in [
        "/oauth2/device",
        "/oauth2/sessions",
        "/oauth2/audit",
        "/oauth2/token",
        "/oauth2/device/decision",
    ] {
        for browser in [&mut vera, &mut stranger] {
            for method in [Method::GET, Method::DELETE, Method::PUT] {
                let page = browser
                    .call(method.clone(), &format!("{MAIN}{path}"), "")
                    .await;
                for secret in [user_code, device_code, "a-server-of-adas"] {
                    assert!(
                        !page.body.contains(secret),
                        "{method} {path} shows {secret}"
                    );
                }
            }
        }
    }
    // neither half leads to the other
    assert_eq!(poll(&stack, user_code).await["error"], "expired_token");
    let page = vera
        .open(&format!(
            "{MAIN}/oauth2/device?user_code={}",
            encoded(device_code)
        ))
        .await;
    assert!(!page.body.contains("a-server-of-adas"), "{}", page.body);
    // guesses are counted
    let mut limited = false;
    for number in 0..60 {
        let guess = format!("{MAIN}/oauth2/device?user_code=BCDF-{number:04}");
        let page = vera.open(&guess).await;
        assert!(!page.body.contains("a-server-of-adas"), "{guess}");
        limited |= page.status == StatusCode::TOO_MANY_REQUESTS;
    }
    assert!(limited, "sixty guesses in a row");
    assert_eq!(
        poll(&stack, device_code).await["error"],
        "authorization_pending"
    );
    // the control case: the user who has the code decides, and only its device gets the tokens
    let (mut ada, _) = stack.signed_in_as("u1", "ada", &["k8s_admin"]).await;
    let page = ada
        .open(&format!("{MAIN}/oauth2/device?user_code={user_code}"))
        .await;
    assert!(
        page.body.contains("a-server-of-adas"),
        "the control case: {}",
        page.body
    );
    let csrf = page.field("csrf_token");
    let decision = [
        ("csrf_token", csrf.as_str()),
        ("user_code", user_code),
        ("decision", "approve"),
    ];
    let url = format!("{MAIN}/oauth2/device/decision");
    assert_eq!(
        ada.submit(MAIN, &url, &decision).await.status,
        StatusCode::OK
    );
    let other = devices[1]["device_code"].as_str().expect("code");
    assert_eq!(poll(&stack, other).await["error"], "authorization_pending");
}

/// The number of rows of each table.
async fn rows(stack: &Stack) -> BTreeMap<String, i64> {
    let url = format!("sqlite://{}", stack.database.display());
    let mut database = SqliteConnection::connect(&url).await.expect("database");
    let tables = sqlx::query("SELECT name FROM sqlite_master WHERE type = 'table'")
        .fetch_all(&mut database)
        .await
        .expect("tables");
    let mut found = BTreeMap::new();
    for table in tables {
        let name: String = table.get("name");
        let count = format!("SELECT count(*) AS n FROM \"{name}\"");
        let row = sqlx::query(&count).fetch_one(&mut database).await;
        found.insert(name, row.expect("count").get("n"));
    }
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn flaw_19_ten_thousand_anonymous_sign_in_pages_store_nothing_and_lead_nowhere_else() {
    let stack = Stack::start(Wanted::on_sqlite()).await;
    let before = rows(&stack).await;
    assert!(before.len() > 8, "the control case: {before:?}");
    let destinations = [
        "/projects/p1",
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "javascript:alert(1)",
    ];
    let address = stack.address;
    let visits = (0..4_usize).map(|client| {
        tokio::spawn(async move {
            for number in (client..10_000).step_by(4) {
                let destination = destinations[number % destinations.len()];
                let rd = format!("{}{number}", encoded(destination));
                let url = format!("{MAIN}/oauth2/sign_in?rd={rd}&next={rd}");
                let page = Browser::new(address).open(&url).await;
                let cookies = page.headers.get_all(header::SET_COOKIE).iter().count();
                assert!(cookies <= 1, "{cookies} cookies at once");
                assert_eq!(page.status, StatusCode::OK, "{url}");
                let rd = page.field("rd");
                let is_local =
                    rd.starts_with('/') && !rd.starts_with("//") && !rd.starts_with("/\\");
                assert!(is_local, "{destination} leads to {rd:?}");
            }
        })
    });
    for visit in visits.collect::<Vec<_>>() {
        visit.await.expect("all of its visits");
    }
    assert_eq!(rows(&stack).await, before);
    // nor does one browser collect cookies
    let mut browser = Browser::new(stack.address);
    for number in 0..200 {
        browser
            .open(&format!("{MAIN}/oauth2/sign_in?rd=/projects/p{number}"))
            .await;
    }
    let held = browser.cookie_line(MAIN_HOST).split("; ").count();
    assert!(held <= 20, "{held} cookies");
    stack.session(&[]).await;
    assert_ne!(
        rows(&stack).await,
        before,
        "the control case: a session is a row"
    );
}

//! Attacks 110 and 111: what is good once, or not any more, asked for at both replicas at once.
use std::time::{Duration, Instant};

use http::{Method, StatusCode};
use jiff::Timestamp;
use portico_testkit::KeystoneAdmin;
use secrecy::ExposeSecret as _;

use crate::{
    pair::Pair,
    support::{
        browser::{Browser, Page},
        form::enter,
        stack::{APP, APP_HOST, MAIN, MAIN_HOST},
    },
};

/// How often each race is run: the losing side must lose in every one.
const ROUNDS: u8 = 10;

/// A browser at the other replica with the same cookies on these hosts.
fn copy_of(browser: &Browser, pair: &Pair) -> Browser {
    let mut copy = Browser::new(pair.other.address);
    for host in [MAIN_HOST, APP_HOST] {
        for cookie in browser.cookie_line(host).split("; ") {
            if let Some((name, value)) = cookie.split_once('=') {
                copy.set_cookie(host, name, value);
            }
        }
    }
    copy
}

async fn post(browser: &mut Browser, path: &str, fields: &[(&str, &str)]) -> Page {
    let body = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(fields)
        .finish();
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let url = format!("{MAIN}{path}");
    browser.send(Method::POST, &url, &form, body).await
}

#[tokio::test]
async fn attack_110_a_hand_over_counts_at_one_of_two_replicas() {
    let pair = Pair::start().await;
    let (signed_in, _, root) = pair.signed_in().await;
    let cookie = signed_in.cookie(MAIN_HOST, "portico").expect("cookie");
    for round in 1..=ROUNDS {
        let mut here = Browser::new(pair.one.address);
        here.set_cookie(MAIN_HOST, "portico", cookie);
        let form = here.follow(APP).await;
        let code = form.field("code");
        let mut there = copy_of(&here, &pair);
        let url = format!("{APP}/oauth2/handover");
        let fields = [("code", code.as_str())];
        let (one, other) = tokio::join!(
            here.submit(MAIN, &url, &fields),
            there.submit(MAIN, &url, &fields)
        );
        let mut statuses = [one.status, other.status];
        statuses.sort();
        assert_eq!(
            statuses,
            [StatusCode::SEE_OTHER, StatusCode::BAD_REQUEST],
            "{round}"
        );
        let now = Timestamp::now();
        let all = pair.one.store.sessions().list_of_user("u1", now).await;
        let children = all.expect("sessions").into_iter();
        let children = children.filter(|session| session.parent == Some(root.id));
        assert_eq!(
            children.count(),
            usize::from(round),
            "one session for each code"
        );
    }
}

#[tokio::test]
async fn attack_110_a_device_code_and_a_refresh_token_count_at_one_of_two_replicas() {
    let pair = Pair::start().await;
    let (mut approving, _, _) = pair.signed_in().await;
    let (mut here, mut there) = (
        Browser::new(pair.one.address),
        Browser::new(pair.other.address),
    );
    for _ in 0..3 {
        let client = [("client_id", "portico-cli")];
        let device = post(&mut here, "/oauth2/device", &client).await.json();
        let page = device["verification_uri_complete"].as_str();
        let page = approving.open(page.expect("address")).await;
        let fields = [
            ("csrf_token", &*page.field("csrf_token")),
            ("user_code", &*page.field("user_code")),
            ("decision", "approve"),
        ];
        let url = format!("{MAIN}/oauth2/device/decision");
        let page = approving.submit(MAIN, &url, &fields).await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.body);
        let fields = [
            ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
            ("client_id", "portico-cli"),
            ("device_code", device["device_code"].as_str().expect("code")),
        ];
        let (one, other) = tokio::join!(
            post(&mut here, "/oauth2/token", &fields),
            post(&mut there, "/oauth2/token", &fields)
        );
        let pages = [one, other];
        let mut granted = pages.iter().filter(|page| page.status == StatusCode::OK);
        let granted = granted.next().expect("one of both").json();
        let good = pages.iter().filter(|page| page.status == StatusCode::OK);
        assert_eq!(good.count(), 1, "a device code counted twice");
        // a refresh token: never two families of tokens from one
        let refresh = granted["refresh_token"].as_str().expect("token");
        let fields = [
            ("grant_type", "refresh_token"),
            ("client_id", "portico-cli"),
            ("refresh_token", refresh),
        ];
        let (one, other) = tokio::join!(
            post(&mut here, "/oauth2/token", &fields),
            post(&mut there, "/oauth2/token", &fields)
        );
        let pages = [one, other];
        let refreshed: Vec<String> = pages
            .iter()
            .filter(|page| page.status == StatusCode::OK)
            .map(|page| page.json()["refresh_token"].as_str().unwrap().to_owned())
            .collect();
        let answers = pages.map(|page| (page.status, page.body));
        // for some seconds a client whose answer was lost may ask again: then the first successor
        // is dead, and who shows it all the same ends the session
        assert_eq!(refreshed.len(), 2, "the control case: {answers:?}");
        let mut good = 0;
        for token in &refreshed {
            let fields = [fields[0], fields[1], ("refresh_token", token.as_str())];
            let page = post(&mut here, "/oauth2/token", &fields).await;
            good += usize::from(page.status == StatusCode::OK);
        }
        // none, if the dead one was shown first
        assert!(good <= 1, "two families from one refresh token");
    }
}

#[tokio::test]
async fn attack_111_a_sign_out_here_leaves_no_token_that_is_fetched_there() {
    let pair = Pair::start().await;
    let password = pair.env.get("DEMO_PASSWORD").expect("password");
    let acme = pair.env.get("PROJECT_ID_ACME").expect("a project");
    let admin = KeystoneAdmin::sign_in(&pair.env).await.expect("admin");
    // the control case: served without a sign-out; its time is what the sign-outs are spread over
    let project = format!("{MAIN}/projects/{acme}");
    let mut alone = Browser::new(pair.one.address);
    let page = enter(&mut alone, "/", "ada", password).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    let mut alone = copy_of(&alone, &pair);
    let begun = Instant::now();
    let page = alone.call(Method::GET, &project, "").await;
    let unhindered = begun.elapsed();
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    for round in 0..ROUNDS {
        let mut here = Browser::new(pair.one.address);
        let page = enter(&mut here, "/", "ada", password).await;
        assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
        let cookie = here.cookie(MAIN_HOST, "portico").expect("cookie");
        let now = Timestamp::now();
        let session = pair.one.store.sessions().find(cookie, now).await;
        let session = session.expect("store").expect("a session");
        let mut there = copy_of(&here, &pair);
        // the project's token is fetched there while the session ends here
        let sign_out = format!("{MAIN}/oauth2/sign_out");
        let fields = [("csrf_token", session.csrf.expose_secret())];
        // at another moment of the other's work in each round, at last after it
        let later = unhindered * u32::from(round) / u32::from(ROUNDS - 2);
        let (page, ended) = tokio::join!(there.call(Method::GET, &project, ""), async {
            tokio::time::sleep(later).await;
            here.submit(MAIN, &sign_out, &fields).await
        });
        assert_eq!(ended.status, StatusCode::OK, "{}", ended.body);
        assert!(
            matches!(page.status.as_u16(), 200 | 401 | 503),
            "{}: {}",
            page.status,
            page.body
        );
        // over at both, whatever was under way
        let over = async {
            while there.call(Method::GET, &project, "").await.status != StatusCode::UNAUTHORIZED {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let over = tokio::time::timeout(Duration::from_secs(2), over).await;
        assert!(over.is_ok(), "the session continues at the other replica");
        // and no token is left: neither usable nor waiting to be revoked, nor good at Keystone
        let tokens = || pair.other.store.keystone_tokens();
        let gone = async {
            loop {
                let usable = tokens().usable(session.id, Timestamp::now()).await;
                let pending = tokens().pending_revocations(session.id).await;
                if usable.expect("store").is_empty() && pending.expect("store").is_empty() {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        let gone = tokio::time::timeout(Duration::from_secs(20), gone).await;
        assert!(gone.is_ok(), "a token is left after the session's end");
        if page.status == StatusCode::OK {
            let headers = page.json()["headers"].clone();
            assert!(headers.to_string().contains("portico-token"));
        }
        for token in tokens().list(session.id).await.expect("tokens") {
            let good = admin.token_is_good(&token.token).await.expect("answer");
            assert!(!good, "a token outlives the session");
        }
    }
}

//! 64. The whole log of a day's work at the most talkative level, searched for every secret of it.
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use http::{Method, StatusCode};
use sha2::{Digest as _, Sha256};

use crate::{
    keystone::{Running, running, totp},
    support::{
        browser::Browser,
        form::{enter, sign_out},
        log::Log,
        stack::{APP, APP_HOST, CLUSTER, MAIN, MAIN_HOST},
    },
};

const REDIRECT: &str = "http://127.0.0.1:41234/callback";
const VERIFIER: &str = "a-verifier-that-only-its-command-line-knows-1234";
const WRONG: &str = "a-wrong-passw0rd-that-nobody-has";

/// Approves a command line and takes the code for its tokens; every secret on the way.
pub async fn command_line(
    running: &Running,
    browser: &mut Browser,
    secrets: &mut Vec<String>,
) -> String {
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER));
    let asked = [
        ("response_type", "code"),
        ("client_id", "portico-cli"),
        ("redirect_uri", REDIRECT),
        ("code_challenge", &challenge),
        ("code_challenge_method", "S256"),
        ("state", "a-state-of-the-command-line"),
        ("client_name", "portico on laptop"),
    ];
    let query = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(asked)
        .finish();
    let page = browser
        .open(&format!("{MAIN}/oauth2/authorize?{query}"))
        .await;
    let csrf = page.field("csrf_token");
    let mut fields = asked.to_vec();
    fields.extend([("csrf_token", csrf.as_str()), ("decision", "approve")]);
    let page = browser
        .submit(MAIN, &format!("{MAIN}/oauth2/authorize"), &fields)
        .await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    let location = page.location();
    let code = location.query_pairs().find(|(name, _)| name == "code");
    let code = code.expect("code").1.into_owned();
    let redeem = async |fields: &[(&str, &str)]| {
        let body = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(fields)
            .finish();
        let kind = [("content-type", "application/x-www-form-urlencoded")];
        let url = format!("{MAIN}/oauth2/token");
        let mut program = Browser::new(running.stack.address);
        let page = program.send(Method::POST, &url, &kind, body).await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.body);
        page.json()
    };
    let first = redeem(&[
        ("grant_type", "authorization_code"),
        ("client_id", "portico-cli"),
        ("code", &code),
        ("redirect_uri", REDIRECT),
        ("code_verifier", VERIFIER),
    ])
    .await;
    let refresh = first["refresh_token"].as_str().expect("token").to_owned();
    let second = redeem(&[
        ("grant_type", "refresh_token"),
        ("client_id", "portico-cli"),
        ("refresh_token", &refresh),
    ])
    .await;
    for answer in [&first, &second] {
        for name in ["access_token", "refresh_token"] {
            secrets.push(answer[name].as_str().expect("token").to_owned());
        }
    }
    secrets.extend([code, csrf, VERIFIER.to_owned()]);
    second["access_token"].as_str().expect("token").to_owned()
}

#[tokio::test]
async fn attack_64_no_secret_of_a_days_work_is_in_the_log() {
    let log = Log::start();
    let running = running().await;
    let mut secrets = vec![WRONG.to_owned(), running.password().to_owned()];
    let mut browser = Browser::new(running.stack.address);

    // a wrong password, the right one, and a user who needs a code besides
    let page = enter(&mut browser, "/", "ada", WRONG).await;
    assert_eq!(page.status, StatusCode::UNAUTHORIZED);
    secrets.push(page.field("csrf_token"));
    secrets.push(
        browser
            .cookie_like(MAIN_HOST, "portico-sign-in-")
            .expect("flow")
            .to_owned(),
    );
    let page = enter(&mut browser, "/", "ada", running.password()).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    secrets.push(
        browser
            .cookie(MAIN_HOST, "portico")
            .expect("session")
            .to_owned(),
    );
    let mut mia = Browser::new(running.stack.address);
    let page = enter(&mut mia, "/", "mia", running.password()).await;
    assert_eq!(page.location().path(), "/oauth2/totp");
    let url = format!("{MAIN}/oauth2/totp");
    let csrf = mia.open(&url).await.field("csrf_token");
    let code = totp(running.env.get("TOTP_SECRET_MIA").expect("secret"));
    mia.submit(MAIN, &url, &[("csrf_token", &csrf), ("passcode", &code)])
        .await;
    secrets.push(csrf);

    // a request with a query to the panel, and one to an app through its hand-over
    let path = format!("/projects/{}?search=confidential-search", running.acme);
    let page = browser
        .call(Method::GET, &format!("{MAIN}{path}"), "a-body-of-a-form")
        .await;
    assert_eq!(page.status, StatusCode::OK);
    let echo = page.json();
    for pair in echo["headers"].as_array().expect("headers") {
        if pair[0] == "portico-assertion" || pair[0] == "portico-token" {
            secrets.push(pair[1].as_str().expect("header").to_owned());
        }
    }
    secrets.extend([
        "confidential-search".to_owned(),
        "a-body-of-a-form".to_owned(),
    ]);
    let page = browser.follow(&format!("{APP}/graph")).await;
    let code_of_app = page.field("code");
    let page = browser
        .submit(
            MAIN,
            &format!("{APP}/oauth2/handover"),
            &[("code", &code_of_app)],
        )
        .await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    secrets.push(
        browser
            .cookie(APP_HOST, "portico")
            .expect("session")
            .to_owned(),
    );
    secrets.push(code_of_app);

    // a command line, and its token for a cluster
    let access = command_line(&running, &mut browser, &mut secrets).await;
    let authorization = format!("Bearer {access}");
    let url = format!("{MAIN}/api/v1/clusters/{CLUSTER}/token");
    let headers = [("authorization", authorization.as_str())];
    let mut program = Browser::new(running.stack.address);
    let page = program
        .send(Method::POST, &url, &headers, String::new())
        .await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    secrets.push(page.json()["token"].as_str().expect("token").to_owned());

    // what the sessions hold at Keystone
    let now = jiff::Timestamp::now();
    let sessions = running.stack.store.sessions();
    let users = sessions.users_matching("ada", now).await.expect("users");
    for session in sessions
        .list_of_user(&users[0].id, now)
        .await
        .expect("sessions")
    {
        use secrecy::ExposeSecret as _;
        secrets.push(session.csrf.expose_secret().to_owned());
        let tokens = running.stack.store.keystone_tokens();
        for token in tokens.list(session.id).await.expect("tokens") {
            secrets.push(token.token.expose_secret().to_owned());
        }
    }
    let page = sign_out(&mut browser).await;
    assert_eq!(page.status, StatusCode::OK);

    let text = log.text();
    secrets.sort();
    secrets.dedup();
    assert!(secrets.len() >= 18, "{}", secrets.len());
    for secret in &secrets {
        assert!(secret.len() >= 8, "too short to be looked for");
        let found = text.lines().find(|line| line.contains(secret.as_str()));
        assert!(found.is_none(), "{secret} is in the log: {found:?}");
    }
    // a six-digit code may be part of a number: only a value of its own counts
    assert!(!text.contains(&format!("\"{code}\"")));
    // and the log was written, of all of it
    for part in [
        "session.sign_in",
        "cluster.token",
        "session.sign_out",
        "portico::access",
    ] {
        assert!(text.contains(part), "{part}");
    }
}

//! 48 to 52: the sign-in page and what surrounds it.
use http::{Method, StatusCode, header};
use secrecy::ExposeSecret as _;

use crate::{
    keystone::running,
    support::{
        browser::Browser,
        stack::{APP, MAIN, MAIN_HOST, Stack, Wanted},
    },
};

#[tokio::test]
async fn attack_48_no_other_site_signs_a_browser_in() {
    let running = running().await;
    let url = format!("{MAIN}/oauth2/sign_in");
    let mut attacker = Browser::new(running.stack.address);
    let form = attacker.open(&url).await;
    let mut victim = Browser::new(running.stack.address);
    victim.open(&url).await;
    let own = victim.open(&url).await.field("csrf_token");
    let theirs = form.field("csrf_token");
    for (origin, token) in [
        ("https://evil.example", own.as_str()),
        ("null", &own),
        (APP, &own),
        (MAIN, &theirs),
        (MAIN, ""),
    ] {
        let fields = [
            ("csrf_token", token),
            ("name", "vera"),
            ("password", running.password()),
            ("domain", "Default"),
        ];
        let page = victim.submit(origin, &url, &fields).await;
        assert_eq!(page.status, StatusCode::FORBIDDEN, "{origin}");
        assert!(victim.cookie(MAIN_HOST, "portico").is_none(), "{origin}");
    }
    let token = victim.open(&url).await.field("csrf_token");
    let fields = [
        ("csrf_token", token.as_str()),
        ("name", "vera"),
        ("password", running.password()),
        ("domain", "Default"),
    ];
    let page = victim.submit(MAIN, &url, &fields).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "the control case");
}

#[tokio::test]
async fn attack_49_no_picture_or_link_signs_a_user_out() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, session) = stack.signed_in(&[]).await;
    let url = format!("{MAIN}/oauth2/sign_out");
    for headers in [
        &[
            ("sec-fetch-mode", "no-cors"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-dest", "image"),
        ][..],
        &[
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-site", "cross-site"),
        ],
        &[("sec-fetch-site", "same-origin")],
        &[("accept", "*/*")],
    ] {
        for method in [Method::GET, Method::HEAD] {
            browser.send(method, &url, headers, String::new()).await;
        }
    }
    let csrf = session.csrf.expose_secret();
    for (origin, token) in [("https://evil.example", csrf), (APP, csrf), (MAIN, "guess")] {
        let page = browser.submit(origin, &url, &[("csrf_token", token)]).await;
        assert_eq!(page.status, StatusCode::FORBIDDEN, "{origin}");
    }
    let userinfo = format!("{MAIN}/oauth2/userinfo");
    let answer = browser.call(Method::GET, &userinfo, "").await;
    assert_eq!(answer.status, StatusCode::OK, "the user was signed out");
    browser.submit(MAIN, &url, &[("csrf_token", csrf)]).await;
    let answer = browser.call(Method::GET, &userinfo, "").await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "the control case");
}

#[tokio::test]
async fn attack_51_nothing_that_a_client_chose_becomes_markup() {
    let stack = Stack::start(Wanted::default()).await;
    let evil = "</pre><script>alert(1)</script>\"'><img src=x onerror=alert(1)>";
    let encoded: String = url::form_urlencoded::byte_serialize(evil.as_bytes()).collect();
    let (mut browser, session) = stack.signed_in_as("u2", evil, &[]).await;
    let mut stranger = Browser::new(stack.address);
    stranger.set_cookie(MAIN_HOST, "portico-state", "</script><b>");
    let mut pages = Vec::new();
    for path in [
        format!("sign_in?rd=/{encoded}&reason={encoded}"),
        format!("device?user_code={encoded}"),
        format!("sign_in?rd=/oauth2/device?user_code={encoded}&error={encoded}"),
    ] {
        pages.push(stranger.open(&format!("{MAIN}/oauth2/{path}")).await);
    }
    for path in [
        "sign_out".to_owned(),
        "sessions".to_owned(),
        format!("sessions?user={encoded}"),
        format!("device?user_code={encoded}"),
        format!("authorize?client_id={encoded}&redirect_uri={encoded}&state={encoded}"),
        format!("handover?app={encoded}"),
        encoded.clone(),
    ] {
        pages.push(browser.open(&format!("{MAIN}/oauth2/{path}")).await);
    }
    pages.push(browser.open(&format!("{APP}/{encoded}")).await);
    for page in &pages {
        assert!(!page.body.contains("<script>alert"), "{}", page.url);
        assert!(!page.body.contains("<img src=x"), "{}", page.url);
        if let Some(policy) = page.headers.get(header::CONTENT_SECURITY_POLICY) {
            let policy = policy.to_str().expect("text");
            assert!(!policy.contains("unsafe-inline"), "{}", page.url);
            assert!(policy.contains("default-src 'none'"), "{}", page.url);
        } else {
            assert!(page.status.is_redirection(), "{} has no policy", page.url);
        }
    }
    let page = browser.open(&format!("{MAIN}/oauth2/sign_out")).await;
    assert!(
        page.body.contains("&lt;/pre&gt;&lt;script&gt;"),
        "the control case: the name is shown, {}",
        session.id
    );
}

#[tokio::test]
async fn attack_52_nothing_of_an_upstreams_reaches_a_stranger_and_nothing_reaches_it() {
    let stack = Stack::start(Wanted::default()).await;
    let mut stranger = Browser::new(stack.address);
    for base in [MAIN, APP] {
        for method in [Method::GET, Method::POST, Method::PUT, Method::DELETE] {
            for mode in ["navigate", "cors"] {
                let headers = [("sec-fetch-mode", mode), ("origin", base)];
                let page = stranger
                    .send(
                        method.clone(),
                        &format!("{base}/projects/p1"),
                        &headers,
                        "secret-body".to_owned(),
                    )
                    .await;
                // sign-in or 401, and no error of ours
                if page.status == StatusCode::SEE_OTHER {
                    assert_eq!(mode, "navigate", "{method} {base}");
                    let location = page.location();
                    assert!(location.path().starts_with("/oauth2/"), "{location}");
                    assert_eq!(location.host_str(), Some(MAIN_HOST), "{location}");
                } else {
                    assert_eq!(
                        page.status,
                        StatusCode::UNAUTHORIZED,
                        "{method} {base} {mode}"
                    );
                    assert!(mode == "cors" || method != Method::GET, "{method} {base}");
                }
                assert!(!page.body.contains("\"target\""), "{method} {base}");
                assert!(!page.body.contains("secret-body"), "{method} {base}");
            }
        }
    }
    assert_eq!(stack.panel.asked() + stack.app.asked(), 0);
    let (mut browser, _) = stack.signed_in(&[]).await;
    let page = browser
        .call(Method::POST, &format!("{MAIN}/projects/p1"), "body")
        .await;
    assert_eq!(page.status, StatusCode::OK, "the control case");
    assert_eq!(stack.panel.asked(), 1);
}

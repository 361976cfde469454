//! 46, 47, 69 to 71 and 125: what a browser or an attacker near it may put into the `Cookie` header.
use std::time::{Duration, Instant};

use http::{Method, StatusCode};
use portico_store::{ChildKind, NewChild};
use secrecy::ExposeSecret as _;

use crate::{
    keystone::running,
    support::{
        browser::{Browser, Page},
        form::enter,
        stack::{MAIN, MAIN_HOST, Stack, Wanted},
    },
};

/// A call with exactly these lines as cookies.
async fn with_cookies(stack: &Stack, lines: &[&str], path: &str) -> Page {
    let mut headers = vec![("sec-fetch-mode", "cors")];
    headers.extend(lines.iter().map(|line| ("cookie", *line)));
    Browser::new(stack.address)
        .send(
            Method::GET,
            &format!("{MAIN}{path}"),
            &headers,
            String::new(),
        )
        .await
}

#[tokio::test]
async fn attack_46_a_planted_session_is_not_the_one_that_signs_in() {
    let running = running().await;
    let mut attacker = Browser::new(running.stack.address);
    let page = enter(&mut attacker, "/x", "vera", running.password()).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER);
    let planted = attacker
        .cookie(MAIN_HOST, "portico")
        .expect("cookie")
        .to_owned();
    let mut victim = Browser::new(running.stack.address);
    victim.set_cookie(MAIN_HOST, "portico", &planted);
    let page = enter(&mut victim, "/x", "ada", running.password()).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER);
    let own = victim
        .cookie(MAIN_HOST, "portico")
        .expect("cookie")
        .to_owned();
    assert_ne!(own, planted);

    let userinfo = format!("{MAIN}/oauth2/userinfo");
    let answer = attacker.call(Method::GET, &userinfo, "").await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{}", answer.body);
    let answer = victim.call(Method::GET, &userinfo, "").await;
    assert_eq!(answer.json()["name"], "ada", "the control case");
}

#[tokio::test]
async fn attack_46_a_password_typed_again_makes_a_new_cookie() {
    let running = running().await;
    let mut browser = Browser::new(running.stack.address);
    enter(&mut browser, "/x", "vera", running.password()).await;
    let old = browser
        .cookie(MAIN_HOST, "portico")
        .expect("cookie")
        .to_owned();
    let userinfo = format!("{MAIN}/oauth2/userinfo");
    let page = browser.call(Method::GET, &userinfo, "").await;
    assert_eq!(page.status, StatusCode::OK);
    let page = browser.open(&format!("{MAIN}/oauth2/sign_out")).await;
    let body = serde_json::json!({
        "csrf_token": page.field("csrf_token"),
        "password": running.password(),
    });
    let answer = browser
        .call(
            Method::POST,
            &format!("{MAIN}/oauth2/reauthenticate"),
            &body.to_string(),
        )
        .await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    let mut thief = Browser::new(running.stack.address);
    thief.set_cookie(MAIN_HOST, "portico", &old);
    let answer = thief.call(Method::GET, &userinfo, "").await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    let answer = browser.call(Method::GET, &userinfo, "").await;
    assert_eq!(answer.status, StatusCode::OK, "the control case");
}

#[tokio::test]
async fn attack_47_of_two_cookies_of_our_name_none_counts() {
    let stack = Stack::start(Wanted::default()).await;
    let (own, _) = stack.session(&[]).await;
    let (planted, _) = stack.session_of("u2", "vera", &[]).await;
    let (own, planted) = (own.expose_secret(), planted.expose_secret());
    for lines in [
        vec![format!("portico={planted}; portico={own}")],
        vec![format!("portico={own}; portico={planted}")],
        vec![format!("portico={planted}"), format!("portico={own}")],
        vec![format!("portico=; portico={own}")],
        vec![format!("portico=x; portico={own}")],
    ] {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let answer = with_cookies(&stack, &lines, "/oauth2/userinfo").await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{lines:?}");
    }
    let line = format!("theme=dark; portico={own}");
    let answer = with_cookies(&stack, &[&line], "/oauth2/userinfo").await;
    assert_eq!(answer.json()["name"], "ada", "the control case");
}

#[tokio::test]
async fn attack_69_pieces_and_piles_of_cookies_cost_nothing_and_open_nothing() {
    let stack = Stack::start(Wanted::default()).await;
    let (own, _) = stack.session(&[]).await;
    let half = &own.expose_secret()[..20];
    let rest = &own.expose_secret()[20..];
    let pile = (0..500).fold(String::new(), |line, n| format!("{line}portico_{n}=x; "));
    let started = Instant::now();
    for line in [
        "portico_chunks=99999999; portico_0=x",
        "portico_0=x; portico_2=z",
        &format!("portico_0={half}; portico_1={rest}"),
        &format!("portico={half}; portico_1={rest}"),
        &pile,
    ] {
        let answer = with_cookies(&stack, &[line], "/oauth2/userinfo").await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    }
    assert!(started.elapsed() < Duration::from_secs(3));
    let line = format!("{pile}portico={}", own.expose_secret());
    let answer = with_cookies(&stack, &[&line], "/oauth2/userinfo").await;
    assert_eq!(
        answer.status,
        StatusCode::OK,
        "the control case, under a pile"
    );
}

#[tokio::test]
async fn attack_70_separators_alone_break_nothing() {
    let stack = Stack::start(Wanted::default()).await;
    let (own, _) = stack.session(&[]).await;
    for noise in [
        ";", ";;;;;;", " ; ; ", "=", "=;=", "==;=;;", ",", "\t;", "&&&", "\";\"",
    ] {
        let answer = with_cookies(&stack, &[noise], "/oauth2/userinfo").await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{noise:?}");
        let line = format!("{noise};portico={}", own.expose_secret());
        let answer = with_cookies(&stack, &[&line], "/projects/p1").await;
        assert_eq!(
            answer.status,
            StatusCode::OK,
            "the control case after {noise:?}"
        );
        assert!(!answer.body.contains(own.expose_secret()), "{noise:?}");
    }
    for query in ["&", "&&&&", "=", "=&=", "?", "&=&", "%", "%zz"] {
        for path in ["sign_in", "sign_out", "auth", "device"] {
            let target = format!("/oauth2/{path}?{query}");
            let answer = with_cookies(&stack, &["x=y"], &target).await;
            assert!(!answer.status.is_server_error(), "{target}");
        }
    }
}

#[tokio::test]
async fn attack_71_a_changed_cookie_belongs_to_no_user() {
    let stack = Stack::start(Wanted::default()).await;
    let (first, session) = stack.session(&[]).await;
    let (second, _) = stack.session_of("u2", "vera", &[]).await;
    let (first, second) = (first.expose_secret(), second.expose_secret());
    let mut changed: Vec<String> = (0..first.len())
        .map(|at| {
            let other = if first.as_bytes()[at] == b'A' {
                "B"
            } else {
                "A"
            };
            format!("{}{other}{}", &first[..at], &first[at + 1..])
        })
        .collect();
    changed.extend((0..first.len()).map(|end| first[..end].to_owned()));
    changed.push(format!("{}{}", &first[..21], &second[21..]));
    changed.push(format!("{}{}", &second[..21], &first[21..]));
    changed.push(format!("{first}="));
    changed.push(format!("{first}{second}"));
    changed.push(first.to_ascii_lowercase());
    changed.push(session.id.to_string());
    for cookie in &changed {
        let line = format!("portico={cookie}");
        let answer = with_cookies(&stack, &[&line], "/oauth2/userinfo").await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{cookie}");
    }
    let line = format!("portico={first}");
    let answer = with_cookies(&stack, &[&line], "/oauth2/userinfo").await;
    assert_eq!(answer.status, StatusCode::OK, "the control case");
}

#[tokio::test]
async fn attack_71_a_cookie_for_one_purpose_is_none_for_another() {
    let stack = Stack::start(Wanted::default()).await;
    let mut browser = Browser::new(stack.address);
    let page = browser.open(&format!("{MAIN}/oauth2/sign_in")).await;
    assert_eq!(page.status, StatusCode::OK);
    let flow = browser
        .cookie_like(MAIN_HOST, "portico-sign-in-")
        .expect("flow")
        .to_owned();
    let (own, session) = stack.session(&[]).await;
    let child = NewChild {
        parent: session.id,
        kind: ChildKind::App("prometheus".to_owned()),
        user_agent: "agent".to_owned(),
        address: "192.0.2.8".to_owned(),
    };
    let now = jiff::Timestamp::now();
    let made = stack.store.sessions().create_child(&child, now).await;
    let (apps, _) = made.expect("store").expect("child");
    for (what, cookie) in [
        ("a sign-in's", flow.as_str()),
        ("an app's", apps.expose_secret()),
        ("a form's", session.csrf.expose_secret()),
    ] {
        let line = format!("portico={cookie}");
        let answer = with_cookies(&stack, &[&line], "/oauth2/userinfo").await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{what}");
    }
    for name in [
        "__Host-portico",
        "__Secure-portico",
        "PORTICO",
        "portico-flow",
    ] {
        let line = format!("{name}={}", own.expose_secret());
        let answer = with_cookies(&stack, &[&line], "/oauth2/userinfo").await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{name}");
    }
    let line = format!("portico={}", own.expose_secret());
    let answer = with_cookies(&stack, &[&line], "/oauth2/userinfo").await;
    assert_eq!(answer.status, StatusCode::OK, "the control case");
}

#[tokio::test]
async fn attack_125_a_name_that_decodes_to_ours_is_not_the_browsers_state() {
    let stack = Stack::start(Wanted::default()).await;
    let mut browser = Browser::new(stack.address);
    let expired = stack.expired_session().await;
    browser.set_cookie(MAIN_HOST, "portico", expired.expose_secret());
    let form = [("subject", "vera")];
    let target = format!("{MAIN}/api/grant?project=p1");
    browser.submit(MAIN, &target, &form).await;
    let state = browser.cookie(MAIN_HOST, "portico-state").expect("state");
    let (session, _) = stack.session_of("u1", "ada", &[]).await;
    let session = format!("portico={}", session.expose_secret());
    for planted in [
        format!("portico%2Dstate={state}"),
        format!("%70ortico-state={state}"),
        format!("portico-state ={state}"),
        format!("Portico-state={state}"),
        format!("portico-state={state}; portico-state={state}"),
    ] {
        let page = with_cookies(&stack, &[&session, &planted], "/oauth2/saved_form").await;
        assert_eq!(page.status, StatusCode::OK, "{planted}");
        assert!(page.body.contains("Nothing is waiting"), "{planted}");
    }
    let own = format!("portico-state={state}; portico%2Dstate=planted");
    let page = with_cookies(&stack, &[&session, &own], "/oauth2/saved_form").await;
    assert!(page.body.contains("Send what you"), "the control case");
    // and no more than a state
    let line = format!("portico={state}");
    let answer = with_cookies(&stack, &[&line], "/oauth2/userinfo").await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
}

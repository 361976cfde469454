//! 8, 41 to 46, 50 and 53: signing in with an OIDC provider. What a forged token can do is tried at the
//! lowest layer, in crates/oidc/tests/tokens.
use http::{Method, StatusCode};
use portico_testkit::OidcPerson;
use serde_json::json;

use crate::{
    oidc::{answered, gateway, open_app, registered, session, signed_in},
    support::{
        browser::Browser,
        stack::{MAIN, MAIN_HOST},
    },
};

#[tokio::test]
async fn attack_08_no_parameter_of_a_link_reaches_the_provider() {
    let corp = registered("corp").await;
    let stack = gateway(json!([corp.entry(&json!({}))])).await;
    let mut browser = Browser::new(stack.address);
    let plain = browser
        .open(&format!("{MAIN}/oauth2/start?provider=corp"))
        .await;
    let names = |page: &crate::support::browser::Page| -> Vec<String> {
        let pairs = page.location();
        let mut names: Vec<String> = pairs.query_pairs().map(|(name, _)| name.into()).collect();
        names.sort();
        names
    };
    let expected = names(&plain);
    assert!(
        expected.iter().any(|name| name == "client_id"),
        "the control case"
    );
    for extra in [
        "scope=admin",
        "client_id=evil",
        "redirect_uri=https%3A%2F%2Fevil.example%2F",
        "response_mode=form_post",
        "response_type=token",
        "acr_values=low&login_hint=ada&id_token_hint=x",
        "code_challenge_method=plain&code_challenge=x",
        "state=chosen&nonce=chosen",
        "request=x&request_uri=https%3A%2F%2Fevil.example%2F",
        "prompt=none",
    ] {
        let url = format!("{MAIN}/oauth2/start?provider=corp&{extra}");
        let page = browser.open(&url).await;
        assert_eq!(page.status, StatusCode::SEE_OTHER, "{extra}");
        assert_eq!(names(&page), expected, "{extra}");
        let sent = page.location();
        for (name, value) in sent.query_pairs() {
            for chosen in ["admin", "evil", "form_post", "plain", "chosen", "none"] {
                assert!(!value.contains(chosen), "{extra}: {name}={value}");
            }
        }
    }
}

#[tokio::test]
async fn attack_41_an_answer_counts_once_in_the_browser_that_asked() {
    let corp = registered("corp").await;
    let stack = gateway(json!([corp.entry(&json!({}))])).await;
    let (mut browser, mut person) = (Browser::new(stack.address), OidcPerson::default());
    let callback = answered(&mut browser, &mut person, "corp", "alice", "/").await;

    // login CSRF: another browser is given the answer
    let mut victim = Browser::new(stack.address);
    victim
        .open(&format!("{MAIN}/oauth2/start?provider=corp"))
        .await;
    let page = victim.open(&callback).await;
    assert_eq!(page.status, StatusCode::BAD_REQUEST);
    assert!(victim.cookie(MAIN_HOST, "portico").is_none());
    // no code was redeemed for it
    let events = corp.provider.events().await.expect("events");
    assert!(events.iter().all(|event| event.kind != "grant"));

    // its control case succeeds, once
    let page = browser.open(&callback).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    let page = browser.open(&callback).await;
    assert_eq!(page.status, StatusCode::BAD_REQUEST);
    assert!(page.body.contains("you are signed in"), "{}", page.body);
}

#[tokio::test]
async fn attack_42_a_parameter_given_twice_or_changed_is_a_bad_request() {
    let corp = registered("corp").await;
    let stack = gateway(json!([corp.entry(&json!({}))])).await;
    let (mut browser, mut person) = (Browser::new(stack.address), OidcPerson::default());
    let callback = answered(&mut browser, &mut person, "corp", "alice", "/").await;
    for bad in [
        format!("{callback}&state=x"),
        format!("{callback}&iss=x"),
        format!("{callback}&code=x"),
        callback.replace("state=", "state=x"),
    ] {
        let page = browser.open(&bad).await;
        assert_eq!(page.status, StatusCode::BAD_REQUEST, "{bad}");
        assert!(browser.cookie(MAIN_HOST, "portico").is_none());
    }
    let events = corp.provider.events().await.expect("events");
    assert!(
        events.iter().all(|event| event.kind != "grant"),
        "a code was redeemed"
    );
    let page = browser.open(&callback).await;
    assert_eq!(
        page.status,
        StatusCode::SEE_OTHER,
        "the control case: {}",
        page.body
    );
}

#[tokio::test]
async fn attack_43_an_answer_of_another_issuer_is_refused_before_its_code_is_redeemed() {
    let corp = registered("corp").await;
    let stack = gateway(json!([corp.entry(&json!({}))])).await;
    for change in ["another", "none"] {
        let (mut browser, mut person) = (Browser::new(stack.address), OidcPerson::default());
        let callback = answered(&mut browser, &mut person, "corp", "alice", "/").await;
        let mut url = url::Url::parse(&callback).expect("url");
        let pairs: Vec<(String, String)> = url
            .query_pairs()
            .filter(|(name, _)| name != "iss")
            .map(|(name, value)| (name.into_owned(), value.into_owned()))
            .collect();
        url.query_pairs_mut().clear().extend_pairs(pairs);
        if change == "another" {
            url.query_pairs_mut()
                .append_pair("iss", "https://evil.example");
        }
        let page = browser.open(url.as_str()).await;
        assert_eq!(page.status, StatusCode::FORBIDDEN, "{change}");
        assert!(browser.cookie(MAIN_HOST, "portico").is_none());
    }
    let events = corp.provider.events().await.expect("events");
    assert!(events.iter().all(|event| event.kind != "grant"));
    signed_in(&stack, "corp", "alice").await;
}

#[tokio::test]
async fn attack_45_the_verifier_is_hashed_and_never_leaves_the_server() {
    let corp = registered("corp").await;
    let stack = gateway(json!([corp.entry(&json!({}))])).await;
    let mut challenges = std::collections::HashSet::new();
    for _ in 0..3 {
        let mut browser = Browser::new(stack.address);
        let page = browser
            .open(&format!("{MAIN}/oauth2/start?provider=corp"))
            .await;
        let sent = page.location();
        let value = |wanted: &str| {
            let mut pairs = sent.query_pairs();
            let found = pairs.find(|(name, _)| name == wanted);
            found.expect("parameter").1.into_owned()
        };
        assert_eq!(value("code_challenge_method"), "S256");
        let challenge = value("code_challenge");
        assert_eq!(challenge.len(), 43);
        for cookie in browser.cookie_line(MAIN_HOST).split("; ") {
            let (_, held) = cookie.split_once('=').expect("pair");
            let hashed = {
                use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
                use sha2::{Digest as _, Sha256};
                URL_SAFE_NO_PAD.encode(Sha256::digest(held))
            };
            assert_ne!(hashed, challenge, "the cookie is the verifier");
        }
        assert!(challenges.insert(challenge), "the same verifier twice");
    }
    signed_in(&stack, "corp", "alice").await;
}

#[tokio::test]
async fn attack_46_a_session_of_a_provider_gets_a_new_id_and_the_old_one_is_dead() {
    let corp = registered("corp").await;
    let stack = gateway(json!([corp.entry(&json!({}))])).await;
    let (mut browser, mut person) = signed_in(&stack, "corp", "alice").await;
    let before = browser
        .cookie(MAIN_HOST, "portico")
        .expect("cookie")
        .to_owned();
    let page = browser
        .open(&format!("{MAIN}/oauth2/start?provider=corp&prompt=login"))
        .await;
    let callback = person
        .sign_in(page.location().as_str(), "alice")
        .await
        .expect("answer");
    let page = browser.open(&callback).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    let after = browser.cookie(MAIN_HOST, "portico").expect("cookie");
    assert_ne!(before, after);
    let mut thief = Browser::new(stack.address);
    thief.set_cookie(MAIN_HOST, "portico", &before);
    let page = thief.open(&format!("{MAIN}/")).await;
    assert!(page.location().path().ends_with("/oauth2/sign_in"));
    assert_eq!(
        browser.open(&format!("{MAIN}/")).await.status,
        StatusCode::OK
    );
}

#[tokio::test]
async fn attack_50_the_providers_words_are_shown_as_text_and_only_with_a_state() {
    let corp = registered("corp").await;
    let stack = gateway(json!([corp.entry(&json!({}))])).await;
    let (mut browser, mut person) = (Browser::new(stack.address), OidcPerson::default());
    let spoofed =
        format!("{MAIN}/oauth2/callback/corp?error=x&error_description=call%20555-1234&state=y");
    let page = browser.open(&spoofed).await;
    assert_eq!(page.status, StatusCode::BAD_REQUEST);
    assert!(!page.body.contains("555-1234"));
    let page = browser
        .open(&format!("{MAIN}/oauth2/start?provider=corp"))
        .await;
    let callback = person
        .cancel(page.location().as_str())
        .await
        .expect("answer");
    let page = browser.open(&callback).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN);
    assert!(page.body.contains("access_denied"), "{}", page.body);
    assert!(page.body.contains("&lt;b&gt;the user&lt;/b&gt;"));
    assert!(browser.cookie(MAIN_HOST, "portico").is_none());
}

#[tokio::test]
async fn attack_53_the_account_is_issuer_and_subject_and_the_email_names_no_user() {
    let corp = registered("corp").await;
    let partner = registered("partner").await;
    let stack = gateway(json!([
        corp.entry(&json!({})),
        partner.entry(&json!({ "claims": { "groups": "/groups", "roles": "/roles" } })),
    ]))
    .await;
    let (mut browser, _) = signed_in(&stack, "corp", "alice").await;
    let (mut other, _) = signed_in(&stack, "partner", "alice").await;
    let one = browser
        .call(Method::GET, &format!("{MAIN}/oauth2/userinfo"), "")
        .await;
    let two = other
        .call(Method::GET, &format!("{MAIN}/oauth2/userinfo"), "")
        .await;
    let (one, two) = (one.json(), two.json());
    assert_eq!(one["name"], "alice");
    assert_eq!(one["name"], two["name"]);
    assert_ne!(one["sub"], two["sub"]);
    assert!(one["sub"].as_str().expect("id").starts_with("oidc-"));
    let profile = session(&stack).await.provider.expect("provider").profile;
    assert_eq!(profile.groups, ["k8s-admins", "ops"]);
    assert_eq!(profile.email.as_deref(), Some("alice@example.test"));
    assert!(profile.email_verified && !profile.keystone);
    // the same group's name at another provider is another group
    let refused = open_app(&mut other).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    let opened = open_app(&mut browser).await;
    assert_eq!(opened.status, StatusCode::OK);
}

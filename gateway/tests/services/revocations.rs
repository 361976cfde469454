//! Revocations that Keystone could not take: kept, shown, and made up for.
use std::time::Duration;

use http::StatusCode;
use portico_testkit::{Gate, KeystoneAdmin, TestEnv};
use tokio_util::sync::CancellationToken;

use crate::support::{
    browser::Browser,
    form::{enter, sign_out},
    stack::{MAIN, Stack, Wanted},
};

#[tokio::test]
async fn a_revocation_that_keystone_could_not_take_is_shown_until_it_is_made_up_for() {
    let env = TestEnv::load().expect("the stack's env file");
    let gate = Gate::start(env.get("KEYSTONE_URL").expect("address")).await;
    let acme = env.get("PROJECT_ID_ACME").expect("acme");
    let stack = Stack::start(Wanted {
        keystone: &gate.url(),
        project: acme,
        ..Wanted::default()
    })
    .await;
    let (gateway, stop) = (stack.gateway.clone(), CancellationToken::new());
    let until = stop.clone();
    tokio::spawn(async move { gateway.run(until).await });
    let admin = KeystoneAdmin::sign_in(&env).await.expect("admin");
    let password = env.get("DEMO_PASSWORD").expect("password");
    let signed_in = async || {
        let mut browser = Browser::new(stack.address);
        let path = format!("/projects/{acme}");
        let page = enter(&mut browser, &path, "vera", password).await;
        assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
        browser.open(&format!("{MAIN}{path}")).await;
        browser
    };
    let (mut leaving, mut staying) = (signed_in().await, signed_in().await);
    let user = env.get("USER_ID_VERA").expect("vera");
    let sessions = stack.store.sessions();
    let all = sessions.list_of_user(user, jiff::Timestamp::now()).await;
    let mut tokens = Vec::new();
    for session in all.expect("sessions") {
        let listed = stack.store.keystone_tokens().list(session.id).await;
        tokens.push(listed.expect("tokens"));
    }

    gate.set_open(false);
    let page = sign_out(&mut leaving).await;
    assert!(page.body.contains("You are signed out"));
    assert!(page.body.contains("for 2 tokens"), "{}", page.body);
    let list = format!("{MAIN}/oauth2/sessions");
    let page = staying.open(&list).await;
    assert_eq!(page.status, StatusCode::OK);
    let pending = "2 Keystone tokens of ended sessions could not be revoked yet";
    assert!(page.body.contains(pending), "{}", page.body);

    gate.set_open(true);
    let made_up_for = async {
        while staying
            .open(&list)
            .await
            .body
            .contains("could not be revoked")
        {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    let in_time = tokio::time::timeout(Duration::from_secs(40), made_up_for).await;
    assert!(in_time.is_ok(), "still pending");
    let live = sessions.list_of_user(user, jiff::Timestamp::now()).await;
    let live = live.expect("sessions");
    assert_eq!(live.len(), 1);
    for token in tokens.iter().flatten() {
        let good = admin.token_is_good(&token.token).await.expect("answer");
        assert_eq!(good, token.session == live[0].id);
    }
    stop.cancel();
}

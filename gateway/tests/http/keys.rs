//! Keys that are replaced while people are signed in.
use portico_assertion::{Signer, SigningKey};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::support::{
    database::keys,
    stack::{MAIN, MAIN_HOST, Stack, Wanted},
};

/// The ID of the key that a request's identity was signed with, as the panel sees it.
fn kid(echo: &Value) -> String {
    use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
    let headers = echo["headers"].as_array().expect("headers");
    let assertion = headers.iter().find(|pair| pair[0] == "portico-assertion");
    let assertion = assertion.expect("an assertion")[1].as_str().expect("text");
    let header = assertion.split('.').next().expect("header");
    let header = URL_SAFE_NO_PAD.decode(header).expect("base64");
    let header: Value = serde_json::from_slice(&header).expect("JSON");
    header["kid"].as_str().expect("kid").to_owned()
}

#[tokio::test]
async fn no_user_is_signed_out_when_keys_are_replaced() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
    let (gateway, stop) = (stack.gateway.clone(), CancellationToken::new());
    let until = stop.clone();
    tokio::spawn(async move { gateway.run(until).await });
    let url = format!("{MAIN}/projects/p1");
    let before = kid(&browser.open(&url).await.json());
    assert_eq!(before, stack.gateway.signing_key_id());

    stack.store.replace_keys(&keys(&[9, 7]));
    let signer = Signer::new(SigningKey::generate());
    let after = signer.kid().to_owned();
    stack.gateway.replace_signer(signer);

    let page = browser.open(&url).await;
    assert_eq!(kid(&page.json()), after);
    let (later, _) = stack.signed_in_as("u2", "devi", &[]).await;
    let jwks = browser.open(&format!("{MAIN}/.well-known/jwks.json")).await;
    let kids: Vec<Value> = jwks.json()["keys"]
        .as_array()
        .expect("keys")
        .iter()
        .map(|key| key["kid"].clone())
        .collect();
    assert_eq!(
        kids,
        [after, before],
        "what was signed before is still good"
    );

    // a process with the first key only knows what was before, and nothing since
    let old = stack.another_process().await;
    let now = jiff::Timestamp::now();
    for (browser, known) in [(&browser, true), (&later, false)] {
        let cookie = browser.cookie(MAIN_HOST, "portico").expect("cookie");
        let found = old.sessions().find(cookie, now).await.expect("answer");
        assert_eq!(found.is_some(), known);
        let found = stack.store.sessions().find(cookie, now).await;
        assert!(found.expect("answer").is_some());
    }
    stop.cancel();
}

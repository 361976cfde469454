//! The provider's keys: rotation, and no client makes us fetch them at will.
use portico_clock::Clock;
use portico_oidc::{Error, Provider, Settings, TokenFault};
use serde_json::json;
use std::{sync::atomic::Ordering, time::Duration};

use portico_test_support::{
    provider::{Key, StandIn, redeem},
    time::advance,
};

#[tokio::test]
async fn attack_65_a_flood_of_unknown_keys_fetches_once_an_interval() {
    let stand_in = StandIn::start().await;
    let provider = stand_in.provider();
    stand_in.gives(&stand_in.key.sign(&json!({}), &stand_in.claims()));
    redeem(&provider).await.unwrap();
    assert_eq!(stand_in.replies.key_fetches.load(Ordering::SeqCst), 1);
    for number in 0..50 {
        let token = stand_in
            .key
            .sign(&json!({ "kid": format!("x{number}") }), &stand_in.claims());
        stand_in.gives(&token);
        let refused = redeem(&provider).await.map(drop);
        assert_eq!(refused, Err(Error::Token(TokenFault::UnknownKey)));
    }
    assert_eq!(stand_in.replies.key_fetches.load(Ordering::SeqCst), 1);
    // and those who sign in meanwhile do not suffer
    stand_in.gives(&stand_in.key.sign(&json!({}), &stand_in.claims()));
    redeem(&provider).await.unwrap();
}

#[tokio::test]
async fn a_new_key_is_found_after_the_interval() {
    let stand_in = StandIn::start().await;
    let provider = Provider::new(
        Settings {
            key_interval: Duration::from_millis(200),
            ..stand_in.settings()
        },
        Clock::system(),
    )
    .unwrap();
    stand_in.gives(&stand_in.key.sign(&json!({}), &stand_in.claims()));
    redeem(&provider).await.unwrap();
    let next = Key::new("k2");
    *stand_in.replies.keys.lock().unwrap() = vec![json!({ "kty": "unknown" }), next.jwk()];
    stand_in.gives(&next.sign(&json!({}), &stand_in.claims()));
    advance(Duration::from_millis(200)).await;
    redeem(&provider).await.unwrap();
    // the old one is withdrawn with that
    stand_in.gives(&stand_in.key.sign(&json!({}), &stand_in.claims()));
    let refused = redeem(&provider).await.map(drop);
    assert_eq!(refused, Err(Error::Token(TokenFault::UnknownKey)));
}

#[tokio::test]
async fn a_key_set_counts_whatever_its_media_type() {
    for media_type in [
        "application/jwk-set+json",
        "text/plain",
        "application/octet-stream",
    ] {
        let stand_in = StandIn::start().await;
        *stand_in.replies.key_media_type.lock().unwrap() = Some(media_type);
        stand_in.gives(&stand_in.key.sign(&json!({}), &stand_in.claims()));
        let redeemed = redeem(&stand_in.provider()).await.map(drop);
        assert_eq!(redeemed, Ok(()), "{media_type}");
    }
}

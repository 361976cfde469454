//! Logout tokens (Back-Channel Logout 1.0, 2.6).
use portico_clock::Clock;
use portico_oidc::{Error, LogoutToken, TokenFault};
use serde_json::{Value, json};

use portico_test_support::provider::{CLIENT, Key, StandIn};

fn claims(stand_in: &StandIn) -> Value {
    let now = Clock::system().now().as_second();
    json!({
        "iss": stand_in.issuer, "aud": CLIENT, "iat": now, "exp": now + 120, "jti": "j1",
        "sid": "s1", "sub": "ada",
        "events": { "http://schemas.openid.net/event/backchannel-logout": {} },
    })
}

async fn with(stand_in: &StandIn, header: Value, changes: Value) -> Result<LogoutToken, Error> {
    let mut claims = claims(stand_in);
    for (name, value) in changes.as_object().unwrap() {
        if value.is_null() {
            claims.as_object_mut().unwrap().remove(name);
        } else {
            claims[name] = value.clone();
        }
    }
    let token = stand_in.key.sign(&header, &claims);
    stand_in.provider().verify_logout_token(&token).await
}

#[tokio::test]
async fn a_good_one_names_session_or_subject() {
    let stand_in = StandIn::start().await;
    let typed = json!({ "typ": "logout+jwt" });
    let token = with(&stand_in, typed.clone(), json!({})).await.unwrap();
    assert_eq!(token.id, "j1");
    assert_eq!(token.session.as_deref(), Some("s1"));
    assert_eq!(token.subject.as_deref(), Some("ada"));
    assert!(token.remember_until > Clock::system().now());
    let token = with(&stand_in, json!({}), json!({ "sid": null })).await;
    assert_eq!(token.unwrap().session, None);
    let token = with(&stand_in, typed, json!({ "sub": null })).await;
    assert_eq!(token.unwrap().subject, None);
}

#[tokio::test]
async fn attack_67_everything_else_is_refused() {
    let stand_in = StandIn::start().await;
    let now = Clock::system().now().as_second();
    for (changes, expected) in [
        (json!({ "iat": null }), TokenFault::Claim("iat")),
        (json!({ "jti": null }), TokenFault::Claim("jti")),
        (json!({ "events": null }), TokenFault::Claim("events")),
        (json!({ "events": {} }), TokenFault::Claim("events")),
        (json!({ "nonce": "n" }), TokenFault::Nonce),
        (json!({ "aud": "another" }), TokenFault::Audience),
        (json!({ "iss": "https://evil.example" }), TokenFault::Issuer),
        (json!({ "iat": now + 600 }), TokenFault::NotYet),
        (
            json!({ "iat": now - 3600, "exp": null }),
            TokenFault::TooOld,
        ),
        (json!({ "exp": now - 120 }), TokenFault::Expired),
        (
            json!({ "sid": null, "sub": null }),
            TokenFault::Claim("sub"),
        ),
    ] {
        let refused = with(&stand_in, json!({}), changes.clone()).await;
        assert_eq!(refused, Err(Error::Token(expected)), "{changes}");
    }
    for typ in ["at+jwt", "id+jwt"] {
        let refused = with(&stand_in, json!({ "typ": typ }), json!({})).await;
        assert_eq!(refused, Err(Error::Token(TokenFault::Type)));
    }
    let forged = Key::new("k1").sign(&json!({}), &claims(&stand_in));
    let refused = stand_in.provider().verify_logout_token(&forged).await;
    assert_eq!(refused, Err(Error::Token(TokenFault::Signature)));
    let unsigned = stand_in
        .key
        .sign(&json!({ "alg": "none" }), &claims(&stand_in));
    let refused = stand_in.provider().verify_logout_token(&unsigned).await;
    assert_eq!(refused, Err(Error::Token(TokenFault::Algorithm)));
}

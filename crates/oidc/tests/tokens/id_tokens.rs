//! ID tokens at sign-in.
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use jiff::SignedDuration;
use portico_clock::Clock;
use portico_oidc::{Algorithm, Error, Settings, TokenFault};
use serde_json::{Value, json};

use portico_test_support::provider::{Key, StandIn, hmac_signed, redeem};

/// What comes of an ID token with these claims changed (`null` takes one away).
async fn with(stand_in: &StandIn, header: Value, changes: Value) -> Result<(), Error> {
    let mut claims = stand_in.claims();
    for (name, value) in changes.as_object().unwrap() {
        if value.is_null() {
            claims.as_object_mut().unwrap().remove(name);
        } else {
            claims[name] = value.clone();
        }
    }
    stand_in.gives(&stand_in.key.sign(&header, &claims));
    redeem(&stand_in.provider()).await.map(drop)
}

fn fault(result: Result<(), Error>) -> TokenFault {
    match result {
        Err(Error::Token(fault)) => fault,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_valid_token_names_its_user() {
    let stand_in = StandIn::start().await;
    stand_in.gives(&stand_in.key.sign(&json!({}), &stand_in.claims()));
    let tokens = redeem(&stand_in.provider()).await.unwrap();
    assert_eq!(tokens.identity.subject, "ada");
    assert_eq!(tokens.identity.groups, ["ops"]);
    assert!(tokens.refresh_token.is_some());
    assert!(tokens.expires_at > Clock::system().now());
    assert_eq!(
        with(&stand_in, json!({ "typ": "JWT" }), json!({})).await,
        Ok(())
    );
}

#[tokio::test]
async fn attack_57_what_is_not_signed_or_signed_with_a_public_key_is_refused() {
    let stand_in = StandIn::start().await;
    let claims = stand_in.claims();
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    for (token, expected) in [
        (
            format!("{}.{}.", part(&json!({ "alg": "none" })), part(&claims)),
            TokenFault::Algorithm,
        ),
        (
            format!("{}.{}.", part(&json!({ "alg": "EdDSA" })), part(&claims)),
            TokenFault::Signature,
        ),
        (
            format!("{}.{}.x", part(&json!({ "typ": "JWT" })), part(&claims)),
            TokenFault::NotAJwt,
        ),
        (
            hmac_signed(stand_in.key.public(), "k1", &claims),
            TokenFault::Algorithm,
        ),
        (hmac_signed(b"secret", "k1", &claims), TokenFault::Algorithm),
        (
            Key::new("k1").sign(&json!({}), &claims),
            TokenFault::Signature,
        ),
        ("a.b.c.d.e".to_owned(), TokenFault::NotAJwt),
        (String::new(), TokenFault::NotAJwt),
        ("x".repeat(1 << 17), TokenFault::TooLong),
    ] {
        stand_in.gives(&token);
        let result = redeem(&stand_in.provider()).await.map(drop);
        assert_eq!(fault(result), expected, "{token:.80}");
    }
}

#[tokio::test]
async fn attack_57_a_key_in_the_header_is_never_used() {
    let stand_in = StandIn::start().await;
    let evil = Key::new("k1");
    for header in [
        json!({ "jwk": evil.jwk() }),
        json!({ "jku": "https://evil.example/jwks" }),
        json!({ "x5u": "https://evil.example/x" }),
        json!({ "x5c": ["AAAA"] }),
        json!({ "crit": ["x"], "x": 1 }),
        json!({ "zip": "DEF" }),
    ] {
        stand_in.gives(&evil.sign(&header, &stand_in.claims()));
        let result = redeem(&stand_in.provider()).await.map(drop);
        assert_eq!(fault(result), TokenFault::Header, "{header}");
        assert_eq!(
            fault(with(&stand_in, header, json!({})).await),
            TokenFault::Header
        );
    }
    for kid in ["../../etc/passwd", "https://evil.example", "k2"] {
        let result = with(&stand_in, json!({ "kid": kid }), json!({})).await;
        assert_eq!(fault(result), TokenFault::UnknownKey);
    }
}

#[tokio::test]
async fn attack_58_another_token_of_the_same_provider_is_not_an_id_token() {
    let stand_in = StandIn::start().await;
    for typ in ["at+jwt", "application/at+jwt", "logout+jwt", "dpop+jwt"] {
        let result = with(&stand_in, json!({ "typ": typ }), json!({})).await;
        assert_eq!(fault(result), TokenFault::Type, "{typ}");
    }
    let result = with(&stand_in, json!({}), json!({ "events": {} })).await;
    assert_eq!(fault(result), TokenFault::Type);
}

#[tokio::test]
async fn attack_58_audience_and_party_must_be_this_client() {
    let stand_in = StandIn::start().await;
    for (changes, expected) in [
        (json!({ "aud": "another" }), TokenFault::Audience),
        (json!({ "aud": ["another"] }), TokenFault::Audience),
        (json!({ "aud": [] }), TokenFault::Claim("aud")),
        (json!({ "aud": null }), TokenFault::Claim("aud")),
        (json!({ "aud": 7 }), TokenFault::Claim("aud")),
        (json!({ "aud": ["portico", 7] }), TokenFault::Claim("aud")),
        (
            json!({ "aud": ["portico", "another"], "azp": "portico" }),
            TokenFault::Audience,
        ),
        (json!({ "azp": "another" }), TokenFault::AuthorizedParty),
    ] {
        let result = with(&stand_in, json!({}), changes.clone()).await;
        assert_eq!(fault(result), expected, "{changes}");
    }
    assert_eq!(
        with(
            &stand_in,
            json!({}),
            json!({ "aud": ["portico"], "azp": "portico" })
        )
        .await,
        Ok(())
    );
}

#[tokio::test]
async fn several_audiences_count_when_configured_and_need_the_party() {
    let stand_in = StandIn::start().await;
    let provider = portico_oidc::Provider::new(
        Settings {
            audiences: vec!["another".to_owned()],
            ..stand_in.settings()
        },
        Clock::system(),
    )
    .unwrap();
    let mut claims = stand_in.claims();
    claims["aud"] = json!(["portico", "another"]);
    stand_in.gives(&stand_in.key.sign(&json!({}), &claims));
    let result = redeem(&provider).await.map(drop);
    assert_eq!(fault(result), TokenFault::AuthorizedParty);
    claims["azp"] = json!("portico");
    stand_in.gives(&stand_in.key.sign(&json!({}), &claims));
    assert!(redeem(&provider).await.is_ok());
    // another client's token does not become ours by that
    claims["aud"] = json!("another");
    stand_in.gives(&stand_in.key.sign(&json!({}), &claims));
    let result = redeem(&provider).await.map(drop);
    assert_eq!(fault(result), TokenFault::Audience);
}

#[tokio::test]
async fn attack_59_times_are_checked_and_strange_ones_refused() {
    let stand_in = StandIn::start().await;
    let now = Clock::system().now().as_second();
    for (changes, expected) in [
        (json!({ "exp": null }), TokenFault::Claim("exp")),
        (json!({ "exp": 1e300 }), TokenFault::Claim("exp")),
        (json!({ "exp": -1 }), TokenFault::Claim("exp")),
        (json!({ "exp": "2999" }), TokenFault::Claim("exp")),
        (json!({ "exp": now - 120 }), TokenFault::Expired),
        (json!({ "nbf": now + 360 }), TokenFault::NotYet),
        (json!({ "iat": now + 360 }), TokenFault::NotYet),
        (json!({ "iat": null }), TokenFault::Claim("iat")),
        (json!({ "iat": "now" }), TokenFault::Claim("iat")),
    ] {
        let result = with(&stand_in, json!({}), changes.clone()).await;
        assert_eq!(fault(result), expected, "{changes}");
    }
    // within the skew, and in broken seconds
    for changes in [
        json!({ "exp": now - 20 }),
        json!({ "nbf": now + 20 }),
        json!({ "exp": 253_402_199_999.5_f64 }),
        json!({ "iat": 1_700_000_000.25 }),
    ] {
        assert_eq!(with(&stand_in, json!({}), changes).await, Ok(()));
    }
}

#[tokio::test]
async fn the_clock_that_was_passed_in_decides() {
    let stand_in = StandIn::start().await;
    stand_in.gives(&stand_in.key.sign(&json!({}), &stand_in.claims()));
    for (hours, expected) in [(1, TokenFault::Expired), (-1, TokenFault::NotYet)] {
        let now = Clock::system().now() + SignedDuration::from_hours(hours);
        let clock = Clock::from_fn(move || now);
        let provider = portico_oidc::Provider::new(stand_in.settings(), clock).unwrap();
        assert_eq!(fault(redeem(&provider).await.map(drop)), expected);
    }
}

#[tokio::test]
async fn attack_44_issuer_subject_and_nonce_must_be_right() {
    let stand_in = StandIn::start().await;
    for (changes, expected) in [
        (json!({ "iss": "https://evil.example" }), TokenFault::Issuer),
        (
            json!({ "iss": format!("{}/", stand_in.issuer) }),
            TokenFault::Issuer,
        ),
        (json!({ "iss": null }), TokenFault::Claim("iss")),
        (json!({ "sub": "" }), TokenFault::Claim("sub")),
        (json!({ "sub": null }), TokenFault::Claim("sub")),
        (json!({ "sub": "x".repeat(256) }), TokenFault::Claim("sub")),
        (json!({ "nonce": "replayed" }), TokenFault::Nonce),
        (json!({ "nonce": null }), TokenFault::Nonce),
        (json!({ "nonce": 7 }), TokenFault::Nonce),
    ] {
        let result = with(&stand_in, json!({}), changes.clone()).await;
        assert_eq!(fault(result), expected, "{changes}");
    }
}

#[tokio::test]
async fn only_configured_algorithms_count() {
    let stand_in = StandIn::start().await;
    let provider = portico_oidc::Provider::new(
        Settings {
            algorithms: vec![Algorithm::RS256],
            ..stand_in.settings()
        },
        Clock::system(),
    )
    .unwrap();
    stand_in.gives(&stand_in.key.sign(&json!({}), &stand_in.claims()));
    let result = redeem(&provider).await.map(drop);
    assert_eq!(fault(result), TokenFault::Algorithm);
}

#[tokio::test]
async fn an_answer_without_an_id_token_signs_no_user_in() {
    let stand_in = StandIn::start().await;
    *stand_in.replies.token.lock().unwrap() =
        json!({ "access_token": "a", "token_type": "Bearer" });
    let result = redeem(&stand_in.provider()).await.map(drop);
    assert_eq!(fault(result), TokenFault::Missing);
}

#[tokio::test]
async fn userinfo_of_another_subject_is_refused() {
    let stand_in = StandIn::start().await;
    let provider = portico_oidc::Provider::new(
        Settings {
            userinfo: true,
            ..stand_in.settings()
        },
        Clock::system(),
    )
    .unwrap();
    stand_in.gives(&stand_in.key.sign(&json!({}), &stand_in.claims()));
    *stand_in.replies.userinfo.lock().unwrap() = json!({ "sub": "eve", "groups": ["admins"] });
    assert_eq!(redeem(&provider).await.map(drop), Err(Error::OtherSubject));
    *stand_in.replies.userinfo.lock().unwrap() = json!({ "sub": "ada", "groups": ["dev"] });
    let tokens = redeem(&provider).await.unwrap();
    assert_eq!(tokens.identity.groups, ["dev"]);
}

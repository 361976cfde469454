//! Responses of the userinfo endpoint: JSON, or a signed JWT (OpenID Connect Core 5.3.2).
use http::StatusCode;
use portico_clock::Clock;
use portico_oidc::{Error, Identity, Provider, Settings, TokenFault};
use serde_json::{Value, json};

use portico_test_support::provider::{CLIENT, Key, StandIn, hmac_signed, redeem};

/// A provider whose ID token is valid, asked for userinfo too.
async fn start() -> StandIn {
    let stand_in = StandIn::start().await;
    stand_in.gives(&stand_in.key.sign(&json!({}), &stand_in.claims()));
    stand_in
}

/// Signs in; the userinfo endpoint responds with `userinfo`.
async fn sign_in(stand_in: &StandIn, userinfo: Value) -> Result<Identity, Error> {
    *stand_in.replies.userinfo.lock().unwrap() = userinfo;
    let provider = Provider::new(
        Settings {
            userinfo: true,
            ..stand_in.settings()
        },
        Clock::system(),
    )
    .unwrap();
    redeem(&provider).await.map(|tokens| tokens.identity)
}

/// Returns the claims of a valid signed response, changed (`null` takes one away).
fn claims(stand_in: &StandIn, changes: &Value) -> Value {
    let mut claims = json!({
        "iss": stand_in.issuer, "aud": CLIENT, "sub": "ada", "groups": ["signed"],
    });
    for (name, value) in changes.as_object().unwrap() {
        if value.is_null() {
            claims.as_object_mut().unwrap().remove(name);
        } else {
            claims[name] = value.clone();
        }
    }
    claims
}

#[tokio::test]
async fn a_signed_response_describes_the_user() {
    let stand_in = start().await;
    let now = Clock::system().now().as_second();
    for (header, changes) in [
        (json!({}), json!({})),
        (json!({ "typ": "JWT" }), json!({ "aud": [CLIENT] })),
        (
            json!({}),
            json!({ "iat": now, "nbf": now, "exp": now + 60 }),
        ),
    ] {
        let signed = stand_in.key.sign(&header, &claims(&stand_in, &changes));
        let identity = sign_in(&stand_in, json!(signed)).await.unwrap();
        assert_eq!(identity.groups, ["signed"], "{header} {changes}");
    }
}

#[tokio::test]
async fn attack_57_a_signed_response_needs_a_signature_of_the_provider() {
    let stand_in = start().await;
    let claims = claims(&stand_in, &json!({}));
    for (response, expected) in [
        (
            Key::new("k1").sign(&json!({}), &claims),
            TokenFault::Signature,
        ),
        (
            stand_in.key.sign(&json!({ "alg": "none" }), &claims),
            TokenFault::Algorithm,
        ),
        (
            hmac_signed(stand_in.key.public(), "k1", &claims),
            TokenFault::Algorithm,
        ),
        (
            stand_in.key.sign(&json!({ "kid": "k2" }), &claims),
            TokenFault::UnknownKey,
        ),
        (
            stand_in
                .key
                .sign(&json!({ "jwk": stand_in.key.jwk() }), &claims),
            TokenFault::Header,
        ),
        // JSON with the media type of a JWT, and an encrypted response
        (claims.to_string(), TokenFault::NotAJwt),
        ("a.b.c.d.e".to_owned(), TokenFault::NotAJwt),
    ] {
        let refused = sign_in(&stand_in, json!(response)).await;
        assert_eq!(refused, Err(Error::Token(expected)), "{response:.80}");
    }
}

#[tokio::test]
async fn attack_58_a_signed_response_is_for_this_client_and_now() {
    let stand_in = start().await;
    let now = Clock::system().now().as_second();
    for (header, changes, expected) in [
        (
            json!({}),
            json!({ "iss": "https://evil.example" }),
            TokenFault::Issuer,
        ),
        (json!({}), json!({ "iss": null }), TokenFault::Claim("iss")),
        (json!({}), json!({ "aud": "another" }), TokenFault::Audience),
        (json!({}), json!({ "aud": null }), TokenFault::Claim("aud")),
        (
            json!({}),
            json!({ "aud": [CLIENT, "another"] }),
            TokenFault::Audience,
        ),
        (json!({}), json!({ "exp": now - 120 }), TokenFault::Expired),
        (json!({}), json!({ "iat": now + 360 }), TokenFault::NotYet),
        (json!({}), json!({ "nbf": now + 360 }), TokenFault::NotYet),
        (json!({}), json!({ "events": {} }), TokenFault::Type),
        (json!({ "typ": "at+jwt" }), json!({}), TokenFault::Type),
        (json!({ "typ": "logout+jwt" }), json!({}), TokenFault::Type),
    ] {
        let signed = stand_in.key.sign(&header, &claims(&stand_in, &changes));
        let refused = sign_in(&stand_in, json!(signed)).await;
        assert_eq!(refused, Err(Error::Token(expected)), "{header} {changes}");
    }
    for changes in [json!({ "sub": "eve" }), json!({ "sub": null })] {
        let signed = stand_in.key.sign(&json!({}), &claims(&stand_in, &changes));
        let refused = sign_in(&stand_in, json!(signed)).await;
        assert_eq!(refused, Err(Error::OtherSubject), "{changes}");
    }
}

#[tokio::test]
async fn claims_of_any_type_are_read() {
    let stand_in = start().await;
    for (email_verified, expected) in [(json!("true"), true), (json!(1), false)] {
        let userinfo = json!({
            "sub": "ada", "groups": ["dev", 7], "email": "ada@example.org",
            "email_verified": email_verified, "name": "Ada", "name#de": 7, "address": "here",
            "updated_at": "2026-01-01T00:00:00Z", "birthdate": null, "iss": 7, "aud": {},
        });
        let identity = sign_in(&stand_in, userinfo).await.unwrap();
        assert_eq!(identity.groups, ["dev"]);
        assert_eq!(identity.display_name.as_deref(), Some("Ada"));
        assert_eq!(identity.email.unwrap().verified, expected);
    }
}

#[tokio::test]
async fn a_response_without_a_subject_or_claims_is_refused() {
    let stand_in = start().await;
    for userinfo in [json!({}), json!({ "sub": 7 }), json!({ "sub": null })] {
        let refused = sign_in(&stand_in, userinfo).await;
        assert_eq!(refused, Err(Error::OtherSubject));
    }
    let refused = sign_in(&stand_in, json!([{ "sub": "ada" }])).await;
    assert_eq!(
        refused,
        Err(Error::Unusable("userinfo is not a JSON object".to_owned()))
    );
}

#[tokio::test]
async fn a_refused_request_is_reported_by_its_status() {
    let stand_in = start().await;
    for (status, expected) in [
        (
            StatusCode::FORBIDDEN,
            Error::Unusable("userinfo answers 403 Forbidden".to_owned()),
        ),
        (
            StatusCode::BAD_GATEWAY,
            Error::Unavailable("it answers 502 Bad Gateway".to_owned()),
        ),
    ] {
        *stand_in.replies.userinfo_status.lock().unwrap() = status;
        let refused = sign_in(&stand_in, json!({ "sub": "ada" })).await;
        assert_eq!(refused, Err(expected));
    }
    *stand_in.replies.userinfo_status.lock().unwrap() = StatusCode::NON_AUTHORITATIVE_INFORMATION;
    assert!(sign_in(&stand_in, json!({ "sub": "ada" })).await.is_ok());
}

#[tokio::test]
async fn an_endpoint_that_is_missing_and_a_token_that_no_header_can_hold_are_reported() {
    let stand_in = start().await;
    stand_in.replies.token.lock().unwrap()["access_token"] = json!("a\nb");
    let refused = sign_in(&stand_in, json!({ "sub": "ada" })).await;
    assert_eq!(
        refused,
        Err(Error::Unusable("its access token is not text".to_owned()))
    );
    let stand_in = start().await;
    stand_in.replies.discovery.lock().unwrap()["userinfo_endpoint"] = json!(null);
    let refused = sign_in(&stand_in, json!({ "sub": "ada" })).await;
    assert_eq!(
        refused,
        Err(Error::Unusable("it has no userinfo endpoint".to_owned()))
    );
}

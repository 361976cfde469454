//! Bearers of API callers.
use portico_clock::Clock;
use portico_oidc::{BearerIdentity, Error, Provider, Settings, TokenFault};
use secrecy::SecretString;
use serde_json::{Value, json};

use portico_test_support::provider::{CLIENT, StandIn};

fn claims(stand_in: &StandIn) -> Value {
    let now = Clock::system().now().as_second();
    json!({
        "iss": stand_in.issuer, "sub": "robot", "aud": "portico-api", "iat": now,
        "exp": now + 60, "groups": ["ci"],
    })
}

async fn verify(stand_in: &StandIn, token: String) -> Result<BearerIdentity, Error> {
    let provider = Provider::new(
        Settings {
            api_audience: Some("portico-api".to_owned()),
            ..stand_in.settings()
        },
        Clock::system(),
    )
    .unwrap();
    provider.verify_bearer(&SecretString::from(token)).await
}

#[tokio::test]
async fn an_access_token_for_the_api_names_the_caller() {
    let stand_in = StandIn::start().await;
    for header in [
        json!({ "typ": "at+jwt" }),
        json!({ "typ": "JWT" }),
        json!({}),
    ] {
        let token = stand_in.key.sign(&header, &claims(&stand_in));
        let bearer = verify(&stand_in, token).await.unwrap();
        assert_eq!(bearer.identity.subject, "robot");
        assert_eq!(bearer.identity.groups, ["ci"]);
    }
}

#[tokio::test]
async fn attack_58_a_token_for_another_purpose_is_not_a_bearer() {
    let stand_in = StandIn::start().await;
    let with = |changes: Value| {
        let mut claims = claims(&stand_in);
        for (name, value) in changes.as_object().unwrap() {
            claims[name] = value.clone();
        }
        stand_in.key.sign(&json!({}), &claims)
    };
    let now = Clock::system().now().as_second();
    for (token, expected) in [
        (with(json!({ "aud": CLIENT })), TokenFault::Audience),
        (with(json!({ "aud": "another" })), TokenFault::Audience),
        // an ID token that names the API too
        (
            with(json!({ "aud": [CLIENT, "portico-api"] })),
            TokenFault::Type,
        ),
        (with(json!({ "nonce": "n" })), TokenFault::Type),
        (with(json!({ "events": {} })), TokenFault::Type),
        (with(json!({ "exp": now - 120 })), TokenFault::Expired),
        (
            with(json!({ "iss": "https://evil.example" })),
            TokenFault::Issuer,
        ),
        (
            stand_in
                .key
                .sign(&json!({ "typ": "logout+jwt" }), &claims(&stand_in)),
            TokenFault::Type,
        ),
        ("garbage".to_owned(), TokenFault::NotAJwt),
    ] {
        let refused = verify(&stand_in, token).await;
        assert_eq!(refused, Err(Error::Token(expected)));
    }
}

#[tokio::test]
async fn without_an_audience_of_its_own_no_bearer_counts() {
    let stand_in = StandIn::start().await;
    let token = stand_in.key.sign(&json!({}), &claims(&stand_in));
    let refused = stand_in
        .provider()
        .verify_bearer(&SecretString::from(token))
        .await;
    assert_eq!(refused, Err(Error::Token(TokenFault::NoBearers)));
}

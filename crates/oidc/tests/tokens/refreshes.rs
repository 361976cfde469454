//! What a refresh may and may not say.
use portico_oidc::{Error, TokenFault};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};

use portico_test_support::provider::{CLIENT, Key, StandIn};

async fn refresh(stand_in: &StandIn) -> Result<portico_oidc::Refreshed, Error> {
    let token = SecretString::from("refresh-1");
    stand_in.provider().refresh(&token, &stand_in.known()).await
}

fn changed(stand_in: &StandIn, name: &str, value: Value) -> String {
    let mut claims = stand_in.claims();
    claims[name] = value;
    stand_in.key.sign(&json!({}), &claims)
}

#[tokio::test]
async fn a_refresh_renews_groups_and_rotates() {
    let stand_in = StandIn::start().await;
    stand_in.gives(&changed(&stand_in, "groups", json!(["dev"])));
    let refreshed = refresh(&stand_in).await.unwrap();
    assert_eq!(refreshed.identity.unwrap().groups, ["dev"]);
    assert_eq!(
        refreshed.refresh_token.unwrap().expose_secret(),
        "refresh-2"
    );
    // a claim that is not there any more is a group that is gone
    let mut claims = stand_in.claims();
    claims.as_object_mut().unwrap().remove("groups");
    stand_in.gives(&stand_in.key.sign(&json!({}), &claims));
    let refreshed = refresh(&stand_in).await.unwrap();
    assert!(refreshed.identity.unwrap().groups.is_empty());
}

#[tokio::test]
async fn attack_62_another_subject_issuer_or_no_signature_is_refused() {
    let stand_in = StandIn::start().await;
    stand_in.gives(&changed(&stand_in, "sub", json!("eve")));
    assert_eq!(refresh(&stand_in).await.unwrap_err(), Error::OtherSubject);
    stand_in.gives(&changed(&stand_in, "iss", json!("https://evil.example")));
    assert_eq!(
        refresh(&stand_in).await.unwrap_err(),
        Error::Token(TokenFault::Issuer)
    );
    let unsigned = changed(&stand_in, "groups", json!(["admins"]));
    let (message, _) = unsigned.rsplit_once('.').unwrap();
    stand_in.gives(&format!("{message}."));
    assert_eq!(
        refresh(&stand_in).await.unwrap_err(),
        Error::Token(TokenFault::Signature)
    );
    stand_in.gives(&changed(&stand_in, "aud", json!("another")));
    assert_eq!(
        refresh(&stand_in).await.unwrap_err(),
        Error::Token(TokenFault::Audience)
    );
}

#[tokio::test]
async fn without_an_id_token_userinfo_gives_the_rest() {
    let stand_in = StandIn::start().await;
    *stand_in.replies.token.lock().unwrap() =
        json!({ "access_token": "a", "token_type": "bearer", "expires_in": 60 });
    *stand_in.replies.userinfo.lock().unwrap() = json!({ "sub": "ada", "groups": ["dev"] });
    let refreshed = refresh(&stand_in).await.unwrap();
    assert_eq!(refreshed.identity.unwrap().groups, ["dev"]);
    assert!(refreshed.refresh_token.is_none() && refreshed.id_token.is_none());
    *stand_in.replies.userinfo.lock().unwrap() = json!({ "sub": "eve" });
    assert_eq!(refresh(&stand_in).await.unwrap_err(), Error::OtherSubject);
}

#[tokio::test]
async fn a_refused_token_is_distinguished_from_a_refused_client_and_from_an_outage() {
    let stand_in = StandIn::start().await;
    for (code, expected) in [
        ("invalid_grant", Error::InvalidGrant),
        ("invalid_client", Error::Client("invalid_client".to_owned())),
        (
            "temporarily_unavailable",
            Error::Unavailable("it answers temporarily_unavailable".to_owned()),
        ),
    ] {
        *stand_in.replies.token.lock().unwrap() =
            json!({ "error": code, "error_description": "token secret-value" });
        let error = refresh(&stand_in).await.unwrap_err();
        assert_eq!(error, expected);
        assert!(!error.to_string().contains("secret-value"));
    }
    *stand_in.replies.token.lock().unwrap() = json!({ "access_token": ["secret-value"] });
    let error = refresh(&stand_in).await.unwrap_err();
    assert!(matches!(error, Error::Unusable(_)));
    assert!(!error.to_string().contains("secret-value"));
}

#[tokio::test]
async fn attack_62_a_signed_userinfo_response_is_verified_at_a_refresh_too() {
    let stand_in = StandIn::start().await;
    *stand_in.replies.token.lock().unwrap() =
        json!({ "access_token": "a", "token_type": "bearer", "expires_in": 60 });
    let claims = json!({
        "iss": stand_in.issuer, "aud": CLIENT, "sub": "ada", "groups": ["dev"],
    });
    *stand_in.replies.userinfo.lock().unwrap() = json!(stand_in.key.sign(&json!({}), &claims));
    let refreshed = refresh(&stand_in).await.unwrap();
    assert_eq!(refreshed.identity.unwrap().groups, ["dev"]);
    let forged = Key::new("k1").sign(&json!({}), &claims);
    *stand_in.replies.userinfo.lock().unwrap() = json!(forged);
    assert_eq!(
        refresh(&stand_in).await.unwrap_err(),
        Error::Token(TokenFault::Signature)
    );
}

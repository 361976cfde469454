//! The address of the provider's own sign-out (RP-Initiated Logout 1.0).
use std::collections::HashMap;

use portico_test_support::provider::{CLIENT, StandIn};
use secrecy::SecretString;
use serde_json::json;

#[tokio::test]
async fn the_address_keeps_its_query_and_names_client_and_return() {
    let stand_in = StandIn::start().await;
    stand_in.replies.discovery.lock().unwrap()["end_session_endpoint"] =
        json!(format!("{}/end?tenant=a", stand_in.issuer));
    let provider = stand_in.provider();
    let back = "https://portico.example.org/oauth2/signed_out"
        .parse()
        .unwrap();
    let query = |url: url::Url| -> HashMap<String, String> {
        assert_eq!(url.path(), "/end");
        url.query_pairs().into_owned().collect()
    };
    let without = query(provider.logout_url(None, &back).await.unwrap().unwrap());
    assert_eq!(
        without,
        HashMap::from([
            ("tenant".to_owned(), "a".to_owned()),
            ("client_id".to_owned(), CLIENT.to_owned()),
            ("post_logout_redirect_uri".to_owned(), back.to_string()),
        ])
    );
    // the hint is passed on as it was issued, whatever it is
    let hint = SecretString::from("not a JWT+&");
    let with = query(
        provider
            .logout_url(Some(&hint), &back)
            .await
            .unwrap()
            .unwrap(),
    );
    assert_eq!(with["id_token_hint"], "not a JWT+&");
    assert_eq!(with.len(), 4);
}

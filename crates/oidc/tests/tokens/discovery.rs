//! Discovery: lazily, only from and to known hosts.
use portico_clock::Clock;
use portico_oidc::{Error, Provider, Settings};
use serde_json::json;
use std::sync::atomic::Ordering;

use portico_test_support::provider::StandIn;

#[tokio::test]
async fn a_provider_is_discovered_when_it_is_needed_and_once() {
    let stand_in = StandIn::start().await;
    let provider = stand_in.provider();
    assert_eq!(stand_in.replies.discoveries.load(Ordering::SeqCst), 0);
    let redirect = "https://portico.example.org/cb".parse().unwrap();
    let (one, two) = (
        provider.begin(&redirect, false).await.unwrap(),
        provider.begin(&redirect, true).await.unwrap(),
    );
    assert_eq!(stand_in.replies.discoveries.load(Ordering::SeqCst), 1);
    let query: std::collections::HashMap<String, String> =
        one.url.query_pairs().into_owned().collect();
    assert_eq!(query["response_type"], "code");
    assert_eq!(query["code_challenge_method"], "S256");
    assert_eq!(query["scope"], "openid profile email");
    assert_eq!(query["redirect_uri"], redirect.as_str());
    assert!(!query.contains_key("prompt") && !query.contains_key("code_verifier"));
    use secrecy::ExposeSecret as _;
    assert_eq!(query["state"], one.flow.state.expose_secret());
    assert_eq!(query["nonce"], one.flow.nonce.expose_secret());
    assert_ne!(query["code_challenge"], one.flow.verifier.expose_secret());
    for (a, b) in [
        (&one.flow.state, &two.flow.state),
        (&one.flow.nonce, &two.flow.nonce),
        (&one.flow.verifier, &two.flow.verifier),
    ] {
        assert_ne!(a.expose_secret(), b.expose_secret());
    }
    assert!(two.url.query().unwrap().contains("prompt=login"));
}

#[tokio::test]
async fn an_authorization_request_has_each_parameter_once() {
    let stand_in = StandIn::start().await;
    let provider = Provider::new(
        Settings {
            scopes: ["openid", "groups"].map(str::to_owned).to_vec(),
            ..stand_in.settings()
        },
        Clock::system(),
    )
    .unwrap();
    let redirect = "https://portico.example.org/cb".parse().unwrap();
    let begun = provider.begin(&redirect, true).await.unwrap();
    let query: Vec<(String, String)> = begun.url.query_pairs().into_owned().collect();
    let mut names: Vec<&str> = query.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "client_id",
            "code_challenge",
            "code_challenge_method",
            "nonce",
            "prompt",
            "redirect_uri",
            "response_type",
            "scope",
            "state",
        ]
    );
    assert!(query.contains(&("scope".to_owned(), "openid groups".to_owned())));
    assert!(query.contains(&("client_id".to_owned(), "portico".to_owned())));
    // no secret of the sign-in or of the client is printed
    use secrecy::ExposeSecret as _;
    let printed = format!("{:?}", begun.flow);
    for secret in [&begun.flow.state, &begun.flow.nonce, &begun.flow.verifier] {
        assert!(!printed.contains(secret.expose_secret()));
    }
}

#[tokio::test]
async fn a_document_with_strange_members_is_read() {
    let stand_in = StandIn::start().await;
    {
        let mut document = stand_in.replies.discovery.lock().unwrap();
        document["service_documentation"] = json!("");
        document["id_token_signing_alg_values_supported"] = json!(["RS256", "ML-DSA-65", 7]);
        document["subject_types_supported"] = json!("public");
        document["claims_parameter_supported"] = json!("true");
    }
    assert_eq!(stand_in.provider().discover().await, Ok(()));
}

#[tokio::test]
async fn a_document_without_a_token_endpoint_is_refused() {
    let stand_in = StandIn::start().await;
    let mut members = stand_in.replies.discovery.lock().unwrap().clone();
    members.as_object_mut().unwrap().remove("token_endpoint");
    *stand_in.replies.discovery.lock().unwrap() = members;
    assert_eq!(
        stand_in.provider().discover().await,
        Err(Error::Unusable(
            "/.well-known/openid-configuration: missing field `token_endpoint`".to_owned()
        ))
    );
}

#[tokio::test]
async fn a_provider_that_is_down_is_reported_and_found_again() {
    let provider = Provider::new(
        Settings::new("http://127.0.0.1:9", "x", None),
        Clock::system(),
    )
    .unwrap();
    assert!(provider.outage().is_none());
    assert!(matches!(
        provider.discover().await,
        Err(Error::Unavailable(_))
    ));
    assert!(provider.outage().is_some());
}

#[tokio::test]
async fn endpoints_at_other_hosts_are_not_used() {
    for name in ["authorization_endpoint", "token_endpoint", "jwks_uri"] {
        for address in [
            "https://evil.example/x",
            "http://169.254.169.254/latest",
            "file:///etc/passwd",
        ] {
            let stand_in = StandIn::start().await;
            stand_in.replies.discovery.lock().unwrap()[name] = json!(address);
            let refused = stand_in.provider().discover().await;
            assert!(
                matches!(refused, Err(Error::Unusable(_))),
                "{name} {address}"
            );
        }
    }
    // one that is not needed for signing in is left out
    let stand_in = StandIn::start().await;
    stand_in.replies.discovery.lock().unwrap()["end_session_endpoint"] =
        json!("https://evil.example/x");
    let provider = stand_in.provider();
    let back = "https://portico.example.org/".parse().unwrap();
    assert_eq!(provider.logout_url(None, &back).await, Ok(None));
}

#[tokio::test]
async fn another_issuers_document_is_refused() {
    let stand_in = StandIn::start().await;
    stand_in.replies.discovery.lock().unwrap()["issuer"] = json!("https://evil.example");
    assert!(matches!(
        stand_in.provider().discover().await,
        Err(Error::Unusable(_))
    ));
}

#[tokio::test]
async fn an_answer_names_its_issuer_where_that_is_promised() {
    let stand_in = StandIn::start().await;
    let provider = stand_in.provider();
    let issuer = stand_in.issuer.clone();
    assert_eq!(provider.expect_response_issuer(Some(&issuer)).await, Ok(()));
    for given in [Some("https://evil.example"), Some(""), None] {
        assert_eq!(
            provider.expect_response_issuer(given).await,
            Err(Error::OtherIssuer),
            "{given:?}"
        );
    }
    let quiet = StandIn::start().await;
    quiet.replies.discovery.lock().unwrap()["authorization_response_iss_parameter_supported"] =
        json!(false);
    assert_eq!(quiet.provider().expect_response_issuer(None).await, Ok(()));
}

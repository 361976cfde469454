//! Federation by header: the stack's Keystone believes every client that reaches its port.
use crate::environment::{client, value};
use portico_openstack::keystone::{
    Assertion, FederatedProtocol, FederationError, TokenScope, federation::websso_address,
};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use secrecy::SecretString;

fn way() -> FederatedProtocol {
    FederatedProtocol {
        identity_provider: value("FEDERATION_IDENTITY_PROVIDER"),
        protocol: value("FEDERATION_PROTOCOL"),
    }
}

fn assertion_headers(issuer: &str, name: Option<&str>, groups: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let mut add = |header: &'static str, value: &str| {
        let value = HeaderValue::from_bytes(value.as_bytes()).unwrap();
        headers.insert(HeaderName::from_static(header), value);
    };
    add("oidc-iss", issuer);
    add("oidc-claim-email", "alice@example.test");
    add("oidc-claim-groups", groups);
    if let Some(name) = name {
        add("oidc-claim-preferred-username", name);
    }
    headers
}

#[tokio::test]
async fn a_providers_attributes_become_a_token_with_the_roles_of_the_groups() {
    let issuer = value("FEDERATION_ISSUER");
    let assertion_headers = assertion_headers(&issuer, Some("zoë.fed"), "k8s-admins;strangers");
    let issued = client()
        .federate(&way(), &Assertion::Headers(assertion_headers))
        .await
        .unwrap();
    assert_eq!(issued.details.scope, TokenScope::Unscoped);
    assert_eq!(issued.details.methods, ["openid"]);
    assert_eq!(issued.details.identity.user.name, "zoë.fed");
    let user = &issued.details.identity.user;
    let projects = client()
        .projects(&issued.token, &user.domain)
        .await
        .unwrap();
    let acme = value("PROJECT_ID_ACME");
    let ids: Vec<&str> = projects.iter().map(|project| project.id.as_str()).collect();
    assert_eq!(ids, [acme.as_str()]);
    let scoped = client().rescope(&issued.token, &acme).await.unwrap();
    let roles = scoped.details.identity.roles;
    assert!(roles.iter().any(|role| role.name == "k8s_admin"));
    assert_eq!(scoped.details.identity.user.id, user.id);
    assert_eq!(scoped.details.expires_at, issued.details.expires_at);
}

#[tokio::test]
async fn each_fault_of_a_federation_is_distinguished() {
    let issuer = value("FEDERATION_ISSUER");
    let refused = async |way: &FederatedProtocol, assertion_headers: HeaderMap| {
        client()
            .federate(way, &Assertion::Headers(assertion_headers))
            .await
            .unwrap_err()
    };
    let good = assertion_headers(&issuer, Some("alice.fed"), "developers");
    let other = assertion_headers("http://evil.test", Some("alice.fed"), "developers");
    assert_eq!(
        refused(&way(), other).await,
        FederationError::UntrustedIssuer
    );
    let nameless = assertion_headers(&issuer, None, "developers");
    assert_eq!(refused(&way(), nameless).await, FederationError::NotMapped);
    let unknown = FederatedProtocol {
        identity_provider: "nobody".to_owned(),
        ..way()
    };
    assert_eq!(
        refused(&unknown, good).await,
        FederationError::UnknownProvider
    );
    // there is no web server here that would verify a bearer: no user is asserted
    let bearer = Assertion::Bearer(SecretString::from("eyJ.a.b"));
    let error = client().federate(&way(), &bearer).await.unwrap_err();
    assert_eq!(error, FederationError::NotMapped);
}

#[tokio::test]
async fn a_token_made_from_a_federated_one_outlives_it() {
    let issuer = value("FEDERATION_ISSUER");
    let assertion_headers = assertion_headers(&issuer, Some("alice.fed"), "developers");
    let first = client()
        .federate(&way(), &Assertion::Headers(assertion_headers))
        .await
        .unwrap();
    let second = client().unscope(&first.token).await.unwrap();
    client().revoke(&first.token).await.unwrap();
    assert!(client().validate(&first.token).await.is_err());
    client().validate(&second.token).await.unwrap();
}

#[tokio::test]
async fn single_sign_on_sends_the_token_to_a_trusted_address_only() {
    let public = value("KEYSTONE_URL").parse().unwrap();
    // chooses the TLS library for the process
    client();
    let http = reqwest::Client::new();
    let issuer = value("FEDERATION_ISSUER");
    for (back, status) in [
        ("http://localhost:8080/oauth2/websso", 200),
        ("http://evil.test/oauth2/websso", 401),
    ] {
        let url = websso_address(&public, None, "openid", back);
        let answer = http
            .get(url)
            .headers(assertion_headers(&issuer, Some("alice.fed"), "developers"))
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status().as_u16(), status, "{back}");
        let body = answer.text().await.unwrap();
        assert_eq!(body.contains(back), status == 200, "{body}");
    }
}

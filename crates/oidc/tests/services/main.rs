//! Against npm's certified `oidc-provider`, which the test starts itself.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "in a test, whatever is not as expected ends it"
)]
use portico_clock::Clock;
use portico_oidc::{Authorization, Error, Provider, Redemption, Settings, Tokens};
use portico_testkit::{CLIENT_ID, CLIENT_SECRET, OidcPerson, OidcProvider};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::json;
use std::collections::HashMap;
use url::Url;

const REDIRECT: &str = "http://localhost:8080/oauth2/callback/corp";

struct Running {
    peer: OidcProvider,
    provider: Provider,
    redirect: Url,
}

async fn running() -> Running {
    let peer = OidcProvider::start(REDIRECT, "http://localhost:8080", 300)
        .await
        .unwrap();
    let secret = SecretString::from(CLIENT_SECRET);
    let settings = Settings {
        scopes: ["profile", "email", "groups"].map(str::to_owned).to_vec(),
        ..Settings::new(&peer.issuer, CLIENT_ID, Some(secret))
    };
    Running {
        provider: Provider::new(settings, Clock::system()).unwrap(),
        peer,
        redirect: REDIRECT.parse().unwrap(),
    }
}

impl Running {
    async fn answered(&self, person: &mut OidcPerson) -> (Authorization, HashMap<String, String>) {
        let authorization = self.provider.begin(&self.redirect, false).await.unwrap();
        let answer = person.sign_in(authorization.url.as_str(), "alice").await;
        let answer = Url::parse(&answer.unwrap()).unwrap();
        let query: HashMap<String, String> = answer.query_pairs().into_owned().collect();
        assert_eq!(query["state"], authorization.flow.state.expose_secret());
        let issuer = self
            .provider
            .expect_response_issuer(query.get("iss").map(String::as_str));
        assert_eq!(issuer.await, Ok(()));
        (authorization, query)
    }

    async fn redeem(
        &self,
        authorization: &Authorization,
        code: &str,
        verifier: &SecretString,
    ) -> Result<Tokens, Error> {
        self.provider
            .finish(&Redemption {
                code: SecretString::from(code),
                nonce: &authorization.flow.nonce,
                verifier,
                redirect: &self.redirect,
            })
            .await
    }
}

#[tokio::test]
async fn a_user_signs_in_and_is_refreshed_with_rotation() {
    let running = running().await;
    let (authorization, query) = running.answered(&mut OidcPerson::default()).await;
    let verifier = &authorization.flow.verifier;
    let tokens = running
        .redeem(&authorization, &query["code"], verifier)
        .await
        .unwrap();
    let identity = &tokens.identity;
    assert_eq!(identity.subject, "alice");
    assert_eq!(identity.name, "alice");
    assert_eq!(identity.groups, ["k8s-admins", "ops"]);
    assert!(identity.email.as_ref().unwrap().verified);
    assert!(identity.session.is_some());
    assert!(tokens.expires_at > Clock::system().now());
    let first = tokens.refresh_token.clone().unwrap();

    running
        .peer
        .control(json!({ "groups": { "alice": ["ops"] } }))
        .await
        .unwrap();
    let refreshed = running.provider.refresh(&first, identity).await.unwrap();
    let second = refreshed.refresh_token.unwrap();
    assert_ne!(first.expose_secret(), second.expose_secret());
    assert_eq!(refreshed.identity.unwrap().groups, ["ops"]);

    // a used token is refused, and takes the family with it
    let again = running.provider.refresh(&first, identity).await;
    assert_eq!(again.unwrap_err(), Error::InvalidGrant);
    let family = running.provider.refresh(&second, identity).await;
    assert_eq!(family.unwrap_err(), Error::InvalidGrant);
}

#[tokio::test]
async fn attack_45_a_code_is_good_once_and_with_its_verifier() {
    let running = running().await;
    let mut person = OidcPerson::default();
    let (authorization, query) = running.answered(&mut person).await;
    let other = SecretString::from("x".repeat(43));
    let refused = running.redeem(&authorization, &query["code"], &other).await;
    assert_eq!(refused.unwrap_err(), Error::InvalidGrant);

    let (authorization, query) = running.answered(&mut person).await;
    let verifier = &authorization.flow.verifier;
    let good = running.redeem(&authorization, &query["code"], verifier);
    assert!(good.await.is_ok());
    let again = running.redeem(&authorization, &query["code"], verifier);
    assert_eq!(again.await.unwrap_err(), Error::InvalidGrant);
}

#[tokio::test]
async fn a_revoked_token_is_worthless_and_a_wrong_secret_is_distinguished() {
    let running = running().await;
    let (authorization, query) = running.answered(&mut OidcPerson::default()).await;
    let verifier = &authorization.flow.verifier;
    let tokens = running
        .redeem(&authorization, &query["code"], verifier)
        .await
        .unwrap();
    let token = tokens.refresh_token.unwrap();
    let wrong = SecretString::from("wrong");
    let stranger = Provider::new(
        Settings::new(&running.peer.issuer, CLIENT_ID, Some(wrong)),
        Clock::system(),
    )
    .unwrap();
    let refused = stranger.refresh(&token, &tokens.identity).await;
    assert!(matches!(refused, Err(Error::Client(_))));
    let revoked = running.provider.revoke(&token, "refresh_token").await;
    assert_eq!(revoked, Ok(true));
    let refused = running.provider.refresh(&token, &tokens.identity).await;
    assert_eq!(refused.unwrap_err(), Error::InvalidGrant);
}

#[tokio::test]
async fn the_providers_session_ends_at_the_discovered_endpoint() {
    let running = running().await;
    let mut person = OidcPerson::default();
    let (authorization, query) = running.answered(&mut person).await;
    let verifier = &authorization.flow.verifier;
    let tokens = running
        .redeem(&authorization, &query["code"], verifier)
        .await
        .unwrap();
    let back: Url = "http://localhost:8080/oauth2/signed_out".parse().unwrap();
    let url = running
        .provider
        .logout_url(Some(&tokens.id_token), &back)
        .await
        .unwrap()
        .unwrap();
    let led = person.sign_out(url.as_str()).await.unwrap();
    assert_eq!(led, back.as_str());
    let events = running.peer.events().await.unwrap();
    assert!(events.iter().any(|event| event.kind == "end_session"));
}

//! 99 to 101: logout tokens at the endpoint that any client may reach. What each claim must be is
//! tried at the lowest layer, in crates/oidc (case 67); here two providers, sessions and a store
//! are behind it. The providers sign what no real one would, so they are stand-ins.
use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Instant,
};

use http::{Method, StatusCode};
use jiff::{SignedDuration, Timestamp};
use portico_store::{NewSession, ProviderProfile, Session, SessionProvider};
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use crate::{
    stand_in::{CLIENT, Key, StandIn, hmac_signed},
    support::{
        browser::{Browser, Page},
        stack::{MAIN, Stack, Wanted},
    },
};

const EVENT: &str = "http://schemas.openid.net/event/backchannel-logout";

struct Two {
    stack: Stack,
    corp: StandIn,
    partner: StandIn,
    _secret: NamedTempFile,
}

/// A gateway with two providers, at both of which the same client is registered.
async fn two() -> Two {
    let (corp, partner) = (StandIn::start().await, StandIn::start().await);
    let secret = NamedTempFile::new().expect("file");
    std::fs::write(secret.path(), "secret").expect("written");
    let entry = |id: &str, issuer: &str| {
        json!({
            "id": id, "name": id, "kind": "oidc", "issuer": issuer, "client_id": CLIENT,
            "client_secret_file": secret.path(),
        })
    };
    let providers = [
        entry("corp", &corp.issuer),
        entry("partner", &partner.issuer),
    ];
    let stack = Stack::start(Wanted {
        gateway: json!({ "providers": providers }),
        ..Wanted::default()
    })
    .await;
    Two {
        stack,
        corp,
        partner,
        _secret: secret,
    }
}

impl Two {
    /// A session as sign-in with a provider leaves it.
    async fn session(&self, provider: &str, subject: &str, sid: &str) -> Session {
        let (_, like) = self.stack.session_of("u9", subject, &[]).await;
        let of_provider = SessionProvider {
            id: provider.to_owned(),
            subject: subject.to_owned(),
            sid: Some(sid.to_owned()),
            profile: ProviderProfile {
                email: None,
                email_verified: false,
                display_name: None,
                groups: Vec::new(),
                roles: Vec::new(),
                keystone: false,
            },
            expires_at: None,
        };
        let new = NewSession {
            projects: Vec::new(),
            ..self.stack.new_session(&like)
        };
        let sessions = self.stack.store.sessions();
        let made = sessions.create_of_provider(&new, of_provider, Timestamp::now());
        made.await.expect("session").1
    }

    async fn is_live(&self, session: &Session) -> bool {
        let found = self.stack.store.sessions().get(session.id).await;
        found.expect("store").expect("row").ended_at.is_none()
    }

    async fn send(&self, body: String) -> Page {
        let headers = [("content-type", "application/x-www-form-urlencoded")];
        let url = format!("{MAIN}/oauth2/backchannel_logout");
        Browser::new(self.stack.address)
            .send(Method::POST, &url, &headers, body)
            .await
    }

    async fn log_out(&self, token: &str) -> Page {
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        self.send(form.append_pair("logout_token", token).finish())
            .await
    }
}

/// Claims of a good logout token, with an ID of its own.
fn claims(issuer: &str, changes: Value) -> Value {
    static IDS: AtomicU64 = AtomicU64::new(0);
    let now = Timestamp::now().as_second();
    let mut claims = json!({
        "iss": issuer, "aud": CLIENT, "iat": now, "exp": now + 120,
        "jti": format!("j{}", IDS.fetch_add(1, Ordering::SeqCst)),
        "sub": "ada", "events": { EVENT: {} },
    });
    for (name, value) in changes.as_object().expect("object") {
        if value.is_null() {
            claims.as_object_mut().expect("object").remove(name);
        } else {
            claims[name] = value.clone();
        }
    }
    claims
}

#[tokio::test]
async fn attack_99_no_forged_or_misdirected_logout_token_ends_a_session() {
    let two = two().await;
    let session = two.session("corp", "ada", "s1").await;
    let (corp, partner) = (&two.corp, &two.partner);
    let good = |changes: Value| corp.key.sign(&json!({}), &claims(&corp.issuer, changes));
    let of_corp = claims(&corp.issuer, json!({}));
    let old = Timestamp::now() - SignedDuration::from_hours(1);
    for (what, token) in [
        ("none", String::new()),
        ("no token", "x".to_owned()),
        ("three parts of nothing", "a.b.c".to_owned()),
        ("another audience", good(json!({ "aud": "another" }))),
        ("no audience", good(json!({ "aud": null }))),
        (
            "another issuer",
            good(json!({ "iss": "https://evil.example" })),
        ),
        ("no events", good(json!({ "events": null }))),
        ("another event", good(json!({ "events": { "x": {} } }))),
        (
            "an event that is not an object",
            good(json!({ "events": { EVENT: true } })),
        ),
        ("a nonce: an ID token", good(json!({ "nonce": "n" }))),
        ("no ID", good(json!({ "jti": null }))),
        ("no subject", good(json!({ "sub": null }))),
        (
            "an old one",
            good(json!({ "iat": old.as_second(), "exp": null })),
        ),
        (
            "an unsigned one",
            corp.key.sign(&json!({ "alg": "none" }), &of_corp),
        ),
        (
            "the public key as a secret",
            hmac_signed(corp.key.public(), "k1", &of_corp),
        ),
        (
            "a key of the attacker's",
            Key::new("k1").sign(&json!({}), &of_corp),
        ),
        (
            "a key in the header",
            Key::new("k1").sign(&json!({ "jwk": Key::new("k1").jwk() }), &of_corp),
        ),
        // another provider of ours speaks for this one
        ("the partner's key", partner.key.sign(&json!({}), &of_corp)),
        (
            "an access token",
            corp.key.sign(&json!({ "typ": "at+jwt" }), &of_corp),
        ),
    ] {
        let page = two.log_out(&token).await;
        assert_eq!(
            page.status,
            StatusCode::BAD_REQUEST,
            "{what}: {}",
            page.body
        );
        assert_eq!(page.headers["cache-control"], "no-store", "{what}");
        assert!(two.is_live(&session).await, "{what} ended a session");
    }
    let page = two.send("logout_token=a&logout_token=b".to_owned()).await;
    assert_eq!(page.status, StatusCode::BAD_REQUEST);
    // the control case
    assert_eq!(two.log_out(&good(json!({}))).await.status, StatusCode::OK);
    assert!(!two.is_live(&session).await);
}

#[tokio::test]
async fn attack_100_a_provider_ends_what_is_its_own_and_each_token_once() {
    let two = two().await;
    let (corp, partner) = (&two.corp, &two.partner);
    let of = |stand_in: &StandIn, changes: Value| {
        let claims = claims(&stand_in.issuer, changes);
        stand_in.key.sign(&json!({}), &claims)
    };
    // the same subject and session at two providers
    let at_corp = two.session("corp", "ada", "s1").await;
    let at_partner = two.session("partner", "ada", "s1").await;
    let token = of(partner, json!({ "sid": "s1" }));
    assert_eq!(two.log_out(&token).await.status, StatusCode::OK);
    assert!(two.is_live(&at_corp).await, "another provider's session");
    assert!(!two.is_live(&at_partner).await, "the control case");
    // a session and a subject that do not belong together
    let bobs = two.session("corp", "bob", "s2").await;
    for changes in [
        json!({ "sub": "ada", "sid": "s2" }),
        json!({ "sub": "bob", "sid": "s1" }),
        json!({ "sub": "eve", "sid": "s1" }),
    ] {
        let page = two.log_out(&of(corp, changes.clone())).await;
        assert_eq!(page.status, StatusCode::OK, "{changes}");
        assert!(two.is_live(&at_corp).await, "{changes}");
        assert!(two.is_live(&bobs).await, "{changes}");
    }
    // a token is good once: who has seen it ends nothing that began later
    let token = of(corp, json!({ "sid": "s1" }));
    assert_eq!(two.log_out(&token).await.status, StatusCode::OK);
    assert!(!two.is_live(&at_corp).await);
    let later = two.session("corp", "ada", "s1").await;
    let page = two.log_out(&token).await;
    assert_eq!(page.status, StatusCode::BAD_REQUEST);
    assert!(page.body.contains("used before"), "{}", page.body);
    assert!(two.is_live(&later).await, "a token counted twice");
    // many at once: one of them counts
    let token = of(corp, json!({ "sid": "s1" }));
    let all = (0..20).map(|_| two.log_out(&token));
    let pages = futures::future::join_all(all).await;
    let taken = pages.iter().filter(|page| page.status == StatusCode::OK);
    assert_eq!(taken.count(), 1);
    assert!(!two.is_live(&later).await);
    // a subject without a session: all of theirs at this provider, and no other user's
    let more = [
        two.session("corp", "ada", "s3").await,
        two.session("corp", "ada", "s4").await,
    ];
    let theirs = two.session("partner", "ada", "s3").await;
    assert_eq!(
        two.log_out(&of(corp, json!({}))).await.status,
        StatusCode::OK
    );
    for session in &more {
        assert!(!two.is_live(session).await);
    }
    assert!(two.is_live(&theirs).await && two.is_live(&bobs).await);
}

#[tokio::test]
async fn attack_101_a_flood_of_logout_tokens_costs_the_provider_next_to_nothing() {
    let two = two().await;
    let session = two.session("corp", "ada", "s1").await;
    // 10 MB of a form
    let page = two
        .send(format!("logout_token={}", "a".repeat(10 << 20)))
        .await;
    assert!(page.status.is_client_error(), "{}", page.status);
    // signed with unknown keys
    let forged = Key::new("unknown");
    let mut tokens = Vec::new();
    for number in 0..300 {
        let header = json!({ "kid": format!("k{number}-of-nobody") });
        tokens.push(forged.sign(&header, &claims(&two.corp.issuer, json!({}))));
    }
    let started = Instant::now();
    for some in tokens.chunks(50) {
        let pages = futures::future::join_all(some.iter().map(|token| two.log_out(token)));
        for page in pages.await {
            assert!(
                matches!(page.status.as_u16(), 400 | 503 | 429),
                "{}",
                page.body
            );
        }
    }
    let fetches = two.corp.replies.key_fetches.load(Ordering::SeqCst);
    assert!(fetches <= 5, "the keys were fetched {fetches} times");
    assert!(started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
    assert!(two.is_live(&session).await);
    // the control case: a good one still counts
    let good = two
        .corp
        .key
        .sign(&json!({}), &claims(&two.corp.issuer, json!({})));
    assert_eq!(two.log_out(&good).await.status, StatusCode::OK);
    assert!(!two.is_live(&session).await);
}

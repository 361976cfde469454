//! 19 to 27: tokens that have ended, and texts that never were tokens.
use crate::reviews::{CLUSTER, review_of, seal, seal_until, until, webhook_at};
use crate::stand_in::{StandIn, json_answer, token};
use crate::world::{TTL, World};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::{SignedDuration, Timestamp};
use portico_domain::cluster::RawTokens;
use portico_openstack::keystone::Revoked;
use portico_test_support::keystone_proxy::Proxy;
use portico_test_support::webhook::{V1, Webhook, cluster};
use portico_testkit::{TestEnv, TestUser};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// What a slow machine may add to a stated bound.
const SLACK: Duration = Duration::from_secs(2);
/// How long a refusal is cached.
const INVALID_TTL: Duration = Duration::from_secs(5);

fn ending(in_seconds: i64) -> Value {
    let mut answer = token();
    let end = Timestamp::now() + SignedDuration::from_secs(in_seconds);
    answer["token"]["expires_at"] = end.to_string().into();
    answer
}

/// Keystone answers 404 for an expired token; one with a slow clock would not.
#[tokio::test]
async fn attack_19_a_token_that_has_expired_is_refused_and_never_asked_for() {
    let asked = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = std::sync::Arc::clone(&asked);
    let keystone = StandIn::start(move |request| {
        seen.lock().unwrap().push(request.query);
        json_answer(200, &ending(-1))
    });
    let keystone = keystone.await;
    let webhook = webhook_at(keystone.url());
    review_of(&webhook, "gAAAA-old")
        .await
        .assert_refused("expired a second ago");
    review_of(&webhook, "gAAAA-old")
        .await
        .assert_refused("again");
    assert_eq!(asked.lock().unwrap()[0], "nocatalog");
    assert!(
        !asked
            .lock()
            .unwrap()
            .iter()
            .any(|query| query.contains("allow_expired"))
    );
    let keystone = StandIn::saying(200, ending(60)).await;
    let reply = review_of(&webhook_at(keystone.url()), "gAAAA-young").await;
    reply.assert_authenticated("a minute left");
}

#[tokio::test]
async fn attack_20_a_cached_answer_ends_with_its_token() {
    let world = World::new().await;
    let owner = world.sign_in(&world.user("olga").await).await;
    let end = Timestamp::now() + SignedDuration::from_secs(5);
    let about = json!({ "expires_at": end.strftime("%Y-%m-%dT%H:%M:%S").to_string() });
    let credential = world.credential(&owner, about).await;
    let issued = world
        .client
        .authenticate_application_credential(&credential);
    let issued = issued.await.unwrap();
    assert!(issued.details.expires_at <= end);
    // used again for longer than the token lives
    let record = cluster(1, &world.project, &[]);
    let url = world.env.get("KEYSTONE_URL").unwrap();
    let webhook = Webhook::new(vec![record], url, Duration::from_secs(30));
    let far = Timestamp::now() + SignedDuration::from_hours(1);
    // the seal's own end is later: Keystone's word counts
    let sealed = seal_until(webhook.current.public(), CLUSTER, &issued.token, far);
    let api_server = webhook.api_server_of(CLUSTER);
    while Timestamp::now() < issued.details.expires_at - SignedDuration::from_secs(1) {
        let reply = api_server.review(V1, &sealed).await;
        reply.assert_authenticated("alive");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    // the real Keystone's token ends at a time of day
    let left = issued.details.expires_at.duration_since(Timestamp::now());
    tokio::time::sleep(Duration::try_from(left).unwrap_or_default()).await;
    api_server.review(V1, &sealed).await.assert_refused("ended");
}

#[tokio::test]
async fn attack_21_a_revoked_token_works_no_longer_than_stated_and_never_again() {
    let world = World::new().await;
    let user = world.user("peggy").await;
    let issued = world.sign_in(&user).await;
    let other = world.sign_in(&user).await;
    let token = world.sealed(&issued);
    let api_server = world.api_server();
    until(&api_server, &token, true).await;
    assert_eq!(world.client.revoke(&issued.token).await, Ok(Revoked::Now));
    let took = until(&api_server, &token, false).await;
    assert!(took <= TTL + SLACK, "{took:?}");
    let refused = Instant::now();
    while refused.elapsed() < INVALID_TTL + TTL {
        // sealed anew, as a thief would
        let again = world.sealed(&issued);
        for token in [&token, &again] {
            api_server.review(V1, token).await.assert_refused("revoked");
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    world
        .review(&other)
        .await
        .assert_authenticated("the user's other token");
    world.end().await;
}

/// What Keystone has no revocation event for.
#[derive(Clone, Copy, Debug)]
enum Ended {
    Role,
    Project,
    Domain,
}

impl Ended {
    const ALL: [Self; 3] = [Self::Role, Self::Project, Self::Domain];

    async fn end(self, world: &World, user: &TestUser) {
        match self {
            Self::Role => {
                let revoked = world.admin.revoke(&user.id, &world.project, &world.role);
                revoked.await.unwrap();
            }
            _ => self.enable(world, false).await,
        }
    }

    async fn give_back(self, world: &World, user: &TestUser) {
        match self {
            Self::Role => {
                let granted = world.admin.grant(&user.id, &world.project, &world.role);
                granted.await.unwrap();
            }
            _ => self.enable(world, true).await,
        }
    }

    async fn enable(self, world: &World, enabled: bool) {
        let (kind, id) = match self {
            Self::Domain => ("domain", &world.domain.id),
            _ => ("project", &world.project),
        };
        let body = json!({ kind: { "enabled": enabled } });
        world
            .admin
            .patch(&format!("/{kind}s/{id}"), body)
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn attack_22_a_right_without_a_revocation_event_ends_within_the_bound() {
    let world = World::new().await;
    let user = world.user("quinn").await;
    let api_server = world.api_server();
    for ended in Ended::ALL {
        let token = world.sealed(&world.sign_in(&user).await);
        until(&api_server, &token, true).await;
        ended.end(&world, &user).await;
        let took = until(&api_server, &token, false).await;
        assert!(took <= TTL + SLACK, "{ended:?}: {took:?}");
        ended.give_back(&world, &user).await;
    }
    world.end().await;
}

#[tokio::test]
async fn attack_23_a_right_that_is_given_back_counts_again_within_its_bound() {
    let world = World::new().await;
    let user = world.user("rita").await;
    let api_server = world.api_server();
    for ended in Ended::ALL {
        let token = world.sealed(&world.sign_in(&user).await);
        until(&api_server, &token, true).await;
        ended.end(&world, &user).await;
        until(&api_server, &token, false).await;
        ended.give_back(&world, &user).await;
        // Keystone's own threads remember a missing role for a while; a new token is one they know
        let anew = world.sealed(&world.sign_in(&user).await);
        let took = until(&api_server, &anew, true).await;
        assert!(took <= INVALID_TTL + SLACK, "{ended:?}: {took:?}");
        until(&api_server, &token, true).await;
    }
    world.end().await;
}

/// The clock of the machine cannot be moved: the stand-in's `Date` is.
#[tokio::test]
async fn attack_24_a_token_ends_by_whichever_clock_is_later() {
    for (skew, seconds, good) in [
        (0, 120, true),
        (300, 120, false),
        (300, 600, true),
        (-300, 120, true),
        (-300, -1, false),
    ] {
        let keystone = StandIn::start(move |_| {
            let mut answer = json_answer(200, &ending(seconds));
            let date = Timestamp::now() + SignedDuration::from_secs(skew);
            let date = date.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
            answer.headers_mut().insert("date", date.parse().unwrap());
            answer
        });
        let keystone = keystone.await;
        let reply = review_of(&webhook_at(keystone.url()), "gAAAA-skewed").await;
        assert_eq!(
            reply.is_authenticated(),
            good,
            "{skew} {seconds}: {}",
            reply.text
        );
        assert!(good || reply.is_refusal(V1));
    }
}

#[tokio::test]
async fn attack_25_what_cannot_be_ours_never_reaches_keystone_and_what_could_once() {
    let url = TestEnv::load()
        .unwrap()
        .get("KEYSTONE_URL")
        .unwrap()
        .to_owned();
    let proxy = Proxy::start(&url).await;
    let world = World::behind(&proxy.url()).await;
    let issued = world.sign_in(&world.user("rob").await).await;
    let token = world.sealed(&issued);
    let foreign = portico_assertion::PrivateKey::generate();
    let other_key = seal(foreign.public(), CLUSTER, &issued.token);
    let api_server = world.api_server();
    let flipped = |at: usize| {
        let mut bytes = token.clone().into_bytes();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        String::from_utf8(bytes).unwrap()
    };
    for text in [
        crate::world::exposed(&issued).to_owned(),
        crate::world::exposed(&issued)[1..].to_owned(),
        "gAAAA".repeat(40),
        flipped(token.len() - 1),
        flipped(token.len() / 2),
        token[..token.len() - 8].to_owned(),
        token.replace("portico_v1", "portico_v0"),
        other_key,
        "eyJhbGciOiJSUzI1NiJ9.e30.c2ln".to_owned(),
        format!("portico_v1.{}", "A".repeat(8192)),
        "\u{0}\u{1}\u{2}".to_owned(),
    ] {
        api_server.review(V1, &text).await.assert_refused(&text);
    }
    assert_eq!(proxy.validations(), 0);
    // well-formed around a token of another cloud
    let strange = seal(
        world.webhook.current.public(),
        CLUSTER,
        &format!("gAAAAABp{}", "x".repeat(175)).into(),
    );
    for _ in 0..5 {
        api_server
            .review(V1, &strange)
            .await
            .assert_refused("another cloud's");
    }
    assert_eq!(proxy.validations(), 1);
    api_server
        .review(V1, &token)
        .await
        .assert_authenticated("ours");
    assert_eq!(proxy.validations(), 2);
    world.end().await;
}

fn jwt(header: &Value, claims: &Value) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    format!("{}.{}.c2lnbmF0dXJl", part(header), part(claims))
}

/// The running Keystone issues fernet tokens.
#[tokio::test]
async fn attack_26_a_cloud_with_jws_tokens_gets_them_and_no_other_jwt() {
    let keystone = StandIn::saying(200, token()).await;
    let mut record = cluster(1, "p1", &[]);
    record.raw_keystone_tokens = RawTokens::Jws;
    let webhook = crate::reviews::webhook_of(record, keystone.url());
    let api_server = webhook.api_server_of(CLUSTER);
    let foreign = [
        jwt(
            &json!({"alg": "RS256"}),
            &json!({"iss": "kubernetes/serviceaccount"}),
        ),
        jwt(
            &json!({"alg": "ES256"}),
            &json!({"iss": "https://sso.example.org"}),
        ),
        jwt(
            &json!({"alg": "none"}),
            &json!({"openstack_methods": ["password"]}),
        ),
    ];
    for text in &foreign {
        api_server.review(V1, text).await.assert_refused(text);
    }
    assert_eq!(keystone.calls(), 0);
    let own = jwt(
        &json!({"typ": "JWT", "alg": "ES256"}),
        &json!({"sub": "u1", "openstack_methods": ["password"], "openstack_project_id": "p1"}),
    );
    api_server
        .review(V1, &own)
        .await
        .assert_authenticated("keystone's own");
    assert_eq!(keystone.calls(), 1);
}

#[tokio::test]
async fn attack_27_ten_thousand_service_account_tokens_cost_keystone_nothing() {
    let keystone = StandIn::saying(200, token()).await;
    for provider in [RawTokens::Off, RawTokens::Fernet, RawTokens::Jws] {
        let mut record = cluster(1, "p1", &[]);
        record.raw_keystone_tokens = provider;
        let webhook = crate::reviews::webhook_of(record, keystone.url());
        let api_server = webhook.api_server_of(CLUSTER);
        let header = json!({"alg": "RS256", "kid": "k"});
        for n in 0..10_000 / 3 + 1 {
            let claims = json!({"iss": "https://kubernetes.default.svc", "exp": n,
                "sub": format!("system:serviceaccount:ns-{n}:default")});
            let reply = api_server.review(V1, &jwt(&header, &claims)).await;
            assert!(reply.is_refusal(V1), "{}", reply.text);
        }
        assert_eq!(keystone.calls(), 0);
    }
    let reply = review_of(&webhook_at(keystone.url()), "gAAAA-real").await;
    reply.assert_authenticated("a cluster token");
    assert_eq!(keystone.calls(), 1);
}

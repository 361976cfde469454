//! 38 to 45: storms, floods and mix-ups.
use crate::reviews::{CLUSTER, review_of, seal, webhook_at};
use crate::stand_in::{StandIn, json_answer, not_found, token};
use crate::world::World;
use portico_test_support::keystone_proxy::Proxy;
use portico_test_support::webhook::{V1, Webhook, cluster};
use portico_testkit::{Gate, TestEnv};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use uuid::Uuid;

fn keystone_url() -> String {
    TestEnv::load()
        .unwrap()
        .get("KEYSTONE_URL")
        .unwrap()
        .to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn attack_38_a_storm_on_a_dead_keystone_costs_it_a_few_calls_a_second() {
    let gate = Gate::start(&keystone_url()).await;
    let world = World::behind(&gate.url()).await;
    let issued = world.sign_in(&world.user("storm").await).await;
    let good = world.sealed(&issued);
    let api_server = world.api_server();
    gate.set_open(false);
    let outage = Instant::now();
    let mut users = JoinSet::new();
    for n in 0..1000 {
        let key = world.webhook.current.public();
        let token = seal(key, CLUSTER, &format!("gAAAA-user-{n}").into());
        let api_server = api_server.clone();
        users.spawn(async move {
            while outage.elapsed() < Duration::from_secs(4) {
                api_server
                    .review(V1, &token)
                    .await
                    .assert_undecided("storm");
                tokio::time::sleep(Duration::from_millis(250)).await;
            }
        });
    }
    // until the outage is known; then calls are counted for a while, while other threads make them
    tokio::time::sleep(Duration::from_secs(2)).await;
    let before = gate.turned_away();
    tokio::time::sleep(Duration::from_millis(1800)).await;
    let probes = gate.turned_away() - before;
    // a call that finds its connection dropped is sent once more
    assert!(probes <= 6, "{probes} calls in 1.8 s");
    users.join_all().await;
    gate.set_open(true);
    let back = Instant::now();
    while !api_server.review(V1, &good).await.is_authenticated() {
        assert!(back.elapsed() < Duration::from_secs(8));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    world.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn attack_39_no_answer_is_reused_for_another_token() {
    let url = keystone_url();
    let world = World::behind(&url).await;
    // entries that end while they are used, so that asking and answering interleave
    let record = cluster(1, &world.project, &[]);
    let webhook = Webhook::new(vec![record], &url, Duration::from_millis(50));
    let mut callers = JoinSet::new();
    for name in ["alice", "bob"] {
        let user = world.user(name).await;
        let issued = world.sign_in(&user).await;
        let token = seal(webhook.current.public(), CLUSTER, &issued.token);
        for _ in 0..4 {
            let api_server = webhook.api_server_of(CLUSTER);
            let (token, id) = (token.clone(), user.id.clone());
            callers.spawn(async move {
                let mut authenticated = 0;
                for _ in 0..150 {
                    let reply = api_server.review(V1, &token).await;
                    // beside other tests Keystone may be slower than Portico waits for it
                    if reply.is_undecided() {
                        continue;
                    }
                    reply.assert_authenticated(name);
                    assert_eq!(reply.user()["uid"], id);
                    let own = format!("portico:user:{id}");
                    assert!(reply.groups().contains(&own));
                    authenticated += 1;
                }
                authenticated
            });
        }
    }
    let authenticated: usize = callers.join_all().await.into_iter().sum();
    assert!(authenticated > 600, "{authenticated} of 1,200");
    world.end().await;
}

#[tokio::test]
async fn attack_40_an_answer_is_for_one_token_at_one_cluster_for_its_audiences() {
    let keystone = StandIn::start(|asked| {
        let subject = asked.headers["x-subject-token"].to_str().unwrap();
        if subject == "gAAAA-known" {
            json_answer(200, &token())
        } else {
            not_found()
        }
    });
    let keystone = keystone.await;
    let clusters = vec![cluster(1, "p1", &[]), cluster(2, "p2", &[])];
    let webhook = Webhook::new(clusters, keystone.url(), Duration::from_secs(10));
    let key = webhook.current.public();
    let known = seal(key, CLUSTER, &"gAAAA-known".into());
    let api_server = webhook.api_server_of(CLUSTER);
    api_server
        .review(V1, &known)
        .await
        .assert_authenticated("known");
    for near in [
        "gAAAA-know",
        "gAAAA-knownn",
        "AAAA-known",
        "gAAAA-KNOWN",
        " gAAAA-known",
        "gAAAA-known ",
    ] {
        let sealed = seal(key, CLUSTER, &near.into());
        let reply = api_server.review(V1, &sealed).await;
        reply.assert_refused(near);
    }
    let foreign = api_server.review_for(V1, &known, &["vault"]).await;
    foreign.assert_refused("another audience");
    // the same Keystone token at a cluster that does not accept its project
    let other = Uuid::from_u128(2);
    let elsewhere = seal(key, other, &"gAAAA-known".into());
    let reply = webhook.api_server_of(other).review(V1, &elsewhere).await;
    reply.assert_refused("another cluster");
    api_server
        .review(V1, &known)
        .await
        .assert_authenticated("known still");
}

#[tokio::test]
async fn attack_41_a_flood_of_dead_tokens_pushes_no_live_one_out() {
    let keystone = StandIn::start(|asked| {
        let subject = asked.headers["x-subject-token"].to_str().unwrap();
        if subject.starts_with("gAAAA-good") {
            json_answer(200, &token())
        } else {
            not_found()
        }
    });
    let keystone = keystone.await;
    let record = cluster(1, "p1", &[]);
    let webhook = Webhook::configured(vec![record], keystone.url(), |config| {
        config.cache_ttl = Duration::from_secs(30);
        config.keystone_calls_per_second = 1_000_000.try_into().unwrap();
    });
    let api_server = webhook.api_server_of(CLUSTER);
    let key = webhook.current.public();
    let good: Vec<_> = (0..100)
        .map(|n| seal(key, CLUSTER, &format!("gAAAA-good-{n}").into()))
        .collect();
    for token in &good {
        api_server
            .review(V1, token)
            .await
            .assert_authenticated("good");
    }
    for n in 0..1_000 {
        // neither sealed to us nor anything else: the cheapest flood
        api_server
            .review(V1, &format!("garbage-{n}"))
            .await
            .assert_refused("garbage");
    }
    assert_eq!(keystone.calls(), 100);
    let flood = Instant::now();
    for n in 0..11_000 {
        if flood.elapsed() > Duration::from_secs(8) {
            break;
        }
        let dead = seal(key, CLUSTER, &format!("gAAAA-dead-{n}").into());
        api_server.review(V1, &dead).await.assert_refused("dead");
    }
    let calls = keystone.calls();
    // how many there are depends on what else runs
    assert!(calls > 150, "{calls}");
    assert!(
        flood.elapsed() < Duration::from_secs(16),
        "{:?}",
        flood.elapsed()
    );
    for token in &good {
        api_server
            .review(V1, token)
            .await
            .assert_authenticated("good");
    }
    assert_eq!(
        keystone.calls(),
        calls,
        "good tokens were asked about again"
    );
}

/// That an answer is faster from the cache can be seen, and is documented; what a token must be
/// like cannot: it is compared as a whole, by keyed hash or by its seal.
#[tokio::test]
async fn attack_42_guesses_are_refused_alike_however_near_they_are() {
    let keystone = StandIn::saying(200, token()).await;
    let webhook = webhook_at(keystone.url());
    let sealed = seal(webhook.current.public(), CLUSTER, &"gAAAA-secret".into());
    let api_server = webhook.api_server_of(CLUSTER);
    api_server
        .review(V1, &sealed)
        .await
        .assert_authenticated("itself");
    let start = "portico_v1.".len() + 20;
    for at in [start, sealed.len() / 2, sealed.len() - 2] {
        let mut bytes = sealed.clone().into_bytes();
        bytes[at] = if bytes[at] == b'x' { b'y' } else { b'x' };
        let guess = String::from_utf8(bytes).unwrap();
        api_server.review(V1, &guess).await.assert_refused(&guess);
    }
    assert_eq!(keystone.calls(), 1);
}

#[tokio::test]
async fn attack_45_a_stale_no_ends_soon() {
    let stale = Arc::new(AtomicBool::new(true));
    let says_no = Arc::clone(&stale);
    let keystone = StandIn::start(move |_| {
        if says_no.load(Ordering::SeqCst) {
            not_found()
        } else {
            json_answer(200, &token())
        }
    });
    let keystone = keystone.await;
    let webhook = webhook_at(keystone.url());
    review_of(&webhook, "gAAAA-new")
        .await
        .assert_refused("not there yet");
    stale.store(false, Ordering::SeqCst);
    let caught_up = Instant::now();
    while !review_of(&webhook, "gAAAA-new").await.is_authenticated() {
        assert!(caught_up.elapsed() < Duration::from_secs(6));
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// A real Keystone is never this broken; what stands in front of it can be.
#[tokio::test]
async fn what_is_not_an_answer_of_keystone_is_neither_yes_nor_no() {
    let html = "<html><body>Service Temporarily Unavailable</body></html>";
    for (what, status, content_type, body) in [
        ("a page", 200, "text/html", html.to_owned()),
        ("a page not found", 404, "text/html", html.to_owned()),
        (
            "half of it",
            200,
            "application/json",
            token().to_string()[..200].to_owned(),
        ),
        (
            "another's JSON",
            200,
            "application/json",
            json!({"ok": true}).to_string(),
        ),
        (
            "another's no",
            404,
            "application/json",
            json!({"detail": "Not Found"}).to_string(),
        ),
        (
            "a failure",
            500,
            "application/json",
            json!({"error": {"code": 500}}).to_string(),
        ),
        ("a gateway's", 502, "text/html", html.to_owned()),
        (
            "forbidden",
            403,
            "application/json",
            json!({"error": {"code": 403}}).to_string(),
        ),
        ("nothing", 204, "application/json", String::new()),
    ] {
        let keystone = StandIn::start(move |_| {
            axum::http::Response::builder()
                .status(status)
                .header("content-type", content_type)
                .body(axum::body::Body::from(body.clone()))
                .unwrap()
        });
        let keystone = keystone.await;
        let webhook = webhook_at(keystone.url());
        for _ in 0..2 {
            review_of(&webhook, "gAAAA-any")
                .await
                .assert_undecided(what);
        }
        // not kept either
        assert_eq!(keystone.calls(), 2, "{what}");
    }
}

#[tokio::test]
async fn keystone_is_asked_without_its_catalog_and_with_access_rules() {
    let url = keystone_url();
    let proxy = Proxy::start(&url).await;
    let world = World::behind(&proxy.url()).await;
    let issued = world.sign_in(&world.user("sam").await).await;
    world.review(&issued).await.assert_authenticated("sam");
    assert_eq!(proxy.validations(), 1);
    world.end().await;
    let asked = Arc::new(std::sync::Mutex::new(None));
    let seen = Arc::clone(&asked);
    let keystone = StandIn::start(move |request| {
        *seen.lock().unwrap() = Some((request.query, request.headers));
        json_answer(200, &token())
    });
    let keystone = keystone.await;
    review_of(&webhook_at(keystone.url()), "gAAAA-any")
        .await
        .assert_authenticated("any");
    let (query, headers) = asked.lock().unwrap().take().unwrap();
    assert_eq!(query, "nocatalog");
    assert_eq!(headers["openstack-identity-access-rules"], "1.0");
}

use std::{
    net::SocketAddr,
    sync::{
        Mutex,
        atomic::{AtomicI64, Ordering},
    },
};

use ::metrics::{
    Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit,
    set_default_local_recorder,
};
use axum::routing::any;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::StatusCode;
use http_body_util::BodyExt as _;
use jiff::{SignedDuration, Timestamp};
use portico_assertion::{PrivateKey, Signer, SigningKey};
use portico_clock::Clock;
use portico_domain::identity::{Named, User};
use portico_openstack::{KeystoneConfig, keystone};
use portico_runtime::{
    listener::PeerAddr,
    request_id::{RequestIdLayer, Trust, X_REQUEST_ID},
};
use portico_store::{EndReason, KeyRing, NewSession, Session, Store};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::json;
use tower::{Layer as _, service_fn};

use super::*;
use crate::{Deps, Gateway, GatewayConfig};

/// A gateway of which nothing but its own endpoints is reached.
async fn gateway(directory: &std::path::Path, clock: Clock) -> Gateway {
    portico_runtime::install_crypto_provider();
    let sealing = directory.join("panel.pub");
    let key = PrivateKey::generate();
    key.public().write_new(&sealing).expect("key file");
    let config: GatewayConfig = serde_json::from_value(json!({
        "public_url": "http://localhost:8080",
        "apps_domain": "apps.localhost",
        "assertion_key_file": directory.join("unused.pem"),
        "panel_url": "http://127.0.0.1:9",
        "panel_sealing_key_file": sealing,
    }))
    .expect("configuration");
    let app = json!({
        "id": "app", "name": "App", "project": "p1", "url": "http://127.0.0.1:9",
    });
    let keystone: KeystoneConfig =
        serde_json::from_value(json!({ "url": "http://127.0.0.1:9/v3" })).expect("section");
    let database = format!("sqlite://{}", directory.join("portico.db").display());
    let ring = KeyRing::from_base64(&[STANDARD.encode([7; 32]).into()]);
    let store = Store::connect(&database, 1, ring.expect("key")).await;
    let store = store.expect("store");
    store.migrate(clock.now()).await.expect("migrations");
    let deps = Deps {
        store,
        keystone: keystone::Client::new(&keystone, clock.clone()).expect("client"),
        clock,
        default_domain: "Default".to_owned(),
        signer: Signer::new(SigningKey::generate()),
        clusters: Vec::new(),
        apps: vec![serde_json::from_value(app).expect("app")],
    };
    Gateway::build(config, deps).expect("gateway")
}

fn peer() -> PeerAddr {
    PeerAddr(SocketAddr::from(([127, 0, 0, 1], 1)))
}

/// A clock whose time changes only when it is advanced.
struct ManualClock(Arc<AtomicI64>);

impl ManualClock {
    fn at(second: i64) -> Self {
        Self(Arc::new(AtomicI64::new(second)))
    }

    fn advance(&self, seconds: i64) {
        self.0.fetch_add(seconds, Ordering::Relaxed);
    }

    fn clock(&self) -> Clock {
        let source = Arc::clone(&self.0);
        Clock::from_fn(move || {
            Timestamp::from_second(source.load(Ordering::Relaxed)).expect("time")
        })
    }
}

/// Creates a session with these ends, in seconds from now: idle, absolute and Keystone's.
async fn session(store: &Store, now: Timestamp, ends: [i64; 3]) -> (SecretString, Session) {
    let named = |name: &str| Named {
        id: name.to_owned(),
        name: name.to_owned(),
    };
    let [idle, absolute, keystone] = ends.map(|seconds| now + SignedDuration::from_secs(seconds));
    let new = NewSession {
        user: User {
            id: "u1".to_owned(),
            name: "ada".to_owned(),
            domain: named("Default"),
        },
        projects: Vec::new(),
        last_project: None,
        auth_methods: vec!["password".to_owned()],
        user_agent: String::new(),
        address: String::new(),
        idle_expires_at: idle,
        absolute_expires_at: absolute,
        keystone_expires_at: keystone,
        authenticated_at: Some(now),
    };
    store.sessions().create(&new, now).await.expect("session")
}

/// Notes the counters that are counted on this thread.
#[derive(Default)]
struct Counted(Mutex<Vec<String>>);

impl Recorder for Counted {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        let labels = key.labels().map(|label| format!("{label:?}"));
        let line = format!("{} {}", key.name(), labels.collect::<String>());
        self.0.lock().expect("lines").push(line);
        Counter::noop()
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

#[tokio::test]
async fn finding_o11_a_panic_is_an_answer_with_a_request_id_and_counted_as_ours() {
    let directory = tempfile::tempdir().expect("directory");
    let parts = gateway(directory.path(), Clock::system()).await.0;
    let panicking = Router::new()
        .route(
            "/text",
            any(|| async {
                if true {
                    panic!("deliberate");
                }
            }),
        )
        .route(
            "/formatted",
            any(|| async {
                let nothing: Option<u8> = None;
                assert_eq!(nothing, Some(1), "{}", "deliberate".repeat(1000));
            }),
        )
        .route("/fine", any(|| async { "fine" }));
    let dispatcher = Arc::new(Dispatcher {
        parts,
        main: panicking.clone(),
        app: Router::new().nest("/oauth2", panicking),
    });
    let service =
        RequestIdLayer::new(Trust::NoPeer).layer(service_fn(move |request: Request<Body>| {
            let dispatcher = Arc::clone(&dispatcher);
            async move { Ok::<_, std::convert::Infallible>(dispatch(&dispatcher, request).await) }
        }));
    let recorder = Counted::default();
    let _counting = set_default_local_recorder(&recorder);
    for (host, path, accept, status) in [
        ("localhost:8080", "/text", "text/html", 500),
        ("localhost:8080", "/formatted", "application/json", 500),
        ("app.apps.localhost:8080", "/oauth2/text", "text/html", 500),
        ("localhost:8080", "/fine", "text/html", 200),
    ] {
        recorder.0.lock().expect("lines").clear();
        let request = Request::get(path)
            .header(header::HOST, host)
            .header(header::ACCEPT, accept)
            .extension(peer())
            .body(Body::empty())
            .expect("request");
        let response = service.clone().oneshot(request).await.expect("an answer");
        assert_eq!(response.status().as_u16(), status, "{path}");
        let id = response.headers()[X_REQUEST_ID].to_str().expect("text");
        let id = id.to_owned();
        let body = response.into_body().collect().await.expect("body");
        let body = String::from_utf8(body.to_bytes().to_vec()).expect("text");
        let counted = recorder.0.lock().expect("lines").join("\n");
        let as_ours = counted
            .lines()
            .any(|line| line.contains("problems_total") && line.contains("internal"));
        assert_eq!(as_ours, status == 500, "{path}: {counted}");
        if status == 500 {
            assert!(body.contains(&id), "{path}: {body}");
            assert!(!body.contains("deliberate"), "{path}: {body}");
            assert_eq!(body.contains("<html"), accept == "text/html", "{body}");
        } else {
            assert_eq!(body, "fine", "the control case");
        }
    }
}

#[tokio::test]
async fn finding_o11_the_cause_of_a_panic_is_logged() {
    let directory = tempfile::tempdir().expect("directory");
    let path = directory.path().join("log");
    let file = std::fs::File::create(&path).expect("file");
    let subscriber = tracing_subscriber::fmt().with_writer(Mutex::new(file));
    let _logging = tracing::subscriber::set_default(subscriber.finish());
    let handler = async {
        if true {
            panic!("cause {}", 7);
        }
        Ok(StatusCode::OK.into_response())
    };
    let refused = panic::caught(handler).await.expect_err("a problem");
    assert_eq!(refused.source, Source::Internal);
    let log = std::fs::read_to_string(&path).expect("log");
    assert!(log.contains("cause 7") && log.contains("ERROR"), "{log}");
}

#[tokio::test]
async fn a_session_ends_when_the_clock_reaches_the_first_of_its_ends() {
    let directory = tempfile::tempdir().expect("directory");
    let manual = ManualClock::at(1_800_000_000);
    let clock = manual.clock();
    let gateway = gateway(directory.path(), clock.clone()).await;
    let service = gateway.service();
    let sessions = gateway.0.store.sessions();
    for ends in [[20, 600, 600], [600, 20, 600], [600, 600, 20]] {
        let (secret, session) = session(&gateway.0.store, clock.now(), ends).await;
        let cookie = format!("portico={}", secret.expose_secret());
        for (seconds, expected) in [
            (0, StatusCode::OK),
            (19, StatusCode::OK),
            (1, StatusCode::UNAUTHORIZED),
        ] {
            manual.advance(seconds);
            let request = Request::get("/oauth2/userinfo")
                .header(header::HOST, "localhost:8080")
                .header(header::COOKIE, &cookie)
                .extension(peer())
                .body(Body::empty())
                .expect("request");
            let response = service.clone().oneshot(request).await.expect("an answer");
            assert_eq!(response.status(), expected, "{ends:?}, {seconds} s later");
        }
        let row = sessions.get(session.id).await.expect("store").expect("row");
        assert_eq!(row.end_reason, Some(EndReason::Expired), "{ends:?}");
        assert_eq!(row.ended_at, Some(clock.now()), "{ends:?}");
    }
}

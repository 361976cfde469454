use axum::body::Body;
use axum::http::{Method, StatusCode};
use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};
use portico_assertion::keys::PublishedKeys;
use portico_assertion::{PublicKey, cluster_token};
use portico_clock::Clock;
use portico_domain::cluster::RawTokens;
use portico_test_support::webhook::{
    ApiServer, Reply, V1, V1BETA1, Webhook, certificate, closed_port, cluster,
};
use secrecy::ExposeSecret as _;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use uuid::Uuid;

pub fn webhook() -> Webhook {
    let clusters = vec![cluster(1, "acme", &[]), cluster(2, "globex", &[])];
    Webhook::new(clusters, &closed_port(), Duration::from_secs(10))
}

pub fn id(n: u128) -> Uuid {
    Uuid::from_u128(n)
}

/// A cluster token around something that is not a Keystone token.
pub fn sealed(key: &PublicKey, cluster: u128, issued: Timestamp) -> String {
    let end = issued + SignedDuration::from_hours(1);
    let token = cluster_token::seal(key, id(cluster), &"gAAAA-inner".into(), end, issued).unwrap();
    token.token.expose_secret().to_owned()
}

fn now() -> Timestamp {
    Clock::system().now()
}

fn ago(minutes: i64) -> Timestamp {
    now() - SignedDuration::from_mins(minutes)
}

#[tokio::test]
async fn what_cannot_be_a_cluster_token_is_refused_without_asking_keystone() {
    let webhook = webhook();
    let key = webhook.current.public();
    let foreign = portico_assertion::PrivateKey::generate();
    let good = sealed(key, 1, now());
    let cases = [
        ("empty", String::new()),
        ("garbage", "garbage".to_owned()),
        ("fernet", format!("gAAAAAB{}", "x".repeat(180))),
        (
            "JWT",
            "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrIn0.c2ln".to_owned(),
        ),
        ("prefix only", "portico_v1.".to_owned()),
        ("next version", good.replace("portico_v1", "portico_v2")),
        ("upper case", good.replace("portico", "PORTICO")),
        ("8 KiB and more", format!("{good}{}", "A".repeat(8192))),
        ("other key", sealed(foreign.public(), 1, now())),
        ("other cluster", sealed(key, 2, now())),
        ("unknown cluster", sealed(key, 9, now())),
        ("expired", sealed(key, 1, ago(17))),
        ("from the future", sealed(key, 1, ago(-3))),
        ("cut", good[..good.len() - 4].to_owned()),
        ("longer", format!("{good}AAAA")),
        ("line break", format!("{good}\n")),
    ];
    let api_server = webhook.api_server_of(id(1));
    for (what, token) in cases {
        for version in [V1, V1BETA1] {
            let reply = api_server.review(version, &token).await;
            assert!(
                reply.is_refusal(version),
                "{what}: {} {}",
                reply.status,
                reply.text
            );
        }
    }
}

#[tokio::test]
async fn bare_keystone_tokens_count_only_where_they_are_turned_on() {
    let mut open = cluster(3, "acme", &[]);
    open.raw_keystone_tokens = RawTokens::Fernet;
    let clusters = vec![cluster(1, "acme", &[]), open];
    let webhook = Webhook::new(clusters, &closed_port(), Duration::from_secs(10));
    let fernet = format!("gAAAAABp{}", "x".repeat(175));
    let reply = webhook.api_server_of(id(1)).review(V1, &fernet).await;
    assert!(reply.is_refusal(V1), "{}", reply.text);
    let api_server = webhook.api_server_of(id(3));
    // asked about, at a Keystone that is not there
    assert!(api_server.review(V1, &fernet).await.is_undecided());
    let sealed = sealed(webhook.current.public(), 3, now());
    assert!(api_server.review(V1, &sealed).await.is_undecided());
    for other in ["garbage", "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrIn0.c2ln"] {
        assert!(api_server.review(V1, other).await.is_refusal(V1), "{other}");
    }
}

#[tokio::test]
async fn an_audience_that_is_not_the_clusters_is_refused() {
    let webhook = webhook();
    let api_server = webhook.api_server_of(id(1));
    let token = sealed(webhook.current.public(), 1, now());
    let reply = api_server
        .review_for(V1, &token, &["other", "another"])
        .await;
    assert!(reply.is_refusal(V1), "{}", reply.text);
    for audiences in [&[][..], &["other", "https://kubernetes.default.svc"]] {
        let reply = api_server.review_for(V1, &token, audiences).await;
        assert!(reply.is_undecided(), "{audiences:?} {}", reply.text);
    }
}

#[tokio::test]
async fn without_keystone_a_review_cannot_be_decided_and_nothing_is_cached() {
    let webhook = webhook();
    let api_server = webhook.api_server_of(id(1));
    for key in [&webhook.current, &webhook.retired] {
        let token = sealed(key.public(), 1, now());
        for version in [V1, V1BETA1] {
            let reply = api_server.review(version, &token).await;
            assert!(reply.is_undecided(), "{} {}", reply.status, reply.text);
            assert!(!reply.text.contains(&token) && !reply.text.contains("gAAAA"));
        }
    }
}

#[tokio::test]
async fn a_body_that_is_not_a_review_is_a_bad_request() {
    let api_server = webhook().api_server_of(id(1));
    let review = |api_version: &str, kind: &str| {
        json!({"apiVersion": api_version, "kind": kind, "spec": {"token": "t-o-k-e-n"}}).to_string()
    };
    let good = review(V1, "TokenReview");
    let mut messages = Vec::new();
    for body in [
        String::new(),
        "not json".to_owned(),
        "[]".to_owned(),
        "null".to_owned(),
        good[..good.len() - 1].to_owned(),
        format!("{good} trailing"),
        review("authentication.k8s.io/v2", "TokenReview"),
        review("authentication.k8s.io/v1alpha1", "TokenReview"),
        review("authorization.k8s.io/v1", "SubjectAccessReview"),
        review(V1, "SubjectAccessReview"),
        review("", ""),
        json!({"spec": {"token": "t-o-k-e-n"}}).to_string(),
        json!({"apiVersion": V1, "kind": "TokenReview"}).to_string(),
        json!({"apiVersion": V1, "kind": "TokenReview", "spec": null}).to_string(),
        json!({"apiVersion": V1, "kind": "TokenReview", "spec": {}}).to_string(),
        json!({"apiVersion": V1, "kind": "TokenReview", "spec": {"token": 1}}).to_string(),
        json!({"apiVersion": V1, "kind": "TokenReview", "spec": {"token": null}}).to_string(),
    ] {
        let reply = api_server.post(body.clone().into()).await;
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{body}");
        assert_eq!(reply.body["kind"], "Status", "{body}");
        assert!(!reply.text.contains("t-o-k-e-n"), "{}", reply.text);
        messages.push(reply.body["message"].as_str().unwrap().to_owned());
    }
    insta::assert_snapshot!("messages_about_bodies", messages.join("\n"));
}

#[tokio::test]
async fn a_body_over_64_kib_is_too_large_and_one_of_64_kib_is_not() {
    let api_server = webhook().api_server_of(id(1));
    let body = |size: usize| {
        let head = format!(r#"{{"apiVersion":"{V1}","kind":"TokenReview","spec":{{"token":""#);
        let tail = r#""}}"#;
        let filler = "x".repeat(size - head.len() - tail.len());
        format!("{head}{filler}{tail}")
    };
    let reply = api_server.post(body(64 * 1024).into()).await;
    assert!(reply.is_refusal(V1), "{}", reply.status);
    let reply = api_server.post(body(64 * 1024 + 1).into()).await;
    assert_eq!(reply.status, StatusCode::PAYLOAD_TOO_LARGE);
    // without a length in advance
    let chunk = Bytes::from(vec![b' '; 40 * 1024]);
    let unsized_body = || {
        let chunks = vec![chunk.clone(); 3]
            .into_iter()
            .map(Ok::<_, std::io::Error>);
        Body::from_stream(futures::stream::iter(chunks))
    };
    let reply = api_server.post(unsized_body()).await;
    assert_eq!(reply.status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn other_methods_paths_and_content_types_have_their_own_answers() {
    let api_server = webhook().api_server_of(id(1));
    let own = format!("/clusters/{}/tokenreview", id(1));
    let keys = "/.well-known/portico-cluster-keys";
    let json = "application/json";
    let cases = [
        (
            Method::GET,
            own.as_str(),
            json,
            StatusCode::METHOD_NOT_ALLOWED,
        ),
        (Method::HEAD, &own, json, StatusCode::METHOD_NOT_ALLOWED),
        (Method::PUT, &own, json, StatusCode::METHOD_NOT_ALLOWED),
        (Method::DELETE, &own, json, StatusCode::METHOD_NOT_ALLOWED),
        (Method::POST, keys, json, StatusCode::METHOD_NOT_ALLOWED),
        (Method::POST, "/", json, StatusCode::NOT_FOUND),
        (Method::POST, "/tokenreview", json, StatusCode::NOT_FOUND),
        (
            Method::POST,
            &format!("{own}/"),
            json,
            StatusCode::NOT_FOUND,
        ),
        (
            Method::POST,
            &own,
            "text/plain",
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ),
        (Method::POST, &own, "", StatusCode::UNSUPPORTED_MEDIA_TYPE),
        (
            Method::POST,
            &own,
            "application/jsonx",
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ),
        (
            Method::POST,
            &own,
            "application/json; charset=utf-8",
            StatusCode::BAD_REQUEST,
        ),
        (
            Method::POST,
            &own,
            "Application/JSON",
            StatusCode::BAD_REQUEST,
        ),
    ];
    for (method, path, content_type, expected) in cases {
        let what = format!("{method} {path} {content_type}");
        let reply = api_server
            .send(method, path, content_type, Body::empty())
            .await;
        assert_eq!(reply.status, expected, "{what}");
        let needs_allow = expected == StatusCode::METHOD_NOT_ALLOWED;
        assert_eq!(reply.headers.contains_key("allow"), needs_allow, "{what}");
        assert!(reply.headers.contains_key("x-request-id"), "{what}");
    }
}

/// A body that notices being read.
fn watched() -> (Body, Arc<AtomicBool>) {
    let read = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&read);
    let stream = futures::stream::once(async move {
        seen.store(true, Ordering::SeqCst);
        Ok::<_, std::io::Error>(Bytes::from_static(b"{}"))
    });
    (Body::from_stream(stream), read)
}

#[tokio::test]
async fn a_client_certificate_is_good_for_its_own_cluster_only() {
    let webhook = webhook();
    let named = |n: u128| Some(certificate(&[format!("portico:cluster:{}", id(n))]));
    let both = [
        "portico:cluster:".to_owned() + &id(1).to_string(),
        format!("portico:cluster:{}", id(2)),
    ];
    let path = |text: String| format!("/clusters/{text}/tokenreview");
    let own = path(id(1).to_string());
    let cases = [
        ("own", named(1), own.clone(), StatusCode::BAD_REQUEST),
        ("none", None, own.clone(), StatusCode::FORBIDDEN),
        (
            "other cluster's",
            named(2),
            own.clone(),
            StatusCode::FORBIDDEN,
        ),
        (
            "no cluster's",
            Some(certificate(&[])),
            own.clone(),
            StatusCode::FORBIDDEN,
        ),
        (
            "two clusters'",
            Some(certificate(&both)),
            own.clone(),
            StatusCode::FORBIDDEN,
        ),
        (
            "own, unknown cluster",
            named(9),
            path(id(9).to_string()),
            StatusCode::NOT_FOUND,
        ),
        (
            "other, unknown cluster",
            named(1),
            path(id(9).to_string()),
            StatusCode::FORBIDDEN,
        ),
        (
            "own, no UUID",
            named(1),
            path("x".to_owned()),
            StatusCode::FORBIDDEN,
        ),
        (
            "own, other spelling",
            named(1),
            path(id(1).simple().to_string()),
            StatusCode::FORBIDDEN,
        ),
    ];
    for (what, certificate, path, expected) in cases {
        let api_server = ApiServer {
            certificate,
            ..webhook.api_server_of(id(1))
        };
        let (body, read) = watched();
        let reply = api_server
            .send(Method::POST, &path, "application/json", body)
            .await;
        assert_eq!(reply.status, expected, "{what}");
        assert_eq!(reply.body["kind"], "Status", "{what}");
        let was_let_in = expected == StatusCode::BAD_REQUEST;
        assert_eq!(read.load(Ordering::SeqCst), was_let_in, "{what}");
    }
}

#[tokio::test]
async fn a_pinned_certificate_replaces_the_name_in_it() {
    use sha2::Digest as _;
    let pinned = certificate(&[]);
    let fingerprint = format!("{:x}", sha2::Sha256::digest(&pinned));
    let mut record = cluster(1, "acme", &[]);
    record.client_fingerprints = vec![fingerprint];
    let webhook = Webhook::new(vec![record], &closed_port(), Duration::from_secs(10));
    let named = webhook.api_server_of(id(1));
    assert_eq!(named.review(V1, "x").await.status, StatusCode::FORBIDDEN);
    let certificate = Some(pinned);
    let pinned = ApiServer {
        certificate,
        ..named
    };
    assert!(pinned.review(V1, "x").await.is_refusal(V1));
}

#[tokio::test]
async fn the_published_keys_are_the_ones_that_open() {
    let webhook = webhook();
    let anonymous = ApiServer {
        certificate: None,
        ..webhook.api_server_of(id(1))
    };
    let path = "/.well-known/portico-cluster-keys";
    let Reply { status, body, .. } = anonymous
        .send(Method::GET, path, "text/plain", Body::empty())
        .await;
    assert_eq!(status, StatusCode::OK);
    let keys: PublishedKeys = serde_json::from_value(body).unwrap();
    assert_eq!(keys.current().as_ref(), Ok(webhook.current.public()));
    assert_eq!(keys.keys[1].kid, webhook.retired.kid());
}

#[tokio::test]
async fn records_that_contradict_themselves_stop_the_start() {
    use portico_clock::Clock;
    use portico_kube_auth::{KubeAuthConfig, StartError, service};
    let dir = tempfile::tempdir().unwrap();
    let key = dir.path().join("k.key");
    portico_assertion::PrivateKey::generate()
        .write_new(&key)
        .unwrap();
    let start = |clusters: Vec<_>, key_files: Vec<std::path::PathBuf>, ttl: u64| {
        let config = KubeAuthConfig {
            listen: "127.0.0.1:0".parse().unwrap(),
            tls_cert_file: "c".into(),
            tls_key_file: "k".into(),
            client_ca_file: "a".into(),
            key_files,
            cache_ttl: Duration::from_secs(ttl),
            ask_with_service_account: false,
            keystone_calls_per_second: 200.try_into().unwrap(),
            cluster_list: None,
        };
        let keystone = portico_openstack::KeystoneConfig::new(closed_port().parse().unwrap());
        let client = portico_openstack::keystone::Client::new(&keystone, Clock::system()).unwrap();
        service(&config, clusters, client, Clock::system()).err()
    };
    let good = cluster(1, "acme", &[]);
    let mut pinned = good.clone();
    pinned.client_fingerprints = vec!["abc".to_owned()];
    let mut deaf = good.clone();
    deaf.api_audiences.clear();
    let keys = vec![key];
    assert!(start(vec![good.clone()], keys.clone(), 10).is_none());
    let twice = start(vec![good.clone(), good.clone()], keys.clone(), 10);
    assert!(matches!(twice, Some(StartError::DuplicateCluster(_))));
    let pinned = start(vec![pinned], keys.clone(), 10);
    assert!(matches!(pinned, Some(StartError::Fingerprint { .. })));
    assert!(matches!(
        start(vec![deaf], keys.clone(), 10),
        Some(StartError::Audiences(_))
    ));
    assert!(matches!(
        start(vec![good.clone()], keys, 31),
        Some(StartError::Config(_))
    ));
    assert!(matches!(
        start(vec![good.clone()], vec![], 10),
        Some(StartError::Config(_))
    ));
    let missing = start(vec![good], vec!["missing.key".into()], 10);
    assert!(matches!(missing, Some(StartError::Key(_))));
}

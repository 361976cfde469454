//! What is reached over the network: Keystone, API servers, providers, our own addresses.
use super::place::{Authority, Place, VALID_YEARS, free_address, free_port};
use super::stand_ins::{
    StandIn, administrator, dated, document, foreign, keystone, keystone_with,
    keystone_with_tokens, refused,
};
use axum::http::{HeaderMap, StatusCode};
use axum::{Router, routing::any};
use portico_assertion::{Signer, SigningKey};
use serde_json::json;

fn ask(place: &mut Place, server: &StandIn) {
    place.config["keystone"]["url"] = json!(format!("http://{}/v3", server.address));
}

#[tokio::test]
async fn finding_o3_doctor_names_why_keystone_does_not_answer() {
    let mut place = Place::new().await;
    place.is_sound().await;
    let (certificate, key) = (place.path("tls.crt"), place.path("tls.key"));
    let private = StandIn::start_tls(keystone("v3.14"), &certificate, &key).await;
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let silent_port = silent.local_addr().unwrap().port();
    let plain_port = place.keystone.port();
    for (url, id, cause) in [
        (
            format!("http://{}/v3", free_address()),
            "keystone-unreachable",
            "connection refused",
        ),
        (
            "https://no-such-host.invalid/v3".to_owned(),
            "keystone-unreachable",
            "the host name does not resolve",
        ),
        (
            format!("http://127.0.0.1:{silent_port}/v3"),
            "keystone-unreachable",
            "no answer in time",
        ),
        (
            format!("https://127.0.0.1:{plain_port}/v3"),
            "keystone-unreachable",
            "the server does not speak TLS on this port",
        ),
        (
            format!("https://127.0.0.1:{}/v3", private.port()),
            "keystone-certificate",
            "the server's certificate is not signed by a trusted authority",
        ),
    ] {
        place.config["keystone"]["url"] = json!(url);
        place.config["keystone"]["timeout"] = json!("500ms");
        let found = place.finds(id).await;
        let message = found["message"].as_str().unwrap();
        assert_eq!(message.matches(cause).count(), 1, "{url}: {message}");
    }
    // with the right authority the last one is sound, but for a name that the certificate lacks
    place.config["keystone"]["ca_file"] = json!(place.path("ca.crt"));
    place.is_sound().await;
    let (certificate, key) = place.certificate("named", &["keystone.example"], VALID_YEARS);
    let named = StandIn::start_tls(keystone("v3.14"), &certificate, &key).await;
    place.config["keystone"]["url"] = json!(format!("https://127.0.0.1:{}/v3", named.port()));
    let found = place.finds("keystone-certificate").await;
    let message = found["message"].as_str().unwrap();
    assert!(message.contains("for another name"), "{message}");
}

#[tokio::test]
async fn finding_o4_doctor_finds_a_keystone_of_another_path_age_or_clock() {
    let mut place = Place::new().await;
    place.is_sound().await;
    place.config["keystone"]["url"] =
        json!(format!("http://{}/identity/v3", place.keystone.address));
    place.finds("keystone-wrong-path").await;
    let old = StandIn::start(keystone("v3.10")).await;
    ask(&mut place, &old);
    place.finds("keystone-too-old").await;
    let wrong_clock = dated("Sat, 21 Nov 2020 20:00:00 GMT");
    let late = StandIn::start(keystone_with("v3.14", wrong_clock)).await;
    ask(&mut place, &late);
    let found = place.finds("clock-skew").await;
    assert!(
        found["message"].as_str().unwrap().contains("behind"),
        "{found}"
    );
    let right = StandIn::start(keystone_with("v3.14", HeaderMap::new())).await;
    ask(&mut place, &right);
    place.is_sound().await;
}

#[tokio::test]
async fn finding_o4_doctor_finds_a_keystone_in_the_clear_on_another_machine() {
    let mut place = Place::new().await;
    place.config["keystone"]["timeout"] = json!("200ms");
    place.config["keystone"]["allow_plain_http"] = json!(true);
    assert!(!place.doctor(&[]).await.has("keystone-plain-text"));
    place.config["keystone"]["url"] = json!("http://keystone.invalid/v3");
    assert!(place.doctor(&[]).await.has("keystone-plain-text"));
}

#[tokio::test]
async fn finding_o4_doctor_finds_a_service_account_that_is_refused_or_may_too_much() {
    let mut place = Place::new().await;
    place.config["keystone"]["service_account"] = json!({
        "user": "portico", "project": "service", "password_file": place.secret("account", "hush"),
    });
    let refusing = StandIn::start(keystone_with_tokens(refused)).await;
    ask(&mut place, &refusing);
    let found = place.finds("service-account-refused").await;
    assert!(!found.to_string().contains("hush"), "{found}");
    // the account is kube-auth's: another role neither signs in with it nor reads its file
    let gateway = place.doctor(&["--role", "gateway"]).await;
    assert!(!gateway.has("service-account-refused"));
    let admin = StandIn::start(keystone_with_tokens(administrator)).await;
    ask(&mut place, &admin);
    place.finds("service-account-admin").await;
}

#[tokio::test]
async fn finding_o4_doctor_finds_what_is_wrong_with_a_cluster() {
    let mut place = Place::new().await;
    place.is_sound().await;
    let sound = place.config.clone();
    let cluster = |place: &mut Place, key: &str, value: serde_json::Value| {
        place.config["clusters"][0][key] = value;
    };
    cluster(
        &mut place,
        "api_url",
        json!(format!("https://{}", free_address())),
    );
    let found = place.finds("cluster-unreachable").await;
    assert_eq!(found["subject"], "cluster prod");

    place.config = sound.clone();
    let other = place.write("other-ca.crt", &Authority::new("another authority").0.pem());
    cluster(&mut place, "ca_file", json!(other));
    place.finds("cluster-certificate").await;

    place.config = sound.clone();
    let (certificate, key) = (place.path("tls.crt"), place.path("tls.key"));
    let ill = Router::new().fallback(any(|| async { StatusCode::INTERNAL_SERVER_ERROR }));
    let ill = StandIn::start_tls(ill, &certificate, &key).await;
    cluster(
        &mut place,
        "api_url",
        json!(format!("https://{}", ill.address)),
    );
    place.finds("cluster-unhealthy").await;

    place.config = sound.clone();
    assert!(!place.doctor(&[]).await.has("cluster-owner-only"));
    cluster(&mut place, "accepted_projects", json!([]));
    place.finds("cluster-owner-only").await;
}

#[tokio::test]
async fn finding_o4_doctor_finds_an_api_server_that_does_not_ask_kube_auth() {
    let mut place = Place::new().await;
    place.finds("cluster-unobserved").await;
    // kube-auth answers, and its counters do not move
    let metrics = Router::new().fallback(any(|| async { "" }));
    let metrics = StandIn::start(metrics).await;
    place.config["panel"]["kube_auth_metrics_url"] =
        json!(format!("http://{}/metrics", metrics.address));
    place.finds("cluster-not-asking").await;
}

#[tokio::test]
async fn finding_o4_doctor_finds_a_provider_that_is_away_or_another() {
    let mut place = Place::new().await;
    let (certificate, key) = (place.path("tls.crt"), place.path("tls.key"));
    let path = "/.well-known/openid-configuration";
    let provider = |port: u16| {
        json!([{
            "id": "corp", "name": "Corp", "kind": "oidc", "client_id": "portico",
            "issuer": format!("https://localhost:{port}"),
        }])
    };
    let other = document(path, json!({ "issuer": "https://elsewhere.example" }));
    let other = StandIn::start_tls(other, &certificate, &key).await;
    place.config["gateway"]["providers"] = provider(other.port());
    place.config["gateway"]["providers"][0]["ca_file"] = json!(place.path("ca.crt"));
    let found = place.finds("provider-discovery").await;
    let message = found["message"].as_str().unwrap();
    assert!(message.contains("https://elsewhere.example"), "{message}");
    place.config["gateway"]["providers"] = provider(free_port());
    let found = place.finds("provider-unreachable").await;
    assert_eq!(found["subject"], "provider corp");
}

/// A gateway's published keys.
fn published(place: &Place) -> Router {
    let key = SigningKey::read(&place.path("keys/assertion.pem")).unwrap();
    let kid = Signer::new(key).kid().to_owned();
    document(
        "/.well-known/jwks.json",
        json!({ "keys": [{ "kid": kid }] }),
    )
}

#[tokio::test]
async fn finding_o4_doctor_finds_foreign_programs_at_each_port() {
    let mut place = Place::new().await;
    let report = place.doctor(&[]).await;
    assert!(report.has("not-listening") && !report.has("port-foreign"));
    let server = StandIn::start(foreign()).await;
    for section in ["admin", "gateway", "panel", "kube_auth"] {
        let sound = place.config.clone();
        place.config[section]["listen"] = json!(server.address.to_string());
        let found = place.finds("port-foreign").await;
        assert_eq!(found["subject"], format!("{section}.listen"));
        place.config = sound;
    }
    // our own are distinguished from them
    let gateway = StandIn::start(published(&place)).await;
    place.config["gateway"]["listen"] = json!(gateway.address.to_string());
    let (certificate, key) = (place.path("tls.crt"), place.path("tls.key"));
    let kube_auth = StandIn::start_tls(foreign(), &certificate, &key).await;
    place.config["kube_auth"]["listen"] = json!(kube_auth.address.to_string());
    place.is_sound().await;
}

#[tokio::test]
async fn finding_o4_doctor_finds_a_public_url_that_leads_to_another_program() {
    let mut place = Place::new().await;
    let at = |port: u16| json!(format!("http://localhost:{port}"));
    place.finds("public-url-unreachable").await;
    let own = StandIn::start(published(&place)).await;
    place.config["gateway"]["public_url"] = at(own.port());
    let report = place.doctor(&[]).await;
    let about = |finding: &&serde_json::Value| finding["subject"] == "public_url";
    let found = report.findings.iter().find(about).unwrap();
    assert_eq!(found["id"], "ok", "{found}");
    let other = StandIn::start(foreign()).await;
    place.config["gateway"]["public_url"] = at(other.port());
    place.finds("public-url-foreign").await;
    place.config["gateway"]["public_url"] = json!("https://portico.invalid");
    place.config["gateway"]["apps_domain"] = json!("apps.portico.invalid");
    place.finds("public-url-unresolved").await;
    place.finds("apps-domain-unresolved").await;
}

#[tokio::test]
async fn finding_o4_doctor_looks_at_the_certificate_of_the_public_url() {
    let mut place = Place::new().await;
    for (names, years, id) in [
        (["localhost"], VALID_YEARS, "public-url-untrusted"),
        (["localhost"], (2000, 2010), "public-url-certificate"),
        (["other.example"], VALID_YEARS, "public-url-certificate"),
    ] {
        let (certificate, key) = place.certificate("public", &names, years);
        let server = StandIn::start_tls(published(&place), &certificate, &key).await;
        place.config["gateway"]["public_url"] =
            json!(format!("https://localhost:{}", server.port()));
        place.finds(id).await;
    }
}

//! Certificates of our own listeners.
use super::place::{Authority, Place, VALID_YEARS, free_port};
use serde_json::{Value, json};
use std::path::PathBuf;

/// The gateway with TLS of its own, at `https://localhost`.
fn with_tls(place: &mut Place, (certificate, key): (PathBuf, PathBuf)) {
    place.config["gateway"]["public_url"] = json!(format!("https://localhost:{}", free_port()));
    place.config["gateway"]["tls_cert_file"] = json!(certificate);
    place.config["gateway"]["tls_key_file"] = json!(key);
}

/// The findings about the gateway's certificate.
async fn of_gateway(place: &Place) -> Vec<Value> {
    let report = place.doctor(&["--role", "gateway"]).await;
    let of_gateway = |finding: &Value| finding["subject"] == "gateway TLS";
    report.findings.into_iter().filter(of_gateway).collect()
}

#[tokio::test]
async fn finding_o4_doctor_finds_a_certificate_outside_its_time() {
    let mut place = Place::new().await;
    let (this_year, names) = (now_year(), ["localhost"]);
    with_tls(&mut place, (PathBuf::new(), PathBuf::new()));
    for (years, id, status) in [
        (VALID_YEARS, "ok", "ok"),
        ((2000, 2010), "certificate-expired", "error"),
        ((this_year + 2, 2120), "certificate-not-yet-valid", "error"),
    ] {
        let files = place.certificate("gateway", &names, years);
        with_tls(&mut place, files);
        let found = of_gateway(&place).await;
        assert_eq!(found.len(), 1, "{found:#?}");
        assert_eq!(found[0]["id"], id, "{found:#?}");
        assert_eq!(found[0]["status"], status);
    }
}

#[tokio::test]
async fn finding_o4_doctor_finds_a_certificate_that_expires_soon() {
    let mut place = Place::new().await;
    let mut params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let now = std::time::SystemTime::now();
    let day = std::time::Duration::from_secs(24 * 3600);
    params.not_before = (now - 360 * day).into();
    params.not_after = (now + 5 * day).into();
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, &place.authority.0).unwrap();
    let files = (
        place.write("gateway.crt", &certificate.pem()),
        place.secret("gateway.key", &key.serialize_pem()),
    );
    with_tls(&mut place, files);
    let found = of_gateway(&place).await;
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0]["id"], "certificate-expires-soon");
    assert_eq!(found[0]["status"], "warning");
}

#[tokio::test]
async fn finding_o4_doctor_finds_a_certificate_for_other_names() {
    let mut place = Place::new().await;
    let files = place.certificate("gateway", &["localhost"], VALID_YEARS);
    with_tls(&mut place, files);
    assert_eq!(of_gateway(&place).await[0]["id"], "ok");
    let app = json!({
        "id": "wiki", "name": "Wiki", "project": "p1", "url": "http://127.0.0.1:9",
        "allow": [{ "role": "member", "project": "p1" }],
    });
    place.config["apps"] = json!([app]);
    let found = of_gateway(&place).await;
    let wrong = found
        .iter()
        .find(|one| one["id"] == "certificate-wrong-name");
    let message = wrong.unwrap()["message"].as_str().unwrap();
    assert!(message.contains("wiki.apps.localhost"), "{message}");
    // a second certificate covers it
    let (more, key) = place.certificate("apps", &["*.apps.localhost"], VALID_YEARS);
    place.config["gateway"]["tls_certificates"] = json!([{ "cert_file": more, "key_file": key }]);
    let found = of_gateway(&place).await;
    assert!(found.iter().all(|one| one["id"] == "ok"), "{found:#?}");
}

#[tokio::test]
async fn finding_o4_doctor_finds_a_key_a_chain_and_a_file_that_do_not_fit() {
    let mut place = Place::new().await;
    let (certificate, key) = place.certificate("gateway", &["localhost"], VALID_YEARS);
    with_tls(&mut place, (certificate.clone(), key.clone()));
    assert_eq!(of_gateway(&place).await[0]["id"], "ok");

    let (_, other_key) = place.certificate("other", &["localhost"], VALID_YEARS);
    with_tls(&mut place, (certificate.clone(), other_key));
    assert_eq!(
        of_gateway(&place).await[0]["id"],
        "certificate-key-mismatch"
    );

    // an authority that did not sign the leaf, and one that did
    let leaf = std::fs::read_to_string(&certificate).unwrap();
    let stranger = Authority::new("another authority").0.pem();
    let chain = place.write("chain.crt", &format!("{leaf}{stranger}"));
    with_tls(&mut place, (chain, key.clone()));
    assert_eq!(
        of_gateway(&place).await[0]["id"],
        "certificate-chain-broken"
    );
    let right = place.authority.0.pem();
    let chain = place.write("chain.crt", &format!("{leaf}{right}"));
    with_tls(&mut place, (chain, key.clone()));
    assert_eq!(of_gateway(&place).await[0]["id"], "ok");

    let text = place.write("text.crt", "not a certificate");
    with_tls(&mut place, (text, key));
    assert_eq!(of_gateway(&place).await[0]["id"], "certificate-unusable");
}

fn now_year() -> i32 {
    i32::from(
        jiff::Timestamp::now()
            .to_zoned(jiff::tz::TimeZone::UTC)
            .year(),
    )
}

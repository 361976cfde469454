use super::*;
use crate::claims::{Signer, Verifier};
use crate::keys::SigningKey;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use portico_domain::enrolled_cluster::Fault;
use serde_json::{Value, json};
use uuid::Uuid;

const NOW: i64 = 1_800_000_000;
const ISSUER: &str = "https://portico.example.org";
const PEM: &str = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap()
}

fn cluster(id: u128) -> ListedCluster {
    ListedCluster {
        id: Uuid::from_u128(id),
        name: format!("cluster-{id}"),
        owner_project: "acme".to_owned(),
        accepted_projects: vec!["acme".to_owned()],
        accepted_roles: Vec::new(),
        client_ca: PEM.to_owned(),
        api_audiences: vec!["https://kubernetes.default.svc".to_owned()],
    }
}

fn list(clusters: Vec<ListedCluster>) -> ClusterList {
    ClusterList {
        iss: ISSUER.to_owned(),
        iat: NOW,
        exp: NOW + LIFETIME_SECONDS,
        sequence: 7,
        clusters,
    }
}

fn verifier(key: &SigningKey) -> ListVerifier {
    ListVerifier::from_pem(&key.public_pem().unwrap(), ISSUER).unwrap()
}

/// Signs any header and payload with the key, as a publisher with a defect would.
fn signed(key: &SigningKey, header: &Value, payload: &Value) -> String {
    use ed25519_dalek::Signer as _;
    let text = format!(
        "{}.{}",
        URL_SAFE_NO_PAD.encode(header.to_string()),
        URL_SAFE_NO_PAD.encode(payload.to_string())
    );
    let signature = key.0.sign(text.as_bytes()).to_bytes();
    format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature))
}

fn header(key: &SigningKey) -> Value {
    let kid = crate::keys::signing::thumbprint(&key.0.verifying_key());
    json!({"alg": "EdDSA", "kid": kid, "typ": TYP})
}

#[test]
fn a_signed_list_is_read_back_with_any_of_the_configured_keys() {
    let (old, new) = (SigningKey::generate(), SigningKey::generate());
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys.pem");
    let both = old.public_pem().unwrap() + "\n" + &new.public_pem().unwrap();
    std::fs::write(&path, &both).unwrap();
    let verifier = ListVerifier::read(&path, ISSUER).unwrap();
    let list = list(vec![cluster(1), cluster(2)]);
    for key in [old, new] {
        let document = ListSigner::new(key).sign(&list).unwrap();
        assert_eq!(verifier.verify(&document, at(NOW)).as_ref(), Ok(&list));
    }
}

#[test]
fn a_file_without_keys_or_with_something_else_is_refused() {
    let key = SigningKey::generate().public_pem().unwrap();
    for text in ["", "\n", "nonsense", PEM, &format!("{key}trailing")] {
        assert!(ListVerifier::from_pem(text, ISSUER).is_err(), "{text}");
    }
}

#[test]
fn a_list_that_others_signed_or_changed_is_refused() {
    let (own, other) = (SigningKey::generate(), SigningKey::generate());
    let verifier = verifier(&own);
    let list = list(vec![cluster(1)]);
    let document = ListSigner::new(own.clone()).sign(&list).unwrap();
    let forged = ListSigner::new(other.clone()).sign(&list).unwrap();
    let refused = |document: &str| verifier.verify(document, at(NOW)).unwrap_err();
    assert_eq!(refused(&forged), ListRefused::UnknownKey);
    // the right key's ID on another key's signature
    let payload = serde_json::to_value(&list).unwrap();
    let forged = signed(&other, &header(&own), &payload);
    assert_eq!(refused(&forged), ListRefused::Signature);
    // another payload below the right signature
    let mut more = list;
    more.clusters.push(cluster(2));
    let payload = URL_SAFE_NO_PAD.encode(serde_json::to_vec(&more).unwrap());
    let mut parts: Vec<&str> = document.split('.').collect();
    parts[1] = &payload;
    assert_eq!(refused(&parts.join(".")), ListRefused::Signature);
    parts[2] = "";
    assert_eq!(refused(&parts.join(".")), ListRefused::Signature);
}

#[test]
fn only_eddsa_with_the_type_of_a_list_is_accepted() {
    let key = SigningKey::generate();
    let verifier = verifier(&key);
    let payload = serde_json::to_value(list(Vec::new())).unwrap();
    for (member, value, expected) in [
        ("alg", json!("none"), ListRefused::Algorithm),
        ("alg", json!("HS256"), ListRefused::Algorithm),
        ("alg", json!("eddsa"), ListRefused::Algorithm),
        ("typ", json!("JWT"), ListRefused::Type),
        ("typ", Value::Null, ListRefused::Type),
        ("kid", Value::Null, ListRefused::UnknownKey),
        ("crit", json!(["exp"]), ListRefused::Shape),
        ("jwk", json!({}), ListRefused::Shape),
    ] {
        let mut changed = header(&key);
        changed[member] = value;
        let document = signed(&key, &changed, &payload);
        let found = verifier.verify(&document, at(NOW));
        assert_eq!(found, Err(expected), "{changed}");
    }
    for text in ["", ".", "..", "a.b", "a.b.c", "e30.e30.e30.e30"] {
        let found = verifier.verify(text, at(NOW)).unwrap_err();
        assert_eq!(found, ListRefused::Shape, "{text}");
    }
}

#[test]
fn an_assertion_is_not_a_list_and_the_reverse_even_with_one_key() {
    let key = SigningKey::generate();
    let list = list(Vec::new());
    let Value::Object(claims) = serde_json::to_value(&list).unwrap() else {
        panic!("an object")
    };
    let assertion = Signer::new(key.clone()).sign_map(&claims).unwrap();
    let found = verifier(&key).verify(&assertion, at(NOW));
    assert_eq!(found, Err(ListRefused::Type));
    let document = ListSigner::new(key.clone()).sign(&list).unwrap();
    let read = Verifier::for_key(&key).verify(&document, "panel", ISSUER, at(NOW));
    assert_eq!(read, Err(crate::claims::Refused::Shape));
}

#[test]
fn issuer_and_times_are_checked() {
    let key = SigningKey::generate();
    let verifier = verifier(&key);
    let signer = ListSigner::new(key);
    let good = list(Vec::new());
    let mut other = good.clone();
    other.iss.push('/');
    let mut long = good.clone();
    long.exp += 1;
    let mut overflow = good.clone();
    (overflow.iat, overflow.exp) = (i64::MIN, i64::MAX);
    for (list, now, expected) in [
        (&good, NOW, None),
        (&good, NOW + LIFETIME_SECONDS - 1, None),
        (&good, NOW + LIFETIME_SECONDS, Some(ListRefused::Expired)),
        (&good, NOW - SKEW_SECONDS, None),
        (
            &good,
            NOW - SKEW_SECONDS - 1,
            Some(ListRefused::NotYetValid),
        ),
        (&other, NOW, Some(ListRefused::Issuer)),
        (&long, NOW, Some(ListRefused::LifetimeTooLong)),
        (&overflow, NOW, Some(ListRefused::Content)),
    ] {
        let document = signer.sign(list).unwrap();
        assert_eq!(verifier.verify(&document, at(now)).err(), expected, "{now}");
    }
}

#[test]
fn a_list_with_one_wrong_entry_is_refused_as_a_whole() {
    let key = SigningKey::generate();
    let verifier = verifier(&key);
    let twice = list(vec![cluster(1), cluster(2), cluster(1)]);
    let mut long = cluster(3);
    long.name = "n".repeat(256);
    let reason = long.check().unwrap_err();
    assert_eq!(reason.fault, Fault::TooLong(255));
    let long = list(vec![cluster(1), long]);
    let signer = ListSigner::new(key.clone());
    for (list, expected) in [
        (twice, ListRefused::DuplicateCluster(Uuid::from_u128(1))),
        (
            long,
            ListRefused::Cluster {
                cluster: Uuid::from_u128(3),
                reason,
            },
        ),
    ] {
        let document = signer.sign(&list).unwrap();
        assert_eq!(verifier.verify(&document, at(NOW)), Err(expected));
    }
    // a member that this version does not know may restrict the cluster
    let mut payload = serde_json::to_value(list(vec![cluster(1)])).unwrap();
    payload["clusters"][0]["accepted_hours"] = json!("9-17");
    let document = signed(&key, &header(&key), &payload);
    let found = verifier.verify(&document, at(NOW));
    assert_eq!(found, Err(ListRefused::Content));
}

#[test]
fn a_list_is_bounded_for_signer_and_verifier_alike() {
    let key = SigningKey::generate();
    let verifier = verifier(&key);
    let signer = ListSigner::new(key.clone());
    let full = list((0..10_000).map(cluster).collect());
    let document = signer.sign(&full).unwrap();
    assert_eq!(verifier.verify(&document, at(NOW)).as_ref(), Ok(&full));
    let over = list((0..10_001).map(cluster).collect());
    assert!(matches!(
        signer.sign(&over),
        Err(SignListError::TooManyClusters(10_001))
    ));
    let payload = serde_json::to_value(&over).unwrap();
    let document = signed(&key, &header(&key), &payload);
    let found = verifier.verify(&document, at(NOW));
    assert_eq!(found, Err(ListRefused::TooManyClusters));
    let long = "a".repeat(MAX_BYTES + 1);
    assert_eq!(verifier.verify(&long, at(NOW)), Err(ListRefused::TooLarge));
    let mut large = list((0..5_000).map(cluster).collect());
    for cluster in &mut large.clusters {
        cluster.client_ca = "x".repeat(8 * 1024);
    }
    assert!(matches!(
        signer.sign(&large),
        Err(SignListError::TooLarge(_))
    ));
}

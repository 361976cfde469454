use super::*;
use crate::keys::SigningKey;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::json;

pub(super) const NOW: i64 = 1_800_000_000;
pub(super) const ISSUER: &str = "https://portico.example.org";

pub(super) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap()
}

pub(super) fn claims() -> Claims {
    let named = |name: &str| Named {
        id: format!("{name}-id"),
        name: name.to_owned(),
    };
    let acme = Project {
        id: "acme-id".to_owned(),
        name: "acme".to_owned(),
        domain: named("Default"),
    };
    Claims {
        iss: ISSUER.to_owned(),
        aud: "panel".to_owned(),
        iat: NOW,
        exp: NOW + 60,
        jti: "jti-1".to_owned(),
        sid: "sid-1".to_owned(),
        sub: "u1".to_owned(),
        name: "ada".to_owned(),
        domain: named("Default"),
        project: Some(acme.clone()),
        roles: vec![named("k8s_admin")],
        projects: vec![acme],
        apps: OpenApps::from([("grafana".to_owned(), AppAccess::Open)]),
        namespaces: Namespaces::from([(Uuid::from_u128(7), vec!["shop".to_owned()])]),
        csrf: Some("c".to_owned()),
        session_expires_at: NOW + 3600,
        auth_methods: vec!["password".to_owned()],
        email: None,
        groups: Vec::new(),
        groups_omitted: 0,
        keystone: KeystoneState::Ok,
        next_project: None,
    }
}

#[test]
fn groups_never_fill_a_header_and_the_omitted_are_counted() {
    let groups: Vec<String> = (0..1000).map(|n| format!("group-{n:04}")).collect();
    let (fitting, omitted) = fitting_groups(&groups);
    assert_eq!(fitting.len() + omitted, groups.len());
    assert_eq!(fitting[..], groups[..fitting.len()]);
    assert!(serde_json::to_string(&fitting).unwrap().len() <= MAX_GROUPS_BYTES + 2);
    assert!(omitted > 0);
    assert_eq!(fitting_groups(&groups[..3]), (groups[..3].to_vec(), 0));
}

fn pair() -> (Signer, Verifier) {
    let key = SigningKey::generate();
    (Signer::new(key.clone()), Verifier::for_key(&key))
}

#[test]
fn signed_claims_come_back() {
    let (signer, verifier) = pair();
    let token = signer.sign(&claims()).unwrap();
    let verified = verifier.verify(&token, "panel", ISSUER, at(NOW)).unwrap();
    assert_eq!(verified, claims());
    assert_eq!(verified.identity().kubernetes_username(), "ada@Default");
}

#[test]
fn keys_from_pem_and_from_the_jwk_set_verify_too() {
    let key = SigningKey::generate();
    let signer = Signer::new(key.clone());
    let token = signer.sign(&claims()).unwrap();
    let pem = key.public_pem().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("assertion.pub.pem");
    std::fs::write(&file, &pem).unwrap();
    let mut jwks = signer.jwks();
    jwks["keys"].as_array_mut().unwrap().insert(
        0,
        json!({"kty": "RSA", "kid": "r", "n": "AQAB", "e": "AQAB"}),
    );
    for verifier in [
        Verifier::from_pems([pem.as_str()]).unwrap(),
        Verifier::from_files([file.as_path()]).unwrap(),
        Verifier::from_jwks(&jwks).unwrap(),
    ] {
        assert!(verifier.verify(&token, "panel", ISSUER, at(NOW)).is_ok());
    }
    assert!(Verifier::from_jwks(&json!({"keys": []})).is_err());
    assert!(Verifier::from_jwks(&json!([])).is_err());
    assert!(Verifier::from_pems(["nothing"]).is_err());
}

#[test]
fn another_implementation_reads_them() {
    let (signer, _) = pair();
    let token = signer.sign(&claims()).unwrap();
    let jwks = signer.jwks();
    let set: jsonwebtoken::jwk::JwkSet = serde_json::from_value(jwks).unwrap();
    let key = jsonwebtoken::DecodingKey::from_jwk(set.find(signer.kid()).unwrap()).unwrap();
    let mut validation = jsonwebtoken::Validation::new(jsonwebtoken::Algorithm::EdDSA);
    validation.validate_exp = false;
    validation.set_audience(&["panel"]);
    validation.set_issuer(&[ISSUER]);
    let decoded = jsonwebtoken::decode::<Claims>(&token, &key, &validation).unwrap();
    assert_eq!(decoded.claims, claims());
}

#[test]
fn what_does_not_fit_is_refused() {
    let (signer, verifier) = pair();
    let changed = |change: fn(&mut Claims)| {
        let mut claims = claims();
        change(&mut claims);
        claims
    };
    let cases = [
        (
            changed(|c| c.aud = "prometheus".to_owned()),
            Refused::Audience,
        ),
        (
            changed(|c| c.iss = "https://evil.example".to_owned()),
            Refused::Issuer,
        ),
        (changed(|c| c.exp = NOW + 61), Refused::LifetimeTooLong),
        (changed(|c| c.exp = i64::MAX), Refused::LifetimeTooLong),
        (changed(|c| c.iat = i64::MIN), Refused::Claims),
        (
            changed(|c| (c.iat, c.exp) = (NOW + 11, NOW + 40)),
            Refused::NotYetValid,
        ),
        (
            changed(|c| (c.iat, c.exp) = (NOW - 70, NOW - 10)),
            Refused::Expired,
        ),
    ];
    for (claims, expected) in cases {
        let token = signer.sign(&claims).unwrap();
        let refused = verifier.verify(&token, "panel", ISSUER, at(NOW));
        assert_eq!(refused.unwrap_err(), expected);
    }
}

#[test]
fn other_keys_and_other_algorithms_are_refused() {
    let (signer, verifier) = pair();
    let (other, _) = pair();
    let verify = |token: &str| {
        verifier
            .verify(token, "panel", ISSUER, at(NOW))
            .unwrap_err()
    };
    let foreign = other.sign(&claims()).unwrap();
    assert_eq!(verify(&foreign), Refused::UnknownKey);

    let body = URL_SAFE_NO_PAD.encode(serde_json::to_vec(&claims()).unwrap());
    let signature = foreign.rsplit('.').next().unwrap();
    let kid = signer.kid();
    for (header, expected) in [
        (
            json!({"alg": "EdDSA", "kid": kid, "typ": "JWT"}),
            Refused::Signature,
        ),
        (json!({"alg": "none", "kid": kid}), Refused::Shape),
        (json!({"alg": "HS256", "kid": kid}), Refused::Shape),
        (
            json!({"alg": "EdDSA", "kid": kid, "typ": "at+jwt"}),
            Refused::Shape,
        ),
        (
            json!({"alg": "EdDSA", "kid": kid, "crit": ["b64"], "b64": false}),
            Refused::Shape,
        ),
        (json!({"alg": "EdDSA"}), Refused::Shape),
        (json!({"alg": "EdDSA", "kid": "other"}), Refused::UnknownKey),
    ] {
        let token = format!(
            "{}.{body}.{signature}",
            URL_SAFE_NO_PAD.encode(header.to_string())
        );
        assert_eq!(verify(&token), expected, "{header}");
    }
    for token in ["", ".", "..", "a.b.c", "a.b", &"A".repeat(200_000)] {
        assert_eq!(verify(token), Refused::Shape);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_changed_byte_is_noticed(position in any::<prop::sample::Index>(), flip in 1_u8..128) {
        let (signer, verifier) = pair();
        let mut bytes = signer.sign(&claims()).unwrap().into_bytes();
        let position = position.index(bytes.len());
        bytes[position] ^= flip;
        let changed = String::from_utf8_lossy(&bytes).into_owned();
        prop_assert!(verifier.verify(&changed, "panel", ISSUER, at(NOW)).is_err());
    }

    #[test]
    fn any_name_comes_back(name in ".{0,80}", method in ".{0,10}") {
        let (signer, verifier) = pair();
        let claims = Claims { name, auth_methods: vec![method], ..claims() };
        let token = signer.sign(&claims).unwrap();
        prop_assert_eq!(verifier.verify(&token, "panel", ISSUER, at(NOW)).unwrap(), claims);
    }
}

#[test]
fn namespaces_up_to_their_limit_are_in_an_assertion() {
    let all = |count: usize| {
        let one = move |at: usize| (Uuid::from_u128((at % 3) as u128), format!("{at:063}"));
        (0..count).map(one)
    };
    let few = fitting_namespaces(all(20));
    assert_eq!(few.values().map(Vec::len).sum::<usize>(), 20);
    let many = fitting_namespaces(all(1_000));
    let size = serde_json::to_string(&many).unwrap().len();
    assert!(
        (MAX_NAMESPACES_BYTES - 70..=MAX_NAMESPACES_BYTES).contains(&size),
        "{size}"
    );
}

use super::*;
use proptest::prelude::*;
use serde_json::{Value, json};

const NOW: i64 = 1_800_000_000;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap()
}

fn cluster(n: u128) -> Uuid {
    Uuid::from_u128(n)
}

fn sealed(key: &PrivateKey, keystone_expires_at: i64) -> SealedClusterToken {
    seal(
        key.public(),
        cluster(1),
        &"gAAAA-inner".into(),
        at(keystone_expires_at),
        at(NOW),
    )
    .unwrap()
}

/// A token whose inside says whatever a forger likes: sealing needs no secret.
fn forged(key: &PrivateKey, for_cluster: Uuid, content: &Value) -> String {
    let aad = associated_data(key.kid(), for_cluster);
    let sealed = sealing::seal(key.public(), INFO, &aad, content.to_string().as_bytes()).unwrap();
    format!("{PREFIX}{}.{sealed}", key.kid())
}

fn content(key: &PrivateKey) -> Value {
    json!({"v": 1, "kid": key.kid(), "cluster": cluster(1), "iat": NOW, "exp": NOW + 900, "token": "t"})
}

#[test]
fn what_is_sealed_can_be_opened_until_its_end_and_the_skew() {
    let key = PrivateKey::generate();
    let token = sealed(&key, NOW + 3600);
    assert_eq!(token.expires_at, at(NOW + MAX_LIFETIME_SECONDS));
    for (now, expected) in [
        (NOW, None),
        (NOW - SKEW_SECONDS, None),
        (NOW - SKEW_SECONDS - 1, Some(OpenError::NotYetValid)),
        (NOW + 900 + SKEW_SECONDS - 1, None),
        (NOW + 900 + SKEW_SECONDS, Some(OpenError::Expired)),
    ] {
        let opened = open(
            std::slice::from_ref(&key),
            cluster(1),
            token.token.expose_secret(),
            at(now),
        );
        assert_eq!(opened.as_ref().err().copied(), expected, "at {}", now - NOW);
        if let Ok(opened) = opened {
            assert_eq!(opened.keystone_token.expose_secret(), "gAAAA-inner");
            assert_eq!(opened.validity.issued_at, at(NOW));
        }
    }
}

#[test]
fn a_cluster_token_never_outlives_the_keystone_token() {
    let key = PrivateKey::generate();
    assert_eq!(sealed(&key, NOW + 30).expires_at, at(NOW + 30));
    let expired = seal(key.public(), cluster(1), &"t".into(), at(NOW), at(NOW));
    assert_eq!(expired.unwrap_err(), SealError::Expired);
}

#[test]
fn another_cluster_cannot_use_it() {
    let key = PrivateKey::generate();
    let token = sealed(&key, NOW + 60);
    let opened = open(&[key], cluster(2), token.token.expose_secret(), at(NOW));
    assert_eq!(opened.unwrap_err(), OpenError::Undecipherable);
}

#[test]
fn a_retired_key_opens_and_a_removed_one_does_not() {
    let (old, new) = (PrivateKey::generate(), PrivateKey::generate());
    let token = sealed(&old, NOW + 60);
    let token = token.token.expose_secret();
    assert!(open(&[new.clone(), old], cluster(1), token, at(NOW)).is_ok());
    assert_eq!(
        open(&[new], cluster(1), token, at(NOW)).unwrap_err(),
        OpenError::UnknownKey
    );
}

#[test]
fn a_kid_of_another_known_key_does_not_help() {
    let (a, b) = (PrivateKey::generate(), PrivateKey::generate());
    let token = sealed(&a, NOW + 60);
    let swapped = token.token.expose_secret().replace(a.kid(), b.kid());
    assert_eq!(
        open(&[a, b], cluster(1), &swapped, at(NOW)).unwrap_err(),
        OpenError::Undecipherable
    );
}

#[test]
fn forged_content_is_refused() {
    let key = PrivateKey::generate();
    let with = |name: &str, value: Value| {
        let mut content = content(&key);
        content[name] = value;
        content
    };
    let cases = [
        (with("v", json!(2)), OpenError::Content),
        (with("kid", json!("0000000000000000")), OpenError::Content),
        (with("cluster", json!(cluster(2))), OpenError::Content),
        (with("token", json!("")), OpenError::Content),
        (with("token", json!(null)), OpenError::Content),
        (with("extra", json!(1)), OpenError::Content),
        (with("exp", json!(NOW)), OpenError::Content),
        (with("exp", json!(i64::MAX)), OpenError::Content),
        (with("iat", json!(i64::MIN)), OpenError::Content),
        (with("exp", json!(NOW + 901)), OpenError::LifetimeTooLong),
        (with("exp", json!(NOW + 86_400)), OpenError::LifetimeTooLong),
        (with("iat", json!(NOW + 61)), OpenError::NotYetValid),
        (json!([]), OpenError::Content),
        (json!("text"), OpenError::Content),
    ];
    let keys = [key.clone()];
    for (content, expected) in cases {
        let token = forged(&key, cluster(1), &content);
        let opened = open(&keys, cluster(1), &token, at(NOW));
        assert_eq!(opened.unwrap_err(), expected, "{content}");
    }
    let good = forged(&key, cluster(1), &content(&key));
    assert!(open(&keys, cluster(1), &good, at(NOW)).is_ok());
}

#[test]
fn shapes_that_are_no_cluster_token_are_refused() {
    let key = PrivateKey::generate();
    let token = sealed(&key, NOW + 60);
    let token = token.token.expose_secret();
    let sealed = token.rsplit('.').next().unwrap();
    let kid = key.kid();
    let cases = [
        (String::new(), OpenError::Shape),
        ("gAAAAABn".to_owned(), OpenError::Shape),
        ("a.b.c".to_owned(), OpenError::Shape),
        ("portico_v1.".to_owned(), OpenError::Shape),
        (format!("portico_v1.{kid}"), OpenError::Shape),
        (format!("Portico_v1.{kid}.{sealed}"), OpenError::Shape),
        (format!("portico_v2.{kid}.{sealed}"), OpenError::Shape),
        (format!(" {token}"), OpenError::Shape),
        (
            format!("{PREFIX}{kid}.{}", "A".repeat(MAX_TOKEN_BYTES)),
            OpenError::Shape,
        ),
        (
            format!("portico_v1.{}.{sealed}", kid.to_uppercase() + "x"),
            OpenError::UnknownKey,
        ),
        (format!("portico_v1..{sealed}"), OpenError::UnknownKey),
        (format!("portico_v1.{kid}."), OpenError::Undecipherable),
        (format!("portico_v1.{kid}.AAAA"), OpenError::Undecipherable),
        (format!("{token}="), OpenError::Undecipherable),
        (format!("{token} "), OpenError::Undecipherable),
        (format!("{token}.x"), OpenError::Undecipherable),
    ];
    let keys = [key.clone()];
    for (token, expected) in cases {
        let opened = open(&keys, cluster(1), &token, at(NOW));
        assert_eq!(opened.unwrap_err(), expected, "{token}");
    }
}

#[test]
fn a_token_too_long_for_the_webhook_is_not_sealed() {
    let key = PrivateKey::generate();
    let long = "x".repeat(MAX_TOKEN_BYTES);
    let sealed = seal(
        key.public(),
        cluster(1),
        &long.into(),
        at(NOW + 60),
        at(NOW),
    );
    assert_eq!(sealed.unwrap_err(), SealError::TooLong);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_token_and_cluster_come_back(inner in "[ -~]{1,600}", id in any::<u128>(), life in 1_i64..4000) {
        let key = PrivateKey::generate();
        let token = seal(key.public(), cluster(id), &inner.clone().into(), at(NOW + life), at(NOW)).unwrap();
        let opened = open(&[key], cluster(id), token.token.expose_secret(), at(NOW)).unwrap();
        prop_assert_eq!(opened.keystone_token.expose_secret(), inner);
        prop_assert!(opened.validity.expires_at <= at(NOW + life));
    }

    #[test]
    fn any_changed_byte_is_noticed(position in any::<prop::sample::Index>(), flip in 1_u8..128) {
        let key = PrivateKey::generate();
        let token = sealed(&key, NOW + 60);
        let mut bytes = token.token.expose_secret().as_bytes().to_vec();
        let position = position.index(bytes.len());
        bytes[position] ^= flip;
        let changed = String::from_utf8_lossy(&bytes).into_owned();
        prop_assert!(open(&[key], cluster(1), &changed, at(NOW)).is_err());
    }

    #[test]
    fn any_text_at_all_is_answered(text in ".{0,200}", tail in "[A-Za-z0-9_.-]{0,300}") {
        let key = PrivateKey::generate();
        let keys = [key.clone()];
        prop_assert!(open(&keys, cluster(1), &text, at(NOW)).is_err());
        let prefixed = format!("{PREFIX}{}.{tail}", key.kid());
        prop_assert!(open(&keys, cluster(1), &prefixed, at(NOW)).is_err());
    }
}

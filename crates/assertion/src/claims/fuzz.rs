//! Fuzz tests of assertions: changed at random, none but the signed ones is accepted.
use super::tests::{ISSUER, NOW, at, claims};
use super::{Signer, Verifier};
use crate::keys::SigningKey;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bolero::check;
use portico_testkit::fuzz::{Change, edited, seeds, time};

/// Headers of JSON Web Signatures that have deceived verifiers; `KID` is replaced with the key's
/// ID.
const HEADERS: &str = include_str!("seeds/headers.json");

const PIECES: [&str; 16] = [
    ".",
    "..",
    "=",
    "e30",
    "eyJhbGciOiJub25lIn0",
    "eyJhbGciOiJIUzI1NiJ9",
    "eyJhbGciOiJFZERTQSJ9",
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    "InBhbmVsIg",
    "-",
    "_",
    "+",
    "/",
    "\n",
    " ",
    "\0",
];

#[test]
fn fuzz_assertions() {
    let key = SigningKey::generate();
    let verifier = Verifier::for_key(&key);
    let signer = Signer::new(key);
    let genuine = signer.sign(&claims()).unwrap();
    let accepted = |token: &str| verifier.verify(token, "panel", ISSUER, at(NOW)).is_ok();
    assert!(accepted(&genuine), "the control case");

    let (_, rest) = genuine.split_once('.').unwrap();
    let (body, _) = rest.split_once('.').unwrap();
    let mut all = vec![genuine.clone()];
    for header in seeds(HEADERS) {
        let header = URL_SAFE_NO_PAD.encode(header.replace("KID", signer.kid()));
        all.push(format!("{header}.{rest}"));
        all.push(format!("{header}.{body}."));
    }
    let mut of_an_app = claims();
    of_an_app.aud = "grafana".to_owned();
    let mut old = claims();
    (old.iat, old.exp) = (NOW - 600, NOW - 540);
    for other in [of_an_app, old] {
        all.push(signer.sign(&other).unwrap());
    }
    let stranger = Signer::new(SigningKey::generate());
    all.push(stranger.sign(&claims()).unwrap());
    for token in &all[1..] {
        assert!(!accepted(token), "{token}");
    }
    check!()
        .with_test_time(time())
        .with_type::<Change>()
        .for_each(|change| {
            let bytes = edited(&all, &PIECES, change);
            let token = String::from_utf8_lossy(&bytes);
            assert_eq!(accepted(&token), token == genuine, "{token}");
        });
}

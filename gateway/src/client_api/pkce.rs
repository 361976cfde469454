//! PKCE (RFC 7636), with the method S256 only.
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// Returns whether the text can be an S256 challenge.
pub(super) fn is_challenge(text: &str) -> bool {
    URL_SAFE_NO_PAD
        .decode(text)
        .is_ok_and(|bytes| bytes.len() == 32)
}

/// Returns whether the challenge was made from the verifier.
pub(super) fn fits(challenge: &str, verifier: &str) -> bool {
    let well_formed = (43..=128).contains(&verifier.len())
        && verifier
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b'~'));
    let made = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier));
    well_formed && bool::from(made.as_bytes().ct_eq(challenge.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_rfc_7636_fits() {
        let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
        assert!(is_challenge(challenge));
        assert!(fits(
            challenge,
            "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
        ));
        assert!(!fits(
            challenge,
            "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXl"
        ));
        assert!(!fits(challenge, ""));
    }

    #[test]
    fn plain_is_not_a_challenge() {
        assert!(!is_challenge("secret"));
        assert!(!is_challenge(""));
    }
}

//! CSRF tokens for forms: derived from the session's cookie, so nothing is stored.
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, Mac as _};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

/// The form field with the token.
pub(crate) const FIELD: &str = "csrf_token";

/// Returns the token that belongs to a cookie (the session's, or the sign-in flow's).
pub(crate) fn token(cookie: &SecretString) -> String {
    // HMAC takes keys of any length
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(cookie.expose_secret().as_bytes()) else {
        return String::new();
    };
    mac.update(b"portico csrf v1");
    URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes())
}

/// Returns whether `given` is the token that belongs to `cookie`.
pub(crate) fn matches(cookie: &SecretString, given: &str) -> bool {
    let expected = token(cookie);
    !expected.is_empty() && bool::from(expected.as_bytes().ct_eq(given.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_fits_its_cookie_only() {
        let (a, b) = (SecretString::from("a"), SecretString::from("b"));
        assert!(matches(&a, &token(&a)));
        assert!(!matches(&b, &token(&a)));
        assert!(!matches(&a, ""));
    }

    #[test]
    fn a_token_does_not_show_the_cookie() {
        let cookie = SecretString::from("secret-cookie");
        assert!(!token(&cookie).contains("secret-cookie"));
    }
}

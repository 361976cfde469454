//! A check of which texts can be Keystone tokens at all. The webhook is the last authenticator of
//! an API server, so every bearer token that no other one recognised arrives here: expired service
//! account tokens of the cluster itself, bootstrap leftovers, scanners' guesses. None of them may
//! cause a call to Keystone.
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use portico_domain::cluster::RawTokens;
use serde_json::Value;

/// Keystone's web server refuses headers above about 8 KiB.
const MAX_TOKEN_BYTES: usize = 8_000;
/// An unscoped Fernet token has 162 characters.
const MIN_FERNET_BYTES: usize = 120;

/// Returns whether `text` looks like a token of that provider.
pub(crate) fn is_keystone_token(provider: RawTokens, text: &str) -> bool {
    text.len() <= MAX_TOKEN_BYTES
        && match provider {
            RawTokens::Off => false,
            RawTokens::Fernet => is_fernet(text),
            RawTokens::Jws => is_jws(text),
        }
}

/// Checks for URL-safe base64 of the version byte 0x80 and a time before the year 2106.
fn is_fernet(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    text.len() >= MIN_FERNET_BYTES && body.starts_with("gAAAA") && is_base64(body)
}

/// Returns whether all characters are in the URL-safe alphabet.
fn is_base64(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// Checks for a signature with ES256, and for the claim that only Keystone makes.
fn is_jws(text: &str) -> bool {
    let mut parts = text.split('.');
    let (Some(header), Some(claims), Some(signature), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let json = |part: &str| {
        let bytes = URL_SAFE_NO_PAD.decode(part).ok()?;
        serde_json::from_slice::<Value>(&bytes).ok()
    };
    !signature.is_empty()
        && is_base64(signature)
        && json(header).is_some_and(|header| header["alg"] == "ES256")
        && json(claims).is_some_and(|claims| claims.get("openstack_methods").is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn jwt(header: &Value, claims: &Value) -> String {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        format!("{}.{}.c2ln", part(header), part(claims))
    }

    #[test]
    fn each_provider_has_its_own_shape() {
        let fernet = format!("gAAAAABp{}", "x-_9".repeat(44));
        let es256 = json!({"typ": "JWT", "alg": "ES256"});
        let jws = jwt(
            &es256,
            &json!({"sub": "u", "openstack_methods": ["password"]}),
        );
        for (text, as_fernet, as_jws) in [
            (fernet.as_str(), true, false),
            (&format!("{fernet}=="), true, false),
            (&jws, false, true),
            ("", false, false),
            ("gAAAA", false, false),
            (
                &format!("gAAAAABp{}", "x".repeat(MAX_TOKEN_BYTES)),
                false,
                false,
            ),
            (&format!("{fernet}!"), false, false),
            (&format!("{fernet}\n"), false, false),
            (&"x".repeat(200), false, false),
            // a service account's token of the cluster
            (
                &jwt(
                    &json!({"alg": "RS256", "kid": "k"}),
                    &json!({"iss": "kubernetes/serviceaccount"}),
                ),
                false,
                false,
            ),
            (
                &jwt(&es256, &json!({"iss": "https://kubernetes.default.svc"})),
                false,
                false,
            ),
            (
                &jwt(&json!({"alg": "none"}), &json!({"openstack_methods": []})),
                false,
                false,
            ),
            (&format!("{jws}.more"), false, false),
            (&format!("{jws}\u{fffd}"), false, false),
            ("a.b.c", false, false),
        ] {
            assert_eq!(
                is_keystone_token(RawTokens::Fernet, text),
                as_fernet,
                "{text}"
            );
            assert_eq!(is_keystone_token(RawTokens::Jws, text), as_jws, "{text}");
            assert!(!is_keystone_token(RawTokens::Off, text));
        }
    }
}

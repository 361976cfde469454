//! The identity that an upstream received, from the echo's response.
use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use serde_json::Value;

/// Returns every line of a header, in the order in which they arrived.
pub fn header<'a>(received: &'a Value, name: &str) -> Vec<&'a str> {
    received["headers"]
        .as_array()
        .expect("headers")
        .iter()
        .filter(|pair| pair[0] == name)
        .filter_map(|pair| pair[1].as_str())
        .collect()
}

/// Returns the claims of a token, without a check of its signature.
pub fn claims(token: &str) -> Value {
    let payload = token.split('.').nth(1).expect("payload");
    let bytes = URL_SAFE_NO_PAD.decode(payload).expect("base64");
    serde_json::from_slice(&bytes).expect("claims")
}

/// Returns user name and password.
pub fn basic(received: &Value) -> String {
    let lines = header(received, "authorization");
    assert_eq!(lines.len(), 1, "{received}");
    let encoded = lines[0].strip_prefix("Basic ").expect("Basic");
    String::from_utf8(STANDARD.decode(encoded).expect("base64")).expect("UTF-8")
}

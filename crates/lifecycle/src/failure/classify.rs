//! Finds the class of a failure by phrases of its text.
use super::{Class, phrases::TABLES};

/// Returns the class of a text of Magnum: `status_reason`, a fault, a health reason, or the detail of
/// an error.
pub fn classify(text: &str) -> Class {
    let text = text.to_lowercase();
    // an RPC that times out is the conductor's; "timed out" alone would be a time limit
    if text.contains("messagingtimeout") {
        return Class::Service;
    }
    let found = TABLES
        .into_iter()
        .flatten()
        .find(|(_, phrases)| phrases.iter().any(|phrase| matches(&text, phrase)));
    found.map_or(Class::Unknown, |(class, _)| *class)
}

/// Returns whether the parts of a phrase occur in their order.
fn matches(text: &str, phrase: &str) -> bool {
    let mut rest = text;
    for part in phrase.split('*').map(str::trim) {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    true
}

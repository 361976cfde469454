//! Who can write to the Redis of a store must not gain a session by it.
//!
//! Redis has no foreign keys, and it is often shared. So each entry that says whose a session is,
//! or to which session something leads, carries a keyed hash over that and over its own place: an
//! entry that was moved, swapped with another or changed is an error and opens nothing.
use super::entry::Entry;
use crate::error::StoreError;
use crate::sealing::KeyRing;
use subtle::ConstantTimeEq as _;

/// The field that holds the binding.
pub(super) const FIELD: &str = "bound";

/// The binding of `parts`, of which one is the entry's place.
pub(super) fn of(keys: &KeyRing, table: &'static str, parts: &[&str]) -> String {
    keys.hash(&purpose(table), &joined(parts))
}

/// Makes sure that an entry is where and as it was written.
pub(super) fn check(
    keys: &KeyRing,
    table: &'static str,
    parts: &[&str],
    given: Option<&str>,
) -> Result<(), StoreError> {
    let given = given.unwrap_or_default().as_bytes();
    let good = keys
        .hashes(&purpose(table), &joined(parts))
        .any(|hash| bool::from(hash.as_bytes().ct_eq(given)));
    if good {
        Ok(())
    } else {
        Err(StoreError::Moved { table })
    }
}

/// The same for the binding of an entry.
pub(super) fn check_entry(
    keys: &KeyRing,
    table: &'static str,
    parts: &[&str],
    entry: &Entry,
) -> Result<(), StoreError> {
    check(keys, table, parts, entry.optional_text(FIELD))
}

fn purpose(table: &str) -> String {
    format!("redis binding: {table}")
}

/// Two lists of parts never make the same text.
fn joined(parts: &[&str]) -> String {
    let measured: Vec<String> = parts
        .iter()
        .map(|part| format!("{}:{part}", part.len()))
        .collect();
    measured.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cannot_be_shifted() {
        assert_ne!(joined(&["a", "bc"]), joined(&["ab", "c"]));
        assert_ne!(joined(&["1:a,1:b"]), joined(&["a", "b"]));
    }
}

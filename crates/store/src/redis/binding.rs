//! Keyed hashes that bind entries to their place, so that write access to the store's Redis does
//! not give access to sessions.
//!
//! Redis has no foreign keys, and it is often shared. So each entry that names the owner of a
//! session, or that leads to a session, carries a keyed hash over that and over its own place: an
//! entry that was moved, swapped or changed is an error and grants nothing.
use super::entry::Entry;
use crate::error::StoreError;
use crate::sealing::KeyRing;
use subtle::ConstantTimeEq as _;

/// The field that holds the binding.
pub(super) const FIELD: &str = "bound";

/// Returns the binding of `parts`, one of which is the entry's place.
pub(super) fn of(keys: &KeyRing, table: &'static str, parts: &[&str]) -> String {
    keys.hash(&purpose(table), &joined(parts))
}

/// Verifies that an entry is where, and as, it was written.
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

/// Verifies the binding of an entry.
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

/// Joins parts so that two different lists never produce the same text.
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

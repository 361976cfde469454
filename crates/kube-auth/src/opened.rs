//! A cache of recently opened cluster tokens: maps each to its Keystone token's cache key.
//!
//! Opening costs more than everything else in a review, and an API server sends the same cluster
//! token repeatedly. The table holds keyed hashes only, no token, and only of cluster tokens whose
//! Keystone token was confirmed: a client that sends garbage evicts no entry.
use crate::cache::TokenKey;
use jiff::Timestamp;
use portico_assertion::cluster_token::Validity;
use std::sync::{Mutex, PoisonError};

/// Maximum number of entries, of 100 bytes each.
const MAX_ENTRIES: usize = 16 * 1024;

struct Entry {
    /// The key of cluster and cluster token together.
    sealed: TokenKey,
    inside: TokenKey,
    validity: Validity,
}

/// A table of fixed size in which a newer entry replaces an older one.
pub(crate) struct OpenedTokens {
    slots: Box<[Mutex<Option<Entry>>]>,
}

impl OpenedTokens {
    /// Returns an empty table.
    pub fn new() -> Self {
        Self {
            slots: (0..MAX_ENTRIES).map(|_| Mutex::default()).collect(),
        }
    }

    /// Returns the cache key of the Keystone token inside, while the cluster token is valid.
    pub fn get(&self, sealed: &TokenKey, now: Timestamp) -> Option<TokenKey> {
        let slot = self.slot(sealed).lock();
        let slot = slot.unwrap_or_else(PoisonError::into_inner);
        let entry = slot.as_ref().filter(|entry| entry.sealed == *sealed)?;
        entry.validity.check(now).ok()?;
        Some(entry.inside)
    }

    /// Stores an opened token.
    pub fn insert(&self, sealed: TokenKey, inside: TokenKey, validity: Validity) {
        let slot = self.slot(&sealed).lock();
        *slot.unwrap_or_else(PoisonError::into_inner) = Some(Entry {
            sealed,
            inside,
            validity,
        });
    }

    fn slot(&self, sealed: &TokenKey) -> &Mutex<Option<Entry>> {
        // the hash is keyed: clients cannot choose the slot
        &self.slots[sealed.place() % MAX_ENTRIES]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::Validations;
    use jiff::SignedDuration;
    use portico_clock::Clock;
    use std::time::Duration;
    use uuid::Uuid;

    const CLUSTER: Uuid = Uuid::from_u128(1);
    const NOW: Timestamp = Timestamp::constant(1_800_000_000, 0);

    fn keys(token: &str) -> (TokenKey, TokenKey, TokenKey) {
        let keys = Validations::new(Duration::from_secs(1), Clock::system());
        (
            keys.key_at(CLUSTER, token),
            keys.key_at(Uuid::from_u128(2), token),
            keys.key_of("inside"),
        )
    }

    fn for_a_minute() -> Validity {
        Validity {
            issued_at: NOW,
            expires_at: NOW + SignedDuration::from_mins(1),
        }
    }

    #[test]
    fn an_opened_token_is_known_at_its_own_cluster_only() {
        let opened = OpenedTokens::new();
        let (here, elsewhere, inside) = keys("portico_v1.a.b");
        opened.insert(here, inside, for_a_minute());
        assert_eq!(opened.get(&here, NOW), Some(inside));
        assert_eq!(opened.get(&elsewhere, NOW), None);
        assert_eq!(opened.get(&inside, NOW), None);
    }

    #[test]
    fn nothing_is_known_past_the_cluster_tokens_own_end() {
        let opened = OpenedTokens::new();
        let (here, _, inside) = keys("portico_v1.a.b");
        opened.insert(here, inside, for_a_minute());
        let at = |seconds| opened.get(&here, NOW + SignedDuration::from_secs(seconds));
        // a minute of lifetime and a minute of clock skew, as when it is opened
        assert_eq!(at(119), Some(inside));
        assert_eq!(at(120), None);
        // the clock was set back
        assert_eq!(at(-59), Some(inside));
        assert_eq!(at(-61), None);
    }

    #[test]
    fn the_table_does_not_grow() {
        let opened = OpenedTokens::new();
        let keys = Validations::new(Duration::from_secs(1), Clock::system());
        for number in 0..2 * MAX_ENTRIES {
            let sealed = keys.key_at(CLUSTER, &number.to_string());
            opened.insert(sealed, sealed, for_a_minute());
            assert_eq!(opened.get(&sealed, NOW), Some(sealed));
        }
        assert_eq!(opened.slots.len(), MAX_ENTRIES);
    }
}

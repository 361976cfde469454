//! Which Keystone token a cluster token held, for those that were opened a moment ago.
//!
//! Opening costs more than everything else in a review, and an API server sends the same cluster
//! token again and again. The table holds keyed hashes only, no token, and only of cluster tokens
//! whose Keystone token was confirmed: whoever seals garbage pushes nobody out.
use crate::cache::TokenKey;
use jiff::Timestamp;
use portico_assertion::cluster_token::Validity;
use std::sync::{Mutex, PoisonError};

/// Hot tokens at a time; 100 bytes each.
const SLOTS: usize = 16 * 1024;

struct Entry {
    /// Of cluster and cluster token together.
    sealed: TokenKey,
    inside: TokenKey,
    validity: Validity,
}

/// A table of fixed size in which a newer entry takes an older one's place.
pub(crate) struct OpenedTokens {
    slots: Box<[Mutex<Option<Entry>>]>,
}

impl OpenedTokens {
    /// An empty table.
    pub fn new() -> Self {
        Self {
            slots: (0..SLOTS).map(|_| Mutex::default()).collect(),
        }
    }

    /// The place of the Keystone token that was inside, while the cluster token is valid.
    pub fn get(&self, sealed: &TokenKey, now: Timestamp) -> Option<TokenKey> {
        let slot = self.slot(sealed).lock();
        let slot = slot.unwrap_or_else(PoisonError::into_inner);
        let entry = slot.as_ref().filter(|entry| entry.sealed == *sealed)?;
        entry.validity.check(now).ok()?;
        Some(entry.inside)
    }

    /// Remembers what was opened.
    pub fn insert(&self, sealed: TokenKey, inside: TokenKey, validity: Validity) {
        let slot = self.slot(&sealed).lock();
        *slot.unwrap_or_else(PoisonError::into_inner) = Some(Entry {
            sealed,
            inside,
            validity,
        });
    }

    fn slot(&self, sealed: &TokenKey) -> &Mutex<Option<Entry>> {
        // the hash is keyed: nobody can aim at a place
        &self.slots[sealed.place() % SLOTS]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::Validations;
    use jiff::SignedDuration;
    use std::time::Duration;
    use uuid::Uuid;

    const CLUSTER: Uuid = Uuid::from_u128(1);

    fn keys(token: &str) -> (TokenKey, TokenKey, TokenKey) {
        let keys = Validations::new(Duration::from_secs(1));
        (
            keys.key_at(CLUSTER, token),
            keys.key_at(Uuid::from_u128(2), token),
            keys.key_of("inside"),
        )
    }

    fn for_a_minute(now: Timestamp) -> Validity {
        Validity {
            issued_at: now,
            expires_at: now + SignedDuration::from_mins(1),
        }
    }

    #[test]
    fn an_opened_token_is_known_at_its_own_cluster_only() {
        let (opened, now) = (OpenedTokens::new(), Timestamp::now());
        let (here, elsewhere, inside) = keys("portico_v1.a.b");
        opened.insert(here, inside, for_a_minute(now));
        assert_eq!(opened.get(&here, now), Some(inside));
        assert_eq!(opened.get(&elsewhere, now), None);
        assert_eq!(opened.get(&inside, now), None);
    }

    #[test]
    fn nothing_is_known_past_the_cluster_tokens_own_end() {
        let (opened, now) = (OpenedTokens::new(), Timestamp::now());
        let (here, _, inside) = keys("portico_v1.a.b");
        opened.insert(here, inside, for_a_minute(now));
        let at = |seconds| opened.get(&here, now + SignedDuration::from_secs(seconds));
        // a minute of life and a minute for clocks that differ, as when it is opened
        assert_eq!(at(119), Some(inside));
        assert_eq!(at(120), None);
        // a clock that was set back
        assert_eq!(at(-59), Some(inside));
        assert_eq!(at(-61), None);
    }

    #[test]
    fn the_table_does_not_grow() {
        let (opened, now) = (OpenedTokens::new(), Timestamp::now());
        let keys = Validations::new(Duration::from_secs(1));
        for number in 0..2 * SLOTS {
            let sealed = keys.key_at(CLUSTER, &number.to_string());
            opened.insert(sealed, sealed, for_a_minute(now));
            assert_eq!(opened.get(&sealed, now), Some(sealed));
        }
        assert_eq!(opened.slots.len(), SLOTS);
    }
}

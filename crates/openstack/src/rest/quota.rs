//! Amounts that are limited for a project.

/// How much of something a project uses, and how much it may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotaUsage {
    /// Reservations of requests that are under way included, where the service tells them.
    pub used: u64,
    /// `None`: unlimited.
    pub limit: Option<u64>,
}

impl QuotaUsage {
    /// Returns the amounts as services write them: a negative limit is none.
    pub(crate) fn of(used: i64, limit: i64) -> Self {
        Self {
            used: u64::try_from(used).unwrap_or(0),
            limit: u64::try_from(limit).ok(),
        }
    }

    /// Returns how much more may be used; `None` if that is unlimited.
    pub fn free(self) -> Option<u64> {
        Some(self.limit?.saturating_sub(self.used))
    }

    /// Returns whether `amount` more may be used.
    pub fn has_room_for(self, amount: u64) -> bool {
        self.free().is_none_or(|free| free >= amount)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_free_is_never_negative_and_a_negative_limit_is_none() {
        let some = QuotaUsage::of(18, 20);
        assert_eq!((some.free(), some.has_room_for(2)), (Some(2), true));
        assert!(!some.has_room_for(3));
        // a limit that was lowered below what is used
        assert_eq!(QuotaUsage::of(25, 20).free(), Some(0));
        let unlimited = QuotaUsage::of(25, -1);
        assert_eq!(
            (unlimited.free(), unlimited.has_room_for(u64::MAX)),
            (None, true)
        );
    }
}

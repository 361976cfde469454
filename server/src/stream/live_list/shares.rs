//! A live list's shares of its session's budget.
use crate::{
    caller::Caller,
    service::Services,
    session_budgets::{LimitReached, Resource, Share},
};

/// The amount that a list needs, and the limit that prevents it.
pub struct Need {
    pub reached: LimitReached,
    pub resource: Resource,
    pub amount: usize,
}

/// The amounts that a list holds.
pub struct Shares {
    watches: Share,
    bytes: Share,
}

impl Shares {
    /// Takes one watch, which every list starts with.
    ///
    /// # Errors
    /// The amount that it needs, if the session's budget does not allow it.
    pub fn take(services: &Services, caller: &Caller) -> Result<Self, Need> {
        let take = |resource, amount| {
            services
                .budgets
                .take(caller.session_id(), resource, amount)
                .map_err(|reached| Need {
                    reached,
                    resource,
                    amount,
                })
        };
        Ok(Self {
            watches: take(Resource::Watches, 1)?,
            bytes: take(Resource::ListBytes, 0)?,
        })
    }

    /// Changes the number of watches.
    ///
    /// # Errors
    /// Those of [`Self::take`].
    pub fn watches(&mut self, amount: usize) -> Result<(), Need> {
        self.watches.resize(amount).map_err(|reached| Need {
            reached,
            resource: Resource::Watches,
            amount,
        })
    }

    /// Changes the memory of rows, in bytes.
    ///
    /// # Errors
    /// Those of [`Self::take`].
    pub fn bytes(&mut self, amount: usize) -> Result<(), Need> {
        self.bytes.resize(amount).map_err(|reached| Need {
            reached,
            resource: Resource::ListBytes,
            amount,
        })
    }
}

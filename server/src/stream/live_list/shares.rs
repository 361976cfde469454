//! What a live list holds of its session's budget.
use crate::{
    panel::caller::Caller,
    service::Services,
    stream::budget::{LimitReached, Resource, Share},
};

/// What a list needs of its session's budget, and the limit that stood in the way.
pub struct Need {
    pub reached: LimitReached,
    pub resource: Resource,
    pub amount: usize,
}

/// What a list holds of its session's budget.
pub struct Shares {
    watches: Share,
    bytes: Share,
}

impl Shares {
    /// Takes one watch, with which every list begins.
    ///
    /// # Errors
    /// What it needs, when the session has no room for it.
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

    /// Changes how many watches are held.
    ///
    /// # Errors
    /// As in [`Self::take`].
    pub fn watches(&mut self, amount: usize) -> Result<(), Need> {
        self.watches.resize(amount).map_err(|reached| Need {
            reached,
            resource: Resource::Watches,
            amount,
        })
    }

    /// Changes how many bytes of rows are held.
    ///
    /// # Errors
    /// As in [`Self::take`].
    pub fn bytes(&mut self, amount: usize) -> Result<(), Need> {
        self.bytes.resize(amount).map_err(|reached| Need {
            reached,
            resource: Resource::ListBytes,
            amount,
        })
    }
}

//! Attempts to sign in: limits on failures, delays, and what a user learns about failures.
pub(crate) mod failed_attempts;
mod known_browser;
pub(crate) mod limits;
mod own_attempts;
mod refusals;

use portico_clock::Clock;
use portico_store::Store;

use self::refusals::HeldRefusals;
use crate::{audit::AuditLog, http::cookies::Cookies};

/// Counts attempts to sign in.
#[derive(Debug)]
pub(crate) struct Attempts {
    pub store: Store,
    pub clock: Clock,
    pub cookies: Cookies,
    /// Refused sign-ins whose responses are delayed.
    pub refusals: HeldRefusals,
    pub audit: AuditLog,
}

impl Attempts {
    /// Creates the counters. Refused sign-ins are answered after `refusal_time`.
    pub fn new(
        store: Store,
        clock: Clock,
        cookies: Cookies,
        refusal_time: std::time::Duration,
    ) -> Self {
        Self {
            audit: AuditLog::new(store.clone(), clock.clone()),
            store,
            clock,
            cookies,
            refusals: HeldRefusals::new(refusal_time),
        }
    }
}

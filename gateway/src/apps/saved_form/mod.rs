//! Saves a form that arrives after its session has expired for some minutes, sealed, until the same
//! user has signed in again in the same browser; then a page offers to submit it. It is never
//! submitted automatically, and never for another user.
pub(crate) mod resume;
mod save;

use std::sync::Arc;

use portico_clock::Clock;
use portico_store::Store;

use crate::{audit::AuditLog, browser_state::BrowserStates, http::cookies::Cookies};

/// Saves forms whose session has expired.
#[derive(Debug)]
pub(crate) struct SavedForms {
    pub cookies: Cookies,
    /// Which form waits for a browser.
    pub browser_states: Arc<BrowserStates>,
    pub store: Store,
    pub clock: Clock,
    pub audit: AuditLog,
}

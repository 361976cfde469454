//! The state of a browser before and beside its identity session, with [`tower_sessions`]: which
//! provider and domain it chose last, where an interrupted sign-in was going, the form token of the
//! sign-in page, a notice, and the form that waits for its user.
//!
//! It grants no access. Nothing in it is single-use or counted, as the last of two simultaneous
//! changes wins: states, codes, one-time passcodes and saved forms are redeemed in tables of their
//! own. A browser session exists once there is something to remember, never for a request that only
//! opens a page. See ADR 0027.
mod layer;
mod state;
mod store;

use std::sync::Arc;

use http::HeaderMap;
use portico_clock::Clock;
use portico_store::Store;
use tower_sessions::{Expiry, Session, cookie::time::Duration};

pub(crate) use layer::with_browser_state;
pub(crate) use state::BrowserState;

use self::store::BrowserSessionStore;
use crate::{
    http::cookies::{Cookies, Purpose},
    request_context::Context,
};

/// How long a browser session is stored after its last change, in seconds.
const TTL_SECONDS: u32 = 30 * 24 * 3600;
/// How long it is stored while nothing in it needed a sign-in, in seconds: a script can begin sign-ins,
/// and must not use up the room of all for a month.
const EARLY_TTL_SECONDS: u32 = 3600;

/// Opens the browser sessions of requests.
#[derive(Debug)]
pub(crate) struct BrowserStates {
    cookies: Cookies,
    store: Store,
    clock: Clock,
    sessions: Arc<BrowserSessionStore>,
}

impl BrowserStates {
    pub fn new(cookies: Cookies, store: Store, clock: Clock) -> Self {
        Self {
            cookies,
            sessions: Arc::new(BrowserSessionStore::new(store.clone(), clock.clone())),
            store,
            clock,
        }
    }

    /// Returns the state of a request's browser, for a request that does not pass the layer of
    /// [`with_browser_state`]. Nothing is read before it is used; [`BrowserState::commit`] saves
    /// what has changed.
    pub fn open(self: &Arc<Self>, context: &Context, headers: &HeaderMap) -> BrowserState {
        let id = self
            .cookies
            .read_mark(headers, Purpose::State)
            .and_then(|text| text.parse().ok());
        let session = Session::new(id, Arc::clone(&self.sessions), Some(expiry()));
        BrowserState::new(session, Arc::clone(self), context)
    }
}

fn expiry() -> Expiry {
    after(TTL_SECONDS)
}

fn early_expiry() -> Expiry {
    after(EARLY_TTL_SECONDS)
}

fn after(seconds: u32) -> Expiry {
    Expiry::OnInactivity(Duration::seconds(i64::from(seconds)))
}

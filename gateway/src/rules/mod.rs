//! Applies the access rules of apps ([`portico_access_policy`]) to requests.
//!
//! [`Rules`] holds the current rules of every app and reads changed files again. `decide` fetches what
//! the rules about a request depend on: only where they name a role is Keystone asked for a token, as
//! for `apps.allow`. The same evaluation shows ahead of a request which apps are open to a user
//! (`open_apps`).
mod current;
mod decide;
pub(crate) mod metrics;
mod open_apps;
mod preflight;
mod refusal;

pub use current::Reloaded;

pub(crate) use current::Rules;
pub(crate) use decide::{Asked, Decision};
pub(crate) use refusal::Refusal;

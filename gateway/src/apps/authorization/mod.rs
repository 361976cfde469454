//! Applies the access rules of apps ([`portico_access_policy`]) to requests.
//!
//! [`Rules`] holds the current rules of every app and reads changed files again. `decide` fetches what
//! the rules about a request depend on: only where they name a role is Keystone asked for a token, as
//! for `apps.allow`. The same evaluation shows ahead of a request which apps are open to a user
//! (`open_apps`).
mod current;
mod decide;
mod key;
mod open_apps;
mod preflight;
mod refusal;

use std::sync::Arc;

use portico_clock::Clock;

use crate::{audit::AuditLog, hosts::Hosts, identity_providers::Providers, sessions::Sessions};

pub use current::Reloaded;

pub(crate) use current::Rules;
pub(crate) use decide::{Asked, Decision};
pub(crate) use key::Key;
pub(crate) use refusal::Refusal;

/// Decides who may open an app.
#[derive(Debug)]
pub(crate) struct Authorization {
    pub clock: Clock,
    /// The access rules of the apps.
    pub rules: Rules,
    pub hosts: Arc<Hosts>,
    pub providers: Arc<Providers>,
    pub sessions: Arc<Sessions>,
    pub audit: AuditLog,
}

//! Evaluates which requests to an app are permitted, and for which users: `[[apps.rules]]` and
//! `apps.rules_file`.
//!
//! Rules match a request by its real method, its path (never its query) and the client's address; a
//! user by roles in projects, groups of a provider, account, and the factors and time of their
//! sign-in. The rules are parsed once (`rule`, `pattern`) and evaluated without I/O (`set`); only
//! where they name a role is Keystone asked for a token, as for `apps.allow` (`decide`). The same
//! evaluation shows ahead of a request which apps are open to a user (`open_apps`).
//!
//! A rule that permits must match every possible reading of a path, a rule that refuses any one of
//! them (`reading`): so an upstream that reads paths more leniently than Portico grants no
//! additional access.
mod case;
mod current;
mod decide;
mod error;
mod explain;
mod file;
mod lint;
mod methods;
pub(crate) mod metrics;
mod open_apps;
mod pattern;
mod policy;
mod preflight;
mod reading;
mod refusal;
mod request_context;
mod rule;
mod set;

pub use current::Reloaded;
pub use error::{Fault, RuleError, RulesError};
pub use explain::{Explained, Question, Step};
pub use lint::{Finding, Severity};
pub use policy::{Outcome, Policy, Subject};

pub(crate) use current::Rules;
pub(crate) use decide::{Asked, Decision};
pub(crate) use methods::is_registered;
pub(crate) use refusal::Refusal;

use crate::config::AppConfig;

/// Checks the rules in an app's own configuration.
pub(crate) fn check(app: &AppConfig) -> Result<(), RulesError> {
    set::RuleSet::compile(app, &[]).map(drop)
}

#[cfg(test)]
mod tests;

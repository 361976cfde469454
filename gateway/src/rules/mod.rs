//! What may be asked of an app, by whom: `[[apps.rules]]` and `apps.rules_file`.
//!
//! A request is decided on by its real method, its path (never its query) and the client's
//! address; a person by roles in projects, groups of a provider, account, what they signed in with
//! and when. The rules are read once (`rule`, `pattern`), asked without I/O (`set`), and only where
//! they name a role is Keystone asked for a token, as for `apps.allow` (`decide`). The same is asked
//! ahead of a request for whoever wants to know what is open to them (`open_apps`).
//!
//! What opens must fit every way in which a path may be read, what closes any one of them
//! (`reading`): so an upstream that is more lenient than we are opens nothing.
mod case;
mod current;
mod decide;
mod error;
mod explain;
mod facts;
mod file;
mod lint;
pub(crate) mod meters;
mod methods;
mod open_apps;
mod pattern;
mod policy;
mod preflight;
mod reading;
mod refusal;
mod rule;
mod set;

pub use current::Reloaded;
pub use error::{Fault, RuleError, RulesError};
pub use explain::{Explained, Question, Step};
pub use lint::{Finding, Severity};
pub use policy::{Outcome, Policy, Somebody};

pub(crate) use current::Rules;
pub(crate) use decide::{Asked, Decision};
pub(crate) use methods::is_registered;
pub(crate) use refusal::Refusal;

use crate::config::AppConfig;

/// Checks the rules that an app's configuration holds itself.
pub(crate) fn check(app: &AppConfig) -> Result<(), RulesError> {
    set::RuleSet::compile(app, &[]).map(drop)
}

#[cfg(test)]
mod tests;

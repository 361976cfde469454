//! Evaluates which requests to an app are permitted, and for which users: `[[apps.rules]]` and
//! `apps.rules_file`.
//!
//! Rules ([`RuleConfig`]) match a request by its real method, its path (never its query) and the
//! client's address; a user by roles in projects, groups of a provider, account, and the factors and
//! time of their sign-in. They are parsed once and evaluated without I/O ([`RuleSet`]); the caller
//! finds out beforehand what they depend on ([`Person`]).
//!
//! A rule that permits must match every possible reading of a path, a rule that refuses any one of
//! them ([`Readings`]): so an upstream that reads paths more leniently than Portico grants no
//! additional access.
//!
//! [`Policy`] is the rules of one app apart from any request: to check, test and explain them.
mod app;
mod error;
mod explain;
pub mod file;
mod lint;
mod methods;
mod model;
mod pattern;
mod policy;
mod reading;
mod request_context;
mod rule;
mod set;
mod test_case;
mod test_runner;

pub use app::{AppPolicy, GroupError, GroupSource, check_group};
pub use error::{Fault, RuleError, RulesError};
pub use explain::{Explained, PolicyQuery, Step, conditions};
pub use lint::{Finding, Severity};
pub use methods::is_registered;
pub use model::{Effect, Except, PROJECT_OF_THE_APP, RuleConfig, Who};
pub use policy::{Outcome, Policy, Subject};
pub use reading::Readings;
pub use request_context::{Fit, Person, RequestContext, proves};
pub use rule::Rule;
pub use set::{Fallback, Listed, MatchedRules, RuleDecision, RuleSet};

#[cfg(test)]
mod tests;

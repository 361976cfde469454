//! Signing in and out: password, one-time code, choice of a project, and the end.
pub(crate) mod account;
pub(crate) mod attempt;
pub(crate) mod demo;
pub(crate) mod establish;
pub(crate) mod failed_attempts;
mod known_browser;
mod limits;
pub(crate) mod other_ways;
mod own_attempts;
pub(crate) mod project;
pub(crate) mod reauthenticate;
pub(crate) mod refusals;
pub(crate) mod sign_in;
pub(crate) mod sign_out;
pub(crate) mod totp;
pub(crate) mod websso;
mod wording;

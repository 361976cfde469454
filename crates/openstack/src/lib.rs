//! The OpenStack services that Portico talks to; today Keystone's identity API v3.
//!
//! A token is an argument of each call and never a client's state: one client serves everybody.
//! Portico's own token, for the few calls that a user's cannot make, is a
//! [`keystone::ServiceAccount`]'s.
//! Every answer is one of three things, and they are never mixed up: what was asked for, a
//! refusal ([`keystone::Error::is_refusal`]), or "cannot say" (everything else).
pub mod config;
pub mod keystone;

pub use config::KeystoneConfig;

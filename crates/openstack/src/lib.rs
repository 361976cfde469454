//! Clients of the OpenStack services that Portico uses: Keystone's identity API v3, Magnum, and the
//! parts of Nova, Neutron, Cinder, Octavia, Glance and Heat that show what a cluster needs, uses and is
//! made of.
//!
//! A token is an argument of each call and never a client's state: one client serves all users.
//! Portico's own token, for the few calls that a user's cannot make, belongs to a
//! [`keystone::ServiceAccount`]. Every call has one of three results, which are never confused:
//! what was requested, a refusal ([`keystone::Error::is_refusal`], [`rest::Error::is_refusal`]), or
//! an outage (everything else).
//!
//! The services but Keystone share the HTTP client and the errors of [`rest`]; where they are comes
//! from the catalogue of each token ([`keystone::Client::catalog`]).
#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        reason = "tests start servers and clients beside them, wait, and read the real time"
    )
)]
pub mod cinder;
pub mod glance;
pub mod heat;
mod http;
pub mod keystone;
mod lenient;
pub mod magnum;
pub mod neutron;
pub mod nova;
pub mod octavia;
mod open_enum;
pub mod rest;

pub use keystone::config::{self, KeystoneConfig};

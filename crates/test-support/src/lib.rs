//! Test support shared by several crates: a gateway on a real socket, upstreams that report what
//! they received, a browser with a cookie jar, a configured webhook, and peers that can be made to
//! fail. Services themselves are started by `portico-testkit`.
#![allow(
    clippy::disallowed_methods,
    reason = "tests start servers and clients beside them, wait, and read the real time"
)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "in a test, whatever is not as expected ends it"
)]

pub mod api_server;
pub mod browser;
pub mod collector;
pub mod database;
pub mod echo;
pub mod form;
pub mod forwarded;
pub mod fronts;
pub mod handover;
pub mod keystone;
pub mod keystone_proxy;
pub mod log;
pub mod oidc;
pub mod pki;
pub mod provider;
pub mod raw;
pub mod received_identity;
pub mod stack;
pub mod time;
pub mod webhook;
pub mod wire;

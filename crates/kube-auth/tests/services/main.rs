//! Against the running stack's real Keystone (`PORTICO_TEST_ENV`).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on has failed"
)]
#[path = "../webhook/api_server.rs"]
#[allow(dead_code, reason = "shared with the other test binaries")]
mod api_server;
mod delegated;
mod endings;
mod identities;
mod keystone;
mod load;
mod proxy;

//! Against a real Keystone: `PORTICO_TEST_ENV` names the stack's env file. The tests of OIDC start
//! their own providers.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "in a test, whatever is not as expected ends it"
)]

mod api_server;
mod apps;
mod federation;
mod forward_auth;
mod keystone;
mod kubernetes;
mod limits;
#[allow(dead_code, reason = "shared with the attacks")]
mod oidc;
mod oidc_sign_in;
mod oidc_sign_out;
mod other_ways;
mod outage;
mod revocations;
mod rules;
mod sessions;
mod sign_in;
mod standing;
mod staying;
#[path = "../support/mod.rs"]
#[allow(dead_code, reason = "shared with the tests that need no services")]
mod support;
mod websso;

//! Against the running stack's real Keystone (`PORTICO_TEST_ENV`).
#![allow(
    clippy::disallowed_methods,
    reason = "tests start servers and clients beside them, wait, and read the real time"
)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot continue has failed"
)]
mod delegated;
mod endings;
mod identities;
mod keystone;
mod load;

//! Against a real Keystone. `PORTICO_TEST_ENV` names the file that says where it is.
#![allow(
    clippy::disallowed_methods,
    reason = "tests start servers and clients beside them, wait, and read the real time"
)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot continue has failed"
)]
mod environment;
mod federation;
mod keystone;
mod outages;
mod service_account;

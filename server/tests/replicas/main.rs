//! Several processes of the program on one database. `PORTICO_TEST_ENV` names the stack's env file.
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

mod balancer;
mod keys;
mod process;
mod refresh;
mod two;
mod upgrade;

use portico_test_support::{browser, echo};

//! Two gateways on one PostgreSQL, or on one Redis (`PORTICO_TEST_STORE=redis`). `PORTICO_TEST_ENV` names the stack's env file.
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

mod changes;
mod outage;
mod pair;
mod races;
mod shared;

use portico_test_support as support;

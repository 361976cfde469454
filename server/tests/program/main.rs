//! The program itself, as far as it needs nobody else.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "in a test, whatever is not as expected ends it"
)]

mod policy;

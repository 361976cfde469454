//! The attacks that kubernetes-auth must withstand, by number, against the running services. Each
//! has a twin that succeeds, so that a dead server withstands nothing.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on fails"
)]

mod client;

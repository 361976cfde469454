//! The webhook from outside, without a Keystone: its client points at a closed port, so whatever
//! is answered with anything but 503 was answered without asking.
#![allow(clippy::disallowed_methods, reason = "tests read the real time")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot continue has failed"
)]
mod access;
mod audit;
mod listener;
mod rejections;
mod reviews;

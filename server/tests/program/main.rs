//! The program itself and what it ships, as far as they need no other service.
#![allow(
    clippy::disallowed_methods,
    reason = "tests start servers and clients beside them, wait, and read the real time"
)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "in a test, whatever is not as expected ends it"
)]

mod audit;
mod command_line;
mod doctor;
mod enrolment;
mod forward_auth;
mod image;
mod init;
mod kube_auth;
mod policy;
mod reload;
mod store;

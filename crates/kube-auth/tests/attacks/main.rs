//! The attacks that kubernetes-auth must withstand, by number, against the running services
//! (`PORTICO_TEST_ENV`). Each has a control case that succeeds, so that a dead server withstands nothing.
#![allow(
    clippy::disallowed_methods,
    reason = "tests start servers and clients beside them, wait, and read the real time"
)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot continue has failed"
)]
mod account;
mod authorization;
mod bounds;
mod client;
mod endpoint;
mod identity;
mod kinds_of_tokens;
mod lab;
mod outages;
mod reviews;
mod stand_in;
mod transport;
mod validity;
mod webhook_server;
mod without_kube_auth;
mod world;

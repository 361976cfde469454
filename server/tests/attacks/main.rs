//! Attacks on the running program's own listener, by their number in docs/gateway/attacks.md: raw
//! sockets, plain and TLS, HTTP/1.1 and HTTP/2. Each has a control case that succeeds, so that a dead
//! server withstands nothing. `PORTICO_TEST_ENV` names the stack's env file.
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

mod admin_port;
mod certificates;
mod drain;
mod faults;
mod frames;
mod framing;
mod http2;
mod http2_floods;
mod limits;
mod long_paths;
mod pages;
mod program;
mod recorder;
mod reload;
mod slow;
mod terminal;
mod tls;
mod wire;

use portico_test_support::{browser, echo};

//! The streaming reverse proxy: forwards a permitted request to its upstream and the response back.
//!
//! [`forward::Forwarder`] cleans the headers ([`headers`]), selects a backend of the [`upstream`] and
//! one of its pooled connections, and streams both bodies ([`stream`]). It knows neither sessions nor
//! access rules: the caller decides beforehand, passes the headers to add, and ends a connection
//! through [`stream::connections`].
#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        reason = "tests start servers and clients beside them, wait, and read the real time"
    )
)]
pub mod config;
pub mod forward;
pub mod headers;
pub mod metrics;
mod request_body;
pub mod stream;
pub mod upstream;

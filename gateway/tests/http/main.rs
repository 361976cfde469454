//! The gateway on real sockets, in front of upstreams that tell what they got. No services.
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

mod access_log;
mod apps;
mod audit;
mod browser_state;
mod client_address;
mod client_errors;
mod cloud_api;
mod cluster_list;
mod command_line;
mod diagnostics;
mod forward_auth;
mod identity;
mod keys;
mod limits;
mod metrics;
mod namespace_candidates;
mod open_apps;
mod pages;
mod path_routes;
mod proxy;
mod request_bodies;
mod rules;
mod saved_form;
mod sessions;
mod sign_out;
mod traces;
mod upstream_backends;
mod upstream_streams;
mod upstream_tls;
mod websocket;

use portico_test_support as support;

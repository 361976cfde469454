//! The attacks that the gateway must withstand, by their number in docs/gateway/attacks.md, on real
//! sockets and, where sign-in is involved, against the running services (`PORTICO_TEST_ENV`). Each
//! has a twin that succeeds, so that a dead server withstands nothing.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "in a test, whatever is not as expected ends it"
)]

#[path = "../services/api_server.rs"]
mod api_server;
mod backchannel;
mod bearer_confusion;
mod bearers;
mod caching;
mod cookies;
mod forwarded;
mod identity;
#[path = "../services/keystone.rs"]
#[allow(dead_code, reason = "shared with the tests that use services")]
mod keystone;
mod log;
mod login;
#[path = "../services/oidc.rs"]
#[allow(dead_code, reason = "shared with the tests that use services")]
mod oidc;
mod outage;
mod path_apps;
mod path_confusion;
mod providers;
mod raw;
mod redirects;
mod refresh;
mod rules;
mod sessions;
#[path = "../../../crates/oidc/tests/tokens/stand_in.rs"]
#[allow(dead_code, reason = "shared with the tests of tokens")]
mod stand_in;
mod stored;
#[path = "../support/mod.rs"]
#[allow(dead_code, reason = "shared with the other test binaries")]
mod support;
mod throttle;
mod tokens;
mod trusted_proxies;
mod upstreams;
mod websso;

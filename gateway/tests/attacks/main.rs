//! The attacks that the gateway must withstand, by their number in docs/gateway/attacks.md, on real
//! sockets and, where sign-in is involved, against the running services (`PORTICO_TEST_ENV`). Each
//! has a control case that succeeds, so that a dead server withstands nothing.
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

mod backchannel;
mod bearer_confusion;
mod bearers;
mod caching;
mod cookies;
mod flaws;
mod forwarded;
mod identity;
mod log;
mod login;
mod outage;
mod path_apps;
mod path_confusion;
mod providers;
mod raw;
mod redirects;
mod refresh;
mod rules;
mod sessions;
mod stored;
mod throttle;
mod tokens;
mod trusted_proxies;
mod upstreams;
mod websso;

use portico_test_support as support;
use portico_test_support::{api_server, keystone, oidc, provider as stand_in};

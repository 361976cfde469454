//! Against a real Keystone: `PORTICO_TEST_ENV` names the stack's env file. The tests of OIDC start
//! their own providers.
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

mod apps;
mod federation;
mod forward_auth;
mod kubernetes;
mod limits;
mod oidc_sign_in;
mod oidc_sign_out;
mod outage;
mod revocations;
mod rules;
mod sessions;
mod sign_in;
mod sign_in_methods;
mod staying;
mod validation;
mod websso;

use portico_test_support as support;
use portico_test_support::{api_server, keystone, oidc};

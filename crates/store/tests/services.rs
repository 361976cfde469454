//! Every repository on PostgreSQL and on Redis, each test with a schema or a prefix of its own: in
//! what `PORTICO_TEST_POSTGRES` and `PORTICO_TEST_REDIS` name, else in that of the running stack
//! (`PORTICO_TEST_ENV`).
#![allow(
    clippy::disallowed_methods,
    reason = "tests start servers and clients beside them, wait, and read the real time"
)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot continue has failed"
)]
mod postgres;
mod redis;
mod suite;

/// The URL of a service: from the environment, else of the stack.
fn service(variable: &str, of_stack: &str) -> String {
    if let Ok(url) = std::env::var(variable) {
        return url;
    }
    let stack = portico_testkit::TestEnv::load().unwrap();
    stack
        .optional(of_stack)
        .unwrap_or_else(|| panic!("a stack with {of_stack} (the test profile), or {variable}"))
        .to_owned()
}

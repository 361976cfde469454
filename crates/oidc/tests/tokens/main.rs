//! Tokens that a real provider cannot be made to give: forged, misdirected, malformed. Therefore the
//! provider here is a stand-in: discovery, keys, a token endpoint and userinfo, with keys of the
//! test's own.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "in a test, whatever is not as expected ends it"
)]
mod bearers;
mod discovery;
mod id_tokens;
mod keys;
mod logout_tokens;
mod refreshes;
mod sign_out;
mod userinfo;

//! Signing in and out with Keystone: passwords, one-time codes, other methods, the choice of a
//! project, and sign-out.
pub(crate) mod application_credential;
pub(crate) mod attempt;
pub(crate) mod demo;
pub(crate) mod establish;
pub(crate) mod existing_token;
pub(crate) mod failed_attempts;
mod known_browser;
mod limits;
mod own_attempts;
pub(crate) mod project;
pub(crate) mod reauthenticate;
pub(crate) mod refusals;
pub(crate) mod sign_in;
pub(crate) mod sign_out;
pub(crate) mod totp;
pub(crate) mod websso;
mod wording;

//! The pages of the gateway itself: plain HTML that works without scripts.
pub(crate) mod app;
pub(crate) mod assets;
pub(crate) mod cli;
pub(crate) mod error_response;
pub(crate) mod failed_attempts;
pub(crate) mod layout;
pub(crate) mod providers;
pub(crate) mod reauthenticate;
pub(crate) mod saved_form;
pub(crate) mod sign_in;
pub(crate) mod sign_in_methods;
pub(crate) mod sign_out;
#[cfg(test)]
mod tests;
pub(crate) mod theme;
pub(crate) mod time;
pub(crate) mod websso;

//! The pages that the gateway shows itself: plain HTML that works without scripts.
pub(crate) mod app;
pub(crate) mod assets;
pub(crate) mod audit;
pub(crate) mod cli;
pub(crate) mod failed_attempts;
pub(crate) mod kept_form;
pub(crate) mod layout;
pub(crate) mod other_ways;
pub(crate) mod problem;
pub(crate) mod providers;
pub(crate) mod reauthenticate;
pub(crate) mod sessions;
pub(crate) mod sign_in;
pub(crate) mod sign_out;
pub(crate) mod time;
pub(crate) mod websso;

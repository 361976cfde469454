//! Types and rules that the browser, the gateway, the panel and kube-auth agree on.
//!
//! No I/O and no clock: everything here builds for the browser too. Start with [`identity`]
//! (who somebody is and how a cluster sees them), then [`access`] (who may open what) and
//! [`panel`] (what the pages show).
pub mod access;
pub mod cluster;
pub mod identity;
pub mod panel;
pub mod stream;

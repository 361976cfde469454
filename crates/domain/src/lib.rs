//! Types and rules shared by the browser, the gateway, the panel and kube-auth.
//!
//! No I/O and no clock: everything here builds for the browser too. Start with [`identity`] (users,
//! and their names and groups in a cluster), then [`access`] (who may open an app) and [`panel`]
//! (the content of the pages).
pub mod access;
pub mod account_name;
pub mod api_address;
pub mod cluster;
pub mod enrolled_cluster;
pub mod identity;
pub mod namespace_format;
pub mod panel;
pub mod stream;

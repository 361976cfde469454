//! The panel's HTTP server, behind the gateway.
//!
//! A request passes [`crate::caller`] (authentication by signed assertion), `csrf` (changes only), then a
//! page or server function ([`ssr`]) with a panel of its own, or a stream. Start with [`router`].
mod app_addresses;
mod body_limit;
mod cloud_api;
mod completion;
mod csrf;
mod download;
mod forms;
mod headers;
mod router;
mod schema;
mod ssr;

pub use router::{PanelError, PanelParts, router};

//! The panel's HTTP server, behind the gateway.
//!
//! A request passes [`caller`] (authentication by signed assertion), `csrf` (changes only), then a
//! page or server function ([`ssr`]) with a panel of its own, or a stream. Start with [`router`].
mod app_addresses;
pub mod audit;
mod body_limit;
pub mod caller;
pub mod config;
mod csrf;
mod download;
mod forms;
mod headers;
mod router;
mod ssr;

pub use router::{PanelError, PanelParts, router};

//! The panel's user interface: pages, layouts and components, built once for the server (`ssr`) and
//! once for the browser (`hydrate`).
//!
//! Start with [`routes`] (every address), then `pages` (one file or folder per address). A page
//! calls `api` (server functions, one line each), which calls [`ports::Panel`]; live data comes
//! from `hooks::stream`. `ui` depends on neither router nor api and could be a library.
#![expect(
    clippy::must_use_candidate,
    reason = "components and path functions are never called for a side effect"
)]
mod api;
mod app;
mod carried;
mod cluster_states;
mod codec;
mod components;
mod context;
pub mod error;
pub mod format;
mod hooks;
mod kind_names;
mod layouts;
mod moment;
mod operations;
mod pages;

mod palette;
#[cfg(feature = "ssr")]
pub mod ports;
pub mod routes;
#[cfg(feature = "ssr")]
mod shell;
mod ui;

pub use app::App;
pub use routes::{RouteEntry, route_table};
#[cfg(feature = "ssr")]
pub use shell::shell;

/// Hydrates the server's page in the browser.
#[cfg(feature = "hydrate")]
#[wasm_bindgen::prelude::wasm_bindgen]
pub fn hydrate() {
    console_error_panic_hook::set_once();
    leptos::mount::hydrate_lazy(App);
}

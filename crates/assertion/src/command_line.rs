//! The mark of a request that the gateway forwards to the panel for a command line (ADR 0026).
//!
//! The gateway removes every `portico-` header of clients, so the mark proves that the request was
//! authenticated by a bearer token of `portico login`, and not by the cookie of a browser.

/// The header of the mark.
pub const HEADER: &str = "portico-client";
/// Its value.
pub const VALUE: &str = "command-line";

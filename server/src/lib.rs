//! The `portico` program: Kubernetes access, the panel's service and streams, and the command line.
//!
//! Start with [`cli`] (the commands) and [`config`] (the settings); `cli::serve` combines the
//! roles.
#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        reason = "tests start servers and clients beside them, and wait"
    )
)]
pub mod caller;
pub mod cli;
pub mod config;
pub mod kube;
pub mod panel;
pub mod service;
pub mod session_budgets;
pub mod shared_watch;
pub mod stream;

//! The program: Kubernetes access, the panel's service and streams, and the command line.
//!
//! Start with [`cli`] (what can be run) and [`config`] (what can be set); `cli::serve` puts the
//! roles together.
pub mod cli;
pub mod config;
pub mod kube;
pub mod panel;
pub mod service;
pub mod stream;

//! What the clients of all services but Keystone share: endpoints, calls, errors.
//!
//! [`RestClient`] sends requests and holds no token; a [`ScopedToken`] is an argument of every call.
mod answer;
mod call;
mod client;
pub mod error;
mod fault;
mod metrics;
pub mod microversion;
pub mod options;
mod service;
#[cfg(test)]
pub(crate) mod test_server;
#[cfg(test)]
mod tests;

pub(crate) use answer::Answer;
pub(crate) use call::Call;
pub use client::{BuildError, RestClient, ScopedToken};
pub use error::{Effect, Error, ErrorKind, NotAvailable};
pub use metrics::describe_metrics;
pub use microversion::{InvalidMicroversion, Microversion, VersionRange};
pub use options::{EndpointError, ServiceOptions};
pub use service::Service;

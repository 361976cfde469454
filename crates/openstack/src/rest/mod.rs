//! What the clients of all services but Keystone share: endpoints, calls, errors, pages, names.
//!
//! [`RestClient`] sends requests and holds no token; a [`ScopedToken`] is an argument of every call.
mod answer;
mod call;
mod client;
pub mod error;
mod fault;
mod metrics;
pub mod microversion;
mod names;
pub mod options;
mod paging;
mod passing_on;
mod project_reads;
mod quota;
mod service;
#[cfg(test)]
pub(crate) mod test_server;
#[cfg(test)]
mod tests;
mod zone;

pub(crate) use answer::Answer;
pub(crate) use call::Call;
pub use call::REASON;
pub use client::{BuildError, RestClient, ScopedToken};
pub use error::{Effect, Error, ErrorKind, NotAvailable};
pub use metrics::describe_metrics;
pub use microversion::{InvalidMicroversion, Microversion, VersionRange};
pub use names::{AmbiguousName, Candidate, resolve};
pub use options::{Authentication, EndpointError, ServiceOptions};
pub(crate) use paging::{Collection, PAGE_SIZE};
pub use paging::{Cut, Listing};
pub use passing_on::{PassedAnswer, PassedCall, PassedPath};
pub use quota::QuotaUsage;
pub use service::Service;
pub use zone::AvailabilityZone;

/// Returns whether a text may be one segment of a path: IDs of OpenStack services are hexadecimal,
/// a UUID or a word; nothing else becomes part of a path.
pub(crate) fn is_id(id: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=255).contains(&id.len()) && id.bytes().all(plain)
}

//! The Kubernetes API of a cluster, with the user's own cluster token: no kubectl and no kubeconfig are
//! needed. Address, authority and sealing key come from the pinned cloud or from the gateway, as those of
//! `portico credential` do.
mod access;
mod client;
mod error;
mod inside;

pub use access::{Access, AccessError, find};
pub use client::{Authorized, Kubernetes};
pub use error::ApiError;
pub use inside::sentence;

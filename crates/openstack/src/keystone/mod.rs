//! A client of Keystone's identity API v3: sign-in, validation, rescoping, revocation.
//!
//! Start with [`Client`]; [`login`] has the requests, [`token`] the results.
mod answer;
pub mod application_credentials;
pub mod assignments;
mod call;
pub mod catalog;
mod circuit;
mod client;
pub mod config;
mod endpoints;
pub mod error;
pub mod federation;
pub mod login;
mod metrics;
pub mod service_account;
mod skew;
pub mod token;
mod wire;

pub use assignments::{ListedProject, ListedUser, RoleAssignment};
pub use catalog::{Catalog, CatalogEndpoint};
pub use client::{BuildError, Client};
pub use error::Error;
pub use federation::{Assertion, FederatedProtocol, FederationError};
pub use login::{ApplicationCredential, Login, Scope, UserRef};
pub use service_account::{ServiceAccount, ServiceAccountError};
pub use token::{AuthOutcome, IssuedToken, Revoked, TokenDetails, TokenScope, Trust, Version};

/// Describes the metrics of calls to Keystone; clients do so themselves.
pub fn describe_metrics() {
    metrics::describe();
    service_account::describe_metrics();
}

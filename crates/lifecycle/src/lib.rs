//! The rules of the lifecycle of clusters that Magnum makes.
//!
//! Everything here is computed from values: no I/O, no HTTP, no clock. Callers (the panel and the
//! command line) read Magnum, Nova, Neutron, Cinder and Octavia, map the answers to the plain types of
//! this crate, and pass the time. So both show the same plans, checks, progress and explanations.
//! Only [`creation`] calls something: what its caller implements.
pub mod authority;
pub mod capabilities;
pub mod creation;
pub mod drain;
pub mod driver;
pub mod failure;
pub mod idempotency;
pub mod inventory;
pub mod journal;
pub mod labels;
pub mod model;
pub mod placement;
pub mod plan;
pub mod preflight;
pub mod progress;
pub mod quota;
pub mod review;
pub mod rights;
pub mod spec;
pub mod status;
pub mod version;

#[cfg(test)]
mod tests;

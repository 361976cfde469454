//! A client of Magnum's API (`container-infra`), microversions 1.1 to 1.14.
//!
//! Start with [`Client`]. Objects are acted on by UUID: names are not unique, and are resolved by
//! the calls that end with `_named`. Most changes are only accepted by Magnum and carried out
//! later, or ignored in a state that forbids them; whether they are is seen in the object's status
//! and times.
mod client;
mod stats;
mod version;

pub use client::Client;
pub use stats::{Conductor, ConductorState, Stats};
pub use version::{Feature, Features};

//! Calls of a cloud for the lifecycle of Magnum's clusters, with the token of the user who acts: the
//! clients, what the project uses, and what belongs to a cluster, as values of `portico-lifecycle`, and
//! the requests of a plan's steps. The command line and the panel share it; neither a token nor any
//! state is stored here.
pub mod authorities;
pub mod certificate;
pub mod clients;
pub mod conductor;
pub mod contents;
pub mod drivers;
pub mod explanation;
pub mod health;
pub mod inside;
pub mod items;
pub mod mapping;
pub mod nodes;
pub mod observation;
pub mod settling;
pub mod steps;
pub mod target;
pub mod templates;
pub mod upgrades;
pub mod usages;

pub use clients::Clients;
pub use drivers::Drivers;

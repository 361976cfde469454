//! The node groups of a cluster, and changes of one of them.
mod planning;
mod reading;
mod request;
#[cfg(test)]
mod tests;
pub mod waiting;

pub use reading::node_groups;
pub use request::{action_of, change, review, target_of};

//! The nodes of a cluster, and the removal of a chosen one.
mod kubernetes;
mod reading;
mod removal;
#[cfg(test)]
mod tests;

pub use reading::nodes;
pub use removal::{remove, review};

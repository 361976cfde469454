//! The deletion of a cluster: inventory, request, leftovers.
mod chunks;
mod contents;
mod inventory;
mod items;
mod leftovers;
mod lists;
mod request;
#[cfg(test)]
mod tests;

pub use inventory::inventory;
pub use leftovers::leftovers;
pub use request::delete;

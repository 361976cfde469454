//! The nodes of a cluster, and the removal and the replacement of a chosen one.
mod draining;
mod healing;
mod in_place;
mod kubernetes;
mod reading;
mod removal;
mod replacement;
mod replacing;
#[cfg(test)]
mod tests;

pub use draining::{
    DRAIN, DrainBegun, DrainRequest, begin_drain, continue_drain, planned_drain, running_drain,
    stop_drain,
};
pub use in_place::{planned_in_place, planned_refill, refill, start_in_place};
pub use reading::{in_group, nodes};
pub use removal::{remove, review};
pub use replacement::{REPLACE, Replacement, Stage, is_stop};
pub use replacing::{planned, review as review_replacement, running, start, stop};

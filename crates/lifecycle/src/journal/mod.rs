//! The journal of a cluster: what differs between two observations, and who requested it.
//!
//! The caller stores observations and entries (ADR 0025); here is what follows from them.
mod attribution;
mod observation;
mod template_names;

pub use attribution::{Cause, Observed, Requested, Timeline, causes};
pub use observation::{Difference, Observation, ObservedGroup};
pub use template_names::{TEMPLATE_FIELD, TemplateNames, UPGRADE_ACTION};

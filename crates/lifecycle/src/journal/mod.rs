//! The journal of a cluster: what differs between two observations, who requested it, the events of its
//! stack in Heat, and what happened to its nodes.
//!
//! The caller stores observations and entries (ADR 0025); here is what follows from them.
mod attribution;
mod node_event;
mod observation;
mod observed_nodes;
mod stack_event;
mod template_names;

pub use attribution::{Cause, Observed, Requested, Timeline, causes, unfinished};
pub use node_event::{NodeChange, NodeEvent};
pub use observation::{Difference, OWNER_FIELD, Observation, ObservedGroup, RecordFields};
pub use observed_nodes::{ObservedNode, ObservedNodes};
pub use stack_event::{StackEvent, new_events};
pub use template_names::{TEMPLATE_FIELD, TemplateNames, UPGRADE_ACTION};

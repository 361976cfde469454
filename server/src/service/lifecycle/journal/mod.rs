//! The journals of clusters (ADR 0025): what was requested through Portico, what was observed,
//! the events of the cluster's stack in Heat, and what happened to its nodes.
mod agreement;
mod content;
mod event_rows;
mod existence;
mod health;
mod node_events;
mod page;
mod reader;
mod record;
mod requests;
mod rows;
mod running;
mod sending;
mod stack_events;
mod template_names;
#[cfg(test)]
mod tests;
mod user_names;

pub use agreement::{Agreements, agreements};
pub use content::{RequestContent, RequestOutcome};
pub use existence::ensure_exists;
pub use health::{HealthHistories, health_histories, health_history};
pub use node_events::{NodeEvents, follow as follow_nodes, refresh as refresh_nodes};
pub use page::{export, journal, no_journals};
pub use record::{Change, Journal, begin, record};
pub use requests::{entries, requests, timed_requests};
pub use running::last_request;
pub use sending::CHANGE_TIMEOUT;
pub use stack_events::StackEvents;
pub use template_names::{NamesByViewer, names_by_viewer};

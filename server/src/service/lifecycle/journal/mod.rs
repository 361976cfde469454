//! The journals of clusters (ADR 0025): what was requested through Portico, and what was observed.
mod content;
mod health;
mod page;
mod record;
mod requests;
mod rows;
mod running;
mod template_names;
#[cfg(test)]
mod tests;

pub use content::{RequestContent, RequestOutcome};
pub use health::health_history;
pub use page::{export, journal, no_journals};
pub use record::{Change, Journal, begin, record};
pub use requests::{entries, requests};
pub use running::last_request;
pub use template_names::{NamesByViewer, names_by_viewer};

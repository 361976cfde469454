//! The journals of clusters (ADR 0025): what was requested through Portico, and what was observed.
mod content;
mod health;
mod page;
mod record;
mod requests;
mod rows;
#[cfg(test)]
mod tests;

pub use content::{RequestContent, RequestOutcome};
pub use health::health_history;
pub use page::{export, journal};
pub use record::{Change, Journal, begin, record};
pub use requests::{requests, timed_requests};

//! Filters over the entries of the audit log.
use super::Outcome;
use jiff::Timestamp;
use uuid::Uuid;

/// A filter over events; every field that is set must match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// The user's ID.
    pub user_id: Option<String>,
    /// The user's ID, or the user's name in any case.
    pub user: Option<String>,
    pub session: Option<Uuid>,
    pub project_id: Option<String>,
    pub cluster_id: Option<String>,
    /// An action, or its first words: `session` matches `session.sign_in` too.
    pub action: Option<String>,
    /// A target, or its first word: `shop/deployments.apps/web` matches
    /// `shop/deployments.apps/web to 3` too.
    pub target: Option<String>,
    pub outcome: Option<Outcome>,
    /// Earliest time, inclusive.
    pub since: Option<Timestamp>,
    /// Latest time, exclusive.
    pub until: Option<Timestamp>,
    /// Only entries with a higher sequence number.
    pub after: Option<i64>,
    /// Only entries with a lower sequence number.
    pub before: Option<i64>,
}

/// The order in which entries are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    NewestFirst,
    OldestFirst,
}

//! Which entries of the audit log a reader asks for.
use super::Outcome;
use jiff::Timestamp;
use uuid::Uuid;

/// Which events to list; every field that is set must fit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// By the user's ID.
    pub user_id: Option<String>,
    /// By the user's ID, or by name in any case.
    pub user: Option<String>,
    pub session: Option<Uuid>,
    pub project_id: Option<String>,
    pub cluster_id: Option<String>,
    /// An action, or the first words of one: `session` fits `session.sign_in` too.
    pub action: Option<String>,
    pub outcome: Option<Outcome>,
    /// Not before.
    pub since: Option<Timestamp>,
    /// Before.
    pub until: Option<Timestamp>,
    /// Behind this sequence number.
    pub after: Option<i64>,
    /// Ahead of this sequence number.
    pub before: Option<i64>,
}

/// In which order entries are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    NewestFirst,
    OldestFirst,
}

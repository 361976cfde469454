//! One change of many objects of a kind.
use super::{ObjectRef, RightQuestion};
use serde::{Deserialize, Serialize};

/// Maximum number of objects in one request; a browser sends larger selections in parts, which is
/// also what its progress shows.
pub const MAX_BULK_TARGETS: usize = 25;
/// Maximum number of objects that can be selected at once.
pub const MAX_SELECTED: usize = 1_000;

/// What is done with each object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BulkAction {
    Delete {
        /// What the user typed to confirm it, if [`deletion_confirmation`](super::deletion_confirmation) asks for a text.
        #[serde(default)]
        typed: String,
    },
    Restart,
    Scale {
        replicas: i64,
    },
    /// Sets labels and removes the keys of `remove`.
    Label {
        set: Vec<(String, String)>,
        remove: Vec<String>,
    },
}

/// One object: with the same name but another UID it is not changed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BulkTarget {
    pub uid: String,
    pub namespace: Option<String>,
    pub name: String,
}

/// The rows that a query selects, in its order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    /// At most [`MAX_SELECTED`].
    pub targets: Vec<BulkTarget>,
    /// Number of rows that the query selects.
    pub total: usize,
}

/// The outcome for one object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BulkOutcome {
    pub target: BulkTarget,
    /// The reason in a sentence if it was not changed.
    pub error: Option<String>,
    /// The permission that is missing, if that is the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Box<RightQuestion>>,
}

/// An object that a search across kinds has found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchHit {
    pub object: ObjectRef,
    /// As the API spells it: `StatefulSet`.
    pub kind: String,
    pub status: Option<String>,
    pub health: Option<super::Health>,
}

/// The objects of one cluster that match a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchAnswer {
    /// The best match first; at most 50.
    pub hits: Vec<SearchHit>,
    /// Number of all matches.
    pub total: usize,
    /// Kinds that could not be searched, with the reason.
    pub failures: Vec<String>,
    /// Kinds that were not read completely within the time limit. What was read is cached for some
    /// seconds, so that the next search gets further.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub late: Vec<String>,
    /// The permission that is missing, if no kind may be listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Box<RightQuestion>>,
}

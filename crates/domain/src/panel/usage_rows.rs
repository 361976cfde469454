//! The CPU and memory that the rows of a list use.
use super::{UsageBound, UsageSource};
use serde::{Deserialize, Serialize};

/// Maximum number of rows whose usage is read with one request.
pub const MAX_USAGE_ROWS: usize = 200;

/// One row of a list, whose kind is that of the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageRow {
    /// `None` for a cluster-scoped object.
    pub namespace: Option<String>,
    pub name: String,
}

/// The usage of rows of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowsUsage {
    pub source: UsageSource,
    /// One for each row of the request, in its order.
    pub rows: Vec<RowUsage>,
}

/// What one row uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowUsage {
    Known(RowFigures),
    /// The reason in a sentence.
    Unknown(String),
}

/// The figures of one row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowFigures {
    /// Millicores.
    pub cpu: RowFigure,
    /// Bytes of the working set.
    pub memory: RowFigure,
    /// What the figures leave out, in a sentence; empty if nothing.
    pub note: String,
}

/// The use of one resource.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowFigure {
    pub used: u64,
    /// What the use is compared with.
    pub bounds: Vec<UsageBound>,
}

//! The difference between two texts, line by line.
use serde::{Deserialize, Serialize};

/// A difference; without changed lines, both texts are equal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextDiff {
    pub lines: Vec<DiffLine>,
    pub added: usize,
    pub removed: usize,
}

impl TextDiff {
    pub fn is_empty(&self) -> bool {
        self.added == 0 && self.removed == 0
    }
}

/// One line of a difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffLine {
    pub kind: DiffKind,
    pub text: String,
}

/// The kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiffKind {
    /// In both texts, near a change.
    Same,
    Added,
    Removed,
    /// Unchanged lines that are left out; the text counts them.
    Gap,
}

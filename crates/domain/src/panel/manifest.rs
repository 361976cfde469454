//! Manifests that users write: what applying them would change, and what it changed.
use super::{ObjectRef, RightQuestion, TextDiff};
use serde::{Deserialize, Serialize};

/// Maximum size of the manifests of one request, in bytes.
pub const MAX_MANIFEST_BYTES: usize = 512 * 1024;
/// Maximum number of documents of one request.
pub const MAX_MANIFEST_DOCUMENTS: usize = 100;

/// What would happen to one document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedDocument {
    /// Position in the text, counted from 0.
    pub index: usize,
    /// `Deployment shop/web`; as far as it could be read.
    pub title: String,
    /// `None` if the document names no object that the cluster could have.
    pub object: Option<ObjectRef>,
    pub effect: Effect,
    /// Empty if nothing would change, and for a document that was refused.
    pub diff: TextDiff,
    /// Errors prevent the document from being sent.
    pub problems: Vec<ManifestProblem>,
    /// Fields of other managers that the document would change.
    pub conflicts: Vec<FieldConflict>,
}

impl PlannedDocument {
    /// Returns whether the document can be sent; with conflicts only if the user takes the fields over.
    pub fn is_possible(&self) -> bool {
        self.effect != Effect::Refused
    }
}

/// What a document does to the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    Create,
    Change,
    /// The object is already as the document describes it.
    Nothing,
    Refused,
}

/// A problem with a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestProblem {
    /// Position of the document, counted from 0.
    pub document: usize,
    /// `spec.template.spec.containers[0].image`; empty for the whole document.
    pub path: String,
    pub message: String,
    pub severity: ProblemSeverity,
    /// The permission that is missing, if that is the problem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Box<RightQuestion>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProblemSeverity {
    Error,
    Warning,
}

/// A field that another manager has set
/// (<https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts>).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldConflict {
    /// `.spec.replicas`.
    pub field: String,
    /// `kubectl-client-side-apply`.
    pub manager: String,
}

/// The outcome of one document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppliedDocument {
    pub index: usize,
    pub title: String,
    pub object: Option<ObjectRef>,
    pub effect: Effect,
    /// The reason in a sentence if it was refused.
    pub error: Option<String>,
    /// The permission that is missing, if that is the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Box<RightQuestion>>,
}

/// An object as text that can be edited: without status and what the API server sets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditText {
    pub text: String,
    /// Identifies what was read: an edit is for exactly this. A change of the status alone leaves it.
    pub version: String,
}

/// The outcome of repeating an edit on a newer version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RebasedText {
    pub newest: EditText,
    /// The newest version with the same edit; `None` if the edit does not fit it.
    pub text: Option<String>,
}

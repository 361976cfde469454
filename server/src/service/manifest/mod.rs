//! Manifests that users write: read, compared with the cluster, and sent with their own token.
mod answer;
mod apply;
mod document;
mod edit;
mod form;
mod strip;

pub use apply::{apply, plan};
pub use edit::{is_outdated, outdated, plan_edit, rebase, save, text};
pub use form::{form, text as form_text};

use crate::{
    kube::{KubeError, objects},
    service::{error::ServiceError, text_diff},
};
use portico_domain::panel::{ManifestProblem, ProblemSeverity, TextDiff};
use serde_json::Value;

/// The name under which the API server records fields that were set here.
const FIELD_MANAGER: &str = "portico";

fn problem(document: usize, path: &str, message: impl Into<String>) -> ManifestProblem {
    ManifestProblem {
        document,
        path: path.to_owned(),
        message: message.into(),
        severity: ProblemSeverity::Error,
        missing: None,
    }
}

/// Returns the problem that an answer of the API server is for a document.
fn failure(document: usize, path: &str, error: &KubeError) -> ManifestProblem {
    ManifestProblem {
        missing: match error {
            KubeError::Refused(forbidden) => forbidden.missing.clone(),
            _ => None,
        },
        ..problem(document, path, error.sentence())
    }
}

/// Compares two versions of an object, without what only the API server sets and without the values
/// of Secrets.
fn compare(before: Option<&Value>, after: &Value) -> Result<TextDiff, ServiceError> {
    let mut before = before.cloned().unwrap_or_default();
    let mut after = after.clone();
    strip::server_fields(&mut before);
    strip::server_fields(&mut after);
    strip::hide_values(&mut before, &mut after);
    let old = if before.is_null() {
        String::new()
    } else {
        objects::plain_yaml(before)?
    };
    Ok(text_diff::compare(&old, &objects::plain_yaml(after)?))
}

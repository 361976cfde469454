//! JSON patches as Magnum takes them: values are texts or integers only. Objects and lists are sent
//! as a text with their JSON, which the server reads as a Python literal; so they hold texts only,
//! and a value is removed by an operation of its own, not by `null`.
use crate::rest::{Error, ErrorKind, Service};
use serde::Serialize;
use serde_json::{Value, json};

/// One change of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum PatchOperation {
    Add { path: String, value: PatchValue },
    Replace { path: String, value: PatchValue },
    Remove { path: String },
}

/// A value in a patch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum PatchValue {
    Text(String),
    Integer(i64),
}

impl PatchOperation {
    /// Returns the change that sets `field`, for example `node_count`.
    pub fn set(field: &str, value: impl Into<PatchValue>) -> Self {
        Self::Replace {
            path: format!("/{field}"),
            value: value.into(),
        }
    }

    /// Returns the change that removes the value of `field`.
    pub fn unset(field: &str) -> Self {
        Self::Remove {
            path: format!("/{field}"),
        }
    }

    /// Returns the change that sets `field` to an object or list of texts.
    pub(super) fn set_json(field: &str, value: &Value) -> Self {
        Self::set(field, value.to_string())
    }
}

impl From<String> for PatchValue {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<&str> for PatchValue {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<u32> for PatchValue {
    fn from(value: u32) -> Self {
        Self::Integer(value.into())
    }
}

impl From<bool> for PatchValue {
    fn from(value: bool) -> Self {
        Self::Text(value.to_string())
    }
}

/// Returns the body of a request that changes something.
///
/// # Errors
/// [`ErrorKind::Invalid`] if there is nothing to change.
pub(super) fn body_of(
    operation: &'static str,
    operations: &[PatchOperation],
) -> Result<Value, Error> {
    if operations.is_empty() {
        let kind = ErrorKind::Invalid("nothing to change".to_owned());
        return Err(Error::new(Service::Magnum, operation, kind));
    }
    Ok(json!(operations))
}

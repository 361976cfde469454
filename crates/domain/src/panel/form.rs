//! Forms for what changes daily: images, replicas, environment, requests and limits, labels, values.
use serde::{Deserialize, Serialize};

/// The fields of an object that a form offers, and the version they were read from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditForm {
    pub groups: Vec<FormGroup>,
    /// As in [`super::EditText`].
    pub version: String,
}

/// Fields that belong together: those of a container, the labels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormGroup {
    pub title: String,
    pub fields: Vec<FormField>,
    /// Where entries with a name of the user's choice can be added, as a JSON pointer (RFC 6901).
    pub addable: Option<String>,
}

/// One field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormField {
    /// Its place in the object, as a JSON pointer.
    pub pointer: String,
    pub label: String,
    pub value: String,
    pub kind: FieldKind,
    /// Whether the field can be removed; an empty value of one that is optional removes it.
    pub is_removable: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FieldKind {
    Text,
    Number,
    /// A value that may have several lines.
    Lines,
    /// The same, hidden until the user asks for it.
    Secret,
}

/// A changed field; `None` removes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldEdit {
    pub pointer: String,
    pub value: Option<String>,
}

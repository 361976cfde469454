//! The names of the namespaces that the sync creates for projects.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum length of a namespace's name, in bytes (RFC 1123 label).
const MAX_NAME_BYTES: usize = 63;

/// The format of a namespace's name, as in k8s-keystone-auth: `%i` is the project's ID, `%n` its
/// name, `%d` the ID of its domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct NamespaceFormat(String);

/// The reason why a format cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidNamespaceFormat {
    #[error("it must hold %i, the project's ID: names are not unique")]
    NoId,
    #[error(
        "{0:?} cannot become a namespace's name: lower-case letters, digits and - besides %i, %n \
         and %d, starting and ending with a letter or digit, and not kube-"
    )]
    Name(String),
}

impl Default for NamespaceFormat {
    fn default() -> Self {
        Self("%i".to_owned())
    }
}

impl TryFrom<String> for NamespaceFormat {
    type Error = InvalidNamespaceFormat;

    fn try_from(text: String) -> Result<Self, InvalidNamespaceFormat> {
        if !text.contains("%i") {
            return Err(InvalidNamespaceFormat::NoId);
        }
        if !is_namespace_name(&fill(&text, "a", "a", "a")) {
            return Err(InvalidNamespaceFormat::Name(text));
        }
        Ok(Self(text))
    }
}

impl From<NamespaceFormat> for String {
    fn from(format: NamespaceFormat) -> Self {
        format.0
    }
}

impl NamespaceFormat {
    /// Returns the name of a project's namespace: by the format, or its ID if Kubernetes would not
    /// accept that. `None` if it would accept neither.
    pub fn name_of(&self, id: &str, name: &str, domain_id: &str) -> Option<String> {
        let formatted = fill(&self.0, id, name, domain_id);
        [formatted, id.to_owned()]
            .into_iter()
            .find(|name| is_namespace_name(name))
    }
}

/// Returns whether a namespace belongs to Kubernetes itself.
pub fn is_system(namespace: &str) -> bool {
    namespace.starts_with("kube-")
}

/// Returns whether Kubernetes accepts a namespace of this name (RFC 1123 label).
pub fn is_label(name: &str) -> bool {
    let alphanumeric = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = name.as_bytes();
    (1..=MAX_NAME_BYTES).contains(&bytes.len())
        && bytes.iter().all(|byte| alphanumeric(byte) || *byte == b'-')
        && bytes.first().is_some_and(alphanumeric)
        && bytes.last().is_some_and(alphanumeric)
}

fn is_namespace_name(name: &str) -> bool {
    is_label(name) && !is_system(name)
}

/// Fills in the format in a single pass: wildcards in a project's name are left alone.
fn fill(format: &str, id: &str, name: &str, domain_id: &str) -> String {
    let mut filled = String::with_capacity(MAX_NAME_BYTES);
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        let (before, wildcard) = rest.split_at(at);
        filled.push_str(before);
        let value = match wildcard.as_bytes().get(1) {
            Some(b'i') => id,
            Some(b'n') => name,
            Some(b'd') => domain_id,
            _ => {
                filled.push('%');
                rest = &wildcard[1..];
                continue;
            }
        };
        filled.push_str(value);
        rest = &wildcard[2..];
    }
    filled.push_str(rest);
    filled
}

//! A kubeconfig as a tree: named entries in lists, of which only Portico's are changed.
use crate::{CommandError, private_file, terminal::say};
use portico_runtime::yaml;
use serde_norway::{Mapping, Value};
use std::path::Path;

/// A kubeconfig.
#[derive(Debug, Default)]
pub struct Document {
    root: Mapping,
    had_comments: bool,
}

/// A list: its name, and the key that holds an entry's content.
#[derive(Clone, Copy, Debug)]
pub struct List {
    name: &'static str,
    content: &'static str,
}

pub const CLUSTERS: List = List {
    name: "clusters",
    content: "cluster",
};
pub const USERS: List = List {
    name: "users",
    content: "user",
};
pub const CONTEXTS: List = List {
    name: "contexts",
    content: "context",
};

/// The relevant parts of a context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    pub name: String,
    pub cluster: String,
    pub user: String,
}

impl Document {
    /// Reads a file; a missing or empty one is an empty kubeconfig.
    pub fn read(path: &Path) -> Result<Self, CommandError> {
        let text = private_file::read_shared(path)?.unwrap_or_default();
        Self::parse(&text).map_err(|detail| CommandError::Content {
            path: path.to_owned(),
            detail,
        })
    }

    fn parse(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        // the parser's message quotes the file, which may hold secrets
        let root: Mapping = yaml::from_user_file(text)
            .map_err(|_| "not a kubeconfig, so nothing was changed".to_owned())?;
        for list in [CLUSTERS, USERS, CONTEXTS] {
            let value = root.get(list.name).unwrap_or(&Value::Null);
            if !value.is_null() && !value.is_sequence() {
                return Err(format!(
                    "{} is not a list, so nothing was changed",
                    list.name
                ));
            }
        }
        Ok(Self {
            root,
            had_comments: text.lines().any(|line| line.trim_start().starts_with('#')),
        })
    }

    /// Writes the file; other programs can still read it.
    pub fn write(&self, path: &Path) -> Result<(), CommandError> {
        private_file::replace_shared(path, &self.render(path)?)?;
        if self.had_comments {
            say(format!(
                "The comments in {} were removed: a change does not preserve them.",
                path.display()
            ));
        }
        Ok(())
    }

    /// Renders the file's text.
    pub fn render(&self, path: &Path) -> Result<String, CommandError> {
        serde_norway::to_string(&self.root).map_err(|error| CommandError::Content {
            path: path.to_owned(),
            detail: error.to_string(),
        })
    }

    /// Sets a top-level value unless it exists.
    pub fn set_default(&mut self, key: &str, value: &str) {
        self.root.entry(key.into()).or_insert_with(|| value.into());
    }

    /// Returns the current context.
    pub fn current_context(&self) -> Option<&str> {
        self.root.get("current-context").and_then(Value::as_str)
    }

    /// Sets the current context.
    pub fn set_current_context(&mut self, name: &str) {
        self.root.insert("current-context".into(), name.into());
    }

    fn entries(&self, list: List) -> impl Iterator<Item = &Value> {
        let entries = self.root.get(list.name).and_then(Value::as_sequence);
        entries.into_iter().flatten()
    }

    /// Returns the content of a named entry.
    pub fn get(&self, list: List, name: &str) -> Option<&Value> {
        self.entries(list)
            .find(|entry| is_named(entry, name))
            .and_then(|entry| entry.get(list.content))
    }

    /// Returns all contexts.
    pub fn contexts(&self) -> Vec<Context> {
        let text = |value: Option<&Value>| {
            let text = value.and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        self.entries(CONTEXTS)
            .map(|entry| {
                let content = entry.get(CONTEXTS.content);
                let of = |key| text(content.and_then(|content| content.get(key)));
                Context {
                    name: text(entry.get("name")),
                    cluster: of("cluster"),
                    user: of("user"),
                }
            })
            .collect()
    }

    /// Returns a named context.
    pub fn context(&self, name: &str) -> Option<Context> {
        let contexts = self.contexts();
        contexts.into_iter().find(|context| context.name == name)
    }

    /// Replaces the entry with that name, or appends one.
    pub fn put(&mut self, list: List, name: &str, content: Mapping) {
        let entry = Value::Mapping(mapping([
            ("name", name.into()),
            (list.content, Value::Mapping(content)),
        ]));
        let entries = self
            .root
            .entry(list.name.into())
            .or_insert(Value::Sequence(Vec::new()));
        if entries.is_null() {
            *entries = Value::Sequence(Vec::new());
        }
        if let Value::Sequence(entries) = entries {
            match entries.iter_mut().find(|entry| is_named(entry, name)) {
                Some(known) => *known = entry,
                None => entries.push(entry),
            }
        }
    }

    /// Removes a named entry.
    pub fn remove(&mut self, list: List, name: &str) {
        if let Some(Value::Sequence(entries)) = self.root.get_mut(list.name) {
            entries.retain(|entry| !is_named(entry, name));
        }
    }

    /// Removes the choice of a current context.
    pub fn remove_current_context(&mut self) {
        self.root.insert("current-context".into(), "".into());
    }
}

fn is_named(entry: &Value, name: &str) -> bool {
    entry.get("name").and_then(Value::as_str) == Some(name)
}

/// Returns a mapping of these entries, in this order.
pub fn mapping<const N: usize>(entries: [(&str, Value); N]) -> Mapping {
    entries
        .into_iter()
        .map(|(key, value)| (Value::from(key), value))
        .collect()
}

#[cfg(test)]
pub fn parsed(text: &str) -> Document {
    Document::parse(text).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_kubeconfig_is_left_alone_and_not_quoted() {
        for wrong in ["a: [s3cret", "- s3cret", "clusters: {s3cret: 1}"] {
            let error = Document::parse(wrong).unwrap_err();
            assert!(!error.contains("s3cret"), "{error}");
        }
        for empty in ["", "\n", "clusters: null\nusers:\n"] {
            assert!(Document::parse(empty).is_ok(), "{empty:?}");
        }
    }

    #[test]
    fn comments_are_noticed() {
        assert!(parsed("# mine\nkind: Config\n").had_comments);
        assert!(!parsed("kind: Config\n").had_comments);
    }
}

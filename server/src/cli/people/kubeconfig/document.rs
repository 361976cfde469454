//! A kubeconfig as a tree: named entries in lists, of which only ours are touched.
use crate::cli::people::{PeopleError, private_file, terminal::say};
use portico_runtime::yaml;
use serde_norway::{Mapping, Value};
use std::path::Path;

/// A kubeconfig.
#[derive(Debug, Default)]
pub struct Document {
    root: Mapping,
    had_comments: bool,
}

/// What a list holds: its name, and the key below which an entry's content is.
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

/// A context, as far as it matters here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    pub name: String,
    pub cluster: String,
    pub user: String,
}

impl Document {
    /// Reads a file; one that is missing or empty is an empty kubeconfig.
    pub fn read(path: &Path) -> Result<Self, PeopleError> {
        let text = private_file::read_shared(path)?.unwrap_or_default();
        Self::parse(&text).map_err(|detail| PeopleError::Content {
            path: path.to_owned(),
            detail,
        })
    }

    fn parse(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        // the parser's words quote the file, in which secrets may be
        let root: Mapping = yaml::from_user_file(text)
            .map_err(|_| "not a kubeconfig, so nothing was changed".to_owned())?;
        for list in [CLUSTERS, USERS, CONTEXTS] {
            let value = root.get(list.name).unwrap_or(&Value::Null);
            if !value.is_null() && !value.is_sequence() {
                return Err(format!("{} is no list, so nothing was changed", list.name));
            }
        }
        Ok(Self {
            root,
            had_comments: text.lines().any(|line| line.trim_start().starts_with('#')),
        })
    }

    /// Writes the file, which other programs may read as before.
    pub fn write(&self, path: &Path) -> Result<(), PeopleError> {
        private_file::replace_shared(path, &self.render(path)?)?;
        if self.had_comments {
            say(format!(
                "The comments in {} are gone: they do not survive a change.",
                path.display()
            ));
        }
        Ok(())
    }

    /// The file's text.
    pub fn render(&self, path: &Path) -> Result<String, PeopleError> {
        serde_norway::to_string(&self.root).map_err(|error| PeopleError::Content {
            path: path.to_owned(),
            detail: error.to_string(),
        })
    }

    /// Sets a value at the top unless it is there.
    pub fn set_default(&mut self, key: &str, value: &str) {
        self.root.entry(key.into()).or_insert_with(|| value.into());
    }

    /// The context that is used when none is named.
    pub fn current_context(&self) -> Option<&str> {
        self.root.get("current-context").and_then(Value::as_str)
    }

    /// Chooses the context that is used when none is named.
    pub fn set_current_context(&mut self, name: &str) {
        self.root.insert("current-context".into(), name.into());
    }

    fn entries(&self, list: List) -> impl Iterator<Item = &Value> {
        let entries = self.root.get(list.name).and_then(Value::as_sequence);
        entries.into_iter().flatten()
    }

    /// The content of a named entry.
    pub fn get(&self, list: List, name: &str) -> Option<&Value> {
        self.entries(list)
            .find(|entry| is_named(entry, name))
            .and_then(|entry| entry.get(list.content))
    }

    /// All contexts.
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

    /// A named context.
    pub fn context(&self, name: &str) -> Option<Context> {
        let contexts = self.contexts();
        contexts.into_iter().find(|context| context.name == name)
    }

    /// Puts an entry in the place of the one of that name, or at the end.
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

    /// Takes a named entry out.
    pub fn remove(&mut self, list: List, name: &str) {
        if let Some(Value::Sequence(entries)) = self.root.get_mut(list.name) {
            entries.retain(|entry| !is_named(entry, name));
        }
    }

    /// Takes the choice of a context back.
    pub fn remove_current_context(&mut self) {
        self.root.insert("current-context".into(), "".into());
    }
}

fn is_named(entry: &Value, name: &str) -> bool {
    entry.get("name").and_then(Value::as_str) == Some(name)
}

/// A mapping of these entries, in this order.
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
    fn what_is_no_kubeconfig_is_left_alone_and_not_quoted() {
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

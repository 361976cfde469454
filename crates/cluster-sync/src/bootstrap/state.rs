//! The record of bindings made: a binding that was deleted afterwards is not made again.
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
};

/// The record, with its file.
#[derive(Debug, Default)]
pub struct State {
    path: Option<PathBuf>,
    content: Content,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Content {
    /// Bindings by the UID of their namespace (`cluster` for the cluster's own).
    bound: BTreeMap<String, BTreeSet<String>>,
    /// Fingerprints of the ClusterRoles' rules at the time they were first bound.
    roles: BTreeMap<String, String>,
}

impl State {
    /// Reads the file; a missing one is an empty record.
    pub fn open(path: Option<&Path>) -> io::Result<Self> {
        let content = match path.map(std::fs::read) {
            None => Content::default(),
            Some(Ok(bytes)) => serde_json::from_slice(&bytes)
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?,
            Some(Err(error)) if error.kind() == io::ErrorKind::NotFound => Content::default(),
            Some(Err(error)) => return Err(error),
        };
        Ok(Self {
            path: path.map(Path::to_path_buf),
            content,
        })
    }

    pub fn was_bound(&self, place: &str, name: &str) -> bool {
        self.content
            .bound
            .get(place)
            .is_some_and(|names| names.contains(name))
    }

    /// Records a binding; returns whether it is new.
    pub fn bound(&mut self, place: &str, name: &str) -> bool {
        self.content
            .bound
            .entry(place.to_owned())
            .or_default()
            .insert(name.to_owned())
    }

    /// Records a role's rules the first time; later returns whether they are unchanged.
    pub fn same_role(&mut self, name: &str, fingerprint: &str) -> bool {
        self.content
            .roles
            .entry(name.to_owned())
            .or_insert_with(|| fingerprint.to_owned())
            == fingerprint
    }

    /// Removes namespaces that no longer exist.
    pub fn keep_only(&mut self, places: &BTreeSet<String>) {
        self.content.bound.retain(|place, _| places.contains(place));
    }

    /// Writes the record atomically.
    pub fn save(&self) -> io::Result<()> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        let beside = path.with_extension("new");
        std::fs::write(&beside, serde_json::to_vec_pretty(&self.content)?)?;
        std::fs::rename(&beside, path)
    }

    pub fn path(&self) -> PathBuf {
        self.path.clone().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_bound_is_remembered_over_a_restart() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.json");
        let mut state = State::open(Some(&path)).unwrap();
        assert!(state.bound("uid-1", "portico-viewer"));
        assert!(!state.bound("uid-1", "portico-viewer"));
        assert!(state.same_role("portico-viewer", "f1"));
        state.save().unwrap();
        let mut again = State::open(Some(&path)).unwrap();
        assert!(again.was_bound("uid-1", "portico-viewer"));
        assert!(!again.was_bound("uid-2", "portico-viewer"));
        assert!(!again.same_role("portico-viewer", "f2"));
    }

    #[test]
    fn a_broken_record_is_an_error_and_not_an_empty_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.json");
        std::fs::write(&path, "{").unwrap();
        assert!(State::open(Some(&path)).is_err());
    }
}

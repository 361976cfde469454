use super::ConfigError;
use figment::value::{Dict, Map, Value};
use figment::{Error, Metadata, Profile, Provider};
use std::path::{Path, PathBuf};

const PATH_SUFFIXES: [&str; 3] = ["_file", "_files", "_root"];

/// One TOML file, its relative paths made absolute.
pub(super) struct FileLayer {
    path: PathBuf,
    table: toml::Table,
}

impl FileLayer {
    pub(super) fn read(path: &Path) -> Result<Self, ConfigError> {
        let unreadable = |cause| ConfigError::Unreadable {
            path: path.to_owned(),
            cause,
        };
        let absolute = std::path::absolute(path).map_err(unreadable)?;
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        let mut table: toml::Table = text
            .parse()
            .map_err(|error| ConfigError::syntax(path, &text, &error))?;
        if let Some(base) = absolute.parent() {
            resolve_table(&mut table, base);
        }
        Ok(Self {
            path: path.to_owned(),
            table,
        })
    }
}

impl Provider for FileLayer {
    fn metadata(&self) -> Metadata {
        Metadata::from("file", self.path.as_path())
    }

    fn data(&self) -> Result<Map<Profile, Dict>, Error> {
        match Value::serialize(&self.table)? {
            Value::Dict(_, dict) => Ok(Profile::Default.collect(dict)),
            _ => Ok(Map::new()),
        }
    }
}

fn resolve_table(table: &mut toml::Table, base: &Path) {
    for (key, value) in table {
        let is_path = PATH_SUFFIXES.iter().any(|suffix| key.ends_with(suffix));
        resolve(value, base, is_path);
    }
}

fn resolve(value: &mut toml::Value, base: &Path, is_path: bool) {
    match value {
        toml::Value::Table(table) => resolve_table(table, base),
        toml::Value::Array(items) => {
            for item in items {
                resolve(item, base, is_path);
            }
        }
        toml::Value::String(text) if is_path && !text.is_empty() => {
            if let Some(resolved) = base.join(&text).to_str() {
                *text = resolved.to_owned();
            }
        }
        _ => {}
    }
}

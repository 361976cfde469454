//! The stack's env file: `export NAME=value` lines, quoted as bash's `printf %q` does.
use anyhow::{Context, Result, anyhow};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The variables of a running stack.
#[derive(Clone, Debug)]
pub struct TestEnv {
    file: PathBuf,
    variables: BTreeMap<String, String>,
}

impl TestEnv {
    /// Reads the file named by `PORTICO_TEST_ENV` (relative to the project root), else `.demo/env`.
    ///
    /// # Errors
    /// If there is no such file: no stack was started.
    pub fn load() -> Result<Self> {
        let name = std::env::var("PORTICO_TEST_ENV").unwrap_or_else(|_| ".demo/env".to_owned());
        Self::read(&project_root().join(name))
    }

    /// Reads one env file.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(file: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("{} (start a stack first)", file.display()))?;
        Ok(Self {
            file: file.to_owned(),
            variables: parse(&text),
        })
    }

    /// Returns a variable that every stack has.
    ///
    /// # Errors
    /// If this one does not have it.
    pub fn get(&self, name: &str) -> Result<&str> {
        self.optional(name)
            .ok_or_else(|| anyhow!("{name} is missing in {}", self.file.display()))
    }

    /// Returns a variable that a stack may lack; empty counts as missing.
    pub fn optional(&self, name: &str) -> Option<&str> {
        self.variables
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// Returns the folder of the stack's state: logs, process IDs, databases.
    pub fn state(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new("."))
    }

    /// Returns the folder that `portico init` wrote for the stack: keys, certificates,
    /// configuration.
    pub fn installation(&self) -> PathBuf {
        self.state().join("portico")
    }
}

/// Returns the root of the source tree.
pub fn project_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn parse(text: &str) -> BTreeMap<String, String> {
    text.lines()
        .filter_map(|line| line.strip_prefix("export ")?.split_once('='))
        .map(|(name, value)| (name.to_owned(), unquote(value)))
        .collect()
}

/// Undoes `printf %q` for what the scripts write: backslashes, `''` for an empty value, no control
/// characters.
fn unquote(value: &str) -> String {
    if value == "''" {
        return String::new();
    }
    let mut out = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        out.extend(if character == '\\' {
            characters.next()
        } else {
            Some(character)
        });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_printf_q_writes() {
        let text = "# a comment\nexport A=plain\nexport B=with\\ space\\&more\nexport C=''\nD=not-exported\n";
        let variables = parse(text);
        assert_eq!(variables["A"], "plain");
        assert_eq!(variables["B"], "with space&more");
        assert_eq!(variables["C"], "");
        assert!(!variables.contains_key("D"));
    }
}

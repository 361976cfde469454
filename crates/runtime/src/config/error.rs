use super::environment::{self, variable_of};
use super::form;
use figment::Figment;
use figment::error::Kind;
use std::fmt;
use std::path::{Path, PathBuf};

/// The reason why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A configuration file cannot be read.
    // the cause is part of the message; as `source`, a report of the whole chain would repeat it
    #[error("cannot read the configuration file {}: {cause}", path.display())]
    Unreadable {
        path: PathBuf,
        cause: std::io::Error,
    },
    /// A configuration file is not TOML. The text of the line is left out: it may hold a password.
    #[error("{} is not valid TOML: line {line}, column {column}: {message}", path.display())]
    Syntax {
        path: PathBuf,
        line: usize,
        column: usize,
        message: String,
    },
    /// Keys are unknown, missing or have invalid values.
    #[error("{}", list(.0))]
    Invalid(Vec<Problem>),
}

/// The problem of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The key with its path, such as `gateway.session.idle`; empty for the whole configuration.
    pub key: String,
    /// The fault, and what would be correct.
    pub message: String,
    /// The file or variable with the value, if known.
    pub origin: Option<String>,
}

impl Problem {
    /// Returns a problem of one key, found by the program's own checks.
    pub fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            message: message.into(),
            origin: None,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.message)?;
        if let Some(origin) = &self.origin {
            write!(f, " (in {origin})")?;
        }
        Ok(())
    }
}

fn list(problems: &[Problem]) -> String {
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

impl ConfigError {
    pub(super) fn syntax(path: &Path, text: &str, error: &toml::de::Error) -> Self {
        let before = error.span().and_then(|span| text.get(..span.start));
        let before = before.unwrap_or_default();
        let column = before.rsplit('\n').next().unwrap_or_default();
        Self::Syntax {
            path: path.to_owned(),
            line: before.matches('\n').count() + 1,
            column: column.chars().count() + 1,
            message: error.message().replace('\n', ", "),
        }
    }

    pub(super) fn from_figment(figment: &Figment, errors: &[figment::Error]) -> Self {
        let problems = errors.iter().map(|error| explain(figment, error));
        Self::Invalid(problems.collect())
    }
}

fn explain(figment: &Figment, error: &figment::Error) -> Problem {
    let mut path = error.path.clone();
    let message = match &error.kind {
        Kind::UnknownField(field, expected) => {
            if path.last() != Some(field) {
                path.push(field.clone());
            }
            format!("unknown key; known here: {}", expected.join(", "))
        }
        Kind::MissingField(field) => {
            if path.last().map(String::as_str) != Some(field.as_ref()) {
                path.push(field.clone().into_owned());
            }
            "missing, and there is no default".to_owned()
        }
        Kind::Message(text) if text.contains("socket address") => {
            let written = figment
                .find_value(&path.join("."))
                .ok()
                .and_then(|value| value.as_str().map(str::to_owned))
                .unwrap_or_default();
            format!(
                "`{written}` is not an address to listen on: write IP:PORT with a port from 1 to \
                 65535, such as 127.0.0.1:8080"
            )
        }
        Kind::Message(text) if text.contains("://") || text.starts_with("relative URL") => {
            // the rest repeats the value, which may hold a password
            let cause = text.split(": \"").next().unwrap_or_default();
            format!(
                "must be a URL with a scheme and a host, such as https://portico.example.org: {cause}"
            )
        }
        Kind::InvalidType(actual, expected) | Kind::InvalidValue(actual, expected) => {
            form::message(actual, expected, variable(error, &path).as_deref())
        }
        kind => kind.to_string(),
    };
    let origin = variable(error, &path).or_else(|| {
        let metadata = error.metadata.as_ref()?;
        // figment would print the path relative to the working directory, which is `/` in a unit
        match metadata.source.as_ref()? {
            figment::Source::File(path) => Some(path.display().to_string()),
            source => Some(source.to_string()),
        }
    });
    Problem {
        key: path.join("."),
        message,
        origin,
    }
}

/// Returns the variable that holds the value at `path`, if it came from the environment.
fn variable(error: &figment::Error, path: &[String]) -> Option<String> {
    let metadata = error.metadata.as_ref()?;
    (metadata.name == environment::NAME).then(|| variable_of(path))
}

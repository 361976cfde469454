//! Logs on standard error, for people or as JSON lines.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::io::IsTerminal as _;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::util::{SubscriberInitExt as _, TryInitError};

/// `[log]`: what is logged, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LogConfig {
    /// A level (`error`, `warn`, `info`, `debug`, `trace`) or a list such as
    /// `info,gateway=debug`.
    pub level: String,
    /// `human` for people, `json` for a log collector.
    pub format: LogFormat,
}

/// How log lines look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// One readable line per event.
    #[default]
    Human,
    /// One JSON object per line.
    Json,
}

impl Default for LogConfig {
    fn default() -> Self {
        Self {
            level: "info".to_owned(),
            format: LogFormat::default(),
        }
    }
}

/// Why logging cannot start.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// `log.level` cannot be understood.
    #[error(
        "log.level `{level}` is no level (error, warn, info, debug, trace) nor a list such as \
         `info,gateway=debug`: {source}"
    )]
    Level {
        level: String,
        source: tracing_subscriber::filter::ParseError,
    },
    /// Something in the process has set up logging before.
    #[error("logging is set up already: {0}")]
    AlreadySet(#[from] TryInitError),
}

impl LogConfig {
    /// Says whether `level` can be understood.
    ///
    /// # Errors
    /// When it cannot.
    pub fn filter(&self) -> Result<EnvFilter, TelemetryError> {
        EnvFilter::builder()
            .parse(&self.level)
            .map_err(|source| TelemetryError::Level {
                level: self.level.clone(),
                source,
            })
    }
}

/// Starts logging to standard error.
///
/// # Errors
/// When the level is not understood or logging runs already.
pub fn init(config: &LogConfig) -> Result<(), TelemetryError> {
    let builder = tracing_subscriber::fmt()
        .with_env_filter(config.filter()?)
        .with_writer(std::io::stderr);
    match config.format {
        LogFormat::Human => builder
            .with_ansi(std::io::stderr().is_terminal())
            .finish()
            .try_init()?,
        LogFormat::Json => builder
            .json()
            .flatten_event(true)
            .with_current_span(true)
            .with_span_list(false)
            .finish()
            .try_init()?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_that_is_none_is_refused_with_its_text() {
        let config = LogConfig {
            level: "info,=;;".to_owned(),
            ..LogConfig::default()
        };
        assert!(config.filter().unwrap_err().to_string().contains("=;;"));
    }
}

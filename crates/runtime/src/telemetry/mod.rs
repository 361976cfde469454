//! Logs on standard error, as text or as JSON lines, and the spans of traces.
mod json;
mod output;

pub use output::LogFlushGuard;

use crate::request_id;
use crate::traces::Traces;
use json::JsonLine;
use output::Output;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::io::IsTerminal as _;
use std::time::Duration;
use tracing::Subscriber;
use tracing_subscriber::fmt::format::JsonFields;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::{SubscriberInitExt as _, TryInitError};
use tracing_subscriber::{EnvFilter, Layer, fmt};

/// Filters of libraries that `log.level` does not name. PostgreSQL sends harmless notices at each
/// startup, and sqlx logs them at `info`; it logs statements at `debug`, slow ones at `warn`.
/// tower-sessions warns of every cookie that is too old, as a suspicion.
const DEFAULT_DIRECTIVES: [(&str, &str); 2] = [
    ("sqlx", "sqlx::postgres::notice=warn"),
    ("tower_sessions", "tower_sessions=error"),
];

/// `[log]`: what is logged, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LogConfig {
    /// A level (`error`, `warn`, `info`, `debug`, `trace`) or a list such as
    /// `info,gateway=debug`. The gateway's access log entries have a target of their own:
    /// `info,portico::access=off` leaves them out, `info,portico::access=debug` has those of
    /// static files and probes too. Notices of PostgreSQL, such as "relation already exists,
    /// skipping", are left out unless the list names `sqlx`.
    pub level: String,
    /// `human` for readable lines, `json` for a log collector.
    pub format: LogFormat,
    /// How long the gateway's access log entries may wait to be written together with others; any
    /// other log line flushes them at once. A process that is killed loses those that wait. `0s`:
    /// none waits.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub access_delay: Duration,
}

/// The format of log lines.
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
            access_delay: Duration::from_millis(50),
        }
    }
}

/// The reason why logging cannot start.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// `log.level` is not valid.
    #[error(
        "log.level `{level}` is neither a level (error, warn, info, debug, trace) nor a list such \
         as `info,gateway=debug`: {source}"
    )]
    Level {
        level: String,
        source: tracing_subscriber::filter::ParseError,
    },
    /// Logging was set up in the process before.
    #[error("logging is set up already: {0}")]
    AlreadySet(#[from] TryInitError),
}

impl LogConfig {
    /// Returns the filter of `level`.
    ///
    /// # Errors
    /// If the level is not valid.
    pub fn filter(&self) -> Result<EnvFilter, TelemetryError> {
        let parse = |level: &str| EnvFilter::builder().parse(level);
        let filter = parse(&self.level).map_err(|source| TelemetryError::Level {
            level: self.level.clone(),
            source,
        })?;
        if self.level.is_empty() {
            return Ok(filter);
        }
        let mut level = self.level.clone();
        for (library, directive) in DEFAULT_DIRECTIVES {
            if !self.level.contains(library) {
                level.push(',');
                level.push_str(directive);
            }
        }
        Ok(parse(&level).unwrap_or(filter))
    }
}

/// Starts logging to standard error, and passes spans to `traces` if there are any. Keep the
/// returned value for as long as the process runs.
///
/// # Errors
/// If the level is not valid or logging is set up already.
pub fn init(config: &LogConfig, traces: Option<&Traces>) -> Result<LogFlushGuard, TelemetryError> {
    if config.format == LogFormat::Json {
        request_id::lines_name_requests();
    }
    let (output, last_lines) = Output::start(Box::new(std::io::stderr()), config.access_delay);
    if let Some(traces) = traces {
        // what the log leaves out may be a span of a trace: each has a filter of its own
        tracing_subscriber::registry()
            .with(log_layer(config, output)?)
            .with(traces.layer())
            .try_init()?;
        return Ok(last_lines);
    }
    let builder = tracing_subscriber::fmt()
        .with_env_filter(config.filter()?)
        .with_writer(output);
    match config.format {
        LogFormat::Human => builder
            .with_ansi(std::io::stderr().is_terminal())
            .finish()
            .try_init()?,
        LogFormat::Json => builder
            .fmt_fields(JsonFields::new())
            .event_format(JsonLine)
            .finish()
            .try_init()?,
    }
    Ok(last_lines)
}

fn log_layer<S>(
    config: &LogConfig,
    output: Output,
) -> Result<Box<dyn Layer<S> + Send + Sync>, TelemetryError>
where
    S: Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
{
    let layer = fmt::layer().with_writer(output);
    let filter = config.filter()?;
    Ok(match config.format {
        LogFormat::Human => layer
            .with_ansi(std::io::stderr().is_terminal())
            .with_filter(filter)
            .boxed(),
        LogFormat::Json => layer
            .fmt_fields(JsonFields::new())
            .event_format(JsonLine)
            .with_filter(filter)
            .boxed(),
    })
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

    #[test]
    fn finding_o16_notices_of_the_database_are_left_out_unless_they_are_asked_for() {
        let shows = |level: &str| {
            let config = LogConfig {
                level: level.to_owned(),
                ..LogConfig::default()
            };
            let layer = fmt::layer().with_writer(std::io::sink);
            let layer = layer.with_filter(config.filter().unwrap());
            let subscriber = tracing_subscriber::registry().with(layer);
            tracing::subscriber::with_default(subscriber, || {
                let notice =
                    tracing::enabled!(target: "sqlx::postgres::notice", tracing::Level::INFO);
                let own = tracing::enabled!(target: "gateway", tracing::Level::INFO);
                (notice, own)
            })
        };
        assert_eq!(shows("info"), (false, true));
        assert_eq!(shows("warn,gateway=info"), (false, true));
        assert_eq!(shows("info,sqlx=info"), (true, true));
    }
}

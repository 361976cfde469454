//! Logs on standard error, as text or as JSON lines, and the spans of traces.
#[cfg(test)]
mod captured;
mod json;
mod output;
mod terminal;

pub use tracing_appender::non_blocking::WorkerGuard;

use crate::request_id;
use crate::traces::Traces;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::io::IsTerminal as _;
use tracing::Subscriber;
use tracing_appender::non_blocking::NonBlocking;
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

/// Starts logging to standard error, and passes spans to `traces` if there are any.
///
/// A thread of its own writes the lines. Dropping the returned value makes it write those that wait
/// and end; later lines are lost. Keep it until all tasks have ended.
///
/// # Errors
/// If the level is not valid or logging is set up already.
pub fn init(config: &LogConfig, traces: Option<&Traces>) -> Result<WorkerGuard, TelemetryError> {
    let filter = config.filter()?;
    if config.format == LogFormat::Json {
        request_id::lines_name_requests();
    }
    let (output, guard) = output::start(std::io::stderr());
    match traces {
        // what the log leaves out may be a span of a trace: each has a filter of its own
        Some(traces) => tracing_subscriber::registry()
            .with(log_layer(config.format, output).with_filter(filter))
            .with(traces.layer())
            .try_init()?,
        None => tracing_subscriber::registry()
            .with(filter)
            .with(log_layer(config.format, output))
            .try_init()?,
    }
    Ok(guard)
}

fn log_layer<S>(format: LogFormat, output: NonBlocking) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
{
    match format {
        LogFormat::Human => fmt::layer()
            .with_writer(output)
            .with_ansi(std::io::stderr().is_terminal())
            .boxed(),
        LogFormat::Json => json::layer(output).boxed(),
    }
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

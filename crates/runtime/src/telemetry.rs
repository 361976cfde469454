//! Logs on standard error, for people or as JSON lines, and the spans of traces.
use crate::request_id;
use crate::traces::Traces;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::io::IsTerminal as _;
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::{Format, Json, JsonFields, Writer};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::{SubscriberInitExt as _, TryInitError};
use tracing_subscriber::{EnvFilter, Layer, fmt};

/// `[log]`: what is logged, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LogConfig {
    /// A level (`error`, `warn`, `info`, `debug`, `trace`) or a list such as
    /// `info,gateway=debug`. The gateway's access lines have a target of their own:
    /// `info,portico::access=off` leaves them out, `info,portico::access=debug` has those of
    /// static files and probes too.
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

/// Starts logging to standard error, and takes spans for `traces` where there are any.
///
/// # Errors
/// When the level is not understood or logging runs already.
pub fn init(config: &LogConfig, traces: Option<&Traces>) -> Result<(), TelemetryError> {
    if config.format == LogFormat::Json {
        request_id::lines_name_requests();
    }
    if let Some(traces) = traces {
        // what the log leaves out may be a span of a trace: each has a filter of its own
        tracing_subscriber::registry()
            .with(log_layer(config)?)
            .with(traces.layer())
            .try_init()?;
        return Ok(());
    }
    let builder = tracing_subscriber::fmt()
        .with_env_filter(config.filter()?)
        .with_writer(std::io::stderr);
    match config.format {
        LogFormat::Human => builder
            .with_ansi(std::io::stderr().is_terminal())
            .finish()
            .try_init()?,
        LogFormat::Json => builder
            .fmt_fields(JsonFields::new())
            .event_format(JsonLine::default())
            .finish()
            .try_init()?,
    }
    Ok(())
}

fn log_layer<S>(config: &LogConfig) -> Result<Box<dyn Layer<S> + Send + Sync>, TelemetryError>
where
    S: Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
{
    let layer = fmt::layer().with_writer(std::io::stderr);
    let filter = config.filter()?;
    Ok(match config.format {
        LogFormat::Human => layer
            .with_ansi(std::io::stderr().is_terminal())
            .with_filter(filter)
            .boxed(),
        LogFormat::Json => layer
            .fmt_fields(JsonFields::new())
            .event_format(JsonLine::default())
            .with_filter(filter)
            .boxed(),
    })
}

/// A line in JSON that names the request that it is about (`request_id`).
#[derive(Debug)]
struct JsonLine(Format<Json>);

impl Default for JsonLine {
    fn default() -> Self {
        let format = fmt::format().json().flatten_event(true);
        Self(format.with_current_span(true).with_span_list(false))
    }
}

impl<S, N> FormatEvent<S, N> for JsonLine
where
    S: Subscriber + for<'span> LookupSpan<'span>,
    N: for<'writer> FormatFields<'writer> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> std::fmt::Result {
        let fields = event.metadata().fields();
        let names_it = ["request_id", "request.id"]
            .iter()
            .any(|name| fields.field(name).is_some());
        let request = request_id::current().filter(|_| !names_it);
        let Some(request) = request else {
            return self.0.format_event(context, writer, event);
        };
        let mut line = String::new();
        self.0
            .format_event(context, Writer::new(&mut line), event)?;
        match line.trim_end().strip_suffix('}') {
            Some(object) => writeln!(writer, "{object},\"request_id\":\"{request}\"}}"),
            None => writer.write_str(&line),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request_id::RequestId;
    use std::io;
    use std::sync::{Arc, Mutex};
    use uuid::Uuid;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_in_json_names_its_request_once() {
        let lines = Lines::default();
        let written = lines.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_writer(move || written.clone())
            .fmt_fields(JsonFields::new())
            .event_format(JsonLine::default())
            .finish();
        let id = RequestId(Uuid::from_u128(7));
        tracing::subscriber::with_default(subscriber, || {
            tracing::info!("of nobody");
            request_id::handled(id, || {
                tracing::warn!(path = "/x", "an \"upstream\" did not answer");
                tracing::info!(request_id = "its own", "one that says so itself");
            });
        });
        let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        let named: Vec<serde_json::Value> = text
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
            .collect();
        let ids: Vec<_> = named.iter().map(|line| line.get("request_id")).collect();
        let of = |text: String| Some(serde_json::Value::String(text));
        let (request, own) = (of(id.to_string()), of("its own".to_owned()));
        assert_eq!(ids, [None, request.as_ref(), own.as_ref()]);
        assert_eq!(text.matches("its own").count(), 1);
        assert_eq!(named[1]["path"], "/x");
    }

    #[test]
    fn a_level_that_is_none_is_refused_with_its_text() {
        let config = LogConfig {
            level: "info,=;;".to_owned(),
            ..LogConfig::default()
        };
        assert!(config.filter().unwrap_err().to_string().contains("=;;"));
    }
}

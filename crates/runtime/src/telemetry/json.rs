//! A log line as one JSON object.
//!
//! The members are those of `tracing-subscriber`'s flattened format, in its order: `timestamp`,
//! `level`, the event's own, `target`, `span`. That format cannot name the request (`request_id`)
//! without a span, which would be made for every request, and takes each line through a serializer
//! of its own, while a busy gateway writes thousands a second.
use crate::request_id;
use std::fmt;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime as _, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields};
use tracing_subscriber::registry::LookupSpan;

/// The names under which a line may say itself which request it is about.
const REQUEST_NAMES: [&str; 2] = ["request_id", "request.id"];

#[derive(Debug)]
pub(super) struct JsonLine;

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
    ) -> fmt::Result {
        let metadata = event.metadata();
        writer.write_str("{\"timestamp\":\"")?;
        SystemTime.format_time(&mut writer)?;
        write!(writer, "\",\"level\":\"{}\"", metadata.level().as_str())?;
        let mut members = Members {
            writer: &mut writer,
            names_request: false,
            result: Ok(()),
        };
        event.record(&mut members);
        let names_request = members.names_request;
        members.result?;
        writer.write_str(",\"target\":")?;
        text(&mut writer, metadata.target())?;
        if let Some(request) = request_id::current().filter(|_| !names_request) {
            write!(writer, ",\"request_id\":\"{request}\"")?;
        }
        if !event.is_root()
            && let Some(span) = context.lookup_current()
        {
            writer.write_str(",\"span\":{\"name\":")?;
            text(&mut writer, span.name())?;
            let extensions = span.extensions();
            let fields = extensions.get::<FormattedFields<N>>();
            // an object of its own, which becomes a part of this one
            let inner = fields.and_then(|fields| fields.strip_prefix('{')?.strip_suffix('}'));
            if let Some(inner) = inner.filter(|inner| !inner.is_empty()) {
                write!(writer, ",{inner}")?;
            }
            writer.write_char('}')?;
        }
        writer.write_str("}\n")
    }
}

/// Writes what an event says.
struct Members<'w, 'b> {
    writer: &'w mut Writer<'b>,
    names_request: bool,
    result: fmt::Result,
}

impl Members<'_, '_> {
    fn member(&mut self, field: &Field, write: impl FnOnce(&mut Writer<'_>) -> fmt::Result) {
        if self.result.is_err() {
            return;
        }
        let name = field.name();
        self.names_request |= REQUEST_NAMES.contains(&name);
        let name = name.strip_prefix("r#").unwrap_or(name);
        let writer = &mut *self.writer;
        self.result = writer
            .write_char(',')
            .and_then(|()| text(writer, name))
            .and_then(|()| writer.write_char(':'))
            .and_then(|()| write(writer));
    }
}

impl Visit for Members<'_, '_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.member(field, |writer| text(writer, &format!("{value:?}")));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.member(field, |writer| text(writer, value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.member(field, |writer| write!(writer, "{value}"));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.member(field, |writer| write!(writer, "{value}"));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.member(field, |writer| write!(writer, "{value}"));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.member(field, |writer| match value.is_finite() {
            true => write!(writer, "{value:?}"),
            // JSON has no word for it
            false => writer.write_str("null"),
        });
    }
}

/// Writes a string; most have nothing that JSON writes otherwise (RFC 8259, 7).
fn text(writer: &mut Writer<'_>, text: &str) -> fmt::Result {
    let plain = text
        .bytes()
        .all(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\');
    if plain {
        writer.write_char('"')?;
        writer.write_str(text)?;
        writer.write_char('"')
    } else {
        let written = serde_json::to_string(text).map_err(|_| fmt::Error)?;
        writer.write_str(&written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request_id::RequestId;
    use serde_json::{Value, json};
    use std::io;
    use std::sync::{Arc, Mutex};
    use tracing_subscriber::fmt::format::JsonFields;
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

    fn lines_of(log: impl FnOnce()) -> Vec<Value> {
        let lines = Lines::default();
        let written = lines.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_writer(move || written.clone())
            .fmt_fields(JsonFields::new())
            .event_format(JsonLine)
            .finish();
        tracing::subscriber::with_default(subscriber, log);
        let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).expect("an object a line"))
            .collect()
    }

    #[test]
    fn a_line_names_its_request_once() {
        let id = RequestId(Uuid::from_u128(7));
        let lines = lines_of(|| {
            tracing::info!("of nobody");
            request_id::handled(id, || {
                tracing::warn!("an upstream did not answer");
                tracing::info!(request_id = "its own", "one that says so itself");
            });
        });
        let ids: Vec<_> = lines.iter().map(|line| &line["request_id"]).collect();
        assert_eq!(
            ids,
            [&Value::Null, &json!(id.to_string()), &json!("its own")]
        );
    }

    #[test]
    fn every_kind_of_value_is_json() {
        let hostile = "a \"quoted\"\\ line\nand\u{1}more \u{7f} é";
        let lines = lines_of(|| {
            tracing::warn!(
                hostile,
                count = 3_u64,
                below = -3_i64,
                part = 0.5,
                none = f64::NAN,
                yes = true,
                debug = ?Some("x"),
                "{hostile}"
            );
        });
        let line = &lines[0];
        assert_eq!(line["hostile"], hostile);
        assert_eq!(line["message"], hostile);
        assert_eq!(line["level"], "WARN");
        assert!(line["target"].as_str().unwrap().ends_with("json::tests"));
        assert_eq!(line["debug"], "Some(\"x\")");
        let rest = ["count", "below", "part", "none", "yes"].map(|name| &line[name]);
        assert_eq!(
            rest,
            [
                &json!(3),
                &json!(-3),
                &json!(0.5),
                &Value::Null,
                &json!(true)
            ]
        );
        assert!(line["timestamp"].as_str().unwrap().ends_with('Z'));
    }

    #[test]
    fn the_span_is_an_object_of_the_line() {
        let lines = lines_of(|| {
            let span = tracing::info_span!("request", request.id = "r\"1", path = "/x");
            span.in_scope(|| {
                tracing::info!("inside");
                tracing::info!(parent: None, "of its own");
            });
            tracing::info_span!("bare").in_scope(|| tracing::info!("inside"));
        });
        let span = json!({ "name": "request", "request.id": "r\"1", "path": "/x" });
        assert_eq!(lines[0]["span"], span);
        assert_eq!(lines[1].get("span"), None);
        assert_eq!(lines[2]["span"], json!({ "name": "bare" }));
    }
}

//! A log line in JSON.
//!
//! The format of `tracing-subscriber` can neither name the request without a span, which would be
//! created for every request, nor rename a field that has the name of another member. So the event's
//! format is here, and all else is the library's: its layer, its fields of spans, and the serializer.
use super::terminal::TerminalSafe;
use crate::request_id;
use jiff::Timestamp;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer as _};
use serde_json::{Map, Serializer, Value};
use std::fmt;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::fmt::format::{JsonFields, Writer};
use tracing_subscriber::fmt::{
    FmtContext, FormatEvent, FormattedFields, MakeWriter, layer as lines,
};
use tracing_subscriber::registry::{LookupSpan, SpanRef};

const TIMESTAMP: &str = "timestamp";
const LEVEL: &str = "level";
const TARGET: &str = "target";
const SPAN: &str = "span";
/// The ID of the request: a field of the event, or that of the request that is being handled.
const REQUEST_ID: &str = "request_id";
/// Ends the text of a value whose formatting fails.
const FORMAT_FAILED: &str = " (formatting failed)";
/// An access log entry fits.
const LINE_CAPACITY: usize = 1024;

/// Returns a layer that writes each event to `output` as a line with one JSON object.
pub(super) fn layer<S, W>(output: W) -> impl Layer<S> + Send + Sync
where
    S: Subscriber + for<'span> LookupSpan<'span>,
    W: for<'writer> MakeWriter<'writer> + Send + Sync + 'static,
{
    lines()
        .fmt_fields(JsonFields::new())
        .event_format(JsonLine)
        .with_writer(TerminalSafe(output))
}

/// The format of a line.
struct JsonLine;

impl<S> FormatEvent<S, JsonFields> for JsonLine
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, JsonFields>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut line = Vec::with_capacity(LINE_CAPACITY);
        write_object(&mut line, context, event).map_err(|_| fmt::Error)?;
        line.push(b'\n');
        writer.write_str(std::str::from_utf8(&line).map_err(|_| fmt::Error)?)
    }
}

fn write_object<S>(
    line: &mut Vec<u8>,
    context: &FmtContext<'_, S, JsonFields>,
    event: &Event<'_>,
) -> serde_json::Result<()>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    let metadata = event.metadata();
    let mut serializer = Serializer::new(line);
    let mut object = serializer.serialize_map(None)?;
    object.serialize_entry(TIMESTAMP, &format_args!("{:.6}", now()))?;
    object.serialize_entry(LEVEL, metadata.level().as_str())?;
    object.serialize_entry(TARGET, metadata.target())?;
    let mut members = Members {
        object,
        names_request: false,
        result: Ok(()),
    };
    event.record(&mut members);
    let Members {
        mut object,
        names_request,
        result,
    } = members;
    result?;
    if !names_request && let Some(id) = request_id::current() {
        object.serialize_entry(REQUEST_ID, &format_args!("{id}"))?;
    }
    if let Some(span) = context.parent_span() {
        object.serialize_entry(SPAN, &span_object(&span))?;
    }
    object.end()
}

/// Returns the name of a span and the fields that are recorded.
fn span_object<'s, S>(span: &SpanRef<'s, S>) -> Map<String, Value>
where
    S: Subscriber + LookupSpan<'s>,
{
    let extensions = span.extensions();
    let fields = extensions.get::<FormattedFields<JsonFields>>();
    let mut object: Map<_, _> = fields
        .and_then(|fields| serde_json::from_str(fields).ok())
        .unwrap_or_default();
    object.insert("name".to_owned(), span.name().into());
    object
}

/// Returns the time of day, as the operating system has it.
#[allow(
    clippy::disallowed_methods,
    reason = "a log line has the time at which it was written, also in a test that sets another one"
)]
fn now() -> Timestamp {
    Timestamp::now()
}

/// Writes the fields of an event as they are visited.
struct Members<M: SerializeMap> {
    object: M,
    /// Whether the event names its request itself. A field without a value does not: it is not
    /// visited.
    names_request: bool,
    /// The first error, after which nothing more is written.
    result: Result<(), M::Error>,
}

impl<M: SerializeMap> Members<M> {
    fn write(&mut self, field: &Field, value: &(impl Serialize + ?Sized)) {
        let name = member_name(field.name());
        self.names_request |= name == REQUEST_ID;
        if self.result.is_ok() {
            self.result = self.object.serialize_entry(name, value);
        }
    }
}

impl<M: SerializeMap> Visit for Members<M> {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.write(field, &value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.write(field, &value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.write(field, &value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.write(field, &value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.write(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.write(field, &format_args!("{}", DebugText(value)));
    }
}

/// The text of a value. An error that its `Debug` or `Display` returns is not passed on: `serde_json`
/// would panic.
struct DebugText<'v>(&'v dyn fmt::Debug);

impl fmt::Display for DebugText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // lines are strings, to which writing cannot fail: the error is the value's own
        fmt::Debug::fmt(self.0, f).or_else(|_| f.write_str(FORMAT_FAILED))
    }
}

/// Returns the name of the member for an event's field. One with the name of a member that every
/// line has gets another: parsers keep one of two members with the same name.
fn member_name(field: &str) -> &str {
    match field.strip_prefix("r#").unwrap_or(field) {
        TIMESTAMP => "event.timestamp",
        LEVEL => "event.level",
        TARGET => "event.target",
        SPAN => "event.span",
        name => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request_id::RequestId;
    use crate::telemetry::captured::Captured;
    use serde_json::json;
    use tracing_subscriber::layer::SubscriberExt as _;
    use uuid::Uuid;

    fn text_of(log: impl FnOnce()) -> String {
        let captured = Captured::default();
        let subscriber = tracing_subscriber::registry().with(layer(captured.clone()));
        tracing::subscriber::with_default(subscriber, log);
        captured.text()
    }

    fn lines_of(log: impl FnOnce()) -> Vec<Value> {
        text_of(log)
            .lines()
            .map(|line| serde_json::from_str(line).expect("an object a line"))
            .collect()
    }

    #[test]
    fn a_line_names_its_request_once() {
        let id = RequestId(Uuid::from_u128(7));
        let lines = lines_of(|| {
            tracing::info!("of no request");
            request_id::handled(id, || {
                tracing::warn!("an upstream did not answer");
                tracing::info!(request_id = "its own", "one that says so itself");
                tracing::info!(request_id = None::<&str>, "one that does not know it");
            });
        });
        let ids: Vec<_> = lines.iter().map(|line| &line["request_id"]).collect();
        let current = json!(id.to_string());
        assert_eq!(ids, [&Value::Null, &current, &json!("its own"), &current]);
    }

    #[test]
    fn finding_o10_no_line_has_two_members_of_one_name() {
        let id = RequestId(Uuid::from_u128(7));
        let text = text_of(|| {
            let _span = tracing::info_span!("request", level = 1).entered();
            request_id::handled(id, || {
                let target = "shop/pods/web-1";
                tracing::info!(
                    target: "audit",
                    target,
                    level = 3_u64,
                    span = true,
                    timestamp = "yesterday",
                    request_id = "its own",
                    "deleted"
                );
            });
        });
        // an object of its own
        let text = text.replace(r#"{"level":1,"name":"request"}"#, "{}");
        for name in ["timestamp", "level", "target", "span", "request_id"] {
            let count = text.matches(&format!("\"{name}\":")).count();
            assert_eq!(count, 1, "{name}: {text}");
        }
        let line: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(line["target"], "audit");
        assert_eq!(line["event.target"], "shop/pods/web-1");
        assert_eq!(line["level"], "INFO");
        assert_eq!(line["event.level"], 3);
        assert_eq!(line["event.span"], true);
        assert_eq!(line["event.timestamp"], "yesterday");
        assert_eq!(line["span"], json!({}));
    }

    #[test]
    fn the_members_are_in_the_documented_order() {
        let id = RequestId(Uuid::from_u128(7));
        let text = text_of(|| {
            let _span = tracing::info_span!("request").entered();
            request_id::handled(id, || tracing::info!(count = 3_u64, "counted"));
        });
        let positions = [
            "timestamp",
            "level",
            "target",
            "message",
            "count",
            "request_id",
            "span",
        ]
        .map(|name| text.find(&format!("\"{name}\":")));
        assert!(positions[0].is_some() && positions.is_sorted(), "{text}");
    }

    #[test]
    fn the_time_is_utc_in_microseconds() {
        let lines = lines_of(|| tracing::info!("now"));
        let time = lines[0]["timestamp"].as_str().unwrap();
        let form = time.replace(|c: char| c.is_ascii_digit(), "0");
        assert_eq!(form, "0000-00-00T00:00:00.000000Z");
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
                r#type = "raw",
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
        assert_eq!(line["type"], "raw");
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
    }

    #[test]
    fn a_value_whose_formatting_fails_leaves_the_lines_valid() {
        struct Failing;
        impl fmt::Debug for Failing {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("begun")?;
                Err(fmt::Error)
            }
        }
        let lines = lines_of(|| {
            tracing::info!(failing = ?Failing, count = 3_u64, "first");
            tracing::info!("message: {Failing:?}");
            tracing::info!("last");
        });
        assert_eq!(lines[0]["failing"], "begun (formatting failed)");
        assert_eq!(lines[0]["count"], 3);
        assert_eq!(lines[0]["message"], "first");
        assert_eq!(lines[1]["message"], "message: begun (formatting failed)");
        assert_eq!(lines[2]["message"], "last");
    }

    #[test]
    fn attack_113_a_terminal_finds_nothing_to_act_on_in_a_line() {
        let hostile = "a\u{1b}[2J\u{9b}31m\u{7f}\u{202e}gnp\u{2066}\u{85}\u{61c}";
        let text = text_of(|| {
            let span = tracing::info_span!("request", path = hostile);
            span.in_scope(|| tracing::info!(hostile, debug = ?hostile, "{hostile}"));
        });
        let (line, end) = text.split_at(text.len() - 1);
        assert_eq!(end, "\n");
        assert!(
            line.is_ascii() && !line.contains(|c: char| c.is_control()),
            "{line:?}"
        );
        // control case: a JSON parser restores every character
        let line: Value = serde_json::from_str(line).unwrap();
        for value in [&line["hostile"], &line["message"], &line["span"]["path"]] {
            assert_eq!(value, hostile);
        }
    }

    #[test]
    fn the_span_is_an_object_of_the_line() {
        let lines = lines_of(|| {
            let status = tracing::field::Empty;
            let span = tracing::info_span!("request", request_id = "r\"1", path = "/x", status);
            span.in_scope(|| {
                tracing::info!("inside");
                tracing::info!(parent: None, "of its own");
            });
            span.record("status", 200);
            span.in_scope(|| tracing::info!("later"));
            tracing::info_span!("bare").in_scope(|| tracing::info!("inside"));
        });
        let mut span = json!({ "name": "request", "request_id": "r\"1", "path": "/x" });
        assert_eq!(lines[0]["span"], span);
        assert_eq!(lines[1].get("span"), None);
        span["status"] = json!(200);
        assert_eq!(lines[2]["span"], span);
        assert_eq!(lines[3]["span"], json!({ "name": "bare" }));
    }
}

//! A log line in JSON.
//!
//! The format of `tracing-subscriber` can neither name the request without a span, which would be
//! created for every request, nor rename a field that has the name of another member. So the event's
//! format is here, and all else is the library's: its layer, its fields of spans, and the serializer
//! of the values.
use super::terminal::TerminalSafe;
use crate::request_id;
use jiff::Timestamp;
use jiff::fmt::temporal::DateTimePrinter;
use serde::Serialize;
use serde_json::{Map, Value};
use std::fmt;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::fmt::format::{JsonFields, Writer};
use tracing_subscriber::fmt::{
    FmtContext, FormatEvent, FormattedFields, MakeWriter, layer as lines,
};
use tracing_subscriber::registry::{LookupSpan, SpanRef};

/// Prints the time of a line: RFC 3339 in UTC.
const MICROSECONDS: DateTimePrinter = DateTimePrinter::new().precision(Some(6));

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
    let mut members = Members {
        line,
        next: b'{',
        names_request: false,
        result: Ok(()),
    };
    members.write_time(now())?;
    members.write(LEVEL, metadata.level().as_str());
    members.write(TARGET, metadata.target());
    event.record(&mut members);
    if !members.names_request
        && let Some(id) = request_id::current()
    {
        members.write(REQUEST_ID, &format_args!("{id}"));
    }
    if let Some(span) = context.parent_span() {
        members.write(SPAN, &span_object(&span));
    }
    members.line.push(b'}');
    members.result
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

/// Writes the members of a line's object, among them the fields of an event as they are visited.
struct Members<'l> {
    line: &'l mut Vec<u8>,
    /// What is before the next member.
    next: u8,
    /// Whether the event names its request itself. A field without a value does not: it is not
    /// visited.
    names_request: bool,
    /// The first error, after which nothing more is written.
    result: serde_json::Result<()>,
}

impl Members<'_> {
    fn field(&mut self, field: &Field, value: &(impl Serialize + ?Sized)) {
        let name = member_name(field.name());
        self.names_request |= name == REQUEST_ID;
        self.write(name, value);
    }

    fn write(&mut self, name: &str, value: &(impl Serialize + ?Sized)) {
        if self.result.is_ok() {
            self.result = self.member(name, value);
        }
    }

    fn member(&mut self, name: &str, value: &(impl Serialize + ?Sized)) -> serde_json::Result<()> {
        self.name(name)?;
        serde_json::to_writer(&mut *self.line, value)
    }

    /// Writes the time of the line, whose text has no character to escape.
    fn write_time(&mut self, time: Timestamp) -> serde_json::Result<()> {
        self.name(TIMESTAMP)?;
        self.line.push(b'"');
        MICROSECONDS
            .print_timestamp(&time, &mut *self.line)
            .map_err(<serde_json::Error as serde::ser::Error>::custom)?;
        self.line.push(b'"');
        Ok(())
    }

    fn name(&mut self, name: &str) -> serde_json::Result<()> {
        let before = std::mem::replace(&mut self.next, b',');
        if is_plain(name) {
            self.line.extend_from_slice(&[before, b'"']);
            self.line.extend_from_slice(name.as_bytes());
            self.line.extend_from_slice(b"\":");
        } else {
            self.line.push(before);
            serde_json::to_writer(&mut *self.line, name)?;
            self.line.push(b':');
        }
        Ok(())
    }
}

/// Returns whether a name is the same in JSON, as those of the fields in this program are: what JSON
/// escapes is the backslash, and among the characters up to the quotation mark (RFC 8259, 7). The
/// serializer's own search takes several times as long.
fn is_plain(name: &str) -> bool {
    name.bytes().all(|byte| byte > b'"' && byte != b'\\')
}

impl Visit for Members<'_> {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.field(field, &value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.field(field, &value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.field(field, &value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.field(field, &value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.field(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.field(field, &format_args!("{}", DebugText(value)));
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
    fn a_name_is_escaped_where_json_needs_it() {
        let lines = lines_of(|| {
            tracing::info!({ "a \"quoted\" name" = 3_u64, "b\\" = "x" }, "last");
        });
        assert_eq!(lines[0]["a \"quoted\" name"], 3);
        assert_eq!(lines[0]["b\\"], "x");
        assert_eq!(lines[0]["message"], "last");
        for character in '\0'..='\u{ffff}' {
            let name = character.to_string();
            let json = serde_json::to_string(&name).unwrap();
            assert!(!is_plain(&name) || json == format!("\"{name}\""), "{json}");
        }
        assert!(is_plain("http.response.status_code"));
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

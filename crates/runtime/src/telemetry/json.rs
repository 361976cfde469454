//! Formatting of a log line as one JSON object.
//!
//! The members are those of `tracing-subscriber`'s flattened format, in its order: `timestamp`,
//! `level`, the event's own, `target`, `span`. That format cannot name the request (`request_id`)
//! without a span, which would be made for every request, and uses a separate serialiser for each
//! line, while a busy gateway writes thousands a second.
use crate::request_id;
use jiff::Timestamp;
use std::cell::RefCell;
use std::fmt::{self, Write as _};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields};
use tracing_subscriber::registry::LookupSpan;

/// The field in which an event names its request itself.
const REQUEST_ID: &str = "request_id";

/// The members that every line has: an event's field of such a name gets another, since parsers
/// keep one of two members with the same name.
const RESERVED_NAMES: [&str; 4] = ["timestamp", "level", "target", "span"];

/// The initial capacity of a line, in bytes.
const INITIAL_LINE_BYTES: usize = 512;

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
        let mut line = String::with_capacity(INITIAL_LINE_BYTES);
        line.push_str("{\"timestamp\":\"");
        time(&mut line, Timestamp::now());
        line.push_str("\",\"level\":\"");
        line.push_str(metadata.level().as_str());
        line.push('"');
        let mut members = Members {
            line: &mut line,
            names_request: false,
        };
        event.record(&mut members);
        let names_request = members.names_request;
        line.push_str(",\"target\":");
        text(&mut line, metadata.target());
        if let Some(request) = request_id::current().filter(|_| !names_request) {
            write!(line, ",\"request_id\":\"{request}\"")?;
        }
        if !event.is_root()
            && let Some(span) = context.lookup_current()
        {
            line.push_str(",\"span\":{\"name\":");
            text(&mut line, span.name());
            let extensions = span.extensions();
            let fields = extensions.get::<FormattedFields<N>>();
            // a separate object, which becomes a part of this one
            let inner = fields.and_then(|fields| fields.strip_prefix('{')?.strip_suffix('}'));
            if let Some(inner) = inner.filter(|inner| !inner.is_empty()) {
                line.push(',');
                line.push_str(inner);
            }
            line.push('}');
        }
        line.push_str("}\n");
        writer.write_str(&line)
    }
}

thread_local! {
    /// The second of the last line, and its formatted text.
    static SECOND: RefCell<(i64, String)> = const { RefCell::new((i64::MIN, String::new())) };
}

/// Writes a time (RFC 3339, in microseconds). The part up to the second is formatted once per
/// second.
fn time(line: &mut String, time: Timestamp) {
    SECOND.with_borrow_mut(|(second, written)| {
        if *second != time.as_second() {
            *second = time.as_second();
            let whole = Timestamp::from_second(*second).unwrap_or(time);
            *written = whole.to_string();
            written.truncate(written.len().saturating_sub(1));
        }
        line.push_str(written);
    });
    // always the same number of digits: a number in front keeps their zeros
    let mut digits = itoa::Buffer::new();
    let digits = digits.format(1_000_000 + time.subsec_microsecond());
    line.push('.');
    line.push_str(digits.get(1..).unwrap_or_default());
    line.push('Z');
}

/// Writes the fields of an event.
struct Members<'l> {
    line: &'l mut String,
    names_request: bool,
}

impl Members<'_> {
    /// Writes a member's name, which is a constant in the code.
    fn name(&mut self, field: &Field) {
        let name = field.name();
        self.names_request |= name == REQUEST_ID;
        let name = name.strip_prefix("r#").unwrap_or(name);
        self.line.push_str(",\"");
        if RESERVED_NAMES.contains(&name) {
            self.line.push_str("event.");
        }
        self.line.push_str(name);
        self.line.push_str("\":");
    }
}

impl Visit for Members<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.name(field);
        self.line.push('"');
        let from = self.line.len();
        // a value that writes nothing has no more to show
        let _ = write!(self.line, "{value:?}");
        if self.line.get(from..).is_some_and(is_special) {
            let plain = self.line.split_off(from);
            self.line.pop();
            text(self.line, &plain);
        } else {
            self.line.push('"');
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.name(field);
        text(self.line, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.name(field);
        self.line.push_str(itoa::Buffer::new().format(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.name(field);
        self.line.push_str(itoa::Buffer::new().format(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.name(field);
        self.line.push_str(if value { "true" } else { "false" });
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.name(field);
        if value.is_finite() {
            let _ = write!(self.line, "{value:?}");
        } else {
            // JSON has no representation for it
            self.line.push_str("null");
        }
    }
}

/// Writes a string; most need no escaping.
fn text(line: &mut String, text: &str) {
    if is_special(text) {
        // writing to a string cannot fail
        let written = serde_json::to_string(text).unwrap_or_else(|_| "\"\"".to_owned());
        for character in written.chars() {
            if acts_on_terminal(character) {
                // each is in the basic multilingual plane
                let _ = write!(line, "\\u{:04x}", u32::from(character));
            } else {
                line.push(character);
            }
        }
    } else {
        line.push('"');
        line.push_str(text);
        line.push('"');
    }
}

/// Returns whether a part of a string may have to be escaped: what JSON escapes (RFC 8259, 7), and
/// what [`acts_on_terminal`], by the first byte of its encoding.
fn is_special(text: &str) -> bool {
    // all bytes at once: searching for the first takes longer
    text.bytes().fold(false, |special, byte| {
        special
            | (byte < 0x20)
            | (byte == b'"')
            | (byte == b'\\')
            | matches!(byte, 0x7f | 0xc2 | 0xd8 | 0xe2)
    })
}

/// Returns whether a terminal would interpret a character that JSON leaves unescaped: control
/// characters from DEL on, and those that change the direction of the text.
fn acts_on_terminal(character: char) -> bool {
    matches!(
        character,
        '\u{7f}'..='\u{9f}'
            | '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
    )
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
            tracing::info!("of no request");
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
    fn finding_o10_no_line_has_two_members_of_one_name() {
        let lines = Lines::default();
        let written = lines.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_writer(move || written.clone())
            .fmt_fields(JsonFields::new())
            .event_format(JsonLine)
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            let target = "shop/pods/web-1";
            tracing::info!(target: "audit", target, level = 3_u64, span = true, "deleted");
        });
        let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        assert_eq!(text.matches("\"target\":").count(), 1, "{text}");
        let line: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(line["target"], "audit");
        assert_eq!(line["event.target"], "shop/pods/web-1");
        assert_eq!(line["level"], "INFO");
        assert_eq!(line["event.level"], 3);
        assert_eq!(line["event.span"], true);
    }

    #[test]
    fn a_time_is_written_in_microseconds() {
        for (nanoseconds, expected) in [
            (0, "1970-01-01T00:00:00.000000Z"),
            (1_795_377_893_000_042_999, "2026-11-22T20:04:53.000042Z"),
            (1_795_377_893_999_999_999, "2026-11-22T20:04:53.999999Z"),
            (1_795_377_894_100_000_000, "2026-11-22T20:04:54.100000Z"),
        ] {
            let mut line = String::new();
            time(&mut line, Timestamp::from_nanosecond(nanoseconds).unwrap());
            assert_eq!(line, expected);
        }
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
    fn attack_113_a_terminal_finds_nothing_to_act_on_in_a_line() {
        let hostile = "a\u{1b}[2J\u{9b}31m\u{7f}\u{202e}gnp\u{2066}\u{85}\u{61c}é”東";
        let mut line = String::new();
        text(&mut line, hostile);
        let acts = |c: char| c.is_control() || acts_on_terminal(c);
        assert!(!line.chars().any(acts), "{line:?}");
        // control case: a JSON parser restores every character
        assert_eq!(serde_json::from_str::<String>(&line).unwrap(), hostile);
        assert!(line.contains("é”東"), "{line}");
    }

    #[test]
    fn the_span_is_an_object_of_the_line() {
        let lines = lines_of(|| {
            let span = tracing::info_span!("request", request_id = "r\"1", path = "/x");
            span.in_scope(|| {
                tracing::info!("inside");
                tracing::info!(parent: None, "of its own");
            });
            tracing::info_span!("bare").in_scope(|| tracing::info!("inside"));
        });
        let span = json!({ "name": "request", "request_id": "r\"1", "path": "/x" });
        assert_eq!(lines[0]["span"], span);
        assert_eq!(lines[1].get("span"), None);
        assert_eq!(lines[2]["span"], json!({ "name": "bare" }));
    }
}

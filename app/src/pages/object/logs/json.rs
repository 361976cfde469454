//! Lines that are JSON objects, unfolded: the message, and below it each field on a line of its own.
use crate::format;
use serde::de::IgnoredAny;

/// The fields that have the message of a line, in loggers of Go, Rust, Java, JavaScript, .NET and Python.
const MESSAGE_FIELDS: [&str; 5] = ["message", "msg", "@message", "@m", "event"];
/// The object in which `tracing` writes the message and the fields of an event.
const EVENT_FIELDS: &str = "fields";
const INDENT: &str = "    ";
/// Objects in deeper ones stay on one line.
const MAX_DEPTH: usize = 8;

struct Field<'a> {
    name: String,
    value: Value<'a>,
}

enum Value<'a> {
    /// A string, decoded.
    Text(String),
    /// Anything else, as it is written.
    Other(&'a str),
    Object(Vec<Field<'a>>),
}

/// Returns the text of a line that is a JSON object, alone or after the name of a pod and a timestamp: first the message,
/// then the other fields in their order, indented. Returns `None` for other lines, and for an object without fields.
pub fn unfolded(line: &str) -> Option<String> {
    let start = line.find('{')?;
    let (before, object) = line.split_at(start);
    let object = object.trim_end();
    if !before.split_ascii_whitespace().all(is_before_object) || !is_valid(object) {
        return None;
    }
    let mut fields = fields(object, MAX_DEPTH);
    if fields.is_empty() {
        return None;
    }
    let message = take_message(&mut fields);
    let mut text = before.to_owned();
    write_text(&mut text, message.as_deref().unwrap_or("(no message)"), 1);
    write_fields(&mut text, &fields, 1);
    Some(text)
}

/// Returns whether a word can be before the object of a line: `[pod]`, `[pod/container]` or a timestamp of Kubernetes
/// (RFC 3339).
fn is_before_object(word: &str) -> bool {
    let bytes = word.as_bytes();
    let is_timestamp = bytes.first().is_some_and(u8::is_ascii_digit)
        && bytes.get(4) == Some(&b'-')
        && bytes.get(10) == Some(&b'T');
    is_timestamp || word.starts_with('[') && word.ends_with(']')
}

/// Returns whether a text is valid JSON, and nothing else. What follows relies on it.
fn is_valid(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Reads the fields of a valid JSON object in their order, which the maps of `serde_json` do not keep.
fn fields(object: &str, depth: usize) -> Vec<Field<'_>> {
    let inner = object
        .strip_prefix('{')
        .and_then(|inner| inner.strip_suffix('}'));
    let mut rest = inner.unwrap_or_default().trim();
    let mut found = Vec::new();
    while !rest.is_empty() {
        let (field, later) = rest.split_at(outside(rest, b','));
        let (name, written) = field.split_at(outside(field, b':'));
        let written = written.strip_prefix(':').unwrap_or(written).trim();
        let name = name.trim();
        let is_object = written.starts_with('{') && depth > 1;
        let inner = is_object.then(|| fields(written, depth - 1));
        let value = match (string(written), inner) {
            (Some(text), _) => Value::Text(text),
            (None, Some(inner)) if !inner.is_empty() => Value::Object(inner),
            _ => Value::Other(written),
        };
        found.push(Field {
            name: string(name).unwrap_or_else(|| name.to_owned()),
            value,
        });
        rest = later.strip_prefix(',').unwrap_or_default().trim_start();
    }
    found
}

/// Decodes a JSON string; `None` for an empty one and for other values, which are shown as they are written.
fn string(written: &str) -> Option<String> {
    if !written.starts_with('"') {
        return None;
    }
    let text: String = serde_json::from_str(written).ok()?;
    (!text.is_empty()).then_some(text)
}

/// Returns where a character is outside of strings, objects and arrays; the end of the text if it is not there.
fn outside(text: &str, wanted: u8) -> usize {
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_string,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ if depth == 0 && byte == wanted => return at,
            _ => {}
        }
    }
    text.len()
}

/// Removes the message from the fields, or from those of an event of `tracing`.
fn take_message(fields: &mut Vec<Field<'_>>) -> Option<String> {
    let found = MESSAGE_FIELDS.iter().find_map(|name| {
        let is_message =
            |field: &Field<'_>| field.name == *name && matches!(field.value, Value::Text(_));
        fields.iter().position(is_message)
    });
    if let Some(at) = found {
        return match fields.remove(at).value {
            Value::Text(text) => Some(text),
            _ => None,
        };
    }
    let at = fields.iter().position(|field| field.name == EVENT_FIELDS)?;
    let Value::Object(event) = &mut fields.get_mut(at)?.value else {
        return None;
    };
    let message = take_message(event);
    if event.is_empty() {
        fields.remove(at);
    }
    message
}

fn write_fields(text: &mut String, fields: &[Field<'_>], depth: usize) {
    for field in fields {
        text.push('\n');
        text.push_str(&INDENT.repeat(depth));
        text.push_str(&format::without_ansi(&field.name));
        text.push(':');
        match &field.value {
            Value::Object(fields) => write_fields(text, fields, depth + 1),
            Value::Other(written) => {
                text.push(' ');
                text.push_str(written);
            }
            // such as a stack trace
            Value::Text(value) if value.contains('\n') => {
                text.push('\n');
                text.push_str(&INDENT.repeat(depth + 1));
                write_text(text, value, depth + 1);
            }
            Value::Text(value) => {
                text.push(' ');
                write_text(text, value, depth + 1);
            }
        }
    }
}

/// Writes a text of one or several lines; those after the first are indented.
fn write_text(text: &mut String, value: &str, depth: usize) {
    for (index, line) in value.lines().enumerate() {
        if index > 0 {
            text.push('\n');
            text.push_str(&INDENT.repeat(depth));
        }
        text.push_str(&format::without_ansi(line));
    }
}

#[cfg(test)]
mod tests {
    use super::unfolded;

    fn lines(line: &str) -> Vec<String> {
        let text = unfolded(line).unwrap_or_else(|| panic!("not unfolded: {line}"));
        text.split('\n').map(str::to_owned).collect()
    }

    #[test]
    fn the_message_comes_first_and_the_fields_follow_in_their_order() {
        let line = r#"{"time":"2026-01-02","level":"error","msg":"it failed","zone":null,"attempt": 3,"a":[1, {"b":2}],"ok":true,"empty":""}"#;
        assert_eq!(
            lines(line),
            [
                "it failed",
                "    time: 2026-01-02",
                "    level: error",
                "    zone: null",
                "    attempt: 3",
                r#"    a: [1, {"b":2}]"#,
                "    ok: true",
                r#"    empty: """#,
            ]
        );
    }

    #[test]
    fn a_pod_and_a_timestamp_may_be_before_the_object() {
        for before in [
            "[web-1] ",
            "[web-1/proxy] ",
            "2026-01-02T03:04:05.678901234Z ",
            "2026-01-02T03:04:05+01:00 ",
            "[web-1] 2026-01-02T03:04:05Z ",
        ] {
            let line = format!(r#"{before}{{"message":"ok","n":1}} "#);
            assert_eq!(lines(&line), [format!("{before}ok"), "    n: 1".to_owned()]);
        }
    }

    #[test]
    fn names_and_strings_are_decoded_and_what_looks_like_json_in_them_is_text() {
        let line =
            r#"{"a, \"b\": {":"x, \\\"y\": }","msg":"gr\u00fc\u00dfe \ud83e\udd80","n":-1.5e3}"#;
        assert_eq!(
            lines(line),
            ["grüße 🦀", r#"    a, "b": {: x, \"y": }"#, "    n: -1.5e3"]
        );
    }

    #[test]
    fn objects_and_texts_of_several_lines_are_indented() {
        let line =
            r#"{"msg":"failed\nbadly","error":{"kind":"io","cause":{}},"stack":"at a\n  at b\n"}"#;
        assert_eq!(
            lines(line),
            [
                "failed",
                "    badly",
                "    error:",
                "        kind: io",
                "        cause: {}",
                "    stack:",
                "        at a",
                "          at b",
            ]
        );
    }

    #[test]
    fn the_message_of_an_event_of_tracing_is_found() {
        let line = r#"{"level":"INFO","fields":{"message":"started","port":80},"target":"web"}"#;
        assert_eq!(
            lines(line),
            [
                "started",
                "    level: INFO",
                "    fields:",
                "        port: 80",
                "    target: web"
            ]
        );
        assert_eq!(lines(r#"{"fields":{"message":"alone"}}"#), ["alone"]);
        assert_eq!(
            lines(r#"{"event":{"id":1}}"#),
            ["(no message)", "    event:", "        id: 1"]
        );
    }

    #[test]
    fn terminal_control_sequences_in_strings_are_removed() {
        let line = r#"{"msg":"\u001b[31mred\u001b[0m","\u001bx":"\u0007y"}"#;
        assert_eq!(lines(line), ["red", "    x: y"]);
    }

    #[test]
    fn other_lines_stay_as_they_are() {
        for line in [
            "",
            "plain",
            "{}",
            "[web-1] {}",
            r#"{"msg":"cut"#,
            r#"{"msg":"one"} {"msg":"two"}"#,
            r#"{"msg":"one"} and more"#,
            r#"INFO {"msg":"one"}"#,
            r#"["msg"]"#,
            "{not: json}",
            r#"{"msg":"bad \x escape"}"#,
        ] {
            assert_eq!(unfolded(line), None, "{line}");
        }
    }

    #[test]
    fn deep_objects_are_unfolded_to_a_bound() {
        let deep = format!("{}1{}", r#"{"a":"#.repeat(500), "}".repeat(500));
        let text = unfolded(&deep).unwrap_or_default();
        assert_eq!(text.lines().count(), 9);
        assert!(text.ends_with('}'));
    }
}

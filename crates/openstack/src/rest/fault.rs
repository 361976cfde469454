//! The formats in which services report errors.
//!
//! Magnum: `{"errors": [{"status", "code", "title", "detail"}]}`, where `title` is cut at the first
//! dot; before that, and Octavia today, `{"faultcode", "faultstring"}`, whose text or whole may be a
//! string of JSON (`{"error_message": "{…}"}`). Keystone's middleware in front of all:
//! `{"error": {"code", "title", "message"}}`. Nova and Cinder: `{"badRequest": {"code", "message"}}`.
//! Neutron: `{"NeutronError": {"type", "message", "detail"}}`. Heat: `{"code", "title", "explanation",
//! "error": {"type", "message", "traceback"}}`, whose title is the status in words.
use super::microversion::VersionRange;
use serde_json::{Map, Value};

/// Maximum length of a message, in characters; conductors quote whole tracebacks.
const MAX_MESSAGE_CHARS: usize = 2000;
/// Maximum nesting of objects and of strings that hold JSON.
const MAX_DEPTH: usize = 5;

/// What an error's body reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The longest description that it has; empty if it has none.
    pub message: String,
    /// The versions that the service offers, if it refused the requested one.
    pub versions: Option<VersionRange>,
}

/// Keys with a description, the whole text before the shortened one.
const TEXTS: [&str; 6] = [
    "detail",
    "faultstring",
    "message",
    "error_message",
    "description",
    "title",
];
/// Keys that only errors have.
const MARKS: [&str; 6] = [
    "errors",
    "error",
    "faultstring",
    "error_message",
    "NeutronError",
    "message",
];

/// Reads the body of an error; `None` if it is in no service's format.
pub(crate) fn read(body: &[u8]) -> Option<Fault> {
    let Value::Object(body) = serde_json::from_slice(body).ok()? else {
        return None;
    };
    if !is_fault(&body) {
        return None;
    }
    let versions = body
        .get("errors")
        .and_then(|errors| versions(errors.get(0)?));
    let of_heat = body
        .get("error")
        .filter(|_| body.contains_key("explanation"));
    let message = match of_heat {
        Some(error) => text_in(error, MAX_DEPTH),
        None => text_in(&Value::Object(body), MAX_DEPTH),
    };
    let message = message.unwrap_or_default();
    Some(Fault {
        message: printable(&message),
        versions,
    })
}

fn is_fault(body: &Map<String, Value>) -> bool {
    MARKS.iter().any(|mark| body.contains_key(*mark))
        || (body.len() == 1
            && body.values().all(|inner| {
                inner.get("message").is_some_and(Value::is_string) && inner.get("code").is_some()
            }))
}

fn text_in(value: &Value, depth: usize) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    match value {
        Value::String(text) if text.trim().is_empty() => None,
        Value::String(text) => {
            let inner: Option<Value> = serde_json::from_str(text).ok();
            let inner = inner.filter(Value::is_object);
            let inner = inner.and_then(|inner| text_in(&inner, depth));
            Some(inner.unwrap_or_else(|| text.trim().to_owned()))
        }
        Value::Array(entries) => text_in(entries.first()?, depth),
        Value::Object(fields) => {
            let texts = TEXTS.iter().filter_map(|key| fields.get(*key));
            let nested = fields
                .values()
                .filter(|inner| inner.is_object() || inner.is_array());
            texts.chain(nested).find_map(|inner| text_in(inner, depth))
        }
        _ => None,
    }
}

fn versions(error: &Value) -> Option<VersionRange> {
    let version = |key| error.get(key)?.as_str()?.parse().ok();
    Some(VersionRange {
        min: version("min_version")?,
        max: version("max_version")?,
    })
}

/// Returns the text without control characters, and not too long.
fn printable(text: &str) -> String {
    text.chars()
        .take(MAX_MESSAGE_CHARS)
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn message(body: &Value) -> Option<String> {
        read(body.to_string().as_bytes()).map(|fault| fault.message)
    }

    #[test]
    fn the_whole_text_is_found_in_the_format_of_every_service() {
        let fault = json!({"faultcode": "Client", "faultstring": "Cluster a could not be found.",
                           "debuginfo": null});
        for (body, text) in [
            (
                json!({"errors": [{"request_id": "", "code": "client", "status": 400, "links": [],
                    "title": "version 1", "detail": "version 1.2.3 is bad."}]}),
                "version 1.2.3 is bad.",
            ),
            (
                json!({"error": {"code": 401, "title": "Unauthorized",
                    "message": "The request requires authentication."}}),
                "The request requires authentication.",
            ),
            (fault.clone(), "Cluster a could not be found."),
            (
                json!({"faultstring": fault.to_string()}),
                "Cluster a could not be found.",
            ),
            (
                json!({"error_message": fault.to_string()}),
                "Cluster a could not be found.",
            ),
            (
                json!({"error_message": fault}),
                "Cluster a could not be found.",
            ),
            (
                json!({"badRequest": {"code": 400, "message": "marker not found"}}),
                "marker not found",
            ),
            (
                json!({"NeutronError": {"type": "OverQuota", "detail": "",
                    "message": "Quota exceeded for resources: ['port']."}}),
                "Quota exceeded for resources: ['port'].",
            ),
            (
                json!({"code": 404, "title": "Not Found",
                    "explanation": "The resource could not be found.",
                    "error": {"type": "EntityNotFound", "traceback": null,
                        "message": "The Stack (x) could not be found."}}),
                "The Stack (x) could not be found.",
            ),
            (
                json!({"message": "No image found", "code": "404 Not Found"}),
                "No image found",
            ),
        ] {
            assert_eq!(message(&body).as_deref(), Some(text), "{body}");
        }
    }

    #[test]
    fn an_error_without_a_text_is_still_the_services_own() {
        let body = json!({"errors": [{"request_id": "", "code": "", "status": 406, "title": "",
                                      "detail": "", "links": []}]});
        assert_eq!(message(&body).as_deref(), Some(""));
    }

    #[test]
    fn pages_of_proxies_and_other_json_are_not_errors_of_a_service() {
        for body in [
            "<html>404</html>",
            "",
            "null",
            "[]",
            "{}",
            "\"x\"",
            r#"{"clusters": []}"#,
        ] {
            assert_eq!(read(body.as_bytes()), None, "{body}");
        }
    }

    #[test]
    fn the_versions_of_a_refusal_are_read() {
        let body = json!({"errors": [{"max_version": "1.11", "min_version": "1.1", "links": [],
            "code": "magnum.microversion-unsupported",
            "title": "Requested microversion is unsupported"}]});
        let fault = read(body.to_string().as_bytes()).unwrap();
        assert_eq!(fault.versions.unwrap().to_string(), "1.1 to 1.11");
        assert_eq!(fault.message, "Requested microversion is unsupported");
    }

    #[test]
    fn a_message_is_short_and_on_one_line_and_nesting_ends() {
        let long = json!({"faultstring": format!("a\nb{}", "x".repeat(5000))});
        let text = message(&long).unwrap();
        assert!(text.starts_with("a bx") && text.chars().count() == MAX_MESSAGE_CHARS);
        let mut nested = json!({"faultstring": "deep"});
        for _ in 0..20 {
            nested = json!({"faultstring": nested.to_string()});
        }
        assert!(message(&nested).is_some());
    }
}

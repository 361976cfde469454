//! The required form of a value, with an example: for error messages about values of another type
//! or form.
use figment::error::Actual;
use std::borrow::Cow;

const LIST: &str = "a list";
const TABLE: &str = "a table";
const DURATION: &str = "a time with its unit (ms, s, m, h or d)";

/// Returns the message for `actual` where serde expected something else, in serde's words
/// `expected`. For a value from the environment, `variable` is its name, so that the example can be
/// copied.
pub(super) fn message(actual: &Actual, expected: &str, variable: Option<&str>) -> String {
    let (form, in_file, in_variable) = form_of(expected);
    let found = found(actual, &form);
    // a key outside of any section has no variable
    let settable = variable.is_none_or(|name| name.contains("__"));
    let example = match variable {
        Some(name) if settable && !in_variable.is_empty() => {
            format!(", such as {name}={in_variable}")
        }
        None if !in_file.is_empty() => format!(", such as {in_file}"),
        _ => String::new(),
    };
    let advice = match (variable, actual, &*form) {
        (Some(_), ..) if !settable => "; this key can be written in a file only",
        (Some(_), Actual::Map, LIST) => {
            "; a variable holds the whole list: its items have no variables of their own"
        }
        (Some(_), _, TABLE) => "; tables are easier to write in a file",
        _ => "",
    };
    format!("must be {form}{example}, not {found}{advice}")
}

/// Returns the form in words, with an example for a file and one for a variable.
fn form_of(expected: &str) -> (Cow<'static, str>, &'static str, &'static str) {
    let (form, in_file, in_variable) = match expected {
        "a duration" => (DURATION, r#""30s" or "1h 30m""#, "30s"),
        "a sequence" => (LIST, r#"["a", "b"]"#, "a,b"),
        "a boolean" => ("true or false", "", ""),
        "a string" | "path string" => ("a text", r#""text""#, ""),
        "socket address" => (
            "an address to listen on (IP:PORT)",
            r#""127.0.0.1:8080""#,
            "127.0.0.1:8080",
        ),
        "u8" => ("a whole number from 0 to 255", "", ""),
        "u16" => ("a whole number from 0 to 65535", "", ""),
        "u32" => ("a whole number from 0 to 4294967295", "", ""),
        "a nonzero u32" => ("a whole number from 1 to 4294967295", "", ""),
        "u64" | "u128" | "usize" => ("a whole number that is not negative", "", ""),
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => ("a whole number", "", ""),
        "f32" | "f64" => ("a number", "", ""),
        other if other == "a map" || other.starts_with("struct ") => {
            (TABLE, r#"{ key = "value" }"#, r#"{key="value"}"#)
        }
        other => return (Cow::Owned(other.to_owned()), "", ""),
    };
    (Cow::Borrowed(form), in_file, in_variable)
}

/// Returns a description of the value. A text is repeated only if a number or a time was expected:
/// others may be secrets.
fn found(actual: &Actual, form: &str) -> String {
    match actual {
        Actual::Bool(value) => format!("`{value}`"),
        Actual::Unsigned(value) => format!("`{value}`"),
        Actual::Signed(value) => format!("`{value}`"),
        Actual::Float(value) => format!("`{value}`"),
        Actual::Str(value) if form == DURATION || form.contains("number") => format!("`{value}`"),
        Actual::Str(_) | Actual::Char(_) | Actual::Bytes(_) => "a text".to_owned(),
        Actual::Seq => LIST.to_owned(),
        Actual::Map => TABLE.to_owned(),
        _ => "this".to_owned(),
    }
}

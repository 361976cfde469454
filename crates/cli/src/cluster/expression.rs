//! `-o jsonpath=…` in the dialect of kubectl, and `-o template=…` in that of Jinja.
use super::error::ClusterError;
use jsonpath_rust::JsonPath as _;
use minijinja::Environment;
use serde_json::Value;

/// A part of an expression.
#[derive(Debug)]
enum Part {
    Text(String),
    /// The values at a path (RFC 9535), with spaces between them.
    Path(String),
    /// The parts for each value at a path.
    Range {
        path: String,
        body: Vec<Part>,
    },
}

/// Checks a JSONPath expression, before anything is asked.
///
/// # Errors
/// What is wrong, as a sentence.
pub fn check_json_path(text: &str) -> Result<(), String> {
    parse(text).map(drop)
}

/// Checks a template, before anything is asked.
///
/// # Errors
/// What is wrong, as a sentence.
pub fn check_template(text: &str) -> Result<(), String> {
    let checked = Environment::new().template_from_str(text).map(drop);
    checked.map_err(|error| format!("the template is invalid: {error}"))
}

/// Returns whether the first path of an expression begins at an array, as in `{[0].name}`.
pub fn has_array_root(text: &str) -> bool {
    let inner = text.split_once('{').map_or(text, |(_, inner)| inner);
    let inner = inner.trim_start();
    let path = inner.strip_prefix("range ").unwrap_or(inner).trim_start();
    let path = path.strip_prefix(['$', '@']).unwrap_or(path);
    path.starts_with('[')
}

/// Evaluates a JSONPath expression. The text ends with a line break, unless it is empty.
///
/// # Errors
/// [`ClusterError::Usage`] if the expression is invalid.
pub fn json_path(text: &str, root: &Value) -> Result<String, ClusterError> {
    let parts = parse(text).map_err(ClusterError::Usage)?;
    let mut rendered = String::new();
    render(&parts, root, &mut rendered).map_err(ClusterError::Usage)?;
    Ok(with_line_break(rendered))
}

/// Renders a template, whose variables are the fields of `root`. The text ends with a line break, unless it
/// is empty.
///
/// # Errors
/// [`ClusterError::Usage`] if the template is invalid, or reads a field of what has none.
pub fn template(text: &str, root: &Value) -> Result<String, ClusterError> {
    let rendered = Environment::new().render_str(text, root);
    rendered
        .map(with_line_break)
        .map_err(|error| ClusterError::Usage(format!("the template cannot be rendered: {error}")))
}

fn with_line_break(mut text: String) -> String {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

fn parse(text: &str) -> Result<Vec<Part>, String> {
    if !text.contains('{') {
        return Ok(vec![Part::Path(path(text)?)]);
    }
    // the paths of ranges, and what is before each
    let mut open: Vec<(String, Vec<Part>)> = Vec::new();
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        if !before.is_empty() {
            parts.push(Part::Text(before.to_owned()));
        }
        let closed = closed(after);
        let (inner, left) = closed.ok_or_else(|| format!("{{{after} has no closing brace"))?;
        rest = left;
        let inner = inner.trim();
        if inner == "end" {
            let (path, outer) = open.pop().ok_or("{end} has no {range …}")?;
            let body = std::mem::replace(&mut parts, outer);
            parts.push(Part::Range { path, body });
        } else if let Some(of_range) = inner.strip_prefix("range ") {
            open.push((path(of_range)?, std::mem::take(&mut parts)));
        } else if inner.starts_with(['"', '\'']) {
            parts.push(Part::Text(literal(inner)?));
        } else {
            parts.push(Part::Path(path(inner)?));
        }
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest.to_owned()));
    }
    match open.pop() {
        Some((path, _)) => Err(format!("{{range {path}}} has no {{end}}")),
        None => Ok(parts),
    }
}

/// Splits a text at the brace that closes it; braces in quotes do not count.
fn closed(text: &str) -> Option<(&str, &str)> {
    let mut quote = None;
    for (position, letter) in text.char_indices() {
        match quote {
            Some(open) if letter == open => quote = None,
            Some(_) => {}
            None if matches!(letter, '"' | '\'') => quote = Some(letter),
            None if letter == '}' => {
                return Some((text.get(..position)?, text.get(position + 1..)?));
            }
            None => {}
        }
    }
    None
}

/// Returns what a text in quotes stands for.
fn literal(text: &str) -> Result<String, String> {
    let quote = text.chars().next().unwrap_or('"');
    let inner = text
        .strip_prefix(quote)
        .and_then(|inner| inner.strip_suffix(quote));
    let inner = inner.ok_or_else(|| format!("{text} has no closing quote"))?;
    let mut written = String::new();
    let mut letters = inner.chars();
    while let Some(letter) = letters.next() {
        written.push(match letter {
            '\\' => match letters.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some(other) => other,
                None => '\\',
            },
            other => other,
        });
    }
    Ok(written)
}

/// Returns kubectl's path as one of RFC 9535.
fn path(text: &str) -> Result<String, String> {
    let text = text.trim();
    let below = text.strip_prefix(['$', '@']).unwrap_or(text);
    let path = match below {
        // the whole
        "" | "." => "$".to_owned(),
        below => format!("${below}"),
    };
    query(&Value::Null, &path).map(drop).map_err(|_| {
        format!("{text:?} is not a path such as .items[*].name or .items[?(@.name==\"shop\")].uuid")
    })?;
    Ok(path)
}

fn query<'a>(root: &'a Value, path: &str) -> Result<Vec<&'a Value>, String> {
    root.query(path).map_err(|error| error.to_string())
}

fn render(parts: &[Part], root: &Value, rendered: &mut String) -> Result<(), String> {
    for part in parts {
        match part {
            Part::Text(text) => rendered.push_str(text),
            Part::Path(path) => {
                let texts: Vec<_> = query(root, path)?.into_iter().map(shown).collect();
                rendered.push_str(&texts.join(" "));
            }
            Part::Range { path, body } => {
                for item in query(root, path)? {
                    render(body, item, rendered)?;
                }
            }
        }
    }
    Ok(())
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn list() -> Value {
        json!({"items": [
            {"name": "shop", "status": "CREATE_COMPLETE", "node_count": 3, "labels": {"a": "1"}},
            {"name": "lab", "status": "UPDATE_FAILED", "node_count": null}
        ]})
    }

    fn evaluated(text: &str) -> String {
        json_path(text, &list()).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn paths_of_kubectl_are_evaluated() {
        for (text, expected) in [
            ("{.items[*].name}", "shop lab\n"),
            ("{.items[0].name}", "shop\n"),
            ("{.items[-1].name}", "lab\n"),
            ("{$.items[1].status}", "UPDATE_FAILED\n"),
            (".items[*].node_count", "3 \n"),
            ("{.items[?(@.status==\"UPDATE_FAILED\")].name}", "lab\n"),
            ("{.items[?(@.node_count > 2)].name}", "shop\n"),
            ("{.items[0].labels}", "{\"a\":\"1\"}\n"),
            ("{.items[*].nothing}", ""),
        ] {
            assert_eq!(evaluated(text), expected, "{text}");
        }
    }

    #[test]
    fn ranges_and_literals_are_those_of_kubectl() {
        let text = "{range .items[*]}{.name}{\"\\t\"}{@.status}{\"\\n\"}{end}";
        let expected = "shop\tCREATE_COMPLETE\nlab\tUPDATE_FAILED\n";
        assert_eq!(evaluated(text), expected);
        assert_eq!(evaluated("first: {.items[0].name}."), "first: shop.\n");
    }

    #[test]
    fn an_expression_that_cannot_be_read_is_refused_before_anything_is_asked() {
        for text in [
            "{.items[*}",
            "{.items[*].name",
            "{range .items[*]}{.name}",
            "{end}",
            "{name}",
            "{\"a}",
        ] {
            assert!(check_json_path(text).is_err(), "{text}");
        }
        assert!(check_template("{{ name }").is_err());
        assert!(check_template("{% for one in items %}{{ one.name }}{% endfor %}").is_ok());
    }

    #[test]
    fn a_list_is_an_array_where_the_path_begins_at_one() {
        for text in ["{[0].name}", "{range [*]}{.name}{end}", "$[*].name", "[0]"] {
            assert!(has_array_root(text), "{text}");
        }
        for text in ["{.items[0].name}", "{range .items[*]}{.name}{end}", "{.}"] {
            assert!(!has_array_root(text), "{text}");
        }
    }

    #[test]
    fn a_template_reads_fields_and_escapes_nothing() {
        let text = "{% for one in items %}<{{ one.name }}>{% endfor %}";
        assert_eq!(template(text, &list()).unwrap(), "<shop><lab>\n");
        let error = template("{{ nothing.name }}", &list()).unwrap_err();
        assert!(error.to_string().contains("cannot be rendered"), "{error}");
    }
}

//! Reads YAML from untrusted authors within limits.
//!
//! A short YAML text can describe a huge value: aliases repeat what an anchor names, nested aliases
//! multiply, and a long run of brackets costs a parser time and stack. [`from_str`] therefore walks
//! over the events of the text first and refuses anchors, aliases, tags, merge keys, several
//! documents, deep nesting and too many nodes; only what passes is deserialised. Both steps use one
//! parser (`granit-parser`, as `serde-saphyr` exports it), so that the check and the reader never
//! interpret a text differently, and `serde-saphyr` counts against the same limits once more.
//!
//! `serde-saphyr` was chosen because it has such budgets, contains no `unsafe` code, is maintained,
//! and is compiled anyway as a dependency of `kube`. `serde_norway`, which writes YAML elsewhere in
//! Portico, expands aliases while it deserialises and needs quadratic time for nested brackets.
use serde::de::DeserializeOwned;
use serde_saphyr::granit_parser::{ErrorKind, Event, Parser, ScalarStyle, Span};
use serde_saphyr::options::{MergeKeyPolicy, NonFiniteFloatPolicy};
use serde_saphyr::{Budget, Options};
use std::fmt::Write as _;

/// Maximum length of a parser's message in an error, in characters.
const MAX_MESSAGE_CHARS: usize = 300;
/// A configuration file of a user: `clouds.yaml` or a kubeconfig.
const USER_FILE: Limits = Limits {
    max_bytes: 1024 * 1024,
    max_depth: 64,
    max_nodes: 100_000,
};
/// Maximum number of nodes that aliases may repeat in a user's own file.
const MAX_REPEATED_NODES: usize = 10_000;

/// Limits of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum size of the text, in bytes.
    pub max_bytes: usize,
    /// Maximum nesting depth of lists and mappings.
    pub max_depth: usize,
    /// Maximum number of lists, mappings, keys and values.
    pub max_nodes: usize,
}

/// The reason why a text was not read. Messages hold no control characters and have a bounded
/// length.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum YamlError {
    /// The text is too long.
    #[error("larger than {max_bytes} bytes")]
    TooLarge { max_bytes: usize },
    /// Lists and mappings are nested too deeply.
    #[error("line {line}: nested more than {max_depth} levels deep")]
    TooDeep { line: usize, max_depth: usize },
    /// There are too many values.
    #[error("line {line}: more than {max_nodes} keys and values")]
    TooManyNodes { line: usize, max_nodes: usize },
    /// An anchor (`&name`) or an alias (`*name`).
    #[error(
        "line {line}: anchors (&name) and aliases (*name) are not accepted: write the value out, \
         and put text that starts with & or * in quotes"
    )]
    Reference { line: usize },
    /// A tag (`!name`).
    #[error(
        "line {line}: tags (!name) are not accepted: remove the tag, and put text that starts with \
         ! in quotes"
    )]
    Tag { line: usize },
    /// A merge key (`<<`).
    #[error("line {line}: merge keys (<<) are not accepted: write the keys out")]
    MergeKey { line: usize },
    /// More than one document.
    #[error("line {line}: a second document starts here; only one is accepted")]
    SecondDocument { line: usize },
    /// The text is not YAML, or not of the requested type.
    #[error("{0}")]
    Syntax(String),
}

/// Reads one document that holds no anchors, aliases, tags or merge keys.
///
/// # Errors
/// Returns [`YamlError::Syntax`] if the text is not YAML or not a `T`, and any other variant if it
/// exceeds `limits` or uses a feature that is not accepted.
pub fn from_str<T: DeserializeOwned>(text: &str, limits: Limits) -> Result<T, YamlError> {
    check(text, limits)?;
    let mut budget = budget(limits);
    budget.max_anchors = 0;
    budget.max_aliases = 0;
    budget.max_merge_keys = 0;
    let mut options = options(budget);
    options.merge_keys = MergeKeyPolicy::Error;
    options.reject_unsupported_tags = true;
    read(text, options)
}

/// Reads a configuration file of the user who runs this program. Other programs that read it accept
/// anchors, aliases and merge keys, so they are accepted here too, but repeat a bounded number of
/// values.
///
/// # Errors
/// Returns [`YamlError::TooLarge`] above 1 MiB, otherwise [`YamlError::Syntax`].
pub fn from_user_file<T: DeserializeOwned>(text: &str) -> Result<T, YamlError> {
    if text.len() > USER_FILE.max_bytes {
        return Err(YamlError::TooLarge {
            max_bytes: USER_FILE.max_bytes,
        });
    }
    let mut budget = budget(USER_FILE);
    budget.max_merge_keys = 1_000;
    budget.max_recorded_anchor_events = MAX_REPEATED_NODES;
    let mut options = options(budget);
    options.alias_limits.max_total_replayed_events = MAX_REPEATED_NODES;
    // a value that Portico does not use must not make the file unreadable
    options.non_finite_float_policy = NonFiniteFloatPolicy::AsString;
    read(text, options)
}

/// Reads the documents of a text that a user has written for other programs too: with bounded anchors,
/// aliases and merge keys, as in [`from_user_file`]. Empty documents are left out.
///
/// # Errors
/// Returns [`YamlError::TooLarge`] above `limits.max_bytes`, otherwise [`YamlError::Syntax`].
pub fn documents_from_str<T: DeserializeOwned>(
    text: &str,
    limits: Limits,
    max_documents: usize,
) -> Result<Vec<T>, YamlError> {
    if text.len() > limits.max_bytes {
        return Err(YamlError::TooLarge {
            max_bytes: limits.max_bytes,
        });
    }
    let mut budget = budget(limits);
    budget.max_documents = max_documents;
    budget.max_merge_keys = 1_000;
    budget.max_recorded_anchor_events = MAX_REPEATED_NODES;
    let mut options = options(budget);
    options.alias_limits.max_total_replayed_events = MAX_REPEATED_NODES;
    serde_saphyr::from_multiple_with_options(text, options)
        .map_err(|error| YamlError::Syntax(harmless(&error.to_string())))
}

fn budget(limits: Limits) -> Budget {
    let mut budget = Budget::default();
    budget.max_depth = limits.max_depth;
    budget.flow_nesting_limit = limits.max_depth;
    budget.max_nodes = limits.max_nodes;
    // each list and mapping has an end event too, and comments count
    budget.max_events = limits.max_nodes.saturating_mul(4);
    budget.max_total_scalar_bytes = limits.max_bytes;
    budget.max_documents = 1;
    budget
}

fn options(budget: Budget) -> Options {
    let mut options = Options::default();
    options.budget = Some(budget);
    options.emit_comments = false;
    options.with_snippet = false;
    // untyped values as in serde_yaml and kubectl
    options.strict_booleans = true;
    options.leading_zero_numbers_as_strings = true;
    options.underscored_numbers_as_strings = true;
    options
}

fn read<T: DeserializeOwned>(text: &str, options: Options) -> Result<T, YamlError> {
    serde_saphyr::from_str_with_options(text, options)
        .map_err(|error| YamlError::Syntax(harmless(&error.to_string())))
}

/// Iterates over the text's events without storing any.
fn check(text: &str, limits: Limits) -> Result<(), YamlError> {
    if text.len() > limits.max_bytes {
        return Err(YamlError::TooLarge {
            max_bytes: limits.max_bytes,
        });
    }
    let mut options = serde_saphyr::granit_parser::Options::default();
    options.flow_nesting_limit = limits.max_depth;
    options.block_nesting_limit = limits.max_depth;
    options.emit_unresolved_aliases = true;
    options.set_emit_comments(false);
    let (mut depth, mut nodes, mut documents) = (0_usize, 0_usize, 0_usize);
    for next in Parser::new_from_str_with_options(text, options) {
        let (event, span) = next.map_err(|error| match error.kind() {
            // the scanner reads ahead of the events
            ErrorKind::RecursionLimitExceeded => YamlError::TooDeep {
                line: error.marker().line(),
                max_depth: limits.max_depth,
            },
            _ => YamlError::Syntax(harmless(&error.to_string())),
        })?;
        let line = span.start.line();
        if event.is_node() {
            nodes += 1;
            if nodes > limits.max_nodes {
                return Err(YamlError::TooManyNodes {
                    line,
                    max_nodes: limits.max_nodes,
                });
            }
            refuse_features(&event, &span)?;
        }
        match event {
            Event::SequenceStart(..) | Event::MappingStart(..) => {
                depth += 1;
                if depth > limits.max_depth {
                    return Err(YamlError::TooDeep {
                        line,
                        max_depth: limits.max_depth,
                    });
                }
            }
            Event::SequenceEnd | Event::MappingEnd => depth = depth.saturating_sub(1),
            Event::DocumentStart(..) => {
                documents += 1;
                if documents > 1 {
                    return Err(YamlError::SecondDocument { line });
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn refuse_features(event: &Event<'_>, span: &Span) -> Result<(), YamlError> {
    let line = span.start.line();
    if matches!(event, Event::Alias(_) | Event::UnresolvedAlias(_)) || event.anchor_id().is_some() {
        return Err(YamlError::Reference { line });
    }
    if event.tag().is_some() {
        let line = span.tag_start.map_or(line, |start| start.line());
        return Err(YamlError::Tag { line });
    }
    if event.scalar() == Some(("<<", ScalarStyle::Plain)) {
        return Err(YamlError::MergeKey { line });
    }
    Ok(())
}

/// Returns a parser's message on one line of bounded length, without terminal control characters:
/// messages quote the text.
fn harmless(message: &str) -> String {
    let mut out = String::new();
    for (index, c) in message.chars().enumerate() {
        if index == MAX_MESSAGE_CHARS {
            out.push('…');
            break;
        }
        match c {
            '\n' => out.push(' '),
            c if is_control(c) => {
                // writing to a String cannot fail
                let _ = write!(out, "{}", c.escape_unicode());
            }
            c => out.push(c),
        }
    }
    out
}

/// Returns whether a character is a control character, or changes the direction of text.
fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use std::time::Duration;
    use tokio::time::Instant;

    const LIMITS: Limits = Limits {
        max_bytes: 256 * 1024,
        max_depth: 16,
        max_nodes: 20_000,
    };

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Settings {
        name: String,
        #[serde(default)]
        open: bool,
        #[serde(default)]
        values: Vec<String>,
    }

    fn refused(text: &str) -> YamlError {
        let started = Instant::now();
        let result = from_str::<serde_json::Value>(text, LIMITS);
        let took = started.elapsed();
        // milliseconds when optimised; a test build and a busy machine take longer
        assert!(took < Duration::from_secs(2), "{took:?}");
        result.unwrap_err()
    }

    #[test]
    fn yaml_and_json_are_read() {
        let expected = Settings {
            name: "a & b".to_owned(),
            open: true,
            values: vec!["*".to_owned(), "!x".to_owned(), "0755".to_owned()],
        };
        for text in [
            "# comment\nname: a & b\nopen: true\nvalues: ['*', \"!x\", 0755]\n",
            "---\nname: 'a & b'\nopen: true\nvalues:\n- \"*\"\n- '!x'\n- '0755'\n...\n",
            r#"{"name": "a & b", "open": true, "values": ["*", "!x", "0755"]}"#,
        ] {
            assert_eq!(from_str::<Settings>(text, LIMITS).as_ref(), Ok(&expected));
        }
    }

    #[test]
    fn several_documents_are_read_in_order_and_their_number_is_limited() {
        let text = "a: 1\n---\n# only a comment\n---\nb: &x [1]\nc: *x\n";
        let read = |max| documents_from_str::<serde_json::Value>(text, LIMITS, max);
        let found = read(10).unwrap();
        assert_eq!(
            found,
            [
                serde_json::json!({"a": 1}),
                serde_json::json!({"b": [1], "c": [1]})
            ]
        );
        assert!(matches!(read(1), Err(YamlError::Syntax(_))));
        let long = "a: 1\n".repeat(LIMITS.max_bytes);
        let refused = documents_from_str::<serde_json::Value>(&long, LIMITS, 1);
        assert!(matches!(refused, Err(YamlError::TooLarge { .. })));
    }

    #[test]
    fn finding_s1_what_multiplies_or_nests_is_refused_at_once() {
        let nested = format!("rules: {}", "[".repeat(200_000));
        assert!(matches!(
            refused(&nested),
            YamlError::TooDeep { line: 1, .. }
        ));
        for opening in ["{a: ", "[{a: ", "- ", "? ", "a:\n "] {
            let text = opening.repeat(256 * 1024 / opening.len());
            refused(&text);
        }
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..2_000 {
            let below = format!("*a{}", level - 1);
            let list = [below.as_str(); 10].join(", ");
            let _ = writeln!(bomb, "a{level}: &a{level} [{list}]");
        }
        assert!(bomb.len() > 100_000 && bomb.len() < LIMITS.max_bytes);
        assert_eq!(refused(&bomb), YamlError::Reference { line: 1 });
    }

    #[test]
    fn finding_s1_features_that_no_policy_needs_are_refused_with_their_line() {
        for (text, error) in [
            ("a: 1\nb: *a\n", YamlError::Reference { line: 2 }),
            ("a: &x 1\n", YamlError::Reference { line: 1 }),
            ("a: 1\nb: !!str 1\n", YamlError::Tag { line: 2 }),
            ("a: !secret x\n", YamlError::Tag { line: 1 }),
            ("a:\n  <<: {b: 1}\n", YamlError::MergeKey { line: 2 }),
            ("a: 1\n---\nb: 1\n", YamlError::SecondDocument { line: 2 }),
        ] {
            assert_eq!(refused(text), error, "{text}");
        }
        let many = format!("[{}]", vec!["1"; LIMITS.max_nodes].join(","));
        assert!(matches!(refused(&many), YamlError::TooManyNodes { .. }));
        let long = format!("# {}", "x".repeat(LIMITS.max_bytes));
        let max_bytes = LIMITS.max_bytes;
        assert_eq!(refused(&long), YamlError::TooLarge { max_bytes });
    }

    #[test]
    fn finding_s1_no_text_within_the_size_takes_long() {
        let size = LIMITS.max_bytes - 16;
        for piece in [
            "#\n",
            "- a\n",
            "a: b\n",
            "? a\n: b\n",
            "a b\n ",
            ">\n",
            "[],",
            "a: b,",
            "'",
            "\"",
            "\r",
            ": ",
        ] {
            for before in ["", "[", "\"", "? "] {
                let text = format!("{before}{}", piece.repeat(size / piece.len()));
                let started = Instant::now();
                let _ = from_str::<Settings>(&text, LIMITS);
                let took = started.elapsed();
                assert!(
                    took < Duration::from_secs(2),
                    "{before:?} {piece:?} {took:?}"
                );
            }
        }
    }

    #[test]
    fn attack_messages_hold_no_control_characters_and_are_bounded() {
        let hostile = "\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}";
        for text in [
            format!("name: x\n\"{}\": 1\n", "\\e]0;owned\\a\\x9B31m\\u202E"),
            format!("name: x\n? {hostile}\n: 1\n"),
            format!("name: x\n'{}': 1\n", "k".repeat(100_000)),
        ] {
            let message = from_str::<Settings>(&text, LIMITS).unwrap_err().to_string();
            assert!(!message.chars().any(is_control), "{message:?}");
            assert!(
                message.chars().count() < MAX_MESSAGE_CHARS + 100,
                "{message}"
            );
        }
    }

    #[test]
    fn a_users_file_may_repeat_a_little() {
        let text = "base: &b {region: one}\nclouds:\n  acme:\n    <<: *b\n    auth: *b\n";
        let read: serde_json::Value = from_user_file(text).unwrap();
        assert_eq!(read["clouds"]["acme"]["region"], "one");
        assert_eq!(read["clouds"]["acme"]["auth"]["region"], "one");
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..20 {
            let below = format!("*a{}", level - 1);
            let list = [below.as_str(); 10].join(", ");
            let _ = writeln!(bomb, "a{level}: &a{level} [{list}]");
        }
        assert!(from_user_file::<serde_json::Value>(&bomb).is_err());
        assert!(from_user_file::<serde_json::Value>(&"[".repeat(200_000)).is_err());
    }
}

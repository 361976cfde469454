//! Label selectors: their validation, and their evaluation over rows that the server has cached. The
//! grammar and the meaning are the API server's (`k8s.io/apimachinery/pkg/labels`), so that what is
//! valid and selected here is valid and selected there.
use std::{iter::Peekable, str::Chars};

/// Maximum length of a label key's name, and of a value, in bytes.
const MAX_NAME_BYTES: usize = 63;
/// Maximum length of a label key's prefix, in bytes.
const MAX_PREFIX_BYTES: usize = 253;

/// The reason why a text is not a label selector.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectorError {
    #[error("Expected {expected}, found {found}.")]
    Unexpected {
        expected: &'static str,
        /// The part of the text in quotes, or "the end".
        found: String,
    },
    #[error(
        "\"{0}\" is not a label key: up to 63 letters, digits, \"-\", \"_\" and \".\", beginning and \
         ending with a letter or digit, with an optional domain and \"/\" before them."
    )]
    Key(String),
    #[error(
        "\"{0}\" is not a label value: up to 63 letters, digits, \"-\", \"_\" and \".\", beginning and \
         ending with a letter or digit."
    )]
    Value(String),
    #[error("\"{0}\" is not a whole number, which < and > compare with.")]
    Number(String),
}

/// A parsed label selector.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LabelSelector(Vec<Requirement>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Requirement {
    key: String,
    condition: Condition,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Condition {
    Exists,
    Absent,
    In(Vec<String>),
    NotIn(Vec<String>),
    Less(i64),
    Greater(i64),
}

impl LabelSelector {
    /// Parses a label selector. An empty one selects everything.
    ///
    /// # Errors
    /// `Unexpected` if the text does not follow the grammar; `Key`, `Value` and `Number` if a part
    /// of it is not valid at its place.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        let mut tokens = Tokens::new(text);
        let mut requirements = Vec::new();
        if matches!(tokens.peek(), Token::End) {
            return Ok(Self(requirements));
        }
        loop {
            requirements.push(requirement(&mut tokens)?);
            match tokens.next() {
                Token::End => return Ok(Self(requirements)),
                Token::Comma => {}
                other => return Err(other.instead_of("a comma or the end")),
            }
        }
    }

    /// Returns whether labels meet every requirement. An absent label meets `!=` and `notin`.
    pub fn matches(&self, labels: &[(String, String)]) -> bool {
        self.0.iter().all(|requirement| {
            let value = labels
                .iter()
                .find(|(key, _)| *key == requirement.key)
                .map(|(_, value)| value.as_str());
            requirement.condition.is_met(value)
        })
    }
}

impl Condition {
    fn is_met(&self, value: Option<&str>) -> bool {
        let number = || value.and_then(|value| value.parse::<i64>().ok());
        match self {
            Self::Exists => value.is_some(),
            Self::Absent => value.is_none(),
            Self::In(values) => value.is_some_and(|value| values.iter().any(|one| one == value)),
            Self::NotIn(values) => value.is_none_or(|value| values.iter().all(|one| one != value)),
            Self::Less(limit) => number().is_some_and(|number| number < *limit),
            Self::Greater(limit) => number().is_some_and(|number| number > *limit),
        }
    }
}

/// Checks a label selector.
///
/// # Errors
/// Those of [`LabelSelector::parse`].
pub fn check(text: &str) -> Result<(), SelectorError> {
    LabelSelector::parse(text).map(drop)
}

/// Checks the key of a label.
///
/// # Errors
/// `Key` if Kubernetes would refuse it.
pub fn check_key(text: &str) -> Result<(), SelectorError> {
    key(text.to_owned()).map(drop)
}

/// Checks the value of a label, which may be empty.
///
/// # Errors
/// `Value` if Kubernetes would refuse it.
pub fn check_value(text: &str) -> Result<(), SelectorError> {
    value(text.to_owned()).map(drop)
}

fn requirement(tokens: &mut Tokens<'_>) -> Result<Requirement, SelectorError> {
    let negated = matches!(tokens.peek(), Token::Not);
    if negated {
        tokens.next();
    }
    let key = key(tokens.next().word("a label key")?)?;
    if negated {
        let condition = Condition::Absent;
        return Ok(Requirement { key, condition });
    }
    if matches!(tokens.peek(), Token::End | Token::Comma) {
        let condition = Condition::Exists;
        return Ok(Requirement { key, condition });
    }
    let condition = match tokens.next() {
        Token::Equals => Condition::In(vec![single_value(tokens)?]),
        Token::NotEquals => Condition::NotIn(vec![single_value(tokens)?]),
        Token::Less => Condition::Less(number(tokens)?),
        Token::Greater => Condition::Greater(number(tokens)?),
        Token::Word(word) if word == "in" => Condition::In(values(tokens)?),
        Token::Word(word) if word == "notin" => Condition::NotIn(values(tokens)?),
        other => return Err(other.instead_of("=, !=, in or notin")),
    };
    Ok(Requirement { key, condition })
}

/// Parses the value after `=` and `!=`, which may be empty.
fn single_value(tokens: &mut Tokens<'_>) -> Result<String, SelectorError> {
    if matches!(tokens.peek(), Token::End | Token::Comma) {
        return Ok(String::new());
    }
    value(tokens.next().word("a label value")?)
}

fn number(tokens: &mut Tokens<'_>) -> Result<i64, SelectorError> {
    let number = tokens.next().word("a whole number")?;
    number.parse().map_err(|_| SelectorError::Number(number))
}

/// Parses `(a,b)`; a value may be empty, and `()` is the set of the empty value, as for the API
/// server.
fn values(tokens: &mut Tokens<'_>) -> Result<Vec<String>, SelectorError> {
    match tokens.next() {
        Token::Open => {}
        other => return Err(other.instead_of("\"(\"")),
    }
    let mut found = Vec::new();
    // whether a comma or the end has to follow a value
    let mut is_complete = false;
    loop {
        match tokens.next() {
            Token::Word(word) => {
                found.push(value(word)?);
                is_complete = true;
                match tokens.peek() {
                    Token::Comma | Token::Close => {}
                    _ => return Err(tokens.next().instead_of("a comma or \")\"")),
                }
            }
            Token::Comma => {
                if !is_complete {
                    found.push(String::new());
                }
                is_complete = false;
            }
            Token::Close => {
                if !is_complete {
                    found.push(String::new());
                }
                return Ok(found);
            }
            other => return Err(other.instead_of("a label value")),
        }
    }
}

fn key(text: String) -> Result<String, SelectorError> {
    let (prefix, name) = match text.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, text.as_str()),
    };
    let is_label = |label: &str| {
        let inside = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        !label.is_empty()
            && label.chars().all(inside)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let prefix_fits = prefix
        .is_none_or(|prefix| prefix.len() <= MAX_PREFIX_BYTES && prefix.split('.').all(is_label));
    if prefix_fits && !name.is_empty() && is_name(name) {
        Ok(text)
    } else {
        Err(SelectorError::Key(text))
    }
}

fn value(text: String) -> Result<String, SelectorError> {
    if is_name(&text) {
        Ok(text)
    } else {
        Err(SelectorError::Value(text))
    }
}

fn is_name(text: &str) -> bool {
    let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let end = |c: Option<char>| c.is_none_or(|c| c.is_ascii_alphanumeric());
    text.len() <= MAX_NAME_BYTES
        && text.chars().all(inside)
        && end(text.chars().next())
        && end(text.chars().next_back())
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Comma,
    Open,
    Close,
    Not,
    Equals,
    NotEquals,
    Less,
    Greater,
    End,
}

impl Token {
    fn word(self, expected: &'static str) -> Result<String, SelectorError> {
        match self {
            Self::Word(word) => Ok(word),
            other => Err(other.instead_of(expected)),
        }
    }

    fn instead_of(self, expected: &'static str) -> SelectorError {
        let found = match self {
            Self::Word(word) => format!("\"{word}\""),
            Self::Comma => "a comma".to_owned(),
            Self::Open => "\"(\"".to_owned(),
            Self::Close => "\")\"".to_owned(),
            Self::Not => "\"!\"".to_owned(),
            Self::Equals => "\"=\"".to_owned(),
            Self::NotEquals => "\"!=\"".to_owned(),
            Self::Less => "\"<\"".to_owned(),
            Self::Greater => "\">\"".to_owned(),
            Self::End => "the end".to_owned(),
        };
        SelectorError::Unexpected { expected, found }
    }
}

struct Tokens<'a> {
    rest: Peekable<Chars<'a>>,
    ahead: Token,
}

impl<'a> Tokens<'a> {
    fn new(text: &'a str) -> Self {
        let mut tokens = Self {
            rest: text.chars().peekable(),
            ahead: Token::End,
        };
        tokens.ahead = tokens.read();
        tokens
    }

    fn peek(&self) -> &Token {
        &self.ahead
    }

    fn next(&mut self) -> Token {
        let following = self.read();
        std::mem::replace(&mut self.ahead, following)
    }

    fn read(&mut self) -> Token {
        while self.rest.next_if(|c| is_space(*c)).is_some() {}
        let Some(first) = self.rest.next() else {
            return Token::End;
        };
        match first {
            ',' => Token::Comma,
            '(' => Token::Open,
            ')' => Token::Close,
            '<' => Token::Less,
            '>' => Token::Greater,
            '=' => {
                self.rest.next_if_eq(&'=');
                Token::Equals
            }
            '!' if self.rest.next_if_eq(&'=').is_some() => Token::NotEquals,
            '!' => Token::Not,
            first => {
                let mut word = String::from(first);
                while let Some(c) = self.rest.next_if(|c| !is_space(*c) && !is_sign(*c)) {
                    word.push(c);
                }
                Token::Word(word)
            }
        }
    }
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

fn is_sign(c: char) -> bool {
    matches!(c, '=' | '!' | '(' | ')' | ',' | '<' | '>')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Selectors that the API server accepts or refuses; `server/tests/services/lists.rs` asks a
    /// real one.
    const EXAMPLES: [(&str, bool); 37] = [
        ("", true),
        ("  ", true),
        ("app", true),
        ("!app", true),
        ("! app", true),
        ("app=web", true),
        ("app==web", true),
        ("app = web", true),
        ("app=", true),
        ("app=,tier=db", true),
        ("app!=web", true),
        ("app=web,tier!=db", true),
        ("tier in (web,db)", true),
        ("tier in(web)", true),
        ("tier notin (web, db)", true),
        ("tier in (,web)", true),
        ("tier in (web,)", true),
        ("in in (in)", true),
        ("app.kubernetes.io/name=shop", true),
        ("count>3", true),
        ("count<3", true),
        ("==nope(", false),
        ("app in", false),
        ("app in (", false),
        ("app in (web", false),
        ("app in ()", true),
        ("app web", false),
        ("app=web,", false),
        ("app=web tier=db", false),
        (",", false),
        ("=web", false),
        ("app=-web", false),
        ("-app=web", false),
        ("a/b/c=web", false),
        ("App.Io/x=web", false),
        ("count>many", false),
        ("!app=web", false),
    ];

    #[test]
    fn finding_p13_selectors_are_valid_where_the_api_server_takes_them() {
        for (text, valid) in EXAMPLES {
            assert_eq!(check(text).is_ok(), valid, "{text:?}: {:?}", check(text));
        }
        let long = "x".repeat(64);
        assert_eq!(
            check(&format!("app={long}")),
            Err(SelectorError::Value(long.clone()))
        );
        assert_eq!(check(&long), Err(SelectorError::Key(long)));
    }

    /// `server/tests/services/lists.rs` compares these with a real API server.
    #[test]
    fn a_selector_selects_the_labels_that_the_api_server_does() {
        let labels = [("app", "web"), ("tier", ""), ("count", "7")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()));
        for (text, selected) in [
            ("", true),
            ("app", true),
            ("missing", false),
            ("!app", false),
            ("!missing", true),
            ("app=web", true),
            ("app==db", false),
            ("missing=", false),
            ("tier=", true),
            ("app!=db", true),
            ("app!=web", false),
            ("missing!=web", true),
            ("app in (db,web)", true),
            ("app in (db)", false),
            ("tier in (db,)", true),
            ("tier in (db)", false),
            ("tier in ()", true),
            ("app notin (db)", true),
            ("app notin (web,db)", false),
            ("missing notin (web)", true),
            ("tier notin (,db)", false),
            ("count>6", true),
            ("count>7", false),
            ("count<8", true),
            ("app>1", false),
            ("missing<1", false),
            ("app=web,count>6", true),
            ("app=web,!tier", false),
        ] {
            let selector = LabelSelector::parse(text).unwrap();
            assert_eq!(selector.matches(&labels), selected, "{text:?}");
        }
    }

    #[test]
    fn finding_p13_a_wrong_selector_is_explained() {
        for (text, message) in [
            ("==nope(", "Expected a label key, found \"=\"."),
            ("app in (", "Expected a label value, found the end."),
            ("app web", "Expected =, !=, in or notin, found \"web\"."),
            ("app=web)", "Expected a comma or the end, found \")\"."),
            (
                "n>x",
                "\"x\" is not a whole number, which < and > compare with.",
            ),
        ] {
            assert_eq!(check(text).unwrap_err().to_string(), message, "{text}");
        }
    }
}

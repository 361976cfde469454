//! One header of `[apps.identity.headers]`, and which names may be used.
use http::HeaderName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Fact, IdentityFault};

const LONGEST_NAME: usize = 64;
const LONGEST_TEXT: usize = 1024;

/// Names with a meaning of their own: for HTTP, for Kubernetes, or said by Portico already.
const TAKEN: [&str; 38] = [
    "age",
    "alt-svc",
    "authorization",
    "cache-control",
    "connection",
    "cookie",
    "date",
    "dnt",
    "expect",
    "forwarded",
    "from",
    "host",
    "http2-settings",
    "keep-alive",
    "last-event-id",
    "link",
    "location",
    "max-forwards",
    "origin",
    "pragma",
    "range",
    "referer",
    "set-cookie",
    "set-cookie2",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "via",
    "warning",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-port",
    "x-forwarded-prefix",
    "x-forwarded-proto",
    "x-forwarded-server",
    "x-request-id",
];
const TAKEN_PREFIXES: [&str; 12] = [
    "accept",
    "access-control-",
    "content-",
    "if-",
    "impersonate-",
    "portico-",
    "proxy-",
    "sec-",
    "trace",
    "x-http-method",
    "x-original-",
    "x-rewrite-",
];

/// Claims that are about the token and not about the user (RFC 7519 4.1).
const REGISTERED: [&str; 6] = ["iss", "aud", "exp", "iat", "nbf", "jti"];

/// Where a header's value comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "HeaderText", into = "HeaderText")]
pub struct HeaderFrom {
    /// What is told.
    pub content: Content,
    /// What stands between the entries of a list; a comma unless told otherwise.
    pub separator: Option<char>,
    /// A line of its own for each entry of a list.
    pub lines: bool,
    /// The entries of a list that the app is told about; empty: all.
    pub only: Vec<String>,
    /// Whether somebody of whom it is not known is refused.
    pub required: bool,
}

/// What a header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Something known about who is asking.
    Fact(Fact),
    /// The same for everybody who is signed in.
    Text(String),
}

/// A header's value as it is written: the fact alone, or a table.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum HeaderText {
    /// What the header says.
    Fact(Fact),
    /// The same with details.
    Table(HeaderTable),
}

/// A header's value with details.
#[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct HeaderTable {
    /// What the header says.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Fact>,
    /// The same text for everybody, in place of `value`.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Between the entries of a list; a comma unless told otherwise. Whoever has an entry with
    /// this character in it is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    separator: Option<char>,
    /// A line of its own for each entry of a list, commas in it encoded.
    lines: bool,
    /// The entries of a list that the app is told about. Empty: all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    only: Vec<String>,
    /// Refuses people of whom it is not known.
    required: bool,
}

impl TryFrom<HeaderText> for HeaderFrom {
    type Error = &'static str;

    fn try_from(text: HeaderText) -> Result<Self, Self::Error> {
        let table = match text {
            HeaderText::Fact(fact) => HeaderTable {
                value: Some(fact),
                ..HeaderTable::default()
            },
            HeaderText::Table(table) => table,
        };
        let content = match (table.value, table.text) {
            (Some(fact), None) => Content::Fact(fact),
            (None, Some(text)) => Content::Text(text),
            _ => return Err("a header has either value or text"),
        };
        Ok(Self {
            content,
            separator: table.separator,
            lines: table.lines,
            only: table.only,
            required: table.required,
        })
    }
}

impl From<HeaderFrom> for HeaderText {
    fn from(from: HeaderFrom) -> Self {
        let (value, text) = match from.content {
            Content::Fact(fact) => (Some(fact), None),
            Content::Text(text) => (None, Some(text)),
        };
        Self::Table(HeaderTable {
            value,
            text,
            separator: from.separator,
            lines: from.lines,
            only: from.only,
            required: from.required,
        })
    }
}

impl HeaderFrom {
    pub(super) fn validate(&self, name: &str) -> Result<(), IdentityFault> {
        let is_list = matches!(self.content, Content::Fact(fact) if fact.is_list());
        let for_lists = self.separator.is_some() || self.lines || !self.only.is_empty();
        if (for_lists && !is_list) || (self.separator.is_some() && self.lines) {
            return Err(IdentityFault::NotAList(name.to_owned()));
        }
        let separates = |c: char| c.is_ascii_punctuation() && !matches!(c, '%' | '"' | '\'');
        if self
            .separator
            .is_some_and(|separator| !separates(separator))
        {
            return Err(IdentityFault::Separator(name.to_owned()));
        }
        if let Content::Text(text) = &self.content {
            let visible = text.bytes().all(|b| b == b' ' || b.is_ascii_graphic());
            let good = (1..=LONGEST_TEXT).contains(&text.len()) && text.trim() == text && visible;
            if !good {
                return Err(IdentityFault::Text(name.to_owned()));
            }
        }
        Ok(())
    }
}

/// The header of a name that may carry an identity. A name is letters, digits and hyphens: others
/// are read differently by different servers, and none of them passes the gateway.
pub(crate) fn header_name(name: &str) -> Result<HeaderName, IdentityFault> {
    let plain = (1..=LONGEST_NAME).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let parsed = plain.then(|| name.parse::<HeaderName>().ok()).flatten();
    let Some(parsed) = parsed else {
        return Err(IdentityFault::HeaderName(name.to_owned()));
    };
    let text = parsed.as_str();
    let taken =
        TAKEN.contains(&text) || TAKEN_PREFIXES.iter().any(|prefix| text.starts_with(prefix));
    if taken {
        return Err(IdentityFault::HeaderTaken(name.to_owned()));
    }
    Ok(parsed)
}

/// Whether a claim of a signed token may be called so.
pub(crate) fn is_claim_name(name: &str) -> bool {
    (1..=LONGEST_NAME).contains(&name.len())
        && !REGISTERED.contains(&name)
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"_-.:/".contains(&b))
}

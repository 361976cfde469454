//! The headers of `[apps.identity.headers]`, and which names may be used.
use http::HeaderName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Fact, IdentityFault};

const MAX_NAME_BYTES: usize = 64;
const MAX_TEXT_BYTES: usize = 1024;

/// Headers that have a meaning in HTTP or Kubernetes, or that Portico sets.
const RESERVED_HEADERS: [&str; 38] = [
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
const RESERVED_PREFIXES: [&str; 12] = [
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

/// Claims that describe the token and not the user (RFC 7519, section 4.1).
const RESERVED_CLAIMS: [&str; 6] = ["iss", "aud", "exp", "iat", "nbf", "jti"];

/// Where a header's value comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "HeaderText", into = "HeaderText")]
pub struct HeaderFrom {
    /// The content of the header.
    pub content: Content,
    /// The separator between the entries of a list; a comma by default.
    pub separator: Option<char>,
    /// Whether each entry of a list gets a header line of its own.
    pub lines: bool,
    /// The entries of a list that are passed on; empty: all.
    pub only: Vec<String>,
    /// Whether users for whom the value is unknown are refused.
    pub required: bool,
}

/// The content of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// An attribute of the user.
    Fact(Fact),
    /// A fixed text, the same for all signed-in users.
    Text(String),
}

/// A header's value in the configuration: the attribute alone, or a table.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum HeaderText {
    /// The attribute that the header carries.
    Fact(Fact),
    /// The attribute or text, with options.
    Table(HeaderTable),
}

/// A header's value with options.
#[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct HeaderTable {
    /// The attribute that the header carries.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Fact>,
    /// A fixed text for all users, instead of `value`.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The separator between the entries of a list; a comma by default. Users with an entry that
    /// contains this character are refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    separator: Option<char>,
    /// Writes each entry of a list as a header line of its own, with commas in it percent-encoded.
    lines: bool,
    /// The entries of a list that are passed on. Empty: all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    only: Vec<String>,
    /// Refuses users for whom the value is unknown.
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
            let good = (1..=MAX_TEXT_BYTES).contains(&text.len()) && text.trim() == text && visible;
            if !good {
                return Err(IdentityFault::Text(name.to_owned()));
            }
        }
        Ok(())
    }
}

/// Returns the name of a header that may carry an identity. A name consists of letters, digits and
/// hyphens: servers read other names in different ways, and the gateway passes none of them.
pub(crate) fn header_name(name: &str) -> Result<HeaderName, IdentityFault> {
    let plain = (1..=MAX_NAME_BYTES).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let parsed = plain.then(|| name.parse::<HeaderName>().ok()).flatten();
    let Some(parsed) = parsed else {
        return Err(IdentityFault::HeaderName(name.to_owned()));
    };
    let text = parsed.as_str();
    let taken = RESERVED_HEADERS.contains(&text)
        || RESERVED_PREFIXES
            .iter()
            .any(|prefix| text.starts_with(prefix));
    if taken {
        return Err(IdentityFault::HeaderTaken(name.to_owned()));
    }
    Ok(parsed)
}

/// Returns whether a claim of a signed token may have this name.
pub(crate) fn is_claim_name(name: &str) -> bool {
    (1..=MAX_NAME_BYTES).contains(&name.len())
        && !RESERVED_CLAIMS.contains(&name)
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"_-.:/".contains(&b))
}

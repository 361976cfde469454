//! Passes identity in plain headers: one value, a list with a separator, or a line for each entry.
use http::{HeaderName, HeaderValue};

use super::{
    IdentityHeaders,
    escape::{account, escaped},
    identity_attributes::{IdentityAttributes, Value},
    refusal::Refusal,
};
use crate::config::{Content, Fact, HeaderFrom, IdentityFault, header_name};

/// Bounds the values of one identity header together, in bytes; upstreams limit their headers.
const MAX_HEADER_BYTES: usize = 8 * 1024;
const DEFAULT_SEPARATOR: char = ',';

/// A header with an attribute of the user.
#[derive(Debug)]
pub(super) struct Header {
    pub name: HeaderName,
    from: HeaderFrom,
}

impl Header {
    pub fn new(name: &str, from: &HeaderFrom) -> Result<Self, IdentityFault> {
        Ok(Self {
            name: header_name(name)?,
            from: from.clone(),
        })
    }

    /// Adds the header, if the attribute has a value. A list with an entry that contains the
    /// separator is refused, as it would be ambiguous.
    pub fn add(
        &self,
        attributes: &IdentityAttributes<'_>,
        headers: &mut IdentityHeaders,
    ) -> Result<(), Refusal> {
        let lines = match &self.from.content {
            Content::Text(text) => vec![text.clone()],
            Content::Fact(fact) => self.lines(*fact, attributes.get(*fact))?,
        };
        if lines.iter().map(String::len).sum::<usize>() > MAX_HEADER_BYTES {
            return Err(Refusal::TooLong(self.fact()));
        }
        if lines.is_empty() && self.from.required {
            return Err(Refusal::Unknown(self.fact()));
        }
        for line in lines {
            let value = HeaderValue::try_from(line).map_err(|_| Refusal::Unwritable)?;
            headers.push((self.name.clone(), value));
        }
        Ok(())
    }

    fn lines(&self, fact: Fact, value: Value<'_>) -> Result<Vec<String>, Refusal> {
        let entries = match value {
            Value::Unknown | Value::One("") => return Ok(Vec::new()),
            Value::One(text) => return Ok(vec![escaped(text, None)]),
            Value::Account(name, domain) => return Ok(vec![account(name, domain)]),
            Value::Many(entries) => entries,
        };
        let only = &self.from.only;
        let listed = |entry: &&str| only.is_empty() || only.iter().any(|named| named == entry);
        let entries = entries.into_iter().filter(listed);
        if self.from.lines {
            // recipients may join lines of one name to a list with commas (RFC 9110 5.3)
            let line = |entry| escaped(entry, Some(DEFAULT_SEPARATOR));
            return Ok(entries.map(line).collect());
        }
        let separator = self.from.separator.unwrap_or(DEFAULT_SEPARATOR);
        let mut list = String::new();
        for entry in entries {
            if entry.contains(separator) {
                return Err(Refusal::Separator {
                    fact,
                    entry: entry.to_owned(),
                    separator,
                });
            }
            if !list.is_empty() {
                list.push(separator);
            }
            list.push_str(&escaped(entry, None));
        }
        Ok(if list.is_empty() {
            Vec::new()
        } else {
            vec![list]
        })
    }

    fn fact(&self) -> Option<Fact> {
        match self.from.content {
            Content::Fact(fact) => Some(fact),
            Content::Text(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value as Json, json};

    fn header(from: Json) -> Header {
        let from: HeaderFrom = serde_json::from_value(from).expect("shape");
        Header::new("X-Groups", &from).expect("name")
    }

    fn groups(header: &Header, entries: &[&str]) -> Result<Vec<String>, Refusal> {
        header.lines(Fact::Groups, Value::Many(entries.to_vec()))
    }

    #[test]
    fn a_list_is_joined_and_each_entry_written_plainly() {
        let values = groups(&header(json!("groups")), &["dev", "öps", "a b"]).expect("a value");
        assert_eq!(values, ["dev,%C3%B6ps,a b"]);
        let semicolons = header(json!({ "value": "groups", "separator": ";" }));
        assert_eq!(
            groups(&semicolons, &["a,b", "c"]).expect("a value"),
            ["a,b;c"]
        );
    }

    #[test]
    fn attack_20_an_entry_with_the_separator_is_never_two() {
        let commas = header(json!("groups"));
        assert!(matches!(
            groups(&commas, &["dev", "a,ops"]),
            Err(Refusal::Separator { separator: ',', .. })
        ));
        let lines = header(json!({ "value": "groups", "lines": true }));
        assert_eq!(
            groups(&lines, &["dev", "a,ops"]).expect("a value"),
            ["dev", "a%2Cops"]
        );
        // groups that are not passed on are not checked
        let only = header(json!({ "value": "groups", "only": ["dev", "ops"] }));
        assert_eq!(groups(&only, &["dev", "a,ops"]).expect("a value"), ["dev"]);
        assert_eq!(
            groups(&commas, &["dev", "ops"]).expect("a value"),
            ["dev,ops"]
        );
    }
}

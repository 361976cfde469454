//! How a path may be read, by us and by whatever is behind us.
use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use unicode_normalization::UnicodeNormalization as _;

/// A path as rules see it. What opens must fit both readings, what closes either one: an upstream
/// that is more lenient than we are opens nothing by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Readings<'r> {
    /// Percent-decoded once, and nothing else: what a careful upstream sees.
    plain: Cow<'r, str>,
    lenient: Option<String>,
    /// The same of the path that the app gets, where that is another.
    rewritten: Option<Box<Readings<'static>>>,
}

impl<'r> Readings<'r> {
    /// The readings of a raw path that has passed [`crate::proxy::path::check`].
    pub fn of(raw: &'r str) -> Self {
        // the check has made sure that it is UTF-8
        let plain = percent_decode_str(raw).decode_utf8_lossy();
        let lenient = lenient(&plain).filter(|lenient| *lenient != plain);
        Self {
            plain,
            lenient,
            rewritten: None,
        }
    }

    /// The readings of a path and of what becomes of it on the way.
    pub fn with(raw: &'r str, rewritten: &str) -> Self {
        let Readings { plain, lenient, .. } = Readings::of(rewritten);
        let rewritten = Readings {
            plain: Cow::Owned(plain.into_owned()),
            lenient,
            rewritten: None,
        };
        Self {
            rewritten: Some(Box::new(rewritten)),
            ..Self::of(raw)
        }
    }

    fn each(&self) -> impl Iterator<Item = &str> {
        let own = std::iter::once(&*self.plain).chain(self.lenient.as_deref());
        let after = self.rewritten.as_deref().into_iter();
        own.chain(after.flat_map(|readings| {
            std::iter::once(&*readings.plain).chain(readings.lenient.as_deref())
        }))
    }

    /// Whether every reading is `wanted`.
    pub fn all(&self, wanted: impl Fn(&str) -> bool) -> bool {
        self.each().all(wanted)
    }

    /// Whether some reading is `wanted`.
    pub fn any(&self, wanted: impl Fn(&str) -> bool) -> bool {
        self.each().any(wanted)
    }
}

/// The path as the most lenient of servers would have it: decoded as often as it goes, without
/// parameters (`;x=1`), in the plainest of compatible letters, without dots and spaces at the ends of segments, with single slashes.
/// `None` where nothing of that can make a difference.
pub(super) fn lenient(plain: &str) -> Option<String> {
    if !may_differ(plain.as_bytes()) {
        return None;
    }
    let decoded = decoded_wholly(plain);
    let decoded: Cow<'_, str> = if decoded.is_ascii() {
        decoded
    } else {
        decoded.nfkc().collect::<String>().into()
    };
    let mut text = String::with_capacity(decoded.len());
    for segment in decoded.split('/') {
        let name = segment.split(';').next().unwrap_or_default();
        let name = name.trim_end_matches(['.', ' ']);
        if !name.is_empty() {
            text.push('/');
            text.push_str(name);
        }
    }
    if text.is_empty() || decoded.ends_with('/') {
        text.push('/');
    }
    Some(text)
}

fn may_differ(bytes: &[u8]) -> bool {
    let ends_oddly = matches!(bytes.last(), Some(b'.' | b' '));
    ends_oddly
        || bytes
            .iter()
            .any(|byte| matches!(byte, b'%' | b';') || !byte.is_ascii())
        || bytes
            .windows(2)
            .any(|pair| matches!(pair, [b'/' | b'.' | b' ', b'/']))
}

/// Decoded until there is nothing left to decode; the check bounds how often.
fn decoded_wholly(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    for _ in 0..crate::proxy::path::DEEPEST {
        let again = percent_decode_str(&text).decode_utf8_lossy();
        if again == text {
            break;
        }
        text = Cow::Owned(again.into_owned());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readings(raw: &str) -> (String, Option<String>) {
        let readings = Readings::of(raw);
        (readings.plain.into_owned(), readings.lenient)
    }

    #[test]
    fn an_ordinary_path_has_one_reading_and_costs_nothing() {
        for raw in ["/", "/api/v1/query", "/static/app.1.2.js", "/a-b_c~d/"] {
            let readings = Readings::of(raw);
            assert!(matches!(readings.plain, Cow::Borrowed(text) if text == raw));
            assert_eq!(readings.lenient, None);
        }
        assert_eq!(readings("/a%20b/%C3%A4"), ("/a b/ä".to_owned(), None));
    }

    #[test]
    fn what_lenient_servers_overlook_is_another_reading() {
        for (raw, lenient) in [
            ("/adm;x=1/y", "/adm/y"),
            ("/adm;/y/", "/adm/y/"),
            ("/a//b", "/a/b"),
            ("/adm./y", "/adm/y"),
            ("/adm%20/y", "/adm/y"),
            ("/%2561dm", "/adm"),
            ("/adm;a=b;c/", "/adm/"),
            ("/;x", "/"),
            ("/adm.", "/adm"),
            ("/%EF%BD%81dm", "/adm"),
        ] {
            assert_eq!(readings(raw).1.as_deref(), Some(lenient), "{raw}");
        }
    }

    #[test]
    fn what_looks_like_a_query_or_a_fragment_is_a_part_of_the_name() {
        assert_eq!(readings("/secret%23/bar").0, "/secret#/bar");
        assert_eq!(readings("/secret%3Fx=/open").0, "/secret?x=/open");
    }
}

//! The possible readings of a path, by Portico and by upstreams.
use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use unicode_normalization::UnicodeNormalization as _;

/// A path as rules see it. Rules that permit must match every reading, rules that refuse any one:
/// an upstream that reads paths more leniently than Portico grants no additional access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Readings<'r> {
    /// Percent-decoded once, and otherwise unchanged: what a careful upstream sees.
    plain: Cow<'r, str>,
    lenient: Option<String>,
    /// The lenient reading up to a decoded `#` or `?`: what a server sees that decodes before it
    /// looks for a fragment or a query.
    cut: Option<String>,
    /// The readings of the path that the app gets, if it is another.
    rewritten: Option<Box<Readings<'static>>>,
}

impl<'r> Readings<'r> {
    /// Returns the readings of a raw path that has passed [`portico_request::path::check`].
    pub fn of(raw: &'r str) -> Self {
        let plain = if raw.contains('%') {
            // the check has ensured that it is UTF-8
            percent_decode_str(raw).decode_utf8_lossy()
        } else {
            Cow::Borrowed(raw)
        };
        let lenient = lenient(&plain).filter(|lenient| *lenient != plain);
        let cut = cut(&plain);
        Self {
            plain,
            lenient,
            cut,
            rewritten: None,
        }
    }

    /// Returns a path as it was sent, for rules that read no path.
    pub(super) fn unread(raw: &'r str) -> Self {
        Self {
            plain: Cow::Borrowed(raw),
            lenient: None,
            cut: None,
            rewritten: None,
        }
    }

    /// Returns the readings of a path and of its rewritten form.
    pub fn with(raw: &'r str, rewritten: &str) -> Self {
        let Readings {
            plain,
            lenient,
            cut,
            ..
        } = Readings::of(rewritten);
        let rewritten = Readings {
            plain: Cow::Owned(plain.into_owned()),
            lenient,
            cut,
            rewritten: None,
        };
        Self {
            rewritten: Some(Box::new(rewritten)),
            ..Self::of(raw)
        }
    }

    fn each(&self) -> impl Iterator<Item = &str> {
        let after = self.rewritten.as_deref().into_iter();
        self.own().chain(after.flat_map(Readings::own))
    }

    fn own(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&*self.plain)
            .chain(self.lenient.as_deref())
            .chain(self.cut.as_deref())
    }

    /// Returns whether every reading is `wanted`.
    pub fn all(&self, wanted: impl Fn(&str) -> bool) -> bool {
        self.each().all(wanted)
    }

    /// Returns whether some reading is `wanted`.
    pub fn any(&self, wanted: impl Fn(&str) -> bool) -> bool {
        self.each().any(wanted)
    }
}

/// Returns the path as the most lenient server reads it: decoded until nothing is left to decode,
/// without parameters (`;x=1`), with compatible characters normalized, without dots and spaces at
/// the ends of segments, with single slashes. `None` where none of this can make a difference.
pub(super) fn lenient(plain: &str) -> Option<String> {
    if !may_differ(plain.as_bytes()) {
        return None;
    }
    Some(as_lenient_servers_have_it(&compatible(plain)))
}

/// Returns the lenient reading up to the first `#` or `?` that decoding reveals; `None` where it
/// reveals none.
fn cut(plain: &str) -> Option<String> {
    let plain_enough = |byte: u8| !matches!(byte, b'#' | b'?' | b'%') && byte.is_ascii();
    if plain.bytes().all(plain_enough) {
        return None;
    }
    let decoded = compatible(plain);
    let end = decoded.find(['#', '?'])?;
    decoded.get(..end).map(as_lenient_servers_have_it)
}

/// Returns the path decoded completely, with compatible characters normalized.
fn compatible(plain: &str) -> Cow<'_, str> {
    let decoded = decoded_wholly(plain);
    if decoded.is_ascii() {
        decoded
    } else {
        decoded.nfkc().collect::<String>().into()
    }
}

/// Returns the decoded path without parameters, without dots and spaces at the ends of segments,
/// with single slashes.
fn as_lenient_servers_have_it(decoded: &str) -> String {
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
    text
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

/// Returns the text decoded until nothing is left to decode; the check bounds how often.
fn decoded_wholly(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    for _ in 0..portico_request::path::MAX_DECODINGS {
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
    fn finding_s13_what_looks_like_a_query_or_a_fragment_ends_a_further_reading() {
        for (raw, plain, cut) in [
            ("/secret%23/bar", "/secret#/bar", Some("/secret")),
            ("/secret%3Fx=/open", "/secret?x=/open", Some("/secret")),
            ("/a/%23", "/a/#", Some("/a/")),
            ("/%3fx", "/?x", Some("/")),
            ("/adm%2523x", "/adm%23x", Some("/adm")),
            ("/adm;x=1%23y", "/adm;x=1#y", Some("/adm")),
            ("/adm.%3f", "/adm.?", Some("/adm")),
            // a wide number sign is one for a server that takes compatible letters for the same
            ("/adm%EF%BC%83x", "/adm\u{ff03}x", Some("/adm")),
            ("/a%20b/%C3%A4", "/a b/\u{e4}", None),
            ("/plain/path", "/plain/path", None),
        ] {
            let readings = Readings::of(raw);
            assert_eq!(readings.plain, plain, "{raw}");
            assert_eq!(readings.cut.as_deref(), cut, "{raw}");
        }
        let readings = Readings::of("/adm%23/open");
        assert!(readings.any(|path| path == "/adm"), "what closes");
        assert!(!readings.all(|path| path.ends_with("/open")), "what opens");
    }
}

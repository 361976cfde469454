//! Refuses request targets that two parsers could read differently.
use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use unicode_normalization::UnicodeNormalization as _;

/// Why a path is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathFault {
    #[error("the path holds a control character, a space, a backslash or a raw #")]
    ForbiddenByte,
    #[error("the path holds a percent escape that is not two hexadecimal digits")]
    BrokenEscape,
    #[error("the path holds an encoded slash, backslash or control character")]
    EncodedSeparator,
    #[error("the path holds a . or .. segment")]
    DotSegment,
    #[error("the path begins with //")]
    DoubleSlash,
    #[error("the path does not begin with /")]
    NotAbsolute,
    #[error("the path's percent escapes are not UTF-8")]
    NotText,
    #[error("the path is encoded many times over")]
    TooDeep,
}

/// Paths that are percent-encoded more often than this are refused.
pub const MAX_DECODINGS: usize = 4;

/// Checks the raw path of a request, before any decision is based on it.
pub fn check(path: &str) -> Result<(), PathFault> {
    if !path.starts_with('/') {
        return Err(PathFault::NotAbsolute);
    }
    if path.starts_with("//") {
        return Err(PathFault::DoubleSlash);
    }
    // all bytes at once: a search for the first forbidden one takes longer
    let forbidden = path.bytes().fold(false, |forbidden, b| {
        forbidden | (b <= b' ') | (b == 0x7f) | (b == b'\\') | (b == b'#')
    });
    if forbidden {
        return Err(PathFault::ForbiddenByte);
    }
    let escaped = path.contains('%');
    if escaped {
        check_escapes(path)?;
    }
    // each such segment has a dot or an escape
    let dotted = path.bytes().fold(escaped, |dotted, b| dotted | (b == b'.'));
    if dotted && path.split('/').any(is_dot_segment) {
        return Err(PathFault::DotSegment);
    }
    if escaped {
        check_decoded(path)?;
    } else if !path.is_ascii() {
        check_text(path)?;
    }
    Ok(())
}

/// Checks the decoded path: decoded once, and completely, as an upstream may decode once more.
/// Overlong forms of a slash or dot are not UTF-8.
fn check_decoded(path: &str) -> Result<(), PathFault> {
    let mut text = path.to_owned();
    for _ in 0..MAX_DECODINGS {
        let decoded = percent_decode_str(&text)
            .decode_utf8()
            .map_err(|_| PathFault::NotText)?;
        if decoded == text {
            return Ok(());
        }
        check_text(&decoded)?;
        if slashes(&decoded) != slashes(&text) {
            return Err(PathFault::EncodedSeparator);
        }
        text = decoded.into_owned();
    }
    if percent_decode_str(&text)
        .decode_utf8()
        .is_ok_and(|next| next == text)
    {
        Ok(())
    } else {
        Err(PathFault::TooDeep)
    }
}

/// Checks decoded text, and its form after compatibility normalization (a full-width slash becomes
/// a slash).
fn check_text(text: &str) -> Result<(), PathFault> {
    let compatible: Cow<'_, str> = if text.is_ascii() {
        text.into()
    } else {
        text.nfkc().collect::<String>().into()
    };
    // some file systems ignore spaces around a name
    let mut names = compatible
        .split('/')
        .filter_map(|segment| segment.split(';').next())
        .map(|name| name.trim_matches(' '));
    if names.any(is_dot_segment) {
        return Err(PathFault::DotSegment);
    }
    if slashes(&compatible) != slashes(text)
        || compatible.chars().any(|c| c.is_control() || c == '\\')
    {
        return Err(PathFault::EncodedSeparator);
    }
    Ok(())
}

fn slashes(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'/').count()
}

fn check_escapes(path: &str) -> Result<(), PathFault> {
    let bytes = path.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if *byte != b'%' {
            decoded.push(*byte);
            at += 1;
            continue;
        }
        let byte = decode(bytes, at).ok_or(PathFault::BrokenEscape)?;
        if is_separator(byte) {
            return Err(PathFault::EncodedSeparator);
        }
        decoded.push(byte);
        at += 3;
    }
    // a second decoding by an upstream must not turn %252e or %25%32%66 into more than a letter
    let again = (0..decoded.len())
        .filter(|at| decoded.get(*at) == Some(&b'%'))
        .filter_map(|at| decode(&decoded, at))
        .any(|byte| byte == b'.' || is_separator(byte));
    if again {
        return Err(PathFault::EncodedSeparator);
    }
    Ok(())
}

fn is_separator(byte: u8) -> bool {
    byte < b' ' || matches!(byte, b'/' | b'\\' | 0x7f)
}

fn decode(bytes: &[u8], at: usize) -> Option<u8> {
    let digit = |offset: usize| {
        bytes
            .get(at + offset)
            .and_then(|b| char::from(*b).to_digit(16))
            .and_then(|d| u8::try_from(d).ok())
    };
    Some(digit(1)? * 16 + digit(2)?)
}

/// Returns whether a segment is `.`, `..`, one of their encoded forms, or either before a `;`
/// parameter, which some servers drop.
fn is_dot_segment(segment: &str) -> bool {
    let name = segment.split(';').next().unwrap_or_default();
    if name.len() > 6 || !name.starts_with(['.', '%']) {
        return false;
    }
    let plain = name.to_ascii_lowercase().replace("%2e", ".");
    plain == "." || plain == ".."
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ordinary_paths_pass() {
        for path in [
            "/",
            "/projects/p1/clusters/c1/resources/core/v1/pods",
            "/a%20b/%C3%A4",
            "/secret%23/bar",
            "/cluster-scoped/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode",
            "/static/app.1.2..3.js",
            "/...",
            "/a//b",
            "/app;x=1",
            "/100%25",
        ] {
            assert_eq!(check(path), Ok(()), "{path}");
        }
    }

    #[test]
    fn ambiguous_paths_are_refused() {
        for (path, fault) in [
            ("/open/../app", PathFault::DotSegment),
            ("/open/%2e%2e/app", PathFault::DotSegment),
            ("/open/.%2E/app", PathFault::DotSegment),
            ("/open/./app", PathFault::DotSegment),
            ("/open/..;/app", PathFault::DotSegment),
            ("/open/..;a=b/app", PathFault::DotSegment),
            ("/open/..", PathFault::DotSegment),
            ("/open/..%2fapp", PathFault::EncodedSeparator),
            ("/open%5c..%5cadm", PathFault::EncodedSeparator),
            ("/open/%252e%252e/app", PathFault::EncodedSeparator),
            ("/open/%252fapp", PathFault::EncodedSeparator),
            ("/a%00b", PathFault::EncodedSeparator),
            ("/a%0d%0ab", PathFault::EncodedSeparator),
            ("/a%zz", PathFault::BrokenEscape),
            ("/a%2", PathFault::BrokenEscape),
            ("/a\\b", PathFault::ForbiddenByte),
            ("/a#b", PathFault::ForbiddenByte),
            ("/a\0b", PathFault::ForbiddenByte),
            ("/%25252fapp", PathFault::EncodedSeparator),
            ("/open/%25252e%25252e/app", PathFault::DotSegment),
            ("/open/..%20/app", PathFault::DotSegment),
            ("/open/%c0%ae%c0%ae/app", PathFault::NotText),
            ("/open%c0%afapp", PathFault::NotText),
            ("/%ff", PathFault::NotText),
            ("/open%EF%BC%8Fapp", PathFault::EncodedSeparator),
            ("/open/%EF%BC%8E%EF%BC%8E/app", PathFault::DotSegment),
            ("/open/\u{ff0e}./app", PathFault::DotSegment),
            ("/a%C2%85b", PathFault::EncodedSeparator),
            ("/%2525252525252541", PathFault::TooDeep),
            ("//app", PathFault::DoubleSlash),
            ("/%2Fapp", PathFault::EncodedSeparator),
            ("*", PathFault::NotAbsolute),
            ("app", PathFault::NotAbsolute),
            ("", PathFault::NotAbsolute),
        ] {
            assert_eq!(check(path), Err(fault), "{path:?}");
        }
    }

    proptest! {
        #[test]
        fn whatever_passes_stays_inside_its_folder(path in "/open/[a-z./%25eEfFcC;]{0,24}") {
            if check(&path).is_ok() {
                let url = url::Url::parse(&format!("http://h{path}")).expect("a URL");
                prop_assert!(url.path().starts_with("/open/"), "{path} became {}", url.path());
            }
        }

        #[test]
        fn no_input_panics(path in ".{0,40}") {
            let _ = check(&path);
        }
    }
}

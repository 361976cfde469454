//! Refuses request targets that two parsers could read differently.

/// Why a path is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PathFault {
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
}

/// Checks the raw path of a request, before anything is decided on it.
pub(crate) fn check(path: &str) -> Result<(), PathFault> {
    if !path.starts_with('/') {
        return Err(PathFault::NotAbsolute);
    }
    if path.starts_with("//") {
        return Err(PathFault::DoubleSlash);
    }
    if path
        .bytes()
        .any(|b| b <= b' ' || b == 0x7f || matches!(b, b'\\' | b'#'))
    {
        return Err(PathFault::ForbiddenByte);
    }
    check_escapes(path)?;
    if path.split('/').any(is_dot_segment) {
        return Err(PathFault::DotSegment);
    }
    Ok(())
}

fn check_escapes(path: &str) -> Result<(), PathFault> {
    if !path.contains('%') {
        return Ok(());
    }
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
    // a second decoding somewhere behind us must not turn %252e or %25%32%66 into more than a letter
    let again = (0..decoded.len())
        .filter(|at| decoded.get(*at) == Some(&b'%'))
        .filter_map(|at| decode(&decoded, at))
        .any(|byte| byte == b'.' || is_separator(byte));
    if again || decoded.windows(2).any(is_overlong) {
        return Err(PathFault::EncodedSeparator);
    }
    Ok(())
}

fn is_separator(byte: u8) -> bool {
    byte < b' ' || matches!(byte, b'/' | b'\\' | 0x7f)
}

/// The beginning of a sequence of more bytes than its character needs, which UTF-8 forbids (RFC
/// 3629, section 3) and careless decoders take for a `.` or `/`.
fn is_overlong(pair: &[u8]) -> bool {
    matches!(
        pair,
        [0xc0 | 0xc1, 0x80..=0xbf] | [0xe0, 0x80..=0x9f] | [0xf0, 0x80..=0x8f]
    )
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

/// `.`, `..`, their encoded forms, and either before a `;` parameter, which some servers drop.
fn is_dot_segment(segment: &str) -> bool {
    let name = segment.split(';').next().unwrap_or_default();
    if name.len() > 6 {
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

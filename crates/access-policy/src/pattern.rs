//! Matches the paths of a rule.
use std::fmt;

use regex::{Regex, RegexBuilder};

use super::{
    error::Fault,
    reading::{Readings, lenient},
};

/// Bounds the memory of a compiled expression, in bytes.
const MAX_REGEX_BYTES: usize = 256 << 10;
const MAX_PATTERN_BYTES: usize = 1024;

/// A pattern for one path or several.
#[derive(Clone, Debug)]
pub enum PathPattern {
    Exact(String),
    /// Every path below; ends with a slash.
    Below(String),
    Prefix(String),
    /// The whole path; with the expression as written.
    Regex(Regex, String),
}

impl PathPattern {
    /// Parses an entry of `paths`.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let bad = |why| Fault::Path(text.to_owned(), why);
        if text.len() > MAX_PATTERN_BYTES {
            return Err(bad("it is longer than 1024 bytes"));
        }
        if let Some(expression) = text.strip_prefix("regex:") {
            // the engine takes linear time for any expression
            let whole = RegexBuilder::new(&format!("^(?:{expression})$"))
                .size_limit(MAX_REGEX_BYTES)
                .dfa_size_limit(MAX_REGEX_BYTES)
                .build()
                .map_err(|error| Fault::Regex(text.to_owned(), error.to_string()))?;
            return Ok(Self::Regex(whole, expression.to_owned()));
        }
        if let Some(path) = text.strip_prefix("prefix:") {
            return Ok(Self::Prefix(checked(path).map_err(bad)?));
        }
        if let Some(path) = text.strip_prefix("exact:") {
            return Ok(Self::Exact(checked(path).map_err(bad)?));
        }
        if text == "/" {
            return Err(bad(
                "it may mean the first page or everything: write exact:/ or prefix:/",
            ));
        }
        let path = checked(text).map_err(bad)?;
        Ok(if path.ends_with('/') {
            Self::Below(path)
        } else {
            Self::Exact(path)
        })
    }

    /// Returns whether some reading of a path matches, for rules that refuse. A trailing slash
    /// makes no difference.
    pub fn perhaps(&self, path: &Readings<'_>) -> bool {
        path.any(|text| self.names(text) || self.names_without_slash(text))
    }

    /// Returns whether one reading of a path matches.
    pub fn names(&self, text: &str) -> bool {
        match self {
            Self::Exact(path) => text == path,
            Self::Below(path) | Self::Prefix(path) => text.starts_with(path.as_str()),
            Self::Regex(expression, _) => expression.is_match(text),
        }
    }

    fn names_without_slash(&self, text: &str) -> bool {
        match self {
            Self::Exact(path) => {
                text.strip_suffix('/').unwrap_or(text) == path.strip_suffix('/').unwrap_or(path)
            }
            Self::Below(path) | Self::Prefix(path) => path.strip_suffix('/') == Some(text),
            Self::Regex(expression, _) => match text.strip_suffix('/') {
                Some(shorter) => expression.is_match(shorter),
                None => expression.is_match(&format!("{text}/")),
            },
        }
    }

    /// Returns whether everything that `other` matches is matched here too, as far as that can be
    /// determined.
    pub fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Prefix(path), _) if path == "/" => true,
            (Self::Below(all) | Self::Prefix(all), Self::Below(path) | Self::Exact(path)) => {
                path.starts_with(all.as_str())
            }
            (Self::Prefix(all), Self::Prefix(path)) | (Self::Below(all), Self::Prefix(path)) => {
                path.starts_with(all.as_str())
            }
            (Self::Exact(one), Self::Exact(path)) => one == path,
            (Self::Regex(_, one), Self::Regex(_, path)) => one == path,
            (Self::Regex(expression, _), Self::Exact(path)) => expression.is_match(path),
            _ => false,
        }
    }

    /// Returns whether it matches every path.
    pub fn is_everything(&self) -> bool {
        match self {
            Self::Prefix(path) => path == "/",
            Self::Regex(_, text) => {
                matches!(
                    text.trim_start_matches('^').trim_end_matches('$'),
                    ".*" | "/.*"
                )
            }
            Self::Exact(_) | Self::Below(_) => false,
        }
    }
}

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(path) => write!(f, "{path}"),
            Self::Below(path) => write!(f, "everything below {path}"),
            Self::Prefix(path) if path == "/" => f.write_str("everything"),
            Self::Prefix(path) => write!(f, "every path that begins with {path}"),
            Self::Regex(_, expression) => write!(f, "what matches {expression} as a whole"),
        }
    }
}

/// Returns the path if it is unambiguous.
fn checked(path: &str) -> Result<String, &'static str> {
    if !path.starts_with('/') {
        return Err("it must begin with /, exact:/, prefix:/ or regex:");
    }
    for (sign, why) in [
        ("?", "queries are never matched: write the path only"),
        ("#", "fragments are never matched: write the path only"),
        (
            "*",
            "there are no wildcards: write /x/ for everything below /x",
        ),
        (
            ";",
            "parameters are never matched: write the path without them",
        ),
        ("\\", "a backslash is in no path that is let through"),
    ] {
        if path.contains(sign) {
            return Err(why);
        }
    }
    if path.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
        return Err("it holds a control character");
    }
    if path.contains('%') {
        return Err("write it decoded: /a b for /a%20b");
    }
    if path.split('/').any(|segment| matches!(segment, "." | "..")) {
        return Err("it holds a . or .. segment, which no request that is let through has");
    }
    if lenient(path).is_some_and(|lenient| lenient != path) {
        return Err("some servers interpret it differently: no //, and no dot or space before a /");
    }
    Ok(path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn surely(pattern: &str, path: &str) -> bool {
        let pattern = PathPattern::parse(pattern).expect("pattern");
        Readings::of(path).all(|text| pattern.names(text))
    }

    fn perhaps(pattern: &str, path: &str) -> bool {
        PathPattern::parse(pattern)
            .expect("pattern")
            .perhaps(&Readings::of(path))
    }

    #[test]
    fn a_path_is_exact_below_or_declared() {
        assert!(surely("/x", "/x") && !surely("/x", "/x/") && !surely("/x", "/xy"));
        assert!(surely("/x/", "/x/") && surely("/x/", "/x/y") && !surely("/x/", "/x"));
        assert!(surely("prefix:/x", "/xy") && !surely("prefix:/x", "/y/x"));
        assert!(surely("exact:/x/", "/x/") && !surely("exact:/x/", "/x/y"));
        assert!(surely("exact:/", "/") && !surely("exact:/", "/x"));
        assert!(surely("prefix:/", "/") && surely("prefix:/", "/x"));
        assert!(!surely("/x", "/X"));
        assert!(surely("/a b/", "/a%20b/c"));
    }

    #[test]
    fn attack_39_an_expression_must_match_the_whole_path() {
        assert!(surely("regex:/api", "/api"));
        assert!(!surely("regex:/api", "/x/api") && !surely("regex:/api", "/api/x"));
        assert!(!surely("regex:^/api|/x$", "/api/y") && !surely("regex:a|/x", "/y/x"));
        assert!(surely("regex:^/v[0-9]+/status$", "/v12/status"));
    }

    #[test]
    fn what_opens_fits_every_reading_and_what_closes_any() {
        for path in ["/open;x/y", "/ope%256e/y", "/open./y"] {
            assert!(!surely("/open/", path), "{path}");
        }
        assert!(surely("/open/", "/open//y") && surely("/open/", "/open/y;x=1"));
        for path in [
            "/adm/y",
            "/adm",
            "/adm;x=1/y",
            "/adm;/y",
            "/adm./y",
            "/adm%20/y",
            "/%61dm/y",
            "/%2561dm/y",
        ] {
            assert!(perhaps("/adm/", path), "{path}");
        }
        for path in ["/quit", "/quit/", "/quit;x", "/quit.", "/qui%74", "/quit//"] {
            assert!(perhaps("/quit", path), "{path}");
        }
        for path in ["/quit", "/quit/", "/quit;x"] {
            assert!(perhaps("regex:^/(quit|reload)$", path), "{path}");
        }
        assert!(!perhaps("/adm/", "/admin/y") && !perhaps("/quit", "/quitter"));
    }

    #[test]
    fn attack_38_what_is_ambiguous_is_refused() {
        for text in [
            "", "/", "x", "GET=/x", "!=/x", "GET!=/x", "!/x", "/x/*", "/x?y", "/x#y", "/x;y",
            "/a//b", "/a/../b", "/a/./b", "/a%20b", "/a./b", "/a /b", "/a\\b", "/a\tb", "^/x$",
            "prefix:x", "exact:", "regex:(", "Regex:/x", "/open ",
        ] {
            assert!(PathPattern::parse(text).is_err(), "{text:?}");
        }
        // a comma and a != inside are what they are
        assert!(surely("/a,/b", "/a,/b") && !surely("/a,/b", "/a") && !surely("/a,/b", "/b"));
        assert!(surely("/a!=b", "/a!=b") && !surely("/a!=b", "/c"));
        assert!(surely("regex:^/a!=b$", "/a!=b") && !surely("regex:^/a!=b$", "/c"));
    }

    #[test]
    fn attack_85_an_expression_costs_linear_time_and_bounded_memory() {
        let pattern = PathPattern::parse("regex:^/(a+)+$").expect("pattern");
        let path = format!("/{}!", "a".repeat(100_000));
        #[allow(
            clippy::disallowed_methods,
            reason = "it measures computation, and there is no runtime here"
        )]
        let started = std::time::Instant::now();
        assert!(!pattern.perhaps(&Readings::of(&path)));
        assert!(started.elapsed() < std::time::Duration::from_secs(2));
        assert!(PathPattern::parse("regex:^/(a{1000}){1000}$").is_err());
    }

    /// What servers are known to do to a path before they look for what to run.
    fn lenient_servers(path: &str) -> Vec<String> {
        let once = percent_encoding::percent_decode_str(path)
            .decode_utf8_lossy()
            .into_owned();
        let twice = percent_encoding::percent_decode_str(&once)
            .decode_utf8_lossy()
            .into_owned();
        let cut = |text: &str| text.split(['#', '?']).next().unwrap_or_default().to_owned();
        let mut seen = vec![once.clone(), twice.clone(), cut(&once), cut(&twice)];
        for text in seen.clone() {
            let mut merged = text.clone();
            while merged.contains("//") {
                merged = merged.replace("//", "/");
            }
            let without: Vec<&str> = text
                .split('/')
                .map(|part| part.split(';').next().unwrap_or_default())
                .collect();
            let dotless: Vec<&str> = text
                .split('/')
                .map(|part| part.trim_end_matches(['.', ' ']))
                .collect();
            seen.extend([merged, without.join("/"), dotless.join("/")]);
        }
        seen
    }

    proptest! {
        #[test]
        fn no_lenient_server_gets_past_a_deny(path in "/(adm|a%64m|a%2564m|x|;|\\.|%20|/|y|=|%3b|%2e|%23|%3f|%2523){1,9}") {
            if portico_request::path::check(&path).is_ok() {
                for text in ["/adm/", "prefix:/adm", "/adm", "/x/adm/", "/adm/y"] {
                    let pattern = PathPattern::parse(text).expect("pattern");
                    if lenient_servers(&path).iter().any(|seen| pattern.names(seen)) {
                        prop_assert!(pattern.perhaps(&Readings::of(&path)), "{text} missed {path}");
                    }
                }
            }
        }

        #[test]
        fn what_opens_opens_the_same_for_lenient_servers(path in "/(open|x|;|\\.|%20|/|%2e|%256f|%23|%3f){1,9}") {
            if portico_request::path::check(&path).is_ok() {
                let pattern = PathPattern::parse("/open/").expect("pattern");
                if Readings::of(&path).all(|text| pattern.names(text)) {
                    for seen in lenient_servers(&path) {
                        prop_assert!(seen.starts_with("/open"), "{path} became {seen}");
                    }
                }
            }
        }

        #[test]
        fn no_pattern_panics(text in ".{0,40}") {
            let _ = PathPattern::parse(&text);
        }
    }
}

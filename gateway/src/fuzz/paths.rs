//! Fuzzes request paths: a path that is accepted means the same to every upstream.
use bolero::check;
use portico_testkit::fuzz::{Change, edited, seeds, time};
use serde_json::Value;

use portico_request::path;

const CONFUSION: &str = include_str!("../../tests/data/path-confusion.json");

const PIECES: [&str; 24] = [
    "/",
    "//",
    ".",
    "..",
    "../",
    "%2e",
    "%2E%2e",
    "%2f",
    "%5c",
    "%25",
    "%252e",
    "%25%32%65",
    "%32%65",
    "%c0%ae",
    "%e0%80%af",
    ";",
    "..;/",
    "\\",
    "#",
    "?",
    "%00",
    "%",
    "%zz",
    "/open/",
];

/// Decodes `%xx` once; anything that is not an escape stays.
fn decoded(path: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = path;
    while let Some((first, tail)) = rest.split_first() {
        let escape = tail
            .get(..2)
            .filter(|hex| *first == b'%' && hex.iter().all(|digit| digit.is_ascii_hexdigit()));
        let escape = escape.and_then(|hex| std::str::from_utf8(hex).ok());
        match escape.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    bytes
}

/// Returns the path as a file server resolves it: `;` parameters dropped, slashes merged, dot
/// segments resolved.
fn resolved(path: &[u8]) -> Vec<String> {
    let mut segments: Vec<String> = Vec::new();
    for segment in path.split(|byte| matches!(byte, b'/' | b'\\')) {
        let name = segment
            .split(|byte| *byte == b';')
            .next()
            .unwrap_or_default();
        match name {
            b"" | b"." => {}
            b".." => drop(segments.pop()),
            name => segments.push(String::from_utf8_lossy(name).into_owned()),
        }
    }
    segments
}

/// Checks a path as upstreams may read it: as it is, decoded once, decoded twice.
fn check_path(path: &str) {
    if path::check(path).is_err() {
        return;
    }
    assert!(path.starts_with('/') && !path.starts_with("//"), "{path:?}");
    let once = decoded(path.as_bytes());
    let twice = decoded(&once);
    let count = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'/').count();
    for read in [path.as_bytes(), &once, &twice] {
        assert_eq!(count(read), count(path.as_bytes()), "{path:?} gets a slash");
        assert!(!read.contains(&b'\\') && !read.contains(&0), "{path:?}");
        let named = read
            .split(|byte| *byte == b'/')
            .filter(|segment| segment.split(|byte| *byte == b';').next() != Some(b""));
        assert_eq!(
            resolved(read).len(),
            named.count(),
            "{path:?} leaves its folder"
        );
    }
    let url = url::Url::parse(&format!("http://host{path}")).unwrap();
    assert_eq!(url.host_str(), Some("host"), "{path:?}");
    assert_eq!(
        count(url.path().as_bytes()),
        count(path.as_bytes()),
        "{path:?}"
    );
}

#[test]
fn fuzz_paths() {
    let lists: Value = serde_json::from_str(CONFUSION).unwrap();
    let (refused, passes) = (&lists["refused"], &lists["passes"]);
    let (refused, passes) = (seeds(&refused.to_string()), seeds(&passes.to_string()));
    for seed in &refused {
        assert!(path::check(seed).is_err(), "{seed:?} passed");
    }
    for seed in &passes {
        assert_eq!(path::check(seed), Ok(()), "{seed:?}, the control case");
        check_path(seed);
    }
    let all = [refused, passes].concat();
    check!()
        .with_test_time(time())
        .with_type::<Change>()
        .for_each(|change| {
            let bytes = edited(&all, &PIECES, change);
            let text = String::from_utf8_lossy(&bytes);
            // what follows is not part of the path of a request
            check_path(text.split('?').next().unwrap_or_default());
        });
}

//! Fuzzes the reading of `Cookie` headers.
use bolero::check;
use http::{HeaderMap, HeaderValue, header};
use portico_testkit::fuzz::{Change, edited, seeds, time};
use secrecy::ExposeSecret as _;

use crate::http::cookies::{Cookies, Purpose};
use portico_proxy::headers::cookies::without_reserved;

const LINES: &str = include_str!("seeds/cookies.json");

const PIECES: [&str; 16] = [
    ";",
    "; ",
    "=",
    "portico",
    "__Host-portico",
    "__HOST-portico",
    "portico-sign-in-",
    "portico-flow",
    "0123456789abcdefghijABCDEFGHIJ0123456789_-x",
    " ",
    "\t",
    "\"",
    ",",
    "\n",
    "\u{a0}",
    "%3D",
];

const PURPOSES: [(Purpose, &str); 7] = [
    (Purpose::Session, "portico"),
    (Purpose::SignIn, "portico-sign-in"),
    (Purpose::Flow, "portico-flow"),
    (Purpose::Handover, "portico-handover"),
    (Purpose::State, "portico-state"),
    (Purpose::Redirects, "portico-redirects"),
    (Purpose::Provider, "portico-provider"),
];

/// Returns a `Cookie` header for each line of the text.
fn headers(text: &[u8]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for line in text.split(|byte| *byte == b'\n') {
        if let Ok(value) = HeaderValue::from_bytes(line) {
            headers.append(header::COOKIE, value);
        }
    }
    headers
}

/// Returns the names and values that a reader of whole lines sees, where they are text.
fn pairs(headers: &HeaderMap) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    for line in headers.get_all(header::COOKIE) {
        let Ok(line) = line.to_str() else { continue };
        for pair in line.split(';') {
            if let Some((name, value)) = pair.trim().split_once('=') {
                pairs.push((name.to_owned(), value.to_owned()));
            }
        }
    }
    pairs
}

/// Returns whether a reader that folds case and drops white space could take a name for one of
/// Portico's.
fn looks_like_ours(name: &[u8]) -> bool {
    let Ok(name) = std::str::from_utf8(name) else {
        return false;
    };
    let name = name.trim().to_ascii_lowercase();
    let plain = name
        .strip_prefix("__host-")
        .or(name.strip_prefix("__secure-"));
    let plain = plain.or(name.strip_prefix("__http-")).unwrap_or(&name);
    let plain = plain
        .strip_prefix("http-")
        .filter(|_| name.starts_with("__host-http-"))
        .unwrap_or(plain);
    plain == "portico" || plain.starts_with("portico-")
}

fn check_lines(text: &[u8]) {
    let headers = headers(text);
    for secure in [false, true] {
        let cookies = Cookies { secure };
        for (purpose, plain) in PURPOSES {
            let name = match secure {
                true => format!("__Host-{plain}"),
                false => plain.to_owned(),
            };
            let seen: Vec<_> = pairs(&headers)
                .into_iter()
                .filter(|(key, _)| *key == name)
                .collect();
            if let Some(value) = cookies.read(&headers, purpose) {
                let value = value.expose_secret();
                assert_eq!(seen.len(), 1, "planted twice: {text:?}");
                assert_eq!(seen[0].1, value);
                assert_eq!(value.len(), 43);
            }
            if let Some(mark) = cookies.read_mark(&headers, purpose) {
                assert_eq!((seen.len(), seen[0].1.as_str()), (1, mark));
            }
            for slot in cookies.read_slots(&headers, purpose) {
                assert_eq!(slot.expose_secret().len(), 43);
            }
        }
    }
    // what a reader that decodes names may see
    let cookies = Cookies { secure: true };
    let mut kept = headers.clone();
    cookies.keep_plain(&mut kept, Purpose::State);
    let own = cookies.read_mark(&headers, Purpose::State);
    assert_eq!(cookies.read_mark(&kept, Purpose::State), own, "{text:?}");
    for (name, _) in pairs(&kept) {
        assert!(!name.contains('%') && name == name.trim(), "{text:?}");
    }
    // what is forwarded to an upstream
    let passed: Vec<u8> =
        without_reserved(&headers).map_or_else(Vec::new, |line| line.as_bytes().to_vec());
    let mut expected = Vec::new();
    for line in headers.get_all(header::COOKIE) {
        for pair in line.as_bytes().split(|byte| *byte == b';') {
            let pair = pair.trim_ascii();
            let name = pair.split(|byte| *byte == b'=').next().unwrap_or_default();
            if !pair.is_empty() && !looks_like_ours(name) {
                expected.push(pair);
            }
        }
    }
    assert_eq!(passed, expected.join(&b"; "[..]), "{text:?}");
}

#[test]
fn fuzz_cookies() {
    let all = seeds(LINES);
    for seed in &all {
        check_lines(seed.as_bytes());
    }
    let headers = headers(all[0].as_bytes());
    let session = Cookies { secure: false }.read(&headers, Purpose::Session);
    assert!(session.is_some(), "the control case");
    check!()
        .with_test_time(time())
        .with_type::<Change>()
        .for_each(|change| check_lines(&edited(&all, &PIECES, change)));
}

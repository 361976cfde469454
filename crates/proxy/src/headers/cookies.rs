//! Keeps the cookies that are the gateway's own from upstreams, and from being set by them.
use http::{HeaderMap, HeaderValue, header};

/// The name of the session cookie; the names of all others of the gateway begin with it.
pub const COOKIE_NAME: &str = "portico";

/// The session cookie as the gateway writes it, over HTTP and HTTPS. Every request of a signed-in
/// user has it: recognized by these, it needs no comparison in any case.
const SESSION_COOKIES: [&[u8]; 2] = [b"portico", b"__Host-portico"];

/// Cookie name prefixes that browsers treat specially, in any case (RFC 6265bis, section 4.1.3).
const SPECIAL_PREFIXES: [&str; 4] = ["__host-http-", "__host-", "__secure-", "__http-"];

/// Returns whether a cookie name is one of Portico's, or may become one, in any case.
pub fn is_reserved(name: &str) -> bool {
    let name = name.trim();
    let mut prefixes = SPECIAL_PREFIXES.iter();
    let plain = prefixes
        .find_map(|prefix| without(name, prefix))
        .unwrap_or(name);
    let rest = without(plain, COOKIE_NAME);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// Returns what follows a prefix, in any case.
fn without<'n>(name: &'n str, beginning: &str) -> Option<&'n str> {
    let (head, rest) = name.split_at_checked(beginning.len())?;
    head.eq_ignore_ascii_case(beginning).then_some(rest)
}

/// Returns the request's cookies without Portico's, as one line; `None` when nothing is left.
pub fn without_reserved(headers: &HeaderMap) -> Option<HeaderValue> {
    let mut line = Vec::new();
    for value in headers.get_all(header::COOKIE) {
        for pair in parts(value.as_bytes()) {
            let name = memchr::memchr(b'=', pair).and_then(|at| pair.get(..at));
            let name = name.unwrap_or(pair);
            if pair.is_empty()
                || SESSION_COOKIES.contains(&name)
                || std::str::from_utf8(name).is_ok_and(is_reserved)
            {
                continue;
            }
            if !line.is_empty() {
                line.extend_from_slice(b"; ");
            }
            line.extend_from_slice(pair);
        }
    }
    if line.is_empty() {
        return None;
    }
    HeaderValue::from_bytes(&line).ok()
}

/// Returns the parts of a line between semicolons.
pub fn parts(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let ends = memchr::memchr_iter(b';', line).chain([line.len()]);
    let mut from = 0;
    ends.filter_map(move |end| {
        let part = line.get(from..end);
        from = end + 1;
        part.map(<[u8]>::trim_ascii)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(
                header::COOKIE,
                HeaderValue::from_bytes(line.as_bytes()).expect("value"),
            );
        }
        headers
    }

    #[test]
    fn ours_never_travel_on() {
        let headers = headers(&[
            "portico=0123456789abcdefghijABCDEFGHIJ0123456789_-x; theme=dark",
            "__host-PORTICO=x; portico-flow=y; portico-handover=z; __Secure-portico=q",
            "portico-form=v; __Host-portico-redirects=w",
            "lang=ä; portico_x=kept",
        ]);
        assert_eq!(
            without_reserved(&headers).expect("some").as_bytes(),
            "theme=dark; lang=ä; portico_x=kept".as_bytes()
        );
    }

    #[test]
    fn the_names_that_are_recognized_at_once_are_reserved() {
        for name in SESSION_COOKIES {
            let name = std::str::from_utf8(name).expect("text");
            assert!(is_reserved(name), "{name}");
        }
    }

    #[test]
    fn nothing_left_means_no_line() {
        assert!(without_reserved(&headers(&["portico=x", ";;; ;"])).is_none());
    }
}

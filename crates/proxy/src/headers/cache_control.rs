//! Keeps shared caches from storing an app's responses: to a cache in front, nothing in them
//! distinguishes users (RFC 9111, 3.5 protects only requests with `Authorization`).
use http::{
    HeaderMap, HeaderValue,
    header::{self, Entry},
};

/// Returns whether only shared caches read this header, some of them before `Cache-Control` (RFC
/// 9213).
pub(crate) fn is_for_shared_caches(name: &str) -> bool {
    matches!(name, "cdn-cache-control" | "surrogate-control")
}

/// For responses without `Cache-Control`.
pub(crate) const PRIVATE: HeaderValue = HeaderValue::from_static("private");

/// Marks a response as private. Browsers cache it as long as the app permits.
pub(crate) fn make_private(headers: &mut HeaderMap) {
    if let Entry::Vacant(entry) = headers.entry(header::CACHE_CONTROL) {
        entry.insert(PRIVATE);
        return;
    }
    let mut kept = String::new();
    for line in headers.get_all(header::CACHE_CONTROL) {
        for directive in line.to_str().unwrap_or_default().split(',') {
            let directive = directive.trim();
            let name = directive.split('=').next().unwrap_or_default().trim_end();
            let is = |other: &str| name.eq_ignore_ascii_case(other);
            if is("no-store") || (is("private") && directive == name) {
                return;
            }
            // `private="Set-Cookie"` permits storing the rest; a quoted list split at its comma
            // is removed too
            let cut = directive.matches('"').count() % 2 == 1;
            let shares = is("public") || is("s-maxage") || is("private") || cut;
            if !shares && !directive.is_empty() {
                kept.push_str(directive);
                kept.push_str(", ");
            }
        }
    }
    kept.push_str("private");
    if let Ok(value) = HeaderValue::try_from(kept) {
        headers.insert(header::CACHE_CONTROL, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers::{Trust, clean_response};

    fn marked(lines: &[&'static str]) -> Vec<String> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(header::CACHE_CONTROL, HeaderValue::from_static(line));
        }
        make_private(&mut headers);
        let lines = headers.get_all(header::CACHE_CONTROL).iter();
        lines
            .map(|line| line.to_str().expect("text").to_owned())
            .collect()
    }

    #[test]
    fn nothing_may_be_cached_for_several_users() {
        for (lines, expected) in [
            (&[][..], "private"),
            (&["public, max-age=600"], "max-age=600, private"),
            (&["max-age=600"], "max-age=600, private"),
            (&["Public", "S-MaxAge=60, immutable"], "immutable, private"),
            (&["private=\"set-cookie\", max-age=1"], "max-age=1, private"),
            (&["private=\"a, b\", max-age=1"], "max-age=1, private"),
            (&["no-cache"], "no-cache, private"),
        ] {
            assert_eq!(marked(lines), [expected], "{lines:?}");
        }
    }

    #[test]
    fn what_is_private_already_stays_as_it_is() {
        assert_eq!(marked(&["private, max-age=60"]), ["private, max-age=60"]);
        assert_eq!(marked(&["no-store"]), ["no-store"]);
    }

    #[test]
    fn words_for_shared_caches_do_not_pass() {
        let mut headers = HeaderMap::new();
        headers.insert("cdn-cache-control", HeaderValue::from_static("max-age=60"));
        headers.insert("surrogate-control", HeaderValue::from_static("max-age=60"));
        clean_response(&mut headers, Trust::App);
        assert_eq!(headers[header::CACHE_CONTROL], "private");
        assert!(
            !headers
                .keys()
                .any(|name| is_for_shared_caches(name.as_str()))
        );
    }
}

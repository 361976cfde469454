//! Whether a browser keeps the cookie that sign-in has just given it.
//!
//! The redirect after a sign-in carries a signed time in the query. Who comes back with it and
//! without the session's cookie did not keep it; who comes back with both is sent on to the same
//! address without it, so that nobody bookmarks it.
use http::Uri;
use jiff::{SignedDuration, Timestamp};

use super::return_path::ReturnPath;
use crate::state::Gateway;

const PARAMETER: &str = "portico_signed_in";
const PURPOSE: &str = "arrival";
/// Later than this somebody has come back to an old address.
const FRESH: SignedDuration = SignedDuration::from_secs(60);

/// What an address says about a sign-in just before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// Nothing.
    Usual,
    /// Sign-in has led here, less than a minute ago.
    SignedInNow,
    /// Sign-in has led here at some time, or somebody says so.
    Old,
}

impl Gateway {
    /// The way to where a sign-in leads.
    pub fn arriving_at(&self, path: &ReturnPath, now: Timestamp) -> String {
        let seconds = now.as_second().to_string();
        let mark = self.store.browser_marks().issue(PURPOSE, &seconds);
        let path = path.as_str();
        let sign = if path.contains('?') { '&' } else { '?' };
        format!("{path}{sign}{PARAMETER}={mark}")
    }

    /// What the address of a request says.
    pub fn arrival(&self, uri: &Uri, now: Timestamp) -> Arrival {
        let Some(query) = uri.query().filter(|query| query.contains(PARAMETER)) else {
            return Arrival::Usual;
        };
        let Some(mark) = parts(query).find_map(value_of) else {
            return Arrival::Usual;
        };
        let seconds = self.store.browser_marks().read(PURPOSE, mark);
        let fresh = seconds
            .and_then(|seconds| seconds.parse::<i64>().ok())
            .and_then(|seconds| Timestamp::from_second(seconds).ok())
            .is_some_and(|at| now.duration_since(at).abs() < FRESH);
        if fresh {
            Arrival::SignedInNow
        } else {
            Arrival::Old
        }
    }
}

/// Path and query of an address, without what sign-in added.
pub(crate) fn plain(uri: &Uri) -> String {
    let path = uri.path();
    let rest: Vec<&str> = parts(uri.query().unwrap_or_default())
        .filter(|part| value_of(part).is_none())
        .collect();
    if rest.is_empty() {
        path.to_owned()
    } else {
        format!("{path}?{}", rest.join("&"))
    }
}

fn parts(query: &str) -> impl Iterator<Item = &str> {
    query.split('&').filter(|part| !part.is_empty())
}

fn value_of(part: &str) -> Option<&str> {
    part.strip_prefix(PARAMETER)?.strip_prefix('=')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_without_the_mark_is_what_it_was() {
        for (with, without) in [
            ("/?portico_signed_in=1.x", "/"),
            ("/a?q=%20b&portico_signed_in=1.x", "/a?q=%20b"),
            ("/a?portico_signed_in=1.x&q=1&q=2", "/a?q=1&q=2"),
            ("/a?portico_signed_in_not=1", "/a?portico_signed_in_not=1"),
            ("/a?x=portico_signed_in=1", "/a?x=portico_signed_in=1"),
        ] {
            assert_eq!(plain(&with.parse().expect("uri")), without, "{with}");
        }
    }
}

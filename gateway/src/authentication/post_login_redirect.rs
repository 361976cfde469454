//! Detects whether a browser keeps the session cookie that sign-in has just set.
//!
//! The redirect after a sign-in carries a signed time in the query. A browser that returns with it
//! but without the session cookie did not keep the cookie. A browser that returns with both is
//! redirected to the same address without it, so that users do not bookmark it.
use http::Uri;
use jiff::{SignedDuration, Timestamp};

use super::Authentication;
use crate::http::return_path::ReturnPath;

const PARAMETER: &str = "portico_signed_in";
const PURPOSE: &str = "post_login";
/// How long the mark of a completed sign-in is valid. An older mark belongs to an old address.
const MARK_TTL: SignedDuration = SignedDuration::from_secs(60);

/// What a request's address shows about a preceding sign-in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignInMark {
    /// The address has no mark.
    Absent,
    /// A sign-in redirected here less than a minute ago.
    SignedInNow,
    /// The mark has expired, or is not genuine.
    Expired,
}

impl Authentication {
    /// Returns the path to redirect to after a sign-in, with the mark.
    pub fn with_sign_in_mark(&self, path: &ReturnPath, now: Timestamp) -> String {
        let seconds = now.as_second().to_string();
        let mark = self.store.browser_marks().issue(PURPOSE, &seconds);
        let path = path.as_str();
        let sign = if path.contains('?') { '&' } else { '?' };
        format!("{path}{sign}{PARAMETER}={mark}")
    }

    /// Reads the mark in the address of a request.
    pub fn sign_in_mark(&self, uri: &Uri, now: Timestamp) -> SignInMark {
        let Some(query) = uri.query().filter(|query| query.contains(PARAMETER)) else {
            return SignInMark::Absent;
        };
        let Some(mark) = parts(query).find_map(value_of) else {
            return SignInMark::Absent;
        };
        let seconds = self.store.browser_marks().read(PURPOSE, mark);
        let fresh = seconds
            .and_then(|seconds| seconds.parse::<i64>().ok())
            .and_then(|seconds| Timestamp::from_second(seconds).ok())
            .is_some_and(|at| now.duration_since(at).abs() < MARK_TTL);
        if fresh {
            SignInMark::SignedInNow
        } else {
            SignInMark::Expired
        }
    }
}

/// Returns path and query of an address, without the mark of a sign-in.
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

//! Rewrites request paths for an upstream.
use http::{HeaderValue, Uri, uri::PathAndQuery};

use crate::path::{self, PathFault};

/// The prefix to remove from a path, and the one to add.
#[derive(Clone, Debug, Default)]
pub struct Rewrite {
    strip: String,
    add: String,
    /// The removed prefix, for the upstream (`X-Forwarded-Prefix`).
    pub stripped_prefix: Option<HeaderValue>,
}

/// Why a path cannot be rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RewriteFault {
    #[error("the path does not begin with the prefix of the app")]
    OtherPrefix,
    #[error(transparent)]
    Path(#[from] PathFault),
    #[error("the path cannot be put together")]
    Unfit,
}

impl Rewrite {
    pub fn new(strip: Option<&str>, add: Option<&str>) -> Self {
        Self {
            strip: strip.unwrap_or_default().to_owned(),
            add: add.unwrap_or_default().to_owned(),
            stripped_prefix: strip.and_then(|strip| HeaderValue::from_str(strip).ok()),
        }
    }

    /// Returns the rewritten path; `None` where it is unchanged or cannot be rewritten.
    pub fn path(&self, path: &str) -> Option<String> {
        if self.strip.is_empty() && self.add.is_empty() {
            return None;
        }
        let target = self.apply(&path.parse().ok()?).ok()??;
        Some(target.path().to_owned())
    }

    /// Returns the target for the upstream, checked like the original one; `None` where it is the
    /// same.
    pub fn apply(&self, uri: &Uri) -> Result<Option<Uri>, RewriteFault> {
        if self.strip.is_empty() && self.add.is_empty() {
            return Ok(None);
        }
        let asked = uri.path_and_query().map_or("/", PathAndQuery::as_str);
        let (path, query) = match asked.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (asked, None),
        };
        let rest = below(path, &self.strip).ok_or(RewriteFault::OtherPrefix)?;
        let mut rewritten = format!("{}{}", self.add, if rest.is_empty() { "/" } else { rest });
        path::check(&rewritten)?;
        if let Some(query) = query {
            rewritten.push('?');
            rewritten.push_str(query);
        }
        let target: PathAndQuery = rewritten.parse().map_err(|_| RewriteFault::Unfit)?;
        Ok(Some(Uri::from(target)))
    }
}

/// Returns what follows a prefix of whole segments: empty, or a path of its own.
pub fn below<'p>(path: &'p str, prefix: &str) -> Option<&'p str> {
    path.strip_prefix(prefix)
        .filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn apply(strip: Option<&str>, add: Option<&str>, uri: &str) -> Result<String, RewriteFault> {
        let uri: Uri = uri.parse().expect("uri");
        let rewritten = Rewrite::new(strip, add).apply(&uri)?;
        Ok(rewritten.unwrap_or(uri).to_string())
    }

    #[test]
    fn a_prefix_goes_as_a_whole_and_another_comes_before_the_rest() {
        for (strip, add, uri, expected) in [
            (None, None, "/a?b=/c", "/a?b=/c"),
            (Some("/g"), None, "/g/a%20b?c=%2F?", "/a%20b?c=%2F?"),
            (Some("/g"), None, "/g", "/"),
            (Some("/g"), None, "/g?x", "/?x"),
            (Some("/g"), None, "/g/", "/"),
            (Some("/g"), Some("/h/i"), "/g/a", "/h/i/a"),
            (None, Some("/h"), "/", "/h/"),
            (None, Some("/h"), "http://host/a", "/h/a"),
        ] {
            assert_eq!(apply(strip, add, uri).as_deref(), Ok(expected), "{uri}");
        }
    }

    #[test]
    fn what_does_not_begin_with_the_prefix_is_refused() {
        for uri in ["/", "/ga", "/G/a", "/x/g/a", "/%67/a", "/?x=/g/"] {
            let refused = apply(Some("/g"), None, uri);
            assert_eq!(refused, Err(RewriteFault::OtherPrefix), "{uri}");
        }
    }

    #[test]
    fn what_is_left_is_checked_like_what_came() {
        for uri in ["/g//evil.example/a", "/g//"] {
            let refused = apply(Some("/g"), None, uri);
            let double = RewriteFault::Path(PathFault::DoubleSlash);
            assert_eq!(refused, Err(double), "{uri}");
        }
    }

    proptest! {
        #[test]
        fn no_rewritten_path_leaves_its_folder(rest in "[a-z./%25eEfFcC;?]{0,24}") {
            let asked = format!("/g{rest}");
            let path = asked.split('?').next().unwrap_or_default();
            if path::check(path).is_ok()
                && let Ok(uri) = asked.parse::<Uri>()
                && let Ok(Some(target)) = Rewrite::new(Some("/g"), Some("/open")).apply(&uri)
            {
                let url = url::Url::parse(&format!("http://h{target}")).expect("a URL");
                prop_assert!(url.path().starts_with("/open/"), "{asked} became {target}");
                prop_assert_eq!(path::check(target.path()), Ok(()));
            }
        }
    }
}

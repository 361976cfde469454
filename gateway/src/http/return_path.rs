//! Return paths: where the browser goes after sign-in, which is a path on the same host or the home
//! page.
use std::fmt;

use portico_request::path;
use url::Url;

const MAX_PATH_BYTES: usize = 2048;

/// Portico's own endpoints that are steps of a longer flow, allowed as return paths.
pub(crate) const OWN_STEPS: [&str; 8] = [
    "/oauth2/audit",
    "/oauth2/authorize",
    "/oauth2/device",
    "/oauth2/handover",
    "/oauth2/saved_form",
    "/oauth2/open",
    "/oauth2/project",
    "/oauth2/sessions",
];

/// A path with its query on the host that reads it, never an address on another host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReturnPath(String);

impl ReturnPath {
    /// Returns the path of the home page.
    pub fn home() -> Self {
        Self("/".to_owned())
    }

    /// Returns the path of the page where a user with several projects chooses one.
    pub fn choice_of_project() -> Self {
        Self("/oauth2/project".to_owned())
    }

    /// Returns the path of that page for a user who asked to stay signed in, which applies to one
    /// project.
    pub fn choice_for_staying(&self) -> Self {
        let rest = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("stay", "1")
            .append_pair("rd", self.as_str())
            .finish();
        Self(format!("/oauth2/project?{rest}"))
    }

    /// Returns a path that first shows the page with the number of failed sign-in attempts.
    pub fn by_way_of_failed_attempts(&self, mark: &str) -> Self {
        let rest = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("seen", mark)
            .append_pair("rd", self.as_str())
            .finish();
        Self(format!("/oauth2/failed_attempts?{rest}"))
    }

    /// Reads an untrusted destination. Anything but a plain path of this host becomes `/`.
    pub fn parse(raw: &str) -> Self {
        Self::read(raw).unwrap_or_else(Self::home)
    }

    /// Reads an optional untrusted destination, like [`Self::parse`].
    pub fn from_query(raw: Option<&str>) -> Self {
        raw.map_or_else(Self::home, Self::parse)
    }

    /// Returns the path to a page of an app, through the endpoint that redirects to the app's
    /// address.
    pub fn to_app(id: &str, path: &Self) -> Option<Self> {
        let query = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("app", id)
            .append_pair("rd", path.as_str())
            .finish();
        Self::read(&format!("/oauth2/open?{query}"))
    }

    /// Reads an untrusted destination. Returns `None` for anything but a plain path of this host.
    pub fn read(raw: &str) -> Option<Self> {
        let plain = raw.len() <= MAX_PATH_BYTES
            && raw.starts_with('/')
            && !raw.starts_with("//")
            && raw.bytes().all(|b| b.is_ascii_graphic() && b != b'\\');
        if !plain {
            return None;
        }
        // the parser that browsers use must agree that this stays on the host
        let base = Url::parse("https://host.invalid/").ok()?;
        let url = base.join(raw).ok()?;
        if url.origin() != base.origin() || !url.username().is_empty() {
            return None;
        }
        let path = url.path();
        let own = path == "/oauth2" || path.starts_with("/oauth2/");
        if path::check(path).is_err() || (own && !OWN_STEPS.contains(&path)) {
            return None;
        }
        Some(Self(match url.query() {
            Some(query) => format!("{path}?{query}"),
            None => path.to_owned(),
        }))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether the path is not just the home page.
    pub fn leads_somewhere(&self) -> bool {
        self.0 != "/"
    }

    /// Returns the value of a query parameter.
    pub fn query(&self, name: &str) -> Option<String> {
        let (_, query) = self.0.split_once('?')?;
        url::form_urlencoded::parse(query.as_bytes())
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.into_owned())
    }

    /// Returns the path without the query.
    pub fn path(&self) -> &str {
        self.0.split('?').next().unwrap_or("/")
    }

    /// Returns the ID of the app that the path leads to by a hand-over.
    pub fn app(&self) -> Option<String> {
        (self.path() == "/oauth2/handover")
            .then(|| self.query("app"))
            .flatten()
    }
}

impl fmt::Display for ReturnPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn own_paths_are_kept() {
        for path in [
            "/",
            "/projects/p1?q=a%20b",
            "/oauth2/authorize?client_id=portico-cli",
            "/oauth2/device?user_code=ABCD-EFGH",
        ] {
            assert_eq!(ReturnPath::parse(path).as_str(), path);
        }
    }

    #[test]
    fn everything_else_goes_home() {
        for raw in [
            "",
            "https://evil.example",
            "//evil.example",
            "/\\evil.example",
            "/\t/evil.example",
            "/ /evil.example",
            "/\n/evil.example",
            "\\\\evil.example",
            "javascript:alert(1)",
            "/..//evil.example",
            "/.//evil.example",
            "/a/..//evil.example",
            "https:evil.example",
            "/%0d%0aSet-Cookie:x\r\n",
            "/oauth2/sign_out",
            "/oauth2/sign_in?rd=/",
            "/x/../oauth2/sign_out",
            "/ä",
            "/%5cevil.example",
            "/%2fevil.example",
        ] {
            assert_eq!(ReturnPath::parse(raw).as_str(), "/", "{raw:?}");
        }
        assert_eq!(
            ReturnPath::parse(&format!("/{}", "a".repeat(20_000))).as_str(),
            "/"
        );
    }

    #[test]
    fn a_fragment_is_dropped() {
        assert_eq!(ReturnPath::parse("/a?b=c#d").as_str(), "/a?b=c");
    }

    proptest! {
        #[test]
        fn the_browser_stays_on_the_host(raw in "[/\\\\.a-z@:?#%0-9 \t]{0,24}") {
            let base = Url::parse("https://portico.example.org/x").expect("base");
            let path = ReturnPath::parse(&raw);
            let url = base.join(path.as_str()).expect("joins");
            prop_assert_eq!(url.origin(), base.origin());
        }
    }
}

//! Reads `rd`: the destination after sign-in, as written by proxies in front.
//!
//! Often it is not escaped: nginx has no way to do so, so its samples use `rd=$request_uri` and
//! `rd=$scheme://$host$request_uri`. Every possible reading passes the same checks, so a wrong
//! guess leads to the home page and never to another host.
use http::Uri;

use super::{error_response::Problem, forms::Fields, return_path::ReturnPath};
use crate::hosts::{App, Hosts};

const RETURN_PARAMETER: &str = "rd";

/// A destination before it is checked: its possible readings, the likeliest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Destination(Vec<String>);

/// Returns the parameters of a query, and the destination among them.
pub(crate) fn split(uri: &Uri) -> Result<(Fields, Destination), Problem> {
    let query = uri.query().unwrap_or_default();
    let Some((before, value)) = find(query) else {
        return Ok((Fields::of_text(query)?, Destination::default()));
    };
    let (one, after) = value.split_once('&').unwrap_or((value, ""));
    let plain = one.starts_with('/') || one.starts_with("http://") || one.starts_with("https://");
    let (readings, rest) = if plain && one.contains('?') {
        // it has a query of its own, which extends to the end
        (vec![value.to_owned()], before.to_owned())
    } else {
        let decoded = url::form_urlencoded::parse(format!("{RETURN_PARAMETER}={one}").as_bytes())
            .next()
            .map(|(_, value)| value.into_owned());
        let mut readings: Vec<String> = decoded.into_iter().collect();
        if plain {
            readings.push(one.to_owned());
        }
        (readings, format!("{before}&{after}"))
    };
    let fields = Fields::of_text(&rest)?;
    if fields.optional(RETURN_PARAMETER).is_some() {
        return Err(Problem::bad_request("rd is given twice."));
    }
    Ok((fields, Destination(readings)))
}

/// Returns the text before the parameter, and all that follows its name.
fn find(query: &str) -> Option<(&str, &str)> {
    if let Some(value) = query.strip_prefix("rd=") {
        return Some(("", value));
    }
    query.split_once("&rd=")
}

impl Destination {
    /// Returns a destination from another source than a query.
    pub fn of(text: &str) -> Self {
        Self(vec![text.to_owned()])
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter().all(String::is_empty)
    }
}

impl Destination {
    /// Returns the path to go to after a sign-in on the main host: a path here, or an app by its
    /// full URL.
    pub fn return_path(&self, hosts: &Hosts) -> ReturnPath {
        let mut readings = self.0.iter();
        let path = readings.find_map(|raw| path_to(raw, hosts));
        path.unwrap_or_else(ReturnPath::home)
    }
}

fn path_to(raw: &str, hosts: &Hosts) -> Option<ReturnPath> {
    if raw.starts_with('/') {
        return ReturnPath::read(raw);
    }
    if let Some(path) = after_origin(raw, hosts.main()) {
        return ReturnPath::read(&path);
    }
    let apps = hosts.apps();
    let mut paths = apps.iter().filter_map(|app| {
        let path = ReturnPath::read(&after_origin(raw, &app.origin)?)?;
        ReturnPath::to_app(&app.config.id, &path)
    });
    paths.next()
}

/// Returns the path on an app's host that the destination refers to.
pub(crate) fn on_app(app: &App, destination: &Destination) -> ReturnPath {
    let mut readings = destination.0.iter();
    let path = readings.find_map(|raw| match after_origin(raw, &app.origin) {
        Some(path) => ReturnPath::read(&path),
        None => ReturnPath::read(raw),
    });
    path.unwrap_or_else(ReturnPath::home)
}

/// Returns what follows an origin in a URL, if the URL has exactly that origin.
fn after_origin(raw: &str, origin: &str) -> Option<String> {
    let rest = raw.strip_prefix(origin)?;
    match rest.chars().next() {
        None => Some("/".to_owned()),
        Some('/') => Some(rest.to_owned()),
        Some('?') => Some(format!("/{rest}")),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readings(query: &str) -> Vec<String> {
        let uri: Uri = format!("/oauth2/start?{query}").parse().expect("uri");
        let (_, destination) = split(&uri).unwrap_or_default();
        destination.0
    }

    #[test]
    fn escaped_destinations_are_read_as_ever() {
        assert_eq!(readings("rd=%2Fgraph%3Fa%3Db%26c%3Dd"), ["/graph?a=b&c=d"]);
        assert_eq!(
            readings("provider=x&rd=https%3A%2F%2Fa.example%2Fx&prompt=login"),
            ["https://a.example/x"]
        );
        assert_eq!(readings("rd=/graph&prompt=login"), ["/graph", "/graph"]);
        assert!(readings("").is_empty());
        assert!(readings("ord=/x").is_empty());
    }

    #[test]
    fn an_unescaped_one_extends_to_the_end() {
        assert_eq!(readings("rd=/graph?a=b&c=d&c=e"), ["/graph?a=b&c=d&c=e"]);
        assert_eq!(
            readings("rd=https://a.example/x?y=%20z&rd=/w"),
            ["https://a.example/x?y=%20z&rd=/w"]
        );
    }

    #[test]
    fn a_path_with_escapes_of_its_own_can_be_meant_in_two_ways() {
        assert_eq!(readings("rd=/a%20b"), ["/a b", "/a%20b"]);
        assert_eq!(readings("rd=/a%3Fb=c"), ["/a?b=c", "/a%3Fb=c"]);
    }

    #[test]
    fn two_destinations_are_none() {
        let uri: Uri = "/oauth2/start?rd=%2Fa&rd=%2Fb".parse().expect("uri");
        assert!(split(&uri).is_err());
    }

    #[test]
    fn an_origin_is_not_just_a_beginning() {
        let origin = "https://a.example";
        for (raw, path) in [
            ("https://a.example", Some("/")),
            ("https://a.example/x?y", Some("/x?y")),
            ("https://a.example?y", Some("/?y")),
            ("https://a.example.evil.example/", None),
            ("https://a.example:8443/", None),
            ("https://a.example@evil.example/", None),
            ("https://a.example\\@evil.example/", None),
            ("http://a.example/", None),
            ("//a.example/", None),
        ] {
            assert_eq!(after_origin(raw, origin).as_deref(), path, "{raw}");
        }
    }
}

//! Reads the request that a proxy in front asks about, from its headers.
//!
//! Traefik, Caddy and HAProxy send `X-Forwarded-Host`, `-Uri` and `-Method`; nginx has no names of
//! its own, and its samples use `X-Original-URI`, `X-Original-URL` and `X-Original-Method`; Envoy
//! may send `X-Envoy-Original-Path`. A proxy forwards what its client sent under the names that it
//! does not set itself, so two headers for the same value must agree.
use std::borrow::Cow;

use http::{HeaderMap, Method, uri::Authority};

use crate::hosts::folded;

const MAX_HEADER_BYTES: usize = 8 * 1024;

/// The original request, as far as the proxy describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ForwardedRequest {
    /// The host name, normalized for comparison.
    pub host: Option<String>,
    pub method: Option<Method>,
    /// Path and query as the client sent them.
    pub target: Option<String>,
}

/// Why the forwarded headers cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ForwardedHeaderError {
    #[error("{0} appears more than once")]
    Twice(&'static str),
    #[error("{0} cannot be read")]
    Unreadable(&'static str),
    #[error(
        "the headers of the proxy in front contradict each other: it must set or remove \
         X-Forwarded-Host, X-Forwarded-Uri, X-Forwarded-Method, X-Original-URL, X-Original-URI and \
         X-Original-Method"
    )]
    Contradiction,
}

impl ForwardedRequest {
    /// Reads the headers. The caller has checked that the peer is a trusted proxy.
    pub fn of(headers: &HeaderMap) -> Result<Self, ForwardedHeaderError> {
        let mut forwarded = Self::default();
        if let Some(host) = one(headers, "x-forwarded-host")? {
            agree(&mut forwarded.host, host_of("x-forwarded-host", host)?)?;
        }
        for name in ["x-forwarded-uri", "x-original-uri", "x-envoy-original-path"] {
            if let Some(target) = one(headers, name)? {
                agree(&mut forwarded.target, origin_form(name, target)?)?;
            }
        }
        if let Some(url) = one(headers, "x-original-url")? {
            let (host, target) = split_url("x-original-url", url)?;
            if let Some(host) = host {
                agree(&mut forwarded.host, host)?;
            }
            agree(&mut forwarded.target, target)?;
        }
        for name in ["x-forwarded-method", "x-original-method"] {
            if let Some(method) = one(headers, name)? {
                let method = Method::from_bytes(method.as_bytes())
                    .map_err(|_| ForwardedHeaderError::Unreadable(name))?;
                agree(&mut forwarded.method, method)?;
            }
        }
        Ok(forwarded)
    }

    /// Returns path and query separately.
    pub fn path_and_query(&self) -> Option<(&str, Option<&str>)> {
        let target = self.target.as_deref()?;
        Some(match target.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (target, None),
        })
    }
}

/// Returns the only value of a header, which must be plain and short.
pub(crate) fn one<'h>(
    headers: &'h HeaderMap,
    name: &'static str,
) -> Result<Option<&'h str>, ForwardedHeaderError> {
    let mut lines = headers.get_all(name).iter();
    let Some(value) = lines.next() else {
        return Ok(None);
    };
    if lines.next().is_some() {
        return Err(ForwardedHeaderError::Twice(name));
    }
    let text = value
        .to_str()
        .map_err(|_| ForwardedHeaderError::Unreadable(name))?;
    if text.len() > MAX_HEADER_BYTES {
        return Err(ForwardedHeaderError::Unreadable(name));
    }
    Ok(Some(text).filter(|text| !text.is_empty()))
}

fn agree<T: PartialEq>(known: &mut Option<T>, value: T) -> Result<(), ForwardedHeaderError> {
    match known {
        Some(known) if *known != value => Err(ForwardedHeaderError::Contradiction),
        _ => {
            *known = Some(value);
            Ok(())
        }
    }
}

fn origin_form(name: &'static str, target: &str) -> Result<String, ForwardedHeaderError> {
    if target.starts_with('/') {
        Ok(target.to_owned())
    } else {
        Err(ForwardedHeaderError::Unreadable(name))
    }
}

fn host_of(name: &'static str, authority: &str) -> Result<String, ForwardedHeaderError> {
    let authority = authority.parse::<Authority>();
    let authority = authority.map_err(|_| ForwardedHeaderError::Unreadable(name))?;
    folded(&authority).ok_or(ForwardedHeaderError::Unreadable(name))
}

/// Returns host and target of a URL, which may also be a bare path.
fn split_url(
    name: &'static str,
    url: &str,
) -> Result<(Option<String>, String), ForwardedHeaderError> {
    let rest = ["http://", "https://", "ws://", "wss://"]
        .iter()
        .find_map(|scheme| {
            let (start, rest) = url.split_at_checked(scheme.len())?;
            start.eq_ignore_ascii_case(scheme).then_some(rest)
        });
    let Some(rest) = rest else {
        return Ok((None, origin_form(name, url)?));
    };
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (host, target) = rest.split_at(end);
    let target: Cow<'_, str> = match target.chars().next() {
        Some('/') => target.into(),
        Some(_) => format!("/{target}").into(),
        None => "/".into(),
    };
    Ok((Some(host_of(name, host)?), target.into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn forwarded(lines: &[(&'static str, &str)]) -> Result<ForwardedRequest, ForwardedHeaderError> {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().expect("value"));
        }
        ForwardedRequest::of(&headers)
    }

    fn is(
        host: Option<&str>,
        method: Option<Method>,
        target: Option<&str>,
    ) -> Result<ForwardedRequest, ForwardedHeaderError> {
        Ok(ForwardedRequest {
            host: host.map(str::to_owned),
            method,
            target: target.map(str::to_owned),
        })
    }

    #[test]
    fn traefik_and_caddy_pass_it_in_parts() {
        assert_eq!(
            forwarded(&[
                ("x-forwarded-host", "Grafana.example.org"),
                ("x-forwarded-uri", "/d/x?orgId=1"),
                ("x-forwarded-method", "POST"),
            ]),
            is(
                Some("grafana.example.org"),
                Some(Method::POST),
                Some("/d/x?orgId=1")
            )
        );
        assert_eq!(forwarded(&[]), Ok(ForwardedRequest::default()));
    }

    #[test]
    fn nginx_samples_pass_it_in_a_url_or_a_path() {
        assert_eq!(
            forwarded(&[
                ("x-original-url", "https://grafana.example.org/d/x?orgId=1"),
                ("x-original-method", "GET"),
            ]),
            is(
                Some("grafana.example.org"),
                Some(Method::GET),
                Some("/d/x?orgId=1")
            )
        );
        assert_eq!(
            forwarded(&[("x-original-uri", "/d/x")]),
            is(None, None, Some("/d/x"))
        );
        assert_eq!(
            forwarded(&[("x-original-url", "https://a.example?x=1")]),
            is(Some("a.example"), None, Some("/?x=1"))
        );
    }

    #[test]
    fn two_names_for_one_thing_must_agree() {
        for lines in [
            &[("x-forwarded-uri", "/app"), ("x-original-uri", "/open")][..],
            &[
                ("x-forwarded-uri", "/app"),
                ("x-original-url", "https://a.example/open"),
            ],
            &[
                ("x-forwarded-host", "a.example"),
                ("x-original-url", "https://b.example/"),
            ],
            &[("x-forwarded-method", "GET"), ("x-original-method", "POST")],
            &[
                ("x-forwarded-uri", "/app"),
                ("x-envoy-original-path", "/open"),
            ],
        ] {
            assert_eq!(
                forwarded(lines),
                Err(ForwardedHeaderError::Contradiction),
                "{lines:?}"
            );
        }
        assert_eq!(
            forwarded(&[
                ("x-forwarded-host", "a.example"),
                ("x-forwarded-uri", "/app?a=b"),
                ("x-original-url", "https://A.example:443/app?a=b")
            ]),
            is(Some("a.example"), None, Some("/app?a=b"))
        );
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_not_read() {
        for lines in [
            &[("x-forwarded-uri", "/app"), ("x-forwarded-uri", "/open")][..],
            &[
                ("x-forwarded-host", "a.example"),
                ("x-forwarded-host", "a.example"),
            ],
            &[("x-forwarded-host", "a.example, b.example")],
            &[("x-forwarded-uri", "open")],
            &[("x-forwarded-uri", "https://a.example/open")],
            &[("x-original-url", "https://u@a.example/open")],
            &[("x-original-url", "https:///open")],
            &[("x-original-url", "ftp://a.example/open")],
            &[("x-forwarded-method", "GE T")],
        ] {
            assert!(forwarded(lines).is_err(), "{lines:?}");
        }
        let long = format!("/{}", "a".repeat(MAX_HEADER_BYTES));
        assert!(forwarded(&[("x-forwarded-uri", &long)]).is_err());
    }

    proptest! {
        #[test]
        fn no_forwarded_url_panics(url in "[ -~]{0,60}", uri in "[ -~]{0,60}") {
            let _ = forwarded(&[("x-original-url", &url)]);
            let _ = forwarded(&[("x-forwarded-uri", &uri)]);
        }
    }
}

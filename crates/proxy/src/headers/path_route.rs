//! Restricts the responses of a trusted app under a path of the panel's host (decision 9 of the
//! design).
//!
//! Its scripts run on the panel's origin, and nothing here changes that: the operator has permitted
//! it (`apps.trusted`). What is removed is what would reach beyond its path by accident.
use http::{HeaderMap, HeaderName, HeaderValue, Request, header};

use portico_request::rewrite::below;

/// Browsers send it with the request for a service worker's script, and scripts cannot.
const SERVICE_WORKER: HeaderName = HeaderName::from_static("service-worker");

/// The path of an app on the panel's host.
#[derive(Clone, Debug)]
pub struct PathRoute {
    path: String,
    /// Whether the path is removed from requests, so that the app's own `/` is this path.
    stripped: bool,
}

impl PathRoute {
    pub fn new(path: &str, stripped: bool) -> Self {
        Self {
            path: path.to_owned(),
            stripped,
        }
    }

    /// Returns whether a browser requests a service worker whose scope would reach beyond the app's
    /// path: the scope is the folder of the script (Service Workers, 5.1), and that of `/grafana`
    /// is `/`, the panel's.
    pub fn reaches_beyond<B>(&self, request: &Request<B>) -> bool {
        request.uri().path() == self.path && request.headers().contains_key(SERVICE_WORKER)
    }

    /// Restricts the cookies that a response sets to the app's path.
    pub fn confine(&self, headers: &mut HeaderMap) {
        if !headers.contains_key(header::SET_COOKIE) {
            return;
        }
        let kept: Vec<HeaderValue> = headers
            .get_all(header::SET_COOKIE)
            .iter()
            .filter_map(|line| self.confined(line))
            .collect();
        headers.remove(header::SET_COOKIE);
        for line in kept {
            headers.append(header::SET_COOKIE, line);
        }
    }

    fn confined(&self, line: &HeaderValue) -> Option<HeaderValue> {
        let mut parts = line.as_bytes().split(|b| *b == b';');
        let pair = parts.next()?;
        // a cookie with such a name is for the whole host (RFC 6265bis 4.1.3.2)
        let whole_host = pair
            .trim_ascii_start()
            .get(..7)
            .is_some_and(|name| name.eq_ignore_ascii_case(b"__host-"));
        if whole_host {
            return None;
        }
        let mut confined = pair.to_vec();
        let mut path = None;
        for attribute in parts {
            let mut halves = attribute.splitn(2, |b| *b == b'=');
            let name = halves.next().unwrap_or_default().trim_ascii();
            if name.eq_ignore_ascii_case(b"path") {
                // the last one counts (RFC 6265 5.3)
                path = halves.next().map(<[u8]>::trim_ascii);
            } else {
                confined.push(b';');
                confined.extend_from_slice(attribute);
            }
        }
        confined.extend_from_slice(b"; Path=");
        confined.extend_from_slice(self.inside(path).as_bytes());
        HeaderValue::from_bytes(&confined).ok()
    }

    /// Returns the cookie's path as browsers see it, never above the app's.
    fn inside(&self, path: Option<&[u8]>) -> String {
        let path = path
            .and_then(|path| std::str::from_utf8(path).ok())
            .filter(|path| path.starts_with('/'));
        match path {
            Some(path) if below(path, &self.path).is_some() => path.to_owned(),
            Some(path) if self.stripped && path != "/" => format!("{}{path}", self.path),
            _ => self.path.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn confined(stripped: bool, line: &'static str) -> Option<String> {
        let mut headers = HeaderMap::new();
        headers.insert(header::SET_COOKIE, HeaderValue::from_static(line));
        PathRoute::new("/grafana", stripped).confine(&mut headers);
        let line = headers.get(header::SET_COOKIE)?;
        Some(line.to_str().expect("text").to_owned())
    }

    #[test]
    fn cookies_stay_below_the_path() {
        for (stripped, line, expected) in [
            (false, "a=b", "a=b; Path=/grafana"),
            (
                false,
                "a=b; Path=/; HttpOnly",
                "a=b; HttpOnly; Path=/grafana",
            ),
            (false, "a=b; path=/grafana/x", "a=b; Path=/grafana/x"),
            (false, "a=b; Path=/grafana2", "a=b; Path=/grafana"),
            (false, "a=b; Path=/x", "a=b; Path=/grafana"),
            (false, "a=b; Path=", "a=b; Path=/grafana"),
            (false, "a=b; Path=/grafana; Path=/", "a=b; Path=/grafana"),
            (true, "a=b; Path=/", "a=b; Path=/grafana"),
            (true, "a=b; Path=/api", "a=b; Path=/grafana/api"),
        ] {
            assert_eq!(
                confined(stripped, line).as_deref(),
                Some(expected),
                "{line}"
            );
        }
    }

    #[test]
    fn cookies_of_the_whole_host_are_dropped() {
        for line in ["__Host-a=b; Path=/; Secure", " __host-a=b; Path=/"] {
            assert_eq!(confined(false, line), None, "{line}");
        }
    }
}

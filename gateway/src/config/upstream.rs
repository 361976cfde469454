//! Checks `[apps.upstream]`.
use std::collections::HashSet;

use rustls_pki_types::ServerName;
use url::Url;

use portico_proxy::{
    config::{Protocol, UpstreamConfig},
    upstream::address::Address,
};
use portico_request::path;

use super::AppConfig;

/// Bounds the backends of one app.
pub(crate) const MAX_BACKENDS: usize = 32;

/// What is wrong with `apps.upstream`.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum UpstreamConfigError {
    #[error("apps.{0}: set either url, or backends in apps.upstream")]
    NoAddress(String),
    #[error(
        "the address {1} of apps.{0} must be http://, https:// or h2c://host[:port][/path], or \
         unix:/path/to.sock; a name and a password for the app belong into apps.identity"
    )]
    Address(String, String),
    #[error("apps.upstream.backends of {0}: at most 32, each once, and all of one scheme")]
    Backends(String),
    #[error("apps.upstream.{1} of {0} is for https:// addresses")]
    OnlyTls(String, &'static str),
    #[error("apps.upstream of {0}: client_cert_file and client_key_file belong together")]
    HalfIdentity(String),
    #[error("apps.upstream.server_name of {0} is neither a DNS name nor an IP address")]
    ServerName(String),
    #[error("apps.upstream.{1} of {0} must be more than zero")]
    Zero(String, &'static str),
    #[error(
        "apps.upstream.{1} of {0} must be a path such as /grafana: without a slash at the end, \
         a query or anything to be decoded"
    )]
    Prefix(String, &'static str),
    #[error("apps.upstream.health.path of {0} must begin with one slash")]
    HealthPath(String),
    #[error("apps.upstream.remove_headers of {0}: at most 64 names")]
    ManyHeaders(String),
    #[error(
        "apps.upstream.remove_headers of {0}: {1:?} is not a header name that can be removed; \
         names hold letters, digits, - and _, and what frames a request or opens a WebSocket \
         (Host, Content-Length, Transfer-Encoding, Connection, Upgrade, Sec-WebSocket-Key) stays"
    )]
    RemovedHeader(String, String),
}

/// Bounds the names in `remove_headers`.
const MAX_REMOVED_HEADERS: usize = 64;

/// Checks what serde cannot.
pub(super) fn validate(app: &AppConfig) -> Result<(), UpstreamConfigError> {
    let (id, upstream) = (&app.id, &app.upstream);
    validate_addresses(app)?;
    let tls = app.addresses().any(|url| url.scheme() == "https");
    for (name, set) in [
        ("protocol", upstream.protocol != Protocol::Auto),
        ("ca_file", upstream.ca_file.is_some()),
        ("client_cert_file", upstream.client_cert_file.is_some()),
        ("client_key_file", upstream.client_key_file.is_some()),
        ("server_name", upstream.server_name.is_some()),
    ] {
        if set && !tls {
            return Err(UpstreamConfigError::OnlyTls(id.clone(), name));
        }
    }
    if upstream.client_cert_file.is_some() != upstream.client_key_file.is_some() {
        return Err(UpstreamConfigError::HalfIdentity(id.clone()));
    }
    if let Some(name) = &upstream.server_name
        && ServerName::try_from(name.as_str()).is_err()
    {
        return Err(UpstreamConfigError::ServerName(id.clone()));
    }
    for (name, prefix) in [
        ("strip_prefix", &upstream.strip_prefix),
        ("add_prefix", &upstream.add_prefix),
    ] {
        if prefix.as_deref().is_some_and(|prefix| !is_prefix(prefix)) {
            return Err(UpstreamConfigError::Prefix(id.clone(), name));
        }
    }
    if upstream.remove_headers.len() > MAX_REMOVED_HEADERS {
        return Err(UpstreamConfigError::ManyHeaders(id.clone()));
    }
    if let Err(name) = upstream.removed_headers() {
        return Err(UpstreamConfigError::RemovedHeader(
            id.clone(),
            name.to_owned(),
        ));
    }
    validate_amounts(id, upstream)
}

/// Returns the address without its password, for messages.
fn without_credential(url: &Url) -> String {
    let mut shown = url.clone();
    // neither call fails where there is something to remove
    let _ = shown.set_password(None);
    let _ = shown.set_username("");
    shown.to_string()
}

fn validate_addresses(app: &AppConfig) -> Result<(), UpstreamConfigError> {
    let backends = &app.upstream.backends;
    let none = app.url.is_none() && backends.is_empty();
    if app.url.is_some() != backends.is_empty() && !(none && app.forward_auth) {
        return Err(UpstreamConfigError::NoAddress(app.id.clone()));
    }
    for url in app.addresses() {
        if Address::of(url).is_none() {
            return Err(UpstreamConfigError::Address(
                app.id.clone(),
                without_credential(url),
            ));
        }
    }
    let schemes: HashSet<&str> = backends.iter().map(Url::scheme).collect();
    let distinct: HashSet<&Url> = backends.iter().collect();
    if backends.len() > MAX_BACKENDS || schemes.len() > 1 || distinct.len() < backends.len() {
        return Err(UpstreamConfigError::Backends(app.id.clone()));
    }
    Ok(())
}

fn validate_amounts(id: &str, upstream: &UpstreamConfig) -> Result<(), UpstreamConfigError> {
    let mut durations = vec![
        ("connect", upstream.connect),
        ("response", upstream.response),
        ("idle", upstream.idle),
        ("stream_idle", upstream.stream_idle),
        ("keep_alive", Some(upstream.keep_alive)),
    ];
    if let Some(health) = &upstream.health {
        if path::check(&health.path).is_err() {
            return Err(UpstreamConfigError::HealthPath(id.to_owned()));
        }
        durations.push(("health.every", Some(health.every)));
        durations.push(("health.timeout", Some(health.timeout)));
        for (name, count) in [
            ("health.healthy", health.healthy),
            ("health.unhealthy", health.unhealthy),
        ] {
            if count == 0 {
                return Err(UpstreamConfigError::Zero(id.to_owned(), name));
            }
        }
    }
    for (name, duration) in durations {
        if duration.is_some_and(|duration| duration.is_zero()) {
            return Err(UpstreamConfigError::Zero(id.to_owned(), name));
        }
    }
    if upstream.headers == Some(0) {
        return Err(UpstreamConfigError::Zero(id.to_owned(), "headers"));
    }
    Ok(())
}

/// Returns whether this can be a path prefix: one or more plain segments.
pub(crate) fn is_prefix(prefix: &str) -> bool {
    let plain = |segment: &str| {
        !segment.is_empty()
            && segment
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'~'))
    };
    path::check(prefix).is_ok() && prefix.split('/').skip(1).all(plain)
}

#[cfg(test)]
mod tests;

//! The settings of upstreams and the limits for their requests and responses.
use std::{path::PathBuf, time::Duration};

use http::{HeaderName, header};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

/// `[apps.upstream]`: how the gateway connects to an app, beyond its `url`. A single server over
/// plain HTTP needs none of it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UpstreamConfig {
    /// Several servers of the same app, instead of `apps.url`: requests are distributed over those
    /// that respond. Each is an address like `apps.url`, all with the same scheme; at most 32.
    pub backends: Vec<Url>,
    /// The HTTP version over TLS: `auto` uses HTTP/2 where the server offers it (ALPN), `http1` and
    /// `http2` only that version. Without TLS, `http://` is HTTP/1.1 and `h2c://` HTTP/2.
    pub protocol: Protocol,
    /// Certificate authorities (PEM) that must have issued the server's certificate, instead of the
    /// public ones. Read again when it changes. Verification cannot be disabled.
    #[schemars(extend("x-portico-takes-effect" = "file"))]
    pub ca_file: Option<PathBuf>,
    /// Certificate chain (PEM) that the gateway presents to the server. Read again when it changes.
    #[schemars(extend("x-portico-takes-effect" = "file"))]
    pub client_cert_file: Option<PathBuf>,
    /// Private key (PEM) of `client_cert_file`. Read again when it changes.
    #[schemars(extend("x-portico-takes-effect" = "file"))]
    pub client_key_file: Option<PathBuf>,
    /// The name to request (SNI) and to verify in the server's certificate, where it is not the
    /// host of the address.
    pub server_name: Option<String>,
    /// The `Host` header (`:authority`) that the server gets: `app` is the host that the browser
    /// requested, `upstream` that of the server's address. `X-Forwarded-Host` is always the
    /// browser's.
    pub host_header: HostHeader,
    /// How long to wait for a connection, TLS included; `gateway.limits.connect` by default.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "Option<String>")]
    pub connect: Option<Duration>,
    /// How long the server may take until its response begins, counted from the last part of
    /// the request that was sent; `gateway.limits.response` by default.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "Option<String>")]
    pub response: Option<Duration>,
    /// Aborts a response after this long without data. Not set: no limit. WebSockets and event
    /// streams are exempt.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "Option<String>")]
    pub idle: Option<Duration>,
    /// Closes WebSockets and event streams after this long without data. Not set: no limit.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "Option<String>")]
    pub stream_idle: Option<Duration>,
    /// How long an unused connection waits for the next request; it is closed within twice this
    /// time. Best a little less than the server's own timeout.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub keep_alive: Duration,
    /// The maximum sum of header names and values, in bytes, of requests and of responses;
    /// `gateway.limits.headers` by default.
    pub headers: Option<usize>,
    /// The maximum request body, in bytes; `gateway.limits.body` by default.
    pub body: Option<u64>,
    /// A path prefix that requests must have and that is removed before they are forwarded, such as
    /// `/grafana`; it is sent as `X-Forwarded-Prefix`. Requests without it get 404. The app's rules
    /// must permit the path both with and without it.
    pub strip_prefix: Option<String>,
    /// A path prefix that is added to every request's path, after `strip_prefix`. The app's rules
    /// must permit the path both with and without it; rules do not apply to a path in the address
    /// itself.
    pub add_prefix: Option<String>,
    /// Request headers of clients that are not forwarded to the server, besides those that carry
    /// identity, which are always removed. Names are case-insensitive, and `_` is equivalent to
    /// `-`. At most 64.
    pub remove_headers: Vec<String>,
    /// Health checks of each server at regular intervals. Without them, only failed connections are
    /// noticed.
    pub health: Option<HealthConfig>,
}

/// The HTTP version used with an upstream over TLS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// HTTP/2 where the upstream offers it, else HTTP/1.1.
    #[default]
    Auto,
    /// HTTP/1.1 only.
    Http1,
    /// HTTP/2 only; WebSockets are then not available.
    Http2,
}

/// The `Host` header that an upstream gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HostHeader {
    /// The host that the browser requested.
    #[default]
    App,
    /// The host of the upstream's own address.
    Upstream,
}

/// `[apps.upstream.health]`: health checks of the servers of an app.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HealthConfig {
    /// The path to request (GET), below the address; a status from 200 to 399 is healthy.
    pub path: String,
    /// How often each server is checked.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub every: Duration,
    /// How long the response may take.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub timeout: Duration,
    /// After this many successful checks in a row, a server gets requests again.
    pub healthy: u32,
    /// After this many failed checks in a row, a server gets no more requests.
    pub unhealthy: u32,
}

/// `[gateway.limits]`: limits on what the reverse proxy accepts and how long it waits.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LimitsConfig {
    /// The maximum request body, in bytes.
    pub body: u64,
    /// The maximum sum of header names and values, in bytes.
    pub headers: usize,
    /// How long to wait for a connection to an upstream.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub connect: Duration,
    /// How long an upstream may take until its response begins.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub response: Duration,
}

impl UpstreamConfig {
    /// Returns the names of `remove_headers` as requests carry them: in lower case, with `-` for
    /// `_`. A client's header with a `_` is never forwarded.
    ///
    /// # Errors
    /// Returns the first entry that is not a header name, or that requests cannot do without.
    pub fn removed_headers(&self) -> Result<Vec<HeaderName>, &str> {
        let name = |text: &String| {
            let folded = text.replace('_', "-");
            let plain = folded
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-');
            let name = HeaderName::try_from(folded).ok().filter(|_| plain)?;
            let needed = [
                header::HOST,
                header::CONTENT_LENGTH,
                header::TRANSFER_ENCODING,
                header::CONNECTION,
                header::UPGRADE,
                header::SEC_WEBSOCKET_KEY,
            ];
            (!needed.contains(&name)).then_some(name)
        };
        self.remove_headers
            .iter()
            .map(|text| name(text).ok_or(text.as_str()))
            .collect()
    }
}

impl Default for UpstreamConfig {
    fn default() -> Self {
        Self {
            backends: Vec::new(),
            protocol: Protocol::Auto,
            ca_file: None,
            client_cert_file: None,
            client_key_file: None,
            server_name: None,
            host_header: HostHeader::App,
            connect: None,
            response: None,
            idle: None,
            stream_idle: None,
            keep_alive: Duration::from_secs(30),
            headers: None,
            body: None,
            strip_prefix: None,
            add_prefix: None,
            remove_headers: Vec::new(),
            health: None,
        }
    }
}

impl Default for HealthConfig {
    fn default() -> Self {
        Self {
            path: "/".to_owned(),
            every: Duration::from_secs(10),
            timeout: Duration::from_secs(3),
            healthy: 2,
            unhealthy: 3,
        }
    }
}

impl Default for LimitsConfig {
    fn default() -> Self {
        Self {
            body: 1 << 30,
            headers: 32 << 10,
            connect: Duration::from_secs(5),
            response: Duration::from_secs(60),
        }
    }
}

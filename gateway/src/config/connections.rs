//! `[gateway.connections]` and the gateway's TLS: the configuration of the listener.
use std::time::Duration;

use portico_runtime::{
    listener::Limits,
    tls::{ClientAuth, TlsFiles},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

use super::{ConfigError, GatewayConfig};

/// `[gateway.connections]`: limits on what clients may keep open, which bound memory use. Clients
/// beyond a limit are refused at once (503 or a closed connection); others are not affected.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ConnectionsConfig {
    /// Maximum number of open connections, WebSockets included.
    pub max: usize,
    /// Maximum number of connections from one address; an IPv6 address counts as its /64. Addresses
    /// in `trusted_proxies` are exempt.
    pub max_per_address: usize,
    /// Maximum number of requests that wait for a response at the same time.
    pub requests: usize,
    /// How long a client may take to send the head of a request, and stay idle between two requests
    /// (HTTP/1.1).
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub head_timeout: Duration,
    /// How long a client may take between two pieces of a request body.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub body_timeout: Duration,
    /// How long a client may read nothing of a response that is ready.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub send_timeout: Duration,
}

impl Default for ConnectionsConfig {
    fn default() -> Self {
        let limits = Limits::default();
        Self {
            max: limits.connections,
            max_per_address: limits.connections_per_address,
            requests: 10_000,
            head_timeout: limits.header_read,
            body_timeout: limits.body_idle,
            send_timeout: limits.send,
        }
    }
}

impl ConnectionsConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        for (name, number) in [
            ("max", self.max),
            ("max_per_address", self.max_per_address),
            ("requests", self.requests),
        ] {
            if number == 0 {
                return Err(ConfigError::NoConnections(name));
            }
        }
        for (name, duration) in [
            ("connections.head_timeout", self.head_timeout),
            ("connections.body_timeout", self.body_timeout),
            ("connections.send_timeout", self.send_timeout),
        ] {
            if duration.is_zero() {
                return Err(ConfigError::Zero(name));
            }
        }
        Ok(())
    }
}

impl ConnectionsConfig {
    /// Returns the semaphore for requests that wait for a response.
    pub(crate) fn waiting(&self) -> Semaphore {
        Semaphore::new(self.requests.min(Semaphore::MAX_PERMITS))
    }
}

impl GatewayConfig {
    /// Returns the limits of the listener.
    pub fn listener_limits(&self) -> Limits {
        Limits {
            header_read: self.connections.head_timeout,
            body_idle: self.connections.body_timeout,
            send: self.connections.send_timeout,
            connections: self.connections.max,
            connections_per_address: self.connections.max_per_address,
            ..Limits::default()
        }
    }

    /// Returns the files for the listener's TLS; `None` where it serves plain HTTP.
    pub fn tls_files(&self) -> Option<TlsFiles> {
        let (cert_file, key_file) = self.tls_cert_file.clone().zip(self.tls_key_file.clone())?;
        Some(TlsFiles {
            cert_file,
            key_file,
            more: self.tls_certificates.clone(),
            min_version: self.tls_min_version,
            client_ca_file: None,
            client_auth: ClientAuth::default(),
        })
    }
}

//! `[gateway.connections]` and the gateway's TLS: what the listener is told.
use std::time::Duration;

use portico_runtime::{
    listener::Limits,
    tls::{ClientAuth, TlsFiles},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

use super::{ConfigError, GatewayConfig};

/// `[gateway.connections]`: bounds of what clients may hold open. Whoever is beyond them is told
/// so at once (503 or a closed connection), so that memory is bounded and others go on.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ConnectionsConfig {
    /// How many connections are open at once, WebSockets included.
    pub max: usize,
    /// How many of them one address may have; an IPv6 address counts as its /64. Addresses in
    /// `trusted_proxies` may have all.
    pub max_per_address: usize,
    /// How many requests wait for an answer at once.
    pub requests: usize,
    /// How long a client may take for the head of a request, and be idle between two requests
    /// (HTTP/1.1).
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub head_timeout: Duration,
    /// How long a client may take between two pieces of a request's body.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub body_timeout: Duration,
    /// How long a client may take nothing of an answer that is there for it.
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
    /// Places for requests that wait for an answer.
    pub(crate) fn waiting(&self) -> Semaphore {
        Semaphore::new(self.requests.min(Semaphore::MAX_PERMITS))
    }
}

impl GatewayConfig {
    /// The limits of the listener.
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

    /// The listener's TLS, where it has any.
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

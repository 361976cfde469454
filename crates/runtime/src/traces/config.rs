//! The configuration section `[telemetry.traces]`.
use crate::secret_file::{SecretFileError, read_secret_file};
use http::{HeaderName, HeaderValue, Uri};
use schemars::JsonSchema;
use secrecy::ExposeSecret as _;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

const MAX_HEADERS: usize = 16;

/// `[telemetry]`: data for monitoring systems, besides logs and metrics.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TelemetryConfig {
    /// Traces.
    pub traces: TracesConfig,
}

/// `[telemetry.traces]`: OpenTelemetry traces by OTLP over HTTP. Off without an endpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TracesConfig {
    /// The collector's address for traces, with its path: `https://collector:4318/v1/traces`.
    pub endpoint: Option<String>,
    /// The share of requests that is traced, from 0 to 1. If a trusted proxy has decided already
    /// (`traceparent`), its decision counts.
    pub sample_ratio: f64,
    /// A file with headers for the collector, such as its credential: one `Name: value` per line.
    pub headers_file: Option<PathBuf>,
    /// The authority of the collector's certificate (PEM), if it is a private one.
    pub ca_file: Option<PathBuf>,
    /// Time limit for sending a batch to the collector.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub timeout: Duration,
    /// The process's name in traces (`service.name`).
    pub service_name: String,
}

impl Default for TracesConfig {
    fn default() -> Self {
        Self {
            endpoint: None,
            sample_ratio: 0.1,
            headers_file: None,
            ca_file: None,
            timeout: Duration::from_secs(5),
            service_name: "portico".to_owned(),
        }
    }
}

/// The reason why traces cannot be sent. Never holds a header's value.
#[derive(Debug, thiserror::Error)]
pub enum TracesError {
    /// The endpoint is not a URL.
    #[error(
        "telemetry.traces.endpoint must be an address with its path, such as \
         https://collector:4318/v1/traces, not {0}"
    )]
    Endpoint(String),
    /// Headers would be sent unencrypted.
    #[error(
        "telemetry.traces.headers_file holds secrets, which plain HTTP would show to others on the \
         way: use https:// in telemetry.traces.endpoint"
    )]
    PlainHttp,
    /// The ratio is not between 0 and 1.
    #[error("telemetry.traces.sample_ratio must be between 0 and 1, not {0}")]
    Ratio(f64),
    /// The timeout is not valid.
    #[error("telemetry.traces.timeout must be longer than zero")]
    Timeout,
    /// The file with headers cannot be read.
    #[error("telemetry.traces.headers_file: {0}")]
    Secret(#[from] SecretFileError),
    /// A line of that file is not a header.
    #[error("telemetry.traces.headers_file: line {0} is not `Name: value`")]
    Header(usize),
    /// The file has too many lines.
    #[error("telemetry.traces.headers_file: more than {MAX_HEADERS} headers")]
    TooManyHeaders,
    /// The authority cannot be used.
    #[error("telemetry.traces.ca_file {}: {reason}", path.display())]
    Authority { path: PathBuf, reason: String },
    /// The exporter cannot be created.
    #[error("telemetry.traces: {0}")]
    Exporter(String),
}

impl TracesConfig {
    /// Checks constraints that the types do not express; opens no file.
    ///
    /// # Errors
    /// If a value cannot be used.
    pub fn validate(&self) -> Result<(), TracesError> {
        if !(0.0..=1.0).contains(&self.sample_ratio) {
            return Err(TracesError::Ratio(self.sample_ratio));
        }
        if self.timeout.is_zero() {
            return Err(TracesError::Timeout);
        }
        let Some(endpoint) = &self.endpoint else {
            return Ok(());
        };
        let wrong = || TracesError::Endpoint(without_user(endpoint));
        let uri: Uri = endpoint.parse().map_err(|_| wrong())?;
        let host = uri.host().filter(|host| !host.is_empty());
        let host = host.ok_or_else(wrong)?;
        let user = uri.authority().is_some_and(|a| a.as_str().contains('@'));
        match uri.scheme_str() {
            _ if user => Err(wrong()),
            Some("https") => Ok(()),
            Some("http") if self.headers_file.is_none() || is_loopback(host) => Ok(()),
            Some("http") => Err(TracesError::PlainHttp),
            _ => Err(wrong()),
        }
    }

    /// Returns the headers of `headers_file`.
    pub(super) fn headers(&self) -> Result<HashMap<String, String>, TracesError> {
        let Some(path) = &self.headers_file else {
            return Ok(HashMap::new());
        };
        let text = read_secret_file(path)?;
        let mut headers = HashMap::new();
        for (index, line) in text.expose_secret().lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = || TracesError::Header(index + 1);
            let (name, value) = line.split_once(':').ok_or_else(wrong)?;
            let name: HeaderName = name.trim().parse().map_err(|_| wrong())?;
            let value = value.trim();
            HeaderValue::from_str(value).map_err(|_| wrong())?;
            headers.insert(name.as_str().to_owned(), value.to_owned());
            if headers.len() > MAX_HEADERS {
                return Err(TracesError::TooManyHeaders);
            }
        }
        Ok(headers)
    }
}

fn is_loopback(host: &str) -> bool {
    host == "localhost"
        || host
            .trim_matches(['[', ']'])
            .parse::<IpAddr>()
            .is_ok_and(|ip| ip.is_loopback())
}

/// Returns an address for a message: the part before `@` may be a credential.
fn without_user(endpoint: &str) -> String {
    match endpoint.rsplit_once('@') {
        Some((_, rest)) => format!("…@{rest}"),
        None => endpoint.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn config(endpoint: &str) -> TracesConfig {
        TracesConfig {
            endpoint: Some(endpoint.to_owned()),
            ..TracesConfig::default()
        }
    }

    #[test]
    fn an_endpoint_is_an_address_without_a_credential() {
        assert!(TracesConfig::default().validate().is_ok());
        for good in [
            "https://collector.example:4318/v1/traces",
            "http://127.0.0.1:4318/v1/traces",
            "http://collector:4318/v1/traces",
        ] {
            assert!(config(good).validate().is_ok(), "{good}");
        }
        for bad in [
            "",
            "collector:4318",
            "ftp://collector/",
            "https://me:hush@collector/",
        ] {
            let error = config(bad).validate().unwrap_err().to_string();
            assert!(!error.contains("hush"), "{error}");
        }
    }

    #[test]
    fn headers_go_over_tls_or_stay_on_the_machine() {
        let with_headers = |endpoint| TracesConfig {
            headers_file: Some("headers".into()),
            ..config(endpoint)
        };
        assert!(
            with_headers("https://collector/v1/traces")
                .validate()
                .is_ok()
        );
        assert!(with_headers("http://[::1]:4318/").validate().is_ok());
        assert!(matches!(
            with_headers("http://collector/v1/traces").validate(),
            Err(TracesError::PlainHttp)
        ));
    }

    #[test]
    fn ratios_beyond_all_and_nothing_are_refused() {
        for ratio in [-0.1, 1.1, f64::NAN] {
            let config = TracesConfig {
                sample_ratio: ratio,
                ..config("https://collector/")
            };
            assert!(matches!(config.validate(), Err(TracesError::Ratio(_))));
        }
    }

    #[test]
    fn headers_are_read_from_a_private_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("headers");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
            TracesConfig {
                headers_file: Some(path.clone()),
                ..config("https://collector/")
            }
            .headers()
        };
        let headers = read("# ours\nAuthorization: Bearer a:b\nX-Tenant: 1\n").unwrap();
        assert_eq!(headers["authorization"], "Bearer a:b");
        assert_eq!(headers.len(), 2);
        let error = read("Authorization Bearer hush").unwrap_err().to_string();
        assert!(
            error.contains("line 1") && !error.contains("hush"),
            "{error}"
        );
    }
}

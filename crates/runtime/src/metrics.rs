//! Prometheus metrics: one recorder for the process, rendered on the admin port.
use jiff::Timestamp;
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};
use metrics_process::Collector;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Keys that were replaced while running, by their purpose (`keys`).
pub const KEY_CHANGES: &str = "portico_key_changes_total";
/// 1 while key files contain keys that cannot be used (`keys`).
pub const KEYS_UNUSABLE: &str = "portico_keys_unusable";
/// When certificates expire, in seconds since 1970, by the configuration's key of their file
/// (`certificate`).
pub const CERTIFICATE_EXPIRY: &str = "portico_certificate_expiry_timestamp_seconds";
/// Open connections, by `listener`.
pub(crate) const CONNECTIONS: &str = "portico_listener_connections";
/// Connections refused by a limit, by `listener` and `reason`: `full`, or `address` for the limit
/// of one address.
pub(crate) const REFUSED_CONNECTIONS: &str = "portico_listener_refused_connections_total";
/// TLS handshakes that failed over a certificate where client certificates are requested, by
/// `listener` and `certificate`: `client` or `server`.
pub(crate) const REFUSED_HANDSHAKES: &str = "portico_listener_refused_handshakes_total";
/// Connections that were closed because of an ambiguous message.
pub(crate) const MALFORMED_REQUESTS: &str = "portico_listener_malformed_requests_total";

const SECONDS_BUCKETS: [f64; 14] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

static INSTALLED: Mutex<Option<PrometheusHandle>> = Mutex::new(None);

/// The process's metrics.
#[derive(Clone)]
pub struct Metrics {
    handle: PrometheusHandle,
}

impl Metrics {
    /// Installs the recorder behind the `metrics` macros, in a process that was started at `started`;
    /// a second call returns the same one.
    /// Histograms whose names end in `_seconds` get buckets from 0.5 ms to 10 s.
    ///
    /// # Errors
    /// If another recorder was installed before.
    pub fn install(started: Timestamp) -> Result<Self, BuildError> {
        let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(handle) = installed.as_ref() {
            return Ok(Self {
                handle: handle.clone(),
            });
        }
        let handle = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &SECONDS_BUCKETS)?
            .install_recorder()?;
        *installed = Some(handle.clone());
        describe();
        Collector::default().describe();
        start_process(started);
        Ok(Self { handle })
    }

    /// Returns the metrics in Prometheus' text format. Processor time, memory and open files
    /// (`process_cpu_seconds_total` and the like) are current values.
    pub fn render(&self) -> String {
        Collector::default().collect();
        self.handle.render()
    }

    /// Keeps histograms small between scrapes; runs until dropped.
    pub async fn run_upkeep(self) {
        let mut interval = tokio::time::interval(UPKEEP_INTERVAL);
        loop {
            interval.tick().await;
            self.handle.run_upkeep();
        }
    }
}

/// Describes the process's own metrics.
pub fn describe() {
    metrics::describe_counter!(
        KEY_CHANGES,
        "Keys that were taken over while running, by what they are for."
    );
    metrics::describe_gauge!(
        KEYS_UNUSABLE,
        "1 while key files hold what cannot be used, and the last good keys are kept."
    );
    metrics::describe_gauge!(
        CERTIFICATE_EXPIRY,
        "When a certificate that Portico uses expires, in seconds since 1970, by the key that names its file: of \
         a chain the first to expire, of authorities the last."
    );
    metrics::describe_counter!(
        REFUSED_HANDSHAKES,
        "TLS handshakes that failed over a certificate where clients are asked for one, by listener and \
         whose certificate it was."
    );
    metrics::describe_gauge!(CONNECTIONS, "Connections that are open, by listener.");
    metrics::describe_counter!(
        REFUSED_CONNECTIONS,
        "Connections that exceeded a limit, by listener and reason: full, or address."
    );
    metrics::describe_counter!(
        MALFORMED_REQUESTS,
        "Connections that were closed because a request was ambiguous."
    );
    metrics::counter!(MALFORMED_REQUESTS).increment(0);
    metrics::describe_gauge!(
        "portico_build_info",
        "Always 1; the labels identify the build."
    );
    metrics::describe_gauge!(
        "portico_start_time_seconds",
        "When the process started, in seconds since 1970."
    );
}

fn start_process(started: Timestamp) {
    metrics::gauge!("portico_build_info", "version" => env!("CARGO_PKG_VERSION")).set(1.0);
    let seconds = started.as_duration().as_secs_f64();
    metrics::gauge!("portico_start_time_seconds").set(seconds);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn installing_twice_renders_the_same_metrics() {
        let started = Timestamp::from_second(1_800_000_000).unwrap();
        Metrics::install(started).unwrap();
        let text = Metrics::install(started).unwrap().render();
        assert!(text.contains("portico_build_info{version="), "{text}");
    }

    #[test]
    fn finding_o16_the_process_has_the_metrics_that_prometheus_names() {
        let text = Metrics::install(Timestamp::UNIX_EPOCH).unwrap().render();
        for (name, kind) in [
            ("process_cpu_seconds_total", "counter"),
            ("process_resident_memory_bytes", "gauge"),
            ("process_open_fds", "gauge"),
            ("process_max_fds", "gauge"),
            ("process_start_time_seconds", "gauge"),
        ] {
            assert!(
                text.contains(&format!("# TYPE {name} {kind}\n")),
                "{name}: {text}"
            );
        }
        let memory = text
            .lines()
            .find_map(|line| line.strip_prefix("process_resident_memory_bytes "))
            .and_then(|value| value.parse::<f64>().ok());
        assert!(memory > Some(100_000.0), "{memory:?}");
    }
}

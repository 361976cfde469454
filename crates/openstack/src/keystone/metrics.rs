//! Metrics of calls to Keystone.
use super::Error;
use super::error::Unavailable;
use std::time::Duration;

const SECONDS: &str = "portico_keystone_request_seconds";
const TOTAL: &str = "portico_keystone_requests_total";
const SKEW: &str = "portico_keystone_clock_skew_seconds";
const CIRCUIT: &str = "portico_keystone_circuit_open";

pub(super) fn record(operation: &'static str, took: Duration, error: Option<&Error>) {
    let outcome = match error {
        None => "ok",
        Some(Error::InvalidCredentials | Error::InvalidToken) => "refused",
        Some(Error::Forbidden) => "forbidden",
        Some(Error::BadRequest) => "bad_request",
        Some(Error::Unavailable(Unavailable::NotAsked)) => "not_asked",
        Some(Error::Unavailable(_)) => "unavailable",
        Some(Error::Malformed(_)) => "malformed",
    };
    metrics::histogram!(SECONDS, "operation" => operation).record(took.as_secs_f64());
    metrics::counter!(TOTAL, "operation" => operation, "outcome" => outcome).increment(1);
}

/// Records whether an endpoint counts as unreachable.
pub(super) fn record_circuit(endpoint: &str, open: bool) {
    metrics::gauge!(CIRCUIT, "endpoint" => endpoint.to_owned()).set(f64::from(u8::from(open)));
}

/// Records how far Keystone's clock is ahead of the local one.
pub(super) fn record_skew(seconds: i64) {
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
    metrics::gauge!(SKEW).set(seconds as f64);
}

/// Describes the metrics. Called once, when a client is built.
pub(super) fn describe() {
    metrics::describe_histogram!(
        SECONDS,
        metrics::Unit::Seconds,
        "Duration of calls to Keystone"
    );
    metrics::describe_counter!(TOTAL, "Calls to Keystone by outcome");
    metrics::describe_gauge!(
        SKEW,
        metrics::Unit::Seconds,
        "How far Keystone's clock is ahead of ours; tokens end by whichever is later"
    );
    metrics::describe_gauge!(
        CIRCUIT,
        "1 while an endpoint of Keystone is considered unavailable and only probed"
    );
}

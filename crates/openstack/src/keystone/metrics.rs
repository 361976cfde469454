//! What is counted about calls to Keystone.
use super::Error;
use std::time::Duration;

const SECONDS: &str = "portico_keystone_request_seconds";
const TOTAL: &str = "portico_keystone_requests_total";

pub(super) fn record<T>(operation: &'static str, took: Duration, result: &Result<T, Error>) {
    let outcome = match result {
        Ok(_) => "ok",
        Err(Error::InvalidCredentials | Error::InvalidToken) => "refused",
        Err(Error::Forbidden) => "forbidden",
        Err(Error::BadRequest) => "bad_request",
        Err(Error::Unavailable(_)) => "unavailable",
        Err(Error::Malformed(_)) => "malformed",
    };
    metrics::histogram!(SECONDS, "operation" => operation).record(took.as_secs_f64());
    metrics::counter!(TOTAL, "operation" => operation, "outcome" => outcome).increment(1);
}

/// Says what the metrics mean. Called once, when a client is built.
pub(super) fn describe() {
    metrics::describe_histogram!(
        SECONDS,
        metrics::Unit::Seconds,
        "Duration of calls to Keystone"
    );
    metrics::describe_counter!(TOTAL, "Calls to Keystone by outcome");
}

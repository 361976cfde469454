//! Metrics of calls to services.
use super::error::{Error, ErrorKind};
use super::service::Service;
use std::time::Duration;

const SECONDS: &str = "portico_openstack_request_seconds";
const TOTAL: &str = "portico_openstack_requests_total";

pub(super) fn record<T>(
    service: Service,
    operation: &'static str,
    took: Duration,
    result: &Result<T, Error>,
) {
    let outcome = match result.as_ref().map_err(|error| &error.kind) {
        Ok(_) => "ok",
        Err(ErrorKind::InvalidToken) => "refused",
        Err(ErrorKind::Forbidden(_)) => "forbidden",
        Err(ErrorKind::QuotaExceeded(_)) => "quota",
        Err(ErrorKind::NotFound(_)) => "not_found",
        Err(ErrorKind::Conflict(_) | ErrorKind::Ambiguous(_)) => "conflict",
        Err(ErrorKind::Invalid(_)) => "bad_request",
        Err(ErrorKind::NotAvailable(_) | ErrorKind::Incompatible(_)) => "version",
        Err(ErrorKind::Endpoint(_)) => "no_endpoint",
        Err(ErrorKind::Fault { .. }) => "fault",
        Err(ErrorKind::Unavailable(_)) => "unavailable",
        Err(ErrorKind::Malformed(_)) => "malformed",
    };
    let service = service.as_str();
    metrics::histogram!(SECONDS, "service" => service, "operation" => operation)
        .record(took.as_secs_f64());
    metrics::counter!(TOTAL, "service" => service, "operation" => operation, "outcome" => outcome)
        .increment(1);
}

/// Describes the metrics of calls to services; clients do so themselves.
pub fn describe_metrics() {
    metrics::describe_histogram!(
        SECONDS,
        metrics::Unit::Seconds,
        "Duration of calls to OpenStack services other than Keystone"
    );
    metrics::describe_counter!(
        TOTAL,
        "Calls to OpenStack services other than Keystone by outcome"
    );
}

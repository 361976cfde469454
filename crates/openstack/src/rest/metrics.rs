//! Metrics of calls to services.
use super::error::{Error, ErrorKind};
use super::service::Service;
use std::time::Duration;

const SECONDS: &str = "portico_openstack_request_seconds";
const TOTAL: &str = "portico_openstack_requests_total";

pub(super) fn record(
    service: Service,
    operation: &'static str,
    took: Duration,
    error: Option<&Error>,
) {
    let outcome = match error.map(|error| &error.kind) {
        None => "ok",
        Some(ErrorKind::InvalidToken) => "refused",
        Some(ErrorKind::Forbidden(_)) => "forbidden",
        Some(ErrorKind::QuotaExceeded(_)) => "quota",
        Some(ErrorKind::NotFound(_)) => "not_found",
        Some(ErrorKind::Conflict(_) | ErrorKind::Ambiguous(_)) => "conflict",
        Some(ErrorKind::Invalid(_)) => "bad_request",
        Some(ErrorKind::NotAvailable(_) | ErrorKind::Incompatible(_)) => "version",
        Some(ErrorKind::Endpoint(_)) => "no_endpoint",
        Some(ErrorKind::Fault { .. }) => "fault",
        Some(ErrorKind::Unavailable(_)) => "unavailable",
        Some(ErrorKind::Malformed(_)) => "malformed",
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

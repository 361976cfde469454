//! What is counted about reviews.
use std::time::Duration;

const TOTAL: &str = "portico_token_reviews_total";
const ACCESS: &str = "portico_access_reviews_total";
const SECONDS: &str = "portico_token_review_seconds";

/// Counts a review that got an answer, or none for an outage.
pub(crate) fn record(result: &'static str, cached: bool, took: Duration) {
    let cached = if cached { "true" } else { "false" };
    metrics::counter!(TOTAL, "result" => result, "cached" => cached).increment(1);
    metrics::histogram!(SECONDS, "result" => result, "cached" => cached).record(took.as_secs_f64());
}

/// Counts a request that was no review, or came from a stranger.
pub(crate) fn record_rejected(result: &'static str) {
    metrics::counter!(TOTAL, "result" => result, "cached" => "false").increment(1);
}

/// Counts a review of what a user may do.
pub(crate) fn record_access(allowed: bool) {
    let result = if allowed { "allowed" } else { "no_opinion" };
    metrics::counter!(ACCESS, "result" => result).increment(1);
}

/// Says what the metrics mean. Called once, when the service is built.
pub(crate) fn describe() {
    metrics::describe_counter!(
        TOTAL,
        "Token reviews by result, and whether Keystone was asked."
    );
    metrics::describe_counter!(ACCESS, "Access reviews by result.");
    metrics::describe_histogram!(
        SECONDS,
        metrics::Unit::Seconds,
        "Duration of token reviews."
    );
}

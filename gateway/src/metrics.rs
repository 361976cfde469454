//! Defines the gateway's metrics. Every name is here, with its help text, and every label has few
//! values: constants of this program, or IDs of the configuration (routes, providers). Clients
//! cannot choose label values.
//!
//! Counters that alert rules use start at zero ([`describe`]), so that the first increment is seen.
mod description;
pub(crate) mod rules;
mod series;

use std::time::Duration;

use jiff::Timestamp;
use portico_store::{AuditSize, EndReason, EndedSession, SessionKind};
use series::KNOWN;
use tokio::time::Instant;

pub(crate) use description::describe;

const REQUESTS: &str = "portico_gateway_requests_total";
const REQUEST_SECONDS: &str = "portico_gateway_request_seconds";
const UPSTREAM_SECONDS: &str = "portico_gateway_upstream_seconds";
const PROBLEMS: &str = "portico_gateway_problems_total";
const DECISIONS: &str = "portico_gateway_decisions_total";
const SIGN_INS: &str = "portico_gateway_sign_ins_total";
const THROTTLED: &str = "portico_gateway_throttled_sign_ins_total";
const STARTED: &str = "portico_gateway_sessions_started_total";
const ENDED: &str = "portico_gateway_sessions_ended_total";
const SESSIONS: &str = "portico_gateway_sessions";
const TOKENS: &str = "portico_gateway_token_operations_total";
const TOKEN_SECONDS: &str = "portico_gateway_token_operation_seconds";
const VALIDATIONS: &str = "portico_gateway_validations_total";
const REVOCATIONS: &str = "portico_gateway_revocations_total";
const PENDING: &str = "portico_gateway_pending_revocations";
const FEED_LAG: &str = "portico_gateway_feed_lag_seconds";
const FEED_FAILURES: &str = "portico_gateway_feed_failures_total";
const STAY_FETCHES: &str = "portico_gateway_stay_fetches_total";
const REFRESHES: &str = "portico_gateway_refreshes_total";
const BEARER_VERIFICATIONS: &str = "portico_gateway_bearer_verifications_total";
const AUDIT_ENTRIES: &str = "portico_audit_entries";
const AUDIT_AGE: &str = "portico_audit_oldest_age_seconds";
const AUDIT_RETENTION: &str = "portico_audit_retention_seconds";
const UNREADABLE_ADDRESSES: &str = "portico_gateway_unreadable_client_addresses_total";
const UNHELD_REFUSALS: &str = "portico_gateway_unheld_refusals_total";

/// The provider of sign-ins at Keystone itself; others are known by their configured ID.
pub(crate) const KEYSTONE: &str = "keystone";

/// The outcomes of a sign-in: `succeeded`, `refused` (wrong credentials), `throttled` (not tried),
/// `unavailable` (the provider did not respond).
const SIGN_IN_OUTCOMES: [&str; 4] = ["succeeded", "refused", "throttled", "unavailable"];

/// The outcomes of a session's refresh: `succeeded`, `ended` (refused by the provider),
/// `unavailable`.
const REFRESH_OUTCOMES: [&str; 3] = ["succeeded", "ended", "unavailable"];

/// The outcomes of verifying the bearer token of an API caller.
const BEARER_OUTCOMES: [&str; 2] = ["verified", "refused"];

/// The limits on sign-ins.
const THROTTLES: [&str; 3] = ["account", "code", "network"];

/// The decisions about a request.
const DECISION_WORDS: [&str; 5] = ["allowed", "redirected", "refused", "failed", "abandoned"];

/// Operations that issue tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenOperation {
    /// A session's Keystone token for a project.
    Project,
    /// A command line's own Keystone token for a project.
    CommandLine,
    /// A sealed token for a cluster.
    Cluster,
    /// New tokens for a refresh token.
    Refresh,
    /// New Keystone tokens for a session that continues.
    Reauthentication,
}

impl TokenOperation {
    const ALL: [Self; 5] = [
        Self::Project,
        Self::CommandLine,
        Self::Cluster,
        Self::Refresh,
        Self::Reauthentication,
    ];

    fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project_token",
            Self::CommandLine => "command_line_token",
            Self::Cluster => "cluster_token",
            Self::Refresh => "refresh",
            Self::Reauthentication => "reauthentication",
        }
    }
}

/// The outcome of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Succeeded,
    /// The operation was refused.
    Refused,
    /// The operation could not be decided.
    Failed,
}

impl Outcome {
    const ALL: [Self; 3] = [Self::Succeeded, Self::Refused, Self::Failed];

    fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Refused => "refused",
            Self::Failed => "failed",
        }
    }

    /// Returns the outcome of a result in which `None` is a refusal.
    pub fn of<T, E>(result: &Result<Option<T>, E>) -> Self {
        match result {
            Ok(Some(_)) => Self::Succeeded,
            Ok(None) => Self::Refused,
            Err(_) => Self::Failed,
        }
    }
}

/// Counts a response. The route is `gateway`, `panel`, `unknown` or an app's ID.
pub(crate) fn request(route: &str, status: u16, decision: &'static str, took: Duration) {
    KNOWN.with_borrow_mut(|known| known.request(route, status, decision, took));
}

/// Counts a request whose client disconnected before the response.
pub(crate) fn abandoned(route: &str, decision: &'static str) {
    metrics::counter!(DECISIONS, "route" => route.to_owned(), "decision" => decision).increment(1);
}

/// Counts how long an upstream took until its response began.
pub(crate) fn upstream(id: &str, took: Duration) {
    KNOWN.with_borrow_mut(|known| known.upstream(id, took));
}

/// Counts a refusal or failure by its code, and by where the cause lies.
pub(crate) fn problem(code: &'static str, source: &'static str) {
    metrics::counter!(PROBLEMS, "code" => code, "source" => source).increment(1);
}

/// Counts a sign-in; the outcome is one of [`SIGN_IN_OUTCOMES`].
pub(crate) fn sign_in(provider: &str, outcome: &'static str) {
    debug_assert!(SIGN_IN_OUTCOMES.contains(&outcome));
    metrics::counter!(SIGN_INS, "provider" => provider.to_owned(), "outcome" => outcome)
        .increment(1);
}

/// Starts a configured provider's sign-ins at zero.
pub(crate) fn provider(provider: &str) {
    for outcome in SIGN_IN_OUTCOMES {
        metrics::counter!(SIGN_INS, "provider" => provider.to_owned(), "outcome" => outcome)
            .increment(0);
    }
}

/// Starts a configured provider's refreshes at zero.
pub(crate) fn refreshes_of(provider: &str) {
    for outcome in REFRESH_OUTCOMES {
        metrics::counter!(REFRESHES, "provider" => provider.to_owned(), "outcome" => outcome)
            .increment(0);
    }
}

/// Counts a refresh of a session at its provider; the outcome is one of [`REFRESH_OUTCOMES`].
pub(crate) fn refresh(provider: &str, outcome: &'static str) {
    debug_assert!(REFRESH_OUTCOMES.contains(&outcome));
    metrics::counter!(REFRESHES, "provider" => provider.to_owned(), "outcome" => outcome)
        .increment(1);
}

/// Counts a bearer token of a program; the outcome is one of [`BEARER_OUTCOMES`].
pub(crate) fn bearer_verification(outcome: &'static str) {
    debug_assert!(BEARER_OUTCOMES.contains(&outcome));
    metrics::counter!(BEARER_VERIFICATIONS, "outcome" => outcome).increment(1);
}

/// Counts a sign-in that was not tried, by the limit that applied: one of [`THROTTLES`].
pub(crate) fn throttled(by: &'static str) {
    debug_assert!(THROTTLES.contains(&by));
    metrics::counter!(THROTTLED, "by" => by).increment(1);
}

/// Counts a request for which a trusted proxy sent an unreadable client address.
pub(crate) fn unreadable_client_address() {
    metrics::counter!(UNREADABLE_ADDRESSES).increment(1);
}

/// Counts a refused sign-in that was answered at once, as too many others were delayed.
pub(crate) fn unheld_refusal() {
    metrics::counter!(UNHELD_REFUSALS).increment(1);
}

/// Counts a new session.
pub(crate) fn session_started(kind: SessionKind) {
    metrics::counter!(STARTED, "kind" => kind.as_str()).increment(1);
}

/// Counts sessions that have just ended. Child sessions count with the reason of their parent.
pub(crate) fn sessions_ended(ended: &[EndedSession], reason: EndReason) {
    for session in ended {
        metrics::counter!(ENDED, "kind" => session.kind.as_str(), "reason" => reason.as_str())
            .increment(1);
    }
}

/// Records how many live sessions the store has.
pub(crate) fn live_sessions(counts: &[(SessionKind, i64)]) {
    for (kind, count) in counts {
        metrics::gauge!(SESSIONS, "kind" => kind.as_str()).set(number(*count));
    }
}

/// Counts a request for a token, and how long it took.
pub(crate) fn token(operation: TokenOperation, outcome: Outcome, started: Instant) {
    let operation = operation.as_str();
    metrics::counter!(TOKENS, "operation" => operation, "outcome" => outcome.as_str()).increment(1);
    metrics::histogram!(TOKEN_SECONDS, "operation" => operation)
        .record(started.elapsed().as_secs_f64());
}

/// Counts a validation of a session at Keystone.
pub(crate) fn validation(outcome: Outcome) {
    metrics::counter!(VALIDATIONS, "outcome" => outcome.as_str()).increment(1);
}

/// Counts an attempt to revoke a Keystone token.
pub(crate) fn revocation(revoked: bool) {
    let outcome = if revoked {
        Outcome::Succeeded
    } else {
        Outcome::Failed
    };
    metrics::counter!(REVOCATIONS, "outcome" => outcome.as_str()).increment(1);
}

/// Records how many tokens of ended sessions are still valid at Keystone.
pub(crate) fn pending_revocations(count: i64) {
    metrics::gauge!(PENDING).set(number(count));
}

/// Records the audit log's size, the age of its oldest entry, and the retention period.
pub(crate) fn audit_log(size: AuditSize, retention_days: u32, now: Timestamp) {
    let age = size.oldest.map_or(0, |at| now.as_second() - at.as_second());
    metrics::gauge!(AUDIT_ENTRIES).set(number(size.entries));
    metrics::gauge!(AUDIT_AGE).set(number(age.max(0)));
    metrics::gauge!(AUDIT_RETENTION).set(f64::from(retention_days) * 86_400.0);
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
fn number(count: i64) -> f64 {
    count as f64
}

/// Records how far the sessions in memory lag behind the store.
pub(crate) fn feed(lag: Option<Duration>) {
    metrics::gauge!(FEED_LAG).set(lag.map_or(-1.0, |lag| lag.as_secs_f64()));
}

/// Counts a failed read of the feed of changes.
pub(crate) fn feed_failed() {
    metrics::counter!(FEED_FAILURES).increment(1);
}

/// Counts a token fetched for a session that stays signed in.
pub(crate) fn stay_fetched(outcome: Outcome) {
    metrics::counter!(STAY_FETCHES, "outcome" => outcome.as_str()).increment(1);
}

//! Help texts of the metrics, and initial values of those that alert rules use.
use metrics::Unit;
use portico_store::{EndReason, SessionKind};

use super::{
    AUDIT_AGE, AUDIT_ENTRIES, AUDIT_RETENTION, BEARER_OUTCOMES, BEARER_VERIFICATIONS,
    DECISION_WORDS, DECISIONS, ENDED, FEED_FAILURES, FEED_LAG, KEYSTONE, Outcome, PENDING,
    PROBLEMS, REFRESHES, REQUEST_SECONDS, REQUESTS, REVOCATIONS, SESSIONS, SIGN_INS, STARTED,
    STAY_FETCHES, THROTTLED, THROTTLES, TOKEN_SECONDS, TOKENS, TokenOperation, UNHELD_REFUSALS,
    UNREADABLE_ADDRESSES, UPSTREAM_SECONDS, VALIDATIONS, provider,
};

/// Registers the help texts, and starts counters at zero.
pub(crate) fn describe() {
    metrics::describe_counter!(
        REQUESTS,
        "Requests by route (gateway, panel, or an app's ID) and status."
    );
    metrics::describe_histogram!(
        REQUEST_SECONDS,
        Unit::Seconds,
        "Time until a response begins, by route."
    );
    metrics::describe_counter!(
        DECISIONS,
        "Requests by route and decision: allowed, redirected, refused, failed, abandoned."
    );
    metrics::describe_histogram!(
        UPSTREAM_SECONDS,
        Unit::Seconds,
        "Time until an upstream's response begins."
    );
    metrics::describe_counter!(
        PROBLEMS,
        "Refusals and failures by code and by where the cause lies."
    );
    metrics::describe_counter!(SIGN_INS, "Sign-ins by provider and outcome.");
    metrics::describe_counter!(
        THROTTLED,
        "Sign-ins that were not tried after too many failures, by what was limited."
    );
    metrics::describe_counter!(
        UNREADABLE_ADDRESSES,
        "Requests for which a trusted proxy sent an X-Forwarded-For that cannot be read."
    );
    metrics::describe_counter!(
        UNHELD_REFUSALS,
        "Refused sign-ins that were answered at once, because too many were being delayed already."
    );
    metrics::describe_counter!(STARTED, "Sessions that began, by kind.");
    metrics::describe_counter!(ENDED, "Sessions that ended, by kind and reason.");
    metrics::describe_gauge!(SESSIONS, "Live sessions in the store, by kind.");
    metrics::describe_counter!(TOKENS, "Tokens that were asked for, by way and outcome.");
    metrics::describe_histogram!(
        TOKEN_SECONDS,
        Unit::Seconds,
        "Time until a token was there or refused, by way."
    );
    metrics::describe_counter!(VALIDATIONS, "Sessions validated with Keystone, by result.");
    metrics::describe_counter!(
        REFRESHES,
        "Refreshes of sessions at OIDC providers, by provider and outcome."
    );
    metrics::describe_counter!(
        BEARER_VERIFICATIONS,
        "Bearer tokens of programs: newly verified, or refused."
    );
    metrics::describe_counter!(REVOCATIONS, "Keystone tokens to revoke, by outcome.");
    metrics::describe_gauge!(AUDIT_ENTRIES, "Entries of the audit log.");
    metrics::describe_gauge!(
        AUDIT_AGE,
        Unit::Seconds,
        "Age of the audit log's oldest entry."
    );
    metrics::describe_gauge!(
        AUDIT_RETENTION,
        Unit::Seconds,
        "How old entries of the audit log may get; 0: any age."
    );
    metrics::describe_gauge!(
        PENDING,
        "Tokens of ended sessions that Keystone has not taken back yet."
    );
    portico_proxy::metrics::describe();
    metrics::describe_gauge!(
        FEED_LAG,
        Unit::Seconds,
        "Seconds since all changes of other replicas were known; from 1 on each request asks the \
         store. -1 before the first read of the feed."
    );
    metrics::describe_counter!(FEED_FAILURES, "Reads of the feed of changes that failed.");
    metrics::describe_counter!(
        STAY_FETCHES,
        "Tokens fetched for sessions that stay signed in, by outcome."
    );
    super::rules::describe();
    start_at_zero();
}

fn start_at_zero() {
    provider(KEYSTONE);
    for outcome in BEARER_OUTCOMES {
        metrics::counter!(BEARER_VERIFICATIONS, "outcome" => outcome).increment(0);
    }
    metrics::counter!(UNREADABLE_ADDRESSES).increment(0);
    metrics::counter!(UNHELD_REFUSALS).increment(0);
    for by in THROTTLES {
        metrics::counter!(THROTTLED, "by" => by).increment(0);
    }
    for kind in SessionKind::ALL {
        metrics::counter!(STARTED, "kind" => kind.as_str()).increment(0);
        for reason in EndReason::ALL {
            metrics::counter!(ENDED, "kind" => kind.as_str(), "reason" => reason.as_str())
                .increment(0);
        }
        metrics::gauge!(SESSIONS, "kind" => kind.as_str()).set(0.0);
    }
    for outcome in Outcome::ALL {
        for operation in TokenOperation::ALL {
            metrics::counter!(
                TOKENS, "operation" => operation.as_str(), "outcome" => outcome.as_str()
            )
            .increment(0);
        }
        metrics::counter!(VALIDATIONS, "outcome" => outcome.as_str()).increment(0);
    }
    for outcome in [Outcome::Succeeded, Outcome::Failed] {
        metrics::counter!(REVOCATIONS, "outcome" => outcome.as_str()).increment(0);
    }
    for decision in DECISION_WORDS {
        for route in ["gateway", "panel"] {
            metrics::counter!(DECISIONS, "route" => route, "decision" => decision).increment(0);
        }
    }
    metrics::gauge!(PENDING).set(0.0);
}

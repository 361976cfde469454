//! Metrics of the account's sign-ins.
use super::ServiceAccountError;
use crate::keystone::Error;

const TOTAL: &str = "portico_service_account_sign_ins_total";

/// The reason why a new token was needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    First,
    /// The previous one was about to expire, or had expired.
    Renewal,
    /// Keystone refused the previous one.
    Refused,
}

pub(super) fn record<T>(reason: Reason, outcome: &Result<T, ServiceAccountError>) {
    let reason = match reason {
        Reason::First => "first",
        Reason::Renewal => "renewal",
        Reason::Refused => "token_refused",
    };
    let outcome = match outcome {
        Ok(_) => "ok",
        Err(ServiceAccountError::Secret(_)) => "no_secret",
        Err(ServiceAccountError::SignIn(Error::InvalidCredentials)) => "refused",
        Err(_) => "unavailable",
    };
    metrics::counter!(TOTAL, "reason" => reason, "outcome" => outcome).increment(1);
}

/// Describes the metric.
pub(super) fn describe() {
    metrics::describe_counter!(
        TOTAL,
        "Sign-ins of Portico's own Keystone account, by reason and outcome."
    );
}

//! What is counted about the account's sign-ins.
use super::ServiceAccountError;
use crate::keystone::Error;

const TOTAL: &str = "portico_service_account_sign_ins_total";

/// Why a new token was needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    First,
    /// The one before was about to end, or had ended.
    Renewal,
    /// Keystone refused the one before.
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

/// Says what the metric means.
pub(super) fn describe() {
    metrics::describe_counter!(
        TOTAL,
        "Sign-ins of Portico's own Keystone account, by why one was needed and by outcome."
    );
}

//! Accounts that have signed in, and the number of failed attempts since.
use crate::error::StoreError;
use crate::sealing::KeyRing;
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};

const PURPOSE: &str = "sign-in account";
/// How long an account is stored after its last sign-in.
pub(crate) const RETENTION: SignedDuration = SignedDuration::from_hours(24 * 400);

/// Failed attempts by account, between its sign-ins; see [`crate::Store::sign_in_accounts`].
///
/// Only accounts that have signed in here before have a row, so that guessed names take no space.
#[async_trait]
pub trait SignInAccounts: Send + Sync {
    /// Counts a failed attempt, if the account has signed in before.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn failed(
        &self,
        account: &str,
        known_browser: bool,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Records a sign-in; returns the failed attempts since the previous one, or `None` if there
    /// was none or it is the first sign-in.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn signed_in(
        &self,
        account: &str,
        now: Timestamp,
    ) -> Result<Option<FailedSignIns>, StoreError>;
}

/// Attempts that failed between two sign-ins of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedSignIns {
    pub failures: i64,
    /// How many of them were made in browsers in which the account had signed in before.
    pub from_known_browsers: i64,
    /// When the account signed in before.
    pub since: Timestamp,
    /// When the last one failed.
    pub last: Timestamp,
}

/// Returns the hash under which an account is stored.
pub(crate) fn hash(keys: &KeyRing, account: &str) -> String {
    keys.hash(PURPOSE, account)
}

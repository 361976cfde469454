//! Accounts that have signed in, and the number of failed attempts since.
use crate::error::StoreError;
use crate::row::Columns;
use crate::store::Store;
use jiff::{SignedDuration, Timestamp};

const PURPOSE: &str = "sign-in account";
/// How long an account is stored after its last sign-in.
const RETENTION: SignedDuration = SignedDuration::from_hours(24 * 400);

/// Failed attempts by account, between its sign-ins; see [`Store::sign_in_accounts`].
///
/// Only accounts that have signed in here before have a row, so that guessed names take no space.
#[derive(Clone, Copy)]
pub struct SignInAccounts<'s>(pub(crate) &'s Store);

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

impl SignInAccounts<'_> {
    /// Counts a failed attempt, if the account has signed in before.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn failed(
        self,
        account: &str,
        known_browser: bool,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let hash = self.0.keys.hash(PURPOSE, account);
        if let Some(redis) = self.0.redis() {
            return redis.count_account_failure(&hash, known_browser, now).await;
        }
        sqlx::query(
            "UPDATE sign_in_accounts
             SET failures = failures + 1,
                 known_failures = known_failures + $2,
                 last_failed_at = $3
             WHERE account_hash = $1",
        )
        .bind(hash)
        .bind(i64::from(known_browser))
        .bind(now.as_second())
        .execute(&self.0.pool)
        .await
        .map_err(StoreError::database("count an account's failure"))?;
        Ok(())
    }

    /// Records a sign-in; returns the failed attempts since the previous one, or `None` if there
    /// was none or it is the first sign-in.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn signed_in(
        self,
        account: &str,
        now: Timestamp,
    ) -> Result<Option<FailedSignIns>, StoreError> {
        let hash = self.0.keys.hash(PURPOSE, account);
        let before = match self.0.redis() {
            Some(redis) => redis.account_signed_in(&hash, now, now + RETENTION).await?,
            None => self.replace(&hash, now).await?,
        };
        Ok(before.filter(|before| before.failures > 0))
    }

    async fn replace(
        self,
        hash: &str,
        now: Timestamp,
    ) -> Result<Option<FailedSignIns>, StoreError> {
        let row = sqlx::query(
            "SELECT failures, known_failures, signed_in_at, last_failed_at
             FROM sign_in_accounts
             WHERE account_hash = $1",
        )
        .bind(hash)
        .fetch_optional(&self.0.pool)
        .await
        .map_err(StoreError::database("read an account's failures"))?;
        let before = match row {
            Some(row) => {
                let columns = Columns::new("sign_in_accounts", &row);
                Some(FailedSignIns {
                    failures: columns.integer("failures")?,
                    from_known_browsers: columns.integer("known_failures")?,
                    since: columns.time("signed_in_at")?,
                    last: columns.time("last_failed_at")?,
                })
            }
            None => None,
        };
        let (failures, known) =
            before.map_or((0, 0), |one| (one.failures, one.from_known_browsers));
        // failures after the first statement are kept for the next sign-in
        sqlx::query(
            "INSERT INTO sign_in_accounts
                 (account_hash, signed_in_at, failures, known_failures, last_failed_at, expires_at)
             VALUES ($1, $2, 0, 0, $2, $3)
             ON CONFLICT (account_hash) DO UPDATE
             SET signed_in_at = excluded.signed_in_at,
                 failures = CASE
                     WHEN sign_in_accounts.failures > $4 THEN sign_in_accounts.failures - $4
                     ELSE 0
                 END,
                 known_failures = CASE
                     WHEN sign_in_accounts.known_failures > $5
                         THEN sign_in_accounts.known_failures - $5
                     ELSE 0
                 END,
                 expires_at = excluded.expires_at",
        )
        .bind(hash)
        .bind(now.as_second())
        .bind((now + RETENTION).as_second())
        .bind(failures)
        .bind(known)
        .execute(&self.0.pool)
        .await
        .map_err(StoreError::database("note an account's sign-in"))?;
        Ok(before)
    }
}

//! Accounts that have signed in, and the number of failed attempts since.
use super::SqlStore;
use crate::error::StoreError;
use crate::row::Columns;
use crate::sign_in_accounts::{FailedSignIns, RETENTION, SignInAccounts, hash};
use async_trait::async_trait;
use jiff::Timestamp;

#[async_trait]
impl SignInAccounts for SqlStore {
    async fn failed(
        &self,
        account: &str,
        known_browser: bool,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let hash = hash(&self.shared.keys, account);
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
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("count an account's failure"))?;
        Ok(())
    }

    async fn signed_in(
        &self,
        account: &str,
        now: Timestamp,
    ) -> Result<Option<FailedSignIns>, StoreError> {
        let hash = hash(&self.shared.keys, account);
        let row = sqlx::query(
            "SELECT failures, known_failures, signed_in_at, last_failed_at
             FROM sign_in_accounts
             WHERE account_hash = $1",
        )
        .bind(hash.as_str())
        .fetch_optional(&self.pool)
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
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("note an account's sign-in"))?;
        Ok(before.filter(|before| before.failures > 0))
    }
}
